"""Derivatives of indexing."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ir import Zero, aval_of, bind, instantiate, jvp_rule
from ...ir import ops as o
from ...ir.ops import number
from .rule_helpers import linear_in_first

linear_in_first(o.DynamicSlice)


@jvp_rule.register(o.Gather)
def _jvp_of_gather(op: o.Gather, primals: list, tangents: list) -> tuple[Any, Any]:
    x, indices = primals
    out = bind(op, x, indices)
    if type(tangents[0]) is Zero:
        return out, Zero(out.aval)
    fill = 0 if op.mode is o.GatherScatterMode.FILL_OR_DROP else op.fill_value
    of_tangent = o.Gather(op.dimension_numbers, op.slice_sizes, op.indices_are_sorted, op.unique_indices, op.mode, fill)
    return out, bind(of_tangent, tangents[0], indices)


@jvp_rule.register(o.DynamicUpdateSlice)
def _jvp_of_dynamic_update(op: o.DynamicUpdateSlice, primals: list, tangents: list) -> tuple[Any, Any]:
    _, _, *starts = primals
    tangent = bind(op, instantiate(tangents[0]), instantiate(tangents[1]), *starts)
    return bind(op, *primals), tangent


@jvp_rule.register(o.ScatterAdd)
def _jvp_of_scatter_add(op: o.ScatterAdd, primals: list, tangents: list) -> tuple[Any, Any]:
    _, indices, _ = primals
    return bind(op, *primals), bind(op, instantiate(tangents[0]), indices, instantiate(tangents[2]))


def _positions_like(updates: Any) -> Any:
    """A number from 1 for each update."""
    aval = aval_of(updates)
    return o.add(o.reshape(o.iota(np.dtype(np.int32), (max(aval.size, 0),), 0), aval.shape), np.int32(1))


def _gather_of_windows(op: o.ScatterBase, x: Any, indices: Any, updates: Any) -> Any:
    """What stands in an operand at the place of each element of the updates; zero where an update is dropped."""
    numbers = op.dimension_numbers
    dropped = numbers.inserted_window_dims + numbers.operand_batching_dims
    window = iter(aval_of(updates).shape[d] for d in numbers.update_window_dims)
    sizes = tuple(min(1, n) if d in dropped else next(window) for d, n in enumerate(aval_of(x).shape))
    as_gather = o.GatherDimensionNumbers(
        numbers.update_window_dims, numbers.inserted_window_dims, numbers.scatter_dims_to_operand_dims,
        numbers.operand_batching_dims, numbers.scatter_indices_batching_dims)
    mode = op.mode if op.mode is o.GatherScatterMode.CLIP else o.GatherScatterMode.FILL_OR_DROP
    return o.gather(x, indices, as_gather, sizes, op.indices_are_sorted, op.unique_indices, mode, 0)


def _scattered(kind: type, op: o.ScatterBase, x: Any, indices: Any, updates: Any) -> Any:
    return o.scatter(kind, x, indices, updates, op.dimension_numbers, op.indices_are_sorted, op.unique_indices, op.mode)


@jvp_rule.register(o.Scatter)
def _jvp_of_scatter(op: o.Scatter, primals: list, tangents: list) -> tuple[Any, Any]:
    """Tangents of the updates that won. Where several meet, each is numbered, and the number that came out wins."""
    x, indices, updates = primals
    out = bind(op, *primals)
    if all(type(t) is Zero for t in (tangents[0], tangents[2])):
        return out, Zero(out.aval)
    t_x, t_updates = instantiate(tangents[0]), instantiate(tangents[2])
    if op.unique_indices:
        return out, bind(op, t_x, indices, t_updates)
    numbered = _positions_like(updates)
    nobody = o.full(aval_of(x).shape, 0, np.dtype(np.int32))
    winners = _scattered(o.Scatter, op, nobody, indices, numbered)
    kept = o.select_n(o.eq(winners, np.int32(0)), number(0, t_x), t_x)
    won = o.eq(_gather_of_windows(op, winners, indices, updates), numbered)
    masked = o.select_n(won, number(0, t_updates), t_updates)
    return out, _scattered(o.ScatterAdd, op, kept, indices, masked)


@jvp_rule.register(o.ScatterMul)
def _jvp_of_scatter_mul(op: o.ScatterMul, primals: list, tangents: list) -> tuple[Any, Any]:
    """With one update a place: x' u + x u'. Where several meet, see _jvp_of_repeated_scatter_mul."""
    x, indices, updates = primals
    out = bind(op, *primals)
    t_x, t_updates = tangents[0], tangents[2]
    total: Any = Zero(out.aval)
    if type(t_x) is not Zero:
        total = bind(op, t_x, indices, updates)
    if type(t_updates) is not Zero:
        part = (_product_of_others if not op.unique_indices else _windows_of_operand)(op, x, indices, updates)
        moved = _scattered(o.ScatterAdd, op, o.full(aval_of(x).shape, 0, aval_of(x).dtype), indices,
                           o.mul(t_updates, part))
        total = moved if type(total) is Zero else o.add(total, moved)
    return out, total


def _windows_of_operand(op: o.ScatterMul, x: Any, indices: Any, updates: Any) -> Any:
    return _gather_of_windows(op, x, indices, updates)


def _product_of_others(op: o.ScatterMul, x: Any, indices: Any, updates: Any) -> Any:
    """For each update, x times the product of the other updates at its place, zeros included.

    The product of the updates that are not zero, and how many are zero, tell it without a sort: the others' product
    is that of the nonzero ones divided by this one, where no other is zero.
    """
    is_zero = o.eq(updates, number(0, updates))
    nonzero = o.select_n(is_zero, updates, number(1, updates))
    shape, dtype = aval_of(x).shape, aval_of(x).dtype
    product = _scattered(o.ScatterMul, op, x, indices, nonzero)
    zeros = _scattered(o.ScatterAdd, op, o.full(shape, 0, dtype), indices, o.convert_element_type(is_zero, dtype))
    product_here = _gather_of_windows(op, product, indices, updates)
    zeros_here = o.sub(_gather_of_windows(op, zeros, indices, updates), o.convert_element_type(is_zero, dtype))
    return o.select_n(o.gt(o.real(zeros_here) if dtype.kind == "c" else zeros_here, np.zeros((), dtype).real[()]),
                      o.div(product_here, nonzero), number(0, updates))


@jvp_rule.register(o.ScatterMin, o.ScatterMax)
def _jvp_of_scatter_extreme(op: o.ScatterMin | o.ScatterMax, primals: list, tangents: list) -> tuple[Any, Any]:
    """The mean of the tangents of those, of the operand and the updates, that are the extreme one at a place."""
    x, indices, updates = primals
    out = bind(op, *primals)
    dtype = aval_of(x).dtype
    kept = o.convert_element_type(o.eq(x, out), dtype)
    won = o.convert_element_type(o.eq(updates, _gather_of_windows(op, out, indices, updates)), dtype)
    count = _scattered(o.ScatterAdd, op, kept, indices, won)
    t_x, t_updates = instantiate(tangents[0]), instantiate(tangents[2])
    total = _scattered(o.ScatterAdd, op, o.mul(t_x, kept), indices, o.mul(t_updates, won))
    return out, o.div(total, count)
