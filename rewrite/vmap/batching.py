"""What batching rules share: the mapped axis, and moving it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...ir import Operation, aval_of, bind, vmap_rule
from ...ir.ops import broadcast_in_dim, transpose


@dataclass(frozen=True, slots=True)
class BatchAxis:
    """The axis that vmap adds.

    Attributes:
        size: how many calls run at once.
        name: what collectives call the axis, if anything.

    >>> from glax.rewrite import BatchAxis
    >>> BatchAxis(4)
    BatchAxis(size=4, name=None)
    """

    size: int
    name: str | None = None


Dim = int | None


def move_axis(x: Any, source: int, destination: int) -> Any:
    """x with one dimension moved, the others kept in order."""
    if source == destination:
        return x
    order = [d for d in range(aval_of(x).ndim) if d != source]
    order.insert(destination, source)
    return transpose(x, tuple(order))


def insert_axis(x: Any, size: int, position: int) -> Any:
    """x repeated along a new dimension."""
    shape = aval_of(x).shape
    kept = tuple(d + (d >= position) for d in range(len(shape)))
    return broadcast_in_dim(x, (*shape[:position], size, *shape[position:]), kept)


def batched_at(x: Any, dim: Dim, axis: BatchAxis, position: int) -> Any:
    """x with the mapped axis at a position, repeated where x is not mapped."""
    return insert_axis(x, axis.size, position) if dim is None else move_axis(x, dim, position)


def all_batched_first(axis: BatchAxis, args: Sequence[Any], dims: Sequence[Dim]) -> list[Any]:
    return [batched_at(x, d, axis, 0) for x, d in zip(args, dims)]


def logical_ndim(x: Any, dim: Dim) -> int:
    return aval_of(x).ndim - (dim is not None)


def shifted(dims: Sequence[int], batch_dim: int) -> tuple[int, ...]:
    """Dimensions of an unbatched array, numbered in the batched one."""
    return tuple(d + (d >= batch_dim) for d in dims)


def inserted(values: Sequence[Any], batch_dim: int, value: Any) -> tuple[Any, ...]:
    """A value per dimension, with one put in for the batch dimension."""
    return (*values[:batch_dim], value, *values[batch_dim:])


def one_operand(op_type: type[Operation], rule: Callable[[Any, int, int], tuple[Operation, int]]) -> None:
    """Register the rule of an operation with one mapped operand: (op, dim, ndim) -> (batched op, its dim)."""
    @vmap_rule.register(op_type)
    def batched(op: Operation, axis: BatchAxis, args: Sequence[Any], dims: Sequence[Dim]) -> tuple[Any, Any]:
        (x,), (dim,) = args, dims
        new_op, out_dim = rule(op, dim, logical_ndim(x, dim))
        out = bind(new_op, x)
        return (out, [out_dim] * len(out)) if op.multiple_results else (out, out_dim)
