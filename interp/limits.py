"""The least and the greatest value of every dtype."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ..ir import dtypes


@cache
def least(dtype: np.dtype) -> Any:
    """False, the least integer, -inf (or the least number of a format without infinities), or -inf+0j."""
    return _limit(dtype, -1)


@cache
def greatest(dtype: np.dtype) -> Any:
    """True, the greatest integer, inf (or the greatest number of a format without infinities), or inf+0j."""
    return _limit(dtype, 1)


def _limit(dtype: np.dtype, sign: int) -> Any:
    kind = dtypes.kind(dtype)
    if kind == "b":
        return dtype.type(sign > 0)
    if kind in "iu":
        info = dtypes.iinfo(dtype)
        return dtype.type(int(info.max if sign > 0 else info.min))
    infinite = np.array(sign * np.inf).astype(dtype)
    if np.isinf(infinite):
        return infinite[()]
    info = dtypes.finfo(dtype)
    return dtype.type(info.max if sign > 0 else info.min)
