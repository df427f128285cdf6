"""Batching of the reductions, sort and top_k."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...ir import aval_of, bind, vmap_rule
from ...ir import ops as o
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
    return _with_mapped_initial_values(op, axis, args, dims, count)


def _with_mapped_initial_values(op: o.Reduce, axis: BatchAxis, args: Sequence[Any], dims: Sequence[Dim],
                                count: int) -> tuple[list, list]:
    """Reduce without them, keeping one element apart as the start, then combine with the initial values.

    The computation, applied to whole arrays, is elementwise: it is the program batched over all result elements.
    """
    operands = all_batched_first(axis, args[:count], dims[:count])
    inits = [batched_at(x, d, axis, 0) for x, d in zip(args[count:], dims[count:])]
    shape = aval_of(operands[0]).shape
    kept = tuple(d for d in range(1, len(shape)) if d - 1 not in op.dimensions)
    removed = tuple(d + 1 for d in op.dimensions)
    rows = 1
    for d in removed:
        rows *= shape[d]
    result_shape = (shape[0], *(shape[d] for d in kept))
    flat = [o.reshape(o.transpose(x, (*removed, 0, *kept)), (rows, *result_shape)) for x in operands]
    totals = [o.broadcast_in_dim(x, result_shape, (0,)) for x in inits]
    combine = _on_arrays(op, result_shape)
    while rows:
        if rows % 2:
            last = [o.reshape(o.slice_(x, (rows - 1,) + (0,) * len(result_shape), (rows, *result_shape)), result_shape)
                    for x in flat]
            totals = combine(totals, last)
        rows //= 2
        if rows:
            halves = [[o.slice_(x, (lo,) + (0,) * len(result_shape), (lo + rows, *result_shape)) for x in flat]
                      for lo in (0, rows)]
            flat = _on_arrays(op, (rows, *result_shape))(*halves)
    return totals, [0] * count


def _on_arrays(op: o.Reduce, shape: tuple[int, ...]):
    """The scalar computation as a function of lists of arrays of one shape."""
    from ...ir import current_builder
    from .transform import vmap
    program = op.jaxpr
    for size in reversed(shape):
        program, _ = vmap(program, BatchAxis(size), [0] * len(program.in_binders))
    return lambda a, b: current_builder().splice(program, [*a, *b])
