"""Batching of indexing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...ir import aval_of, bind, vmap_rule
from ...ir import ops as o
from .batching import BatchAxis, Dim, batched_at, inserted, move_axis


def _up(dims: Sequence[int]) -> tuple[int, ...]:
    """Dimension numbers after a leading dimension was added."""
    return tuple(d + 1 for d in dims)


@vmap_rule.register(o.Gather)
def _vmap_of_gather(op: o.Gather, axis: BatchAxis, args: Sequence[Any], dims: Sequence[Dim]) -> tuple[Any, Dim]:
    (x, indices), (x_dim, i_dim) = args, dims
    n = op.dimension_numbers
    if i_dim is None:
        x = move_axis(x, x_dim, 0)
        numbers = replace(n, offset_dims=(0, *_up(n.offset_dims)), collapsed_slice_dims=_up(n.collapsed_slice_dims),
                          start_index_map=_up(n.start_index_map), operand_batching_dims=_up(n.operand_batching_dims))
        return bind(replace(op, dimension_numbers=numbers, slice_sizes=(axis.size, *op.slice_sizes)), x, indices), 0
    indices = move_axis(indices, i_dim, 0)
    if x_dim is None:
        numbers = replace(n, offset_dims=_up(n.offset_dims),
                          start_indices_batching_dims=_up(n.start_indices_batching_dims))
        return bind(replace(op, dimension_numbers=numbers, indices_are_sorted=False), x, indices), 0
    x = move_axis(x, x_dim, 0)
    numbers = o.GatherDimensionNumbers(
        _up(n.offset_dims), _up(n.collapsed_slice_dims), _up(n.start_index_map),
        (0, *_up(n.operand_batching_dims)), (0, *_up(n.start_indices_batching_dims)))
    sizes = (min(1, axis.size), *op.slice_sizes)
    return bind(replace(op, dimension_numbers=numbers, slice_sizes=sizes, indices_are_sorted=False), x, indices), 0


@vmap_rule.register(o.ScatterBase)
def _vmap_of_scatter(op: o.ScatterBase, axis: BatchAxis, args: Sequence[Any], dims: Sequence[Dim]) -> tuple[Any, Dim]:
    (x, indices, updates), (_, i_dim, _) = args, dims
    n = op.dimension_numbers
    x, updates = batched_at(x, dims[0], axis, 0), batched_at(updates, dims[2], axis, 0)
    if i_dim is None:
        numbers = o.ScatterDimensionNumbers(
            (0, *_up(n.update_window_dims)), _up(n.inserted_window_dims), _up(n.scatter_dims_to_operand_dims),
            _up(n.operand_batching_dims), n.scatter_indices_batching_dims)
        return bind(replace(op, dimension_numbers=numbers), x, indices, updates), 0
    numbers = o.ScatterDimensionNumbers(
        _up(n.update_window_dims), _up(n.inserted_window_dims), _up(n.scatter_dims_to_operand_dims),
        (0, *_up(n.operand_batching_dims)), (0, *_up(n.scatter_indices_batching_dims)))
    indices = move_axis(indices, i_dim, 0)
    return bind(replace(op, dimension_numbers=numbers, indices_are_sorted=False), x, indices, updates), 0


def _index_vectors(starts: Sequence[Any], dims: Sequence[Dim], axis: BatchAxis) -> Any:
    """Start indices, some of them mapped, as an array of one index vector a call."""
    dtypes = {aval_of(s).dtype for s in starts}
    dtype = dtypes.pop() if len(dtypes) == 1 else np.dtype(np.int64 if any(d.itemsize > 4 for d in dtypes) else "i4")
    columns = []
    for s, d in zip(starts, dims):
        s = s if aval_of(s).dtype == dtype else o.convert_element_type(s, dtype)
        columns.append(o.broadcast_in_dim(s, (axis.size, 1), () if d is None else (0,)))
    return o.concatenate(columns, 1) if columns else o.full((axis.size, 0), 0, np.dtype(np.int32))


@vmap_rule.register(o.DynamicSlice)
def _vmap_of_dynamic_slice(op: o.DynamicSlice, axis: BatchAxis, args: Sequence[Any],
                           dims: Sequence[Dim]) -> tuple[Any, Dim]:
    (x, *starts), (x_dim, *start_dims) = args, dims
    if all(d is None for d in start_dims):
        starts.insert(x_dim, _zero_index(starts))
        return bind(o.DynamicSlice(inserted(op.slice_sizes, x_dim, axis.size)), x, *starts), x_dim
    ndim = len(op.slice_sizes)
    batching = () if x_dim is None else (0,)
    shift = len(batching)
    numbers = o.GatherDimensionNumbers(
        offset_dims=tuple(range(1, ndim + 1)), collapsed_slice_dims=(),
        start_index_map=tuple(d + shift for d in range(ndim)),
        operand_batching_dims=batching, start_indices_batching_dims=batching)
    x = x if x_dim is None else move_axis(x, x_dim, 0)
    sizes = (min(1, axis.size),) * shift + op.slice_sizes
    return o.gather(x, _index_vectors(starts, start_dims, axis), numbers, sizes, mode=o.GatherScatterMode.CLIP), 0


def _zero_index(starts: Sequence[Any]) -> Any:
    return aval_of(starts[0]).dtype.type(0) if starts else np.int32(0)


@vmap_rule.register(o.DynamicUpdateSlice)
def _vmap_of_dynamic_update(op: o.DynamicUpdateSlice, axis: BatchAxis, args: Sequence[Any],
                            dims: Sequence[Dim]) -> tuple[Any, Dim]:
    (x, update, *starts), (x_dim, update_dim, *start_dims) = args, dims
    x, update = batched_at(x, x_dim, axis, 0), batched_at(update, update_dim, axis, 0)
    if all(d is None for d in start_dims):
        return bind(op, x, update, _zero_index(starts), *starts), 0
    ndim = aval_of(x).ndim - 1
    numbers = o.ScatterDimensionNumbers(
        update_window_dims=tuple(range(1, ndim + 1)), inserted_window_dims=(),
        scatter_dims_to_operand_dims=tuple(range(1, ndim + 1)),
        operand_batching_dims=(0,), scatter_indices_batching_dims=(0,))
    indices = _index_vectors(starts, start_dims, axis)
    return o.scatter(o.Scatter, x, indices, update, numbers, False, True, o.GatherScatterMode.CLIP), 0
