"""The dtypes that NumPy computes in only by way of others: floats of 16 bits or less, integers of 4 bits or less."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir import dtypes

SMALL_FLOATS = frozenset(d for d in dtypes.DTYPES if dtypes.kind(d) == "f" and d.itemsize <= 2)
SMALL_INTS = frozenset(d for d in dtypes.DTYPES if dtypes.kind(d) in "iu" and dtypes.itemsize_bits(d) < 8)
FLOATS = frozenset(d for d in dtypes.DTYPES if dtypes.kind(d) == "f")
INTEGERS = frozenset(d for d in dtypes.DTYPES if dtypes.kind(d) in "iu")
COMPLEX = frozenset(d for d in dtypes.DTYPES if dtypes.kind(d) == "c")
FLOAT32 = np.dtype(np.float32)

# The dtype that holds all values of a small one and has all of NumPy's functions. The integers' own arithmetic wraps
# around on the way back, since the widths divide each other.
WIDE = {d: FLOAT32 for d in SMALL_FLOATS} | {
    d: np.dtype(np.int8 if dtypes.kind(d) == "i" else np.uint8) for d in SMALL_INTS}


def widened(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of arrays of one dtype to the same dtype, computed in a wider one for small dtypes."""
    def apply(*xs: Any) -> Any:
        dtype = xs[0].dtype
        wide = WIDE.get(dtype)
        if wide is None:
            return function(*xs)
        return function(*[x.astype(wide) for x in xs]).astype(dtype)
    return apply


def unsigned(dtype: np.dtype) -> np.dtype:
    """The unsigned integer dtype of the same size in memory."""
    return _UNSIGNED[dtype.itemsize]


def signed(dtype: np.dtype) -> np.dtype:
    """The signed integer dtype of the same size in memory."""
    return _SIGNED[dtype.itemsize]


_UNSIGNED = {n: np.dtype(f"u{n}") for n in (1, 2, 4, 8)}
_SIGNED = {n: np.dtype(f"i{n}") for n in (1, 2, 4, 8)}
