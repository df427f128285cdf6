"""Helpers that typing rules share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.exceptions import AxisError

from .. import dtypes
from ..errors import IncompatibleShapesError
from ..types import ShapedArray

KIND_NAMES = {"b": "bool", "i": "signed integer", "u": "unsigned integer", "f": "floating point", "c": "complex"}
_KINDS: dict[np.dtype, str] = {}


def kind_of(dtype: np.dtype) -> str:
    """One letter: b(ool), i(nteger), u(nsigned), f(loat), c(omplex); ``-`` for anything else, such as float0."""
    kind = _KINDS.get(dtype)
    if kind is None:
        if dtypes.is_bool(dtype):
            kind = "b"
        elif dtypes.is_complex(dtype):
            kind = "c"
        elif dtypes.is_float(dtype):
            kind = "f"
        elif dtypes.is_integer(dtype):
            kind = "u" if dtypes.short_name(dtype).startswith("u") else "i"
        else:
            kind = "-"
        _KINDS[dtype] = kind
    return kind


def require_kind(name: str, accepts: str, aval: ShapedArray, position: int | None = None) -> None:
    """Raise TypeError unless a type's dtype is of one of the accepted kinds."""
    if kind_of(aval.dtype) not in accepts:
        which = "" if position is None else f" at operand {position}"
        wanted = ", ".join(KIND_NAMES[k] for k in accepts)
        raise TypeError(f"{name} does not accept dtype {aval.dtype.name}{which}; it accepts {wanted}")


def require_same_dtype(name: str, avals: Sequence[ShapedArray]) -> None:
    """Raise TypeError unless all types have the same dtype."""
    first = avals[0].dtype
    if any(a.dtype != first for a in avals):
        got = ", ".join(a.dtype.name for a in avals)
        raise TypeError(f"{name} requires arguments of equal dtypes, got {got}; convert one with "
                        f"lax.convert_element_type, or use glax.numpy, which promotes")


def require_axes(name: str, axes: Sequence[int], ndim: int, what: str = "axes") -> None:
    """Axes of an operation are distinct and from 0 to ndim - 1 (negative ones are resolved by callers)."""
    bad = [d for d in axes if not 0 <= d < ndim]
    if bad:
        raise AxisError(f"{name}: {what} {tuple(axes)} are out of range for an array of {ndim} dimensions")
    if len(set(axes)) != len(axes):
        raise ValueError(f"{name}: {what} {tuple(axes)} hold a duplicate")


def common_elementwise_shape(name: str, avals: Sequence[ShapedArray]) -> tuple[int, ...]:
    """The shape of elementwise operands, which are all equal, scalars aside."""
    shape: tuple[int, ...] = ()
    for aval in avals:
        if aval.shape != ():
            if shape != () and shape != aval.shape:
                got = ", ".join(str(a.shape) for a in avals)
                raise IncompatibleShapesError(f"{name} requires arguments of equal shapes (or scalars), got {got}")
            shape = aval.shape
    return shape
