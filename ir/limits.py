"""The least and the greatest value of every dtype, and what stands where a gather finds nothing."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from . import dtypes


@cache
def least(dtype: np.dtype) -> Any:
    """False, the least integer, -inf (or the least number of a format without infinities), or -inf+0j."""
    return _limit(dtype, -1)


@cache
def greatest(dtype: np.dtype) -> Any:
    """True, the greatest integer, inf (or the greatest number of a format without infinities), or inf+0j."""
    return _limit(dtype, 1)


@cache
def default_fill(dtype: np.dtype) -> Any:
    """What gather gives for an index out of bounds: NaN, the least signed or greatest unsigned integer, or True."""
    kind = dtypes.kind(dtype)
    if kind in "fc":
        return np.array(np.nan).astype(dtype)[()]
    return least(dtype) if kind == "i" else greatest(dtype)


def _limit(dtype: np.dtype, sign: int) -> Any:
    kind = dtypes.kind(dtype)
    if kind == "b":
        return dtype.type(sign > 0)
    if kind in "iu":
        info = dtypes.iinfo(dtype)
    else:
        # A format without infinities has, in the place of one, NaN or its number farthest from zero.
        infinite = np.array(sign * np.inf).astype(dtype)[()]
        if np.isinf(infinite):
            return infinite
        info = dtypes.finfo(dtype)
    limit = info.max if sign > 0 else info.min
    return dtype.type(int(limit) if kind in "iu" else limit)
