"""General reductions as programs of elementwise steps, for the rewrites that look into them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from ..ir import Jaxpr, aval_of, splice, stage
from ..ir import ops as o
from ..ir.types import ShapedArray


def reduce_as_tree(op: o.Reduce, operands: Sequence[Any], initial_values: Sequence[Any]) -> list[Any]:
    """Reduce by halves: log2(n) applications of the computation to whole arrays.

    Args:
        op: the reduction.
        operands: arrays of one shape.
        initial_values: for each operand a scalar, or an array of the result's shape.
    """
    shape = aval_of(operands[0]).shape
    kept = tuple(d for d in range(len(shape)) if d not in op.dimensions)
    result_shape = tuple(shape[d] for d in kept)
    rows = prod(shape[d] for d in op.dimensions)
    flat = [o.reshape(o.transpose(x, (*op.dimensions, *kept)), (rows, *result_shape)) for x in operands]
    totals = [o.broadcast(x, result_shape) for x in initial_values]
    while rows:
        if rows % 2:
            last = [o.reshape(_rows(x, rows - 1, rows), result_shape) for x in flat]
            totals = _on_arrays(op.jaxpr, result_shape)(totals, last)
        rows //= 2
        if rows:
            lower, upper = ([_rows(x, lo, lo + rows) for x in flat] for lo in (0, rows))
            flat = _on_arrays(op.jaxpr, (rows, *result_shape))(lower, upper)
    return totals


def _rows(x: Any, lo: int, hi: int) -> Any:
    shape = aval_of(x).shape
    return o.slice_(x, (lo,) + (0,) * (len(shape) - 1), (hi, *shape[1:]))


def _on_arrays(computation: Jaxpr, shape: tuple[int, ...]) -> Callable[[list[Any], list[Any]], list[Any]]:
    """The scalar computation as a function of lists of arrays of one shape."""
    from .vmap import BatchAxis, vmap
    for size in reversed(shape):
        computation, _ = vmap(computation, BatchAxis(size), [0] * len(computation.in_binders))
    return lambda a, b: splice(computation, [*a, *b])


def tree_program(op: o.Reduce, avals: Sequence[ShapedArray]) -> Jaxpr:
    """The program of a reduction by halves."""
    count = len(avals) // 2
    return stage(lambda *xs: reduce_as_tree(op, xs[:count], xs[count:]), avals, "reduce")[0]
