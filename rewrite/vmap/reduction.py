"""Batching of the reductions, sort and top_k."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...ir import aval_of, bind, vmap_rule
from ...ir import ops as o
from ..reduce_as_tree import reduce_as_tree
from .batching import BatchAxis, Dim, all_batched_first, batched_at, move_axis, one_operand, shifted


def _dim_after_removal(dim: int, removed: Sequence[int]) -> int:
    return dim - sum(d < dim for d in removed)


@vmap_rule.register(o.AxesReduction)
def _vmap_of_reduction(op: o.AxesReduction, axis: BatchAxis, args: Sequence[Any],
                       dims: Sequence[Dim]) -> tuple[Any, Dim]:
    axes = shifted(op.axes, dims[0])
    return bind(type(op)(axes), args[0]), _dim_after_removal(dims[0], axes)


@vmap_rule.register(o.ArgReduction)
def _vmap_of_arg_reduction(op: o.ArgReduction, axis: BatchAxis, args: Sequence[Any],
                           dims: Sequence[Dim]) -> tuple[Any, Dim]:
    axes = shifted((op.axis,), dims[0])
    return bind(replace(op, axis=axes[0]), args[0]), _dim_after_removal(dims[0], axes)


one_operand(o.Cumulative, lambda op, d, n: (type(op)(op.axis + (op.axis >= d), op.reverse), d))


@vmap_rule.register(o.Sort)
def _vmap_of_sort(op: o.Sort, axis: BatchAxis, args: Sequence[Any], dims: Sequence[Dim]) -> tuple[list, list]:
    position = next(d for d in dims if d is not None)
    moved = [batched_at(x, d, axis, position) for x, d in zip(args, dims)]
    outs = bind(replace(op, dimension=op.dimension + (op.dimension >= position)), *moved)
    return outs, [position] * len(outs)


@vmap_rule.register(o.TopK)
def _vmap_of_top_k(op: o.TopK, axis: BatchAxis, args: Sequence[Any], dims: Sequence[Dim]) -> tuple[list, list]:
    return bind(op, move_axis(args[0], dims[0], 0)), [0, 0]


@vmap_rule.register(o.Reduce)
def _vmap_of_general_reduce(op: o.Reduce, axis: BatchAxis, args: Sequence[Any],
                            dims: Sequence[Dim]) -> tuple[list, list]:
    count = len(args) // 2
    if all(d is None for d in dims[count:]):
        operands = all_batched_first(axis, args[:count], dims[:count])
        outs = bind(o.Reduce(op.jaxpr, tuple(d + 1 for d in op.dimensions)), *operands, *args[count:])
        return outs, [0] * len(outs)
    starts = [batched_at(x, d, axis, 0) for x, d in zip(args[count:], dims[count:])]
    operands = all_batched_first(axis, args[:count], dims[:count])
    kept = tuple(n for d, n in enumerate(aval_of(operands[0]).shape) if d == 0 or d - 1 not in op.dimensions)
    shifted_op = o.Reduce(op.jaxpr, tuple(d + 1 for d in op.dimensions))
    outs = reduce_as_tree(shifted_op, operands, [o.broadcast_in_dim(x, kept, (0,)) for x in starts])
    return outs, [0] * count
