"""Indexing: dynamic slices, gather and scatter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..ir import evaluate
from ..ir import ops as o
from ..ir.limits import default_fill
from ..ir.ops import GatherScatterMode
from .small import SMALL_INTS, WIDE

# ---- dynamic slices --------------------------------------------------------------------------------------------


def _window(starts: Sequence[Any], sizes: Sequence[int], shape: Sequence[int]) -> tuple[slice, ...]:
    """The slices of given sizes, moved to lie within a shape."""
    window = []
    for start, k, n in zip(starts, sizes, shape):
        start = min(max(int(start), 0), n - k)
        window.append(slice(start, start + k))
    return tuple(window)


@evaluate.register(o.DynamicSlice)
def _dynamic_slice(op: o.DynamicSlice, x: Any, *starts: Any) -> Any:
    return x[_window(starts, op.slice_sizes, x.shape)]


@evaluate.register(o.DynamicUpdateSlice)
def _dynamic_update_slice(op: o.DynamicUpdateSlice, x: Any, update: Any, *starts: Any) -> np.ndarray:
    out = np.array(x)
    out[_window(starts, update.shape, x.shape)] = update
    return out


# ---- where index vectors point ---------------------------------------------------------------------------------


def _signed(indices: Any) -> Any:
    """Indices as int64; those beyond its range are out of any array's bounds in any case."""
    if indices.dtype == np.uint64:
        indices = np.minimum(indices, np.uint64(2**63 - 1))
    return indices.astype(np.int64)


def _starts(indices: Any, mapped: Sequence[int], batching: Sequence[int], indices_batching: Sequence[int],
            sizes: Sequence[int], shape: Sequence[int]) -> tuple[dict[int, Any], Any]:
    """For each dimension that is indexed the start of each window, moved within bounds, and which were there."""
    indices = _signed(indices)
    starts, inside = {}, np.ones(indices.shape[:-1], bool)
    for component, d in enumerate(mapped):
        start, last = indices[..., component], shape[d] - sizes[d]
        starts[d] = np.minimum(np.maximum(start, 0), last)
        inside &= starts[d] == start
    for d, along in zip(batching, indices_batching):
        spread = [1] * (indices.ndim - 1)
        spread[along] = indices.shape[along]
        starts[d] = np.broadcast_to(np.arange(indices.shape[along]).reshape(spread), inside.shape)
    return starts, inside


def _points(starts: dict[int, Any], batch: Sequence[int], sizes: Sequence[int], dropped: Sequence[int],
            shape: Sequence[int]) -> tuple[Any, ...]:
    """An index array for each dimension of the operand: the dimensions of the index vectors, then of the windows."""
    ndim = len(batch)
    window = [d for d in range(len(shape)) if d not in dropped]
    points = []
    for d in range(len(shape)):
        start = starts[d] if d in starts else np.zeros(batch, np.int64)
        point = start.reshape(start.shape + (1,) * len(window))
        if d in window:
            along = [1] * (ndim + len(window))
            along[ndim + window.index(d)] = sizes[d]
            point = point + np.arange(sizes[d]).reshape(along)
        points.append(point)
    return tuple(points)


# ---- gather ----------------------------------------------------------------------------------------------------


@evaluate.register(o.Gather)
def _gather(op: o.Gather, x: Any, indices: Any) -> Any:
    numbers, sizes = op.dimension_numbers, op.slice_sizes
    dropped = numbers.collapsed_slice_dims + numbers.operand_batching_dims
    starts, inside = _starts(indices, numbers.start_index_map, numbers.operand_batching_dims,
                             numbers.start_indices_batching_dims, sizes, x.shape)
    fills = op.mode is GatherScatterMode.FILL_OR_DROP and bool(numbers.start_index_map)
    fill = default_fill(x.dtype) if op.fill_value is None else np.asarray(op.fill_value).astype(x.dtype)
    batch_ndim = indices.ndim - 1
    if not x.size or any(sizes[d] == 0 for d in dropped):
        offsets = tuple([n for d, n in enumerate(sizes) if d not in dropped])
        found = np.full(indices.shape[:-1] + offsets, fill if fills else 0, x.dtype)
    elif _is_take(numbers, sizes, x.shape):
        found = _take(x, starts, numbers.start_index_map[0], batch_ndim)
    else:
        shape, sizes, dropped = _at_least_1d(x.shape, sizes, dropped)
        found = x.reshape(shape)[_points(starts, inside.shape, sizes, dropped, shape)]
    if fills and not inside.all():
        found = np.where(inside.reshape(inside.shape + (1,) * (found.ndim - batch_ndim)), found, fill)
    return found.transpose(_interleaved(found.ndim, numbers.offset_dims, batch_ndim))


def _at_least_1d(shape: Sequence[int], sizes: Sequence[int], dropped: Sequence[int]) -> tuple[Any, Any, Any]:
    """A scalar as an array of one element, of which NumPy can index several."""
    return (shape, sizes, dropped) if shape else ((1,), (1,), (0,))


def _is_take(numbers: o.GatherDimensionNumbers, sizes: Sequence[int], shape: Sequence[int]) -> bool:
    """Whether one dimension is indexed and the others are taken whole."""
    indexed = numbers.start_index_map
    return (len(indexed) == 1 and numbers.collapsed_slice_dims == indexed and not numbers.operand_batching_dims
            and all(k == n for d, (k, n) in enumerate(zip(sizes, shape)) if d != indexed[0]))


def _take(x: Any, starts: dict[int, Any], axis: int, batch_ndim: int) -> Any:
    found = np.asarray(x.take(starts[axis], axis))
    before = tuple(range(axis))
    taken = tuple(range(axis, axis + batch_ndim))
    return found.transpose(taken + before + tuple(range(axis + batch_ndim, found.ndim)))


def _interleaved(ndim: int, window_dims: Sequence[int], batch_ndim: int) -> tuple[int, ...]:
    """The permutation that puts window dimensions, which come last, at their places among the batch dimensions."""
    batch, window = iter(range(batch_ndim)), iter(range(batch_ndim, ndim))
    return tuple([next(window) if d in window_dims else next(batch) for d in range(ndim)])


# ---- scatter ---------------------------------------------------------------------------------------------------


def _combining(ufunc: np.ufunc | None) -> Any:
    """The rule of a scatter that combines by a ufunc, or replaces."""
    def rule(op: o.ScatterBase, x: Any, indices: Any, updates: Any) -> np.ndarray:
        dtype = x.dtype
        if dtype in SMALL_INTS and ufunc is not None:
            wide = WIDE[dtype]
            return _scattered(op, ufunc, x.astype(wide), indices, updates.astype(wide)).astype(dtype)
        return _scattered(op, ufunc, x, indices, updates)
    return rule


def _scattered(op: o.ScatterBase, ufunc: np.ufunc | None, x: Any, indices: Any, updates: Any) -> np.ndarray:
    """Updates one after another, so that of several at one place the last has the last word. A window that is out of
    bounds anywhere is left out."""
    numbers = op.dimension_numbers
    out = np.array(x, order="C")  # so that its reshape is a view
    if not updates.size or not out.size:
        return out
    dropped = numbers.inserted_window_dims + numbers.operand_batching_dims
    batch_dims = tuple([d for d in range(updates.ndim) if d not in numbers.update_window_dims])
    updates = updates.transpose(batch_dims + numbers.update_window_dims)
    window = iter(updates.shape[len(batch_dims):])
    sizes = [1 if d in dropped else next(window) for d in range(out.ndim)]
    starts, inside = _starts(indices, numbers.scatter_dims_to_operand_dims, numbers.operand_batching_dims,
                             numbers.scatter_indices_batching_dims, sizes, out.shape)
    batch = inside.shape
    if op.mode is not GatherScatterMode.CLIP and not inside.all():
        starts = {d: start[inside] for d, start in starts.items()}
        updates = updates[inside]
        batch = updates.shape[:1]
    shape, sizes, dropped = _at_least_1d(out.shape, sizes, dropped)
    points, target = _points(starts, batch, sizes, dropped, shape), out.reshape(shape)
    if ufunc is None:
        target[points] = updates
    else:
        ufunc.at(target, points, updates)
    return out


evaluate.register(o.Scatter)(_combining(None))
evaluate.register(o.ScatterAdd)(_combining(np.add))
evaluate.register(o.ScatterMul)(_combining(np.multiply))
evaluate.register(o.ScatterMin)(_combining(np.minimum))
evaluate.register(o.ScatterMax)(_combining(np.maximum))
