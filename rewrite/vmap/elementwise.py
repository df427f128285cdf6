"""Batching of the elementwise operations: one rule for them all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...ir import aval_of, bind, vmap_rule
from ...ir import ops as o
from ...ir.ops import broadcast_in_dim
from .batching import BatchAxis, Dim, batched_at, logical_ndim


@vmap_rule.register(o.Unary)
def _vmap_of_unary(op: o.Unary, axis: BatchAxis, args: Sequence[Any], dims: Sequence[Dim]) -> tuple[Any, Dim]:
    return bind(op, args[0]), dims[0]


@vmap_rule.register(o.Elementwise)
def _vmap_of_elementwise(op: o.Elementwise, axis: BatchAxis, args: Sequence[Any],
                         dims: Sequence[Dim]) -> tuple[Any, Dim]:
    """Bring all mapped operands to one layout; unmapped scalars stay as they are."""
    first = dims[0]
    if first is not None and all(d == first and a.aval.shape == args[0].aval.shape for d, a in zip(dims, args)):
        return bind(op, *args), first
    ranks = [logical_ndim(x, d) for x, d in zip(args, dims)]
    rank = max(ranks)
    position = next((d for d, r in zip(dims, ranks) if d is not None and r == rank), 0)
    shape = next(_logical_shape(x, d) for x, d, r in zip(args, dims, ranks) if r == rank)
    full_shape = (*shape[:position], axis.size, *shape[position:])
    moved = []
    for x, d, r in zip(args, dims, ranks):
        if r == rank and (d is not None or rank):
            moved.append(batched_at(x, d, axis, position))
        elif d is None:
            moved.append(x)
        else:
            moved.append(broadcast_in_dim(x, full_shape, (position,)))
    return bind(op, *moved), position


def _logical_shape(x: Any, dim: Dim) -> tuple[int, ...]:
    shape = aval_of(x).shape
    return shape if dim is None else (*shape[:dim], *shape[dim + 1:])


@vmap_rule.register(o.BitcastConvertType)
def _vmap_of_bitcast(op: o.BitcastConvertType, axis: BatchAxis, args: Sequence[Any],
                     dims: Sequence[Dim]) -> tuple[Any, Dim]:
    return bind(op, batched_at(args[0], dims[0], axis, 0)), 0
