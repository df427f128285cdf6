"""The extreme values of dtypes, from which reductions start and with which gather fills."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ...ir import dtypes


@cache
def extreme_value(dtype: np.dtype, largest: bool) -> Any:
    """The greatest or least value of a dtype: infinite where it has infinities; complex by its real part."""
    kind = dtypes.kind(dtype)
    if kind == "b":
        return np.bool_(largest)
    if kind in "iu":
        info = dtypes.iinfo(dtype)
        return np.array(int(info.max if largest else info.min)).astype(dtype)[()]
    infinity = np.array(np.inf if largest else -np.inf)
    if kind == "c" or _has_infinities(dtype):
        return infinity.astype(dtype)[()]
    info = dtypes.finfo(dtype)
    return info.max if largest else info.min


def _has_infinities(dtype: np.dtype) -> bool:
    return bool(np.isinf(np.array(np.inf).astype(dtype).astype(np.float64)))


@cache
def default_fill(dtype: np.dtype) -> Any:
    """What gather gives for an index out of bounds: NaN, the least signed or greatest unsigned integer, or True."""
    kind = dtypes.kind(dtype)
    return np.array(np.nan).astype(dtype)[()] if kind in "fc" else extreme_value(dtype, kind != "i")
