"""Batching of the shape operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...ir import aval_of, bind, vmap_rule
from ...ir import ops as o
from .batching import BatchAxis, Dim, batched_at, inserted, move_axis, one_operand, shifted

one_operand(o.Transpose, lambda op, d, n: (o.Transpose((d, *shifted(op.permutation, d))), 0))
one_operand(o.Rev, lambda op, d, n: (o.Rev(shifted(op.dimensions, d)), d))
one_operand(o.Split, lambda op, d, n: (o.Split(op.sizes, op.axis + (op.axis >= d)), d))
one_operand(o.Squeeze, lambda op, d, n: (
    o.Squeeze(shifted(op.dimensions, d)), d - sum(s < d for s in shifted(op.dimensions, d))))


@vmap_rule.register(o.Slice)
def _vmap_of_slice(op: o.Slice, axis: BatchAxis, args: Sequence[Any], dims: Sequence[Dim]) -> tuple[Any, Dim]:
    (x,), (d,) = args, dims
    strides = op.strides and inserted(op.strides, d, 1)
    new = o.Slice(inserted(op.start_indices, d, 0), inserted(op.limit_indices, d, axis.size), strides)
    return bind(new, x), d


@vmap_rule.register(o.BroadcastInDim)
def _vmap_of_broadcast(op: o.BroadcastInDim, axis: BatchAxis, args: Sequence[Any],
                       dims: Sequence[Dim]) -> tuple[Any, Dim]:
    x = move_axis(args[0], dims[0], 0)
    new = o.BroadcastInDim((axis.size, *op.shape), (0, *(d + 1 for d in op.broadcast_dimensions)))
    return bind(new, x), 0


@vmap_rule.register(o.Reshape)
def _vmap_of_reshape(op: o.Reshape, axis: BatchAxis, args: Sequence[Any], dims: Sequence[Dim]) -> tuple[Any, Dim]:
    return bind(o.Reshape((axis.size, *op.new_sizes)), move_axis(args[0], dims[0], 0)), 0


@vmap_rule.register(o.Concatenate)
def _vmap_of_concatenate(op: o.Concatenate, axis: BatchAxis, args: Sequence[Any],
                         dims: Sequence[Dim]) -> tuple[Any, Dim]:
    position = next(d for d in dims if d is not None)
    moved = [batched_at(x, d, axis, position) for x, d in zip(args, dims)]
    return bind(o.Concatenate(op.dimension + (op.dimension >= position)), *moved), position


@vmap_rule.register(o.Pad)
def _vmap_of_pad(op: o.Pad, axis: BatchAxis, args: Sequence[Any], dims: Sequence[Dim]) -> tuple[Any, Dim]:
    (x, value), (x_dim, value_dim) = args, dims
    if value_dim is None:
        return bind(o.Pad(inserted(op.padding_config, x_dim, (0, 0, 0))), x, value), x_dim
    # Each call has its own padding: pad with a constant, and select by a mask padded in the same way.
    x = batched_at(x, x_dim, axis, 0)
    config = ((0, 0, 0), *op.padding_config)
    inside = o.full(aval_of(x).shape, True, bool)
    mask = o.pad(inside, False, config)
    padded = o.pad(x, o.number(0, x), config)
    shape = aval_of(padded).shape
    return o.select_n(mask, o.broadcast_in_dim(value, shape, (0,)), padded), 0


@vmap_rule.register(o.Iota)
def _vmap_of_iota(op: o.Iota, axis: BatchAxis, args: Sequence[Any], dims: Sequence[Dim]) -> tuple[Any, Dim]:
    return bind(op), None
