"""Gathers that several rewrites write."""

from __future__ import annotations

from typing import Any

from ..ir import aval_of
from ..ir import ops as o


def gather_along(x: Any, places: Any, axis: int) -> Any:
    """Elements of x at places along an axis, the other dimensions running together (as take_along_axis)."""
    ndim = aval_of(x).ndim
    others = tuple(d for d in range(ndim) if d != axis)
    numbers = o.GatherDimensionNumbers(
        offset_dims=(), collapsed_slice_dims=(axis,), start_index_map=(axis,),
        operand_batching_dims=others, start_indices_batching_dims=others)
    indices = o.reshape(places, (*aval_of(places).shape, 1))
    return o.gather(x, indices, numbers, tuple(min(1, n) for n in aval_of(x).shape))
