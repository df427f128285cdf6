"""Transposes of indexing: what was read is added to, and what was added is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...ir import LinearInput, aval_of, bind, transpose_rule
from ...ir import ops as o


def _zeros_like(x: Any) -> Any:
    return o.full(x.aval.shape, 0, x.aval.dtype)


@transpose_rule.register(o.DynamicSlice)
def _transpose_of_dynamic_slice(op: o.DynamicSlice, ct: Any, args: Sequence[Any]) -> list[Any]:
    x, *starts = args
    return [o.dynamic_update_slice(_zeros_like(x), ct, starts), *[None] * len(starts)]


@transpose_rule.register(o.DynamicUpdateSlice)
def _transpose_of_dynamic_update(op: o.DynamicUpdateSlice, ct: Any, args: Sequence[Any]) -> list[Any]:
    x, update, *starts = args
    of_x = of_update = None
    if type(x) is LinearInput:
        of_x = bind(op, ct, o.full(update.aval.shape, 0, update.aval.dtype), *starts)
    if type(update) is LinearInput:
        of_update = o.dynamic_slice(ct, starts, update.aval.shape)
    return [of_x, of_update, *[None] * len(starts)]


@transpose_rule.register(o.Gather)
def _transpose_of_gather(op: o.Gather, ct: Any, args: Sequence[Any]) -> list[Any]:
    x, indices = args
    n = op.dimension_numbers
    numbers = o.ScatterDimensionNumbers(n.offset_dims, n.collapsed_slice_dims, n.start_index_map,
                                        n.operand_batching_dims, n.start_indices_batching_dims)
    of_x = o.scatter(o.ScatterAdd, _zeros_like(x), indices, ct, numbers, op.indices_are_sorted, op.unique_indices,
                     op.mode)
    return [of_x, None]


@transpose_rule.register(o.ScatterAdd)
def _transpose_of_scatter_add(op: o.ScatterAdd, ct: Any, args: Sequence[Any]) -> list[Any]:
    x, indices, updates = args
    of_updates = None
    if type(updates) is LinearInput:
        of_updates = _read_windows(op, ct, indices, updates)
    return [ct if type(x) is LinearInput else None, None, of_updates]


@transpose_rule.register(o.Scatter)
def _transpose_of_scatter(op: o.Scatter, ct: Any, args: Sequence[Any]) -> list[Any]:
    """Of a scatter to unique places, which is linear in the operand and the updates together."""
    x, indices, updates = args
    if not op.unique_indices:
        raise TypeError("cannot transpose scatter: unless indices are unique, which update wins is not a linear matter")
    of_x = of_updates = None
    if type(x) is LinearInput:
        of_x = bind(op, ct, indices, o.full(updates.aval.shape, 0, updates.aval.dtype))
    if type(updates) is LinearInput:
        of_updates = _read_windows(op, ct, indices, updates)
    return [of_x, None, of_updates]


@transpose_rule.register(o.ScatterMul)
def _transpose_of_scatter_mul(op: o.ScatterMul, ct: Any, args: Sequence[Any]) -> list[Any]:
    x, indices, updates = args
    if type(updates) is LinearInput:
        raise TypeError("cannot transpose scatter_mul by its updates: it is not linear in them where they meet")
    return [bind(op, ct, indices, updates), None, None]


def _read_windows(op: o.ScatterBase, ct: Any, indices: Any, updates: Any) -> Any:
    n = op.dimension_numbers
    dropped = n.inserted_window_dims + n.operand_batching_dims
    window = iter(updates.aval.shape[d] for d in n.update_window_dims)
    sizes = tuple(min(1, size) if d in dropped else next(window) for d, size in enumerate(aval_of(ct).shape))
    numbers = o.GatherDimensionNumbers(n.update_window_dims, n.inserted_window_dims, n.scatter_dims_to_operand_dims,
                                       n.operand_batching_dims, n.scatter_indices_batching_dims)
    mode = op.mode if op.mode is o.GatherScatterMode.CLIP else o.GatherScatterMode.FILL_OR_DROP
    return o.gather(ct, indices, numbers, sizes, op.indices_are_sorted, op.unique_indices, mode, 0)
