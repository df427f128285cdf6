"""What samples are made of: their type, dtypes, and arrays of values in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from glax.ir import Operation, ShapedArray, dtypes, stage


class Sample(NamedTuple):
    """An operation with operands.

    Attributes:
        op: the operation.
        operands: arrays of the dtypes and shapes it is called with.
        differentiable: for each operand, whether it is inexact and every inexact result has a derivative by it here.
        id: a name, the same in every run.
    """

    op: Operation
    operands: tuple[np.ndarray, ...]
    differentiable: tuple[bool, ...]
    id: str


Case = tuple[Operation, Iterable[np.ndarray], Any]

BF16 = np.dtype(ml_dtypes.bfloat16)
F8 = np.dtype(ml_dtypes.float8_e4m3fn)
I4 = np.dtype(ml_dtypes.int4)
BOOL, I8, I16, I32, I64 = (np.dtype(t) for t in (bool, "i1", "i2", "i4", "i8"))
U8, U32 = np.dtype("u1"), np.dtype("u4")
F16, F32, F64, C64, C128 = (np.dtype(t) for t in ("f2", "f4", "f8", "c8", "c16"))


def fill(values: Iterable[complex], shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An array of the values in turn."""
    values = list(values)
    size = int(np.prod(shape))
    flat = np.array([values[i % len(values)] for i in range(size)] or [0])[:size]
    if dtypes.is_complex(dtype):
        return flat.astype(dtype).reshape(shape)
    return flat.real.astype(dtype).reshape(shape) if np.iscomplexobj(flat) else flat.astype(dtype).reshape(shape)


def distinct(shape: tuple[int, ...], dtype: np.dtype, start: int = -3) -> np.ndarray:
    """Small whole numbers, shuffled, no two alike in up to seven (as far as the dtype has as many)."""
    order = [3, 0, 5, 1, 6, 2, 4]
    if dtypes.kind(dtype) == "b":
        return fill([1, 0, 0, 1, 1], shape, dtype)
    start = 0 if dtypes.kind(dtype) == "u" else start
    size = int(np.prod(shape))
    values = [order[i % 7] + 7 * (i // 7) % 28 + start for i in range(size)]
    out = fill(values or [0], shape, dtype)
    return out + fill([0.5j, 1j, -1j], shape, dtype) if dtypes.is_complex(dtype) else out


def program(f: Callable[..., list[Any]], *avals: tuple[tuple[int, ...], np.dtype]) -> Any:
    jaxpr, captured = stage(f, [ShapedArray(*aval) for aval in avals])
    if captured:
        raise ValueError("a sample's program captured values")
    return jaxpr
