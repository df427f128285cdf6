"""Derivatives of the reductions, sort and top_k."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...ir import Zero, aval_of, bind, jvp_rule
from ...ir import ops as o
from ...ir.limits import greatest, least
from ...ir.ops import number
from ..indexing_helpers import gather_along
from ..reduce_as_tree import tree_program
from .rule_helpers import derivative, linear_in_first, zero_derivative
from .transform import jvp, splice_moving, split_outputs

zero_derivative(o.ReduceAnd, o.ReduceOr, o.ReduceXor, o.ArgReduction)
linear_in_first(o.ReduceSum, o.Cumsum)


def along(x: Any, like: Any, axes: tuple[int, ...]) -> Any:
    """A reduced array repeated along the reduced axes of another."""
    shape = aval_of(like).shape
    return o.broadcast_in_dim(x, shape, tuple(d for d in range(len(shape)) if d not in axes))


def _extreme_derivative(op: o.ReduceMax | o.ReduceMin, t: Any, out: Any, x: Any) -> Any:
    """The mean of the tangents of the elements that are the extreme one."""
    dtype = aval_of(x).dtype
    here = o.convert_element_type(o.eq(x, along(out, x, op.axes)), dtype)
    return o.div(o.reduce_sum(o.mul(t, here), op.axes), o.reduce_sum(here, op.axes))


derivative(o.ReduceMax, _extreme_derivative)
derivative(o.ReduceMin, _extreme_derivative)


def _prod_derivative(op: o.ReduceProd, t: Any, out: Any, x: Any) -> Any:
    """The sum over elements of t times the product of all others, without a division, so that zeros do no harm."""
    shape = aval_of(x).shape
    kept = tuple(d for d in range(len(shape)) if d not in op.axes)
    flat_shape = (*(shape[d] for d in kept), prod(shape[d] for d in op.axes))
    flat = [o.reshape(o.transpose(a, kept + op.axes), flat_shape) for a in (x, t)]
    axis = len(kept)
    before = _exclusive_product(flat[0], axis, reverse=False)
    after = _exclusive_product(flat[0], axis, reverse=True)
    return o.reduce_sum(o.mul(flat[1], o.mul(before, after)), (axis,))


def _exclusive_product(x: Any, axis: int, reverse: bool) -> Any:
    """At each place along an axis, the product of the elements before it (after it, in reverse)."""
    shape = aval_of(x).shape
    if shape[axis] == 0:
        return x
    padding = [(0, 0, 0)] * len(shape)
    padding[axis] = (-1, 1, 0) if reverse else (1, -1, 0)
    return o.cumprod(o.pad(x, number(1, x), tuple(padding)), axis, reverse)


derivative(o.ReduceProd, _prod_derivative)


def _cumprod_derivative(op: o.Cumprod, t: Any, out: Any, x: Any) -> Any:
    """By doubling, the products of runs and their derivatives together: exact where elements are zero."""
    return _scan_by_doubling(op, lambda a, b: (o.mul(a[0], b[0]), o.add(o.mul(a[1], b[0]), o.mul(a[0], b[1]))),
                             (x, t), (1, 0))[1]


def _scan_by_doubling(op: o.Cumulative, combine: Any, arrays: tuple, identities: tuple[complex, ...]) -> tuple:
    """The inclusive scan of an associative function along the axis, in log2(n) steps on whole arrays."""
    shape = aval_of(arrays[0]).shape
    step = 1
    while step < shape[op.axis]:
        padding = [(0, 0, 0)] * len(shape)
        padding[op.axis] = (-step, step, 0) if op.reverse else (step, -step, 0)
        shifted = tuple(o.pad(a, number(e, a), tuple(padding)) for a, e in zip(arrays, identities))
        arrays = combine(shifted, arrays)
        step *= 2
    return arrays


derivative(o.Cumprod, _cumprod_derivative)


def _cumulative_extreme_derivative(op: o.Cummax | o.Cummin, t: Any, out: Any, x: Any) -> Any:
    """The tangents travel with the elements; where two are equal, half of each."""
    better = o.gt if type(op) is o.Cummax else o.lt

    def combine(a: tuple, b: tuple) -> tuple:
        half = o.mul(o.add(a[1], b[1]), number(.5, b[1]))
        tangent = o.select_n(better(a[0], b[0]), o.select_n(o.eq(a[0], b[0]), b[1], half), a[1])
        return bind(o.Max() if type(op) is o.Cummax else o.Min(), a[0], b[0]), tangent

    worst = (least if type(op) is o.Cummax else greatest)(aval_of(x).dtype)
    return _scan_by_doubling(op, combine, (x, t), (worst, 0))[1]


derivative(o.Cummax, _cumulative_extreme_derivative)
derivative(o.Cummin, _cumulative_extreme_derivative)


def _cumlogsumexp_derivative(op: o.Cumlogsumexp, t: Any, out: Any, x: Any) -> Any:
    """Weighted means of the tangents with the weights exp(x), scaled against overflow as log-sum-exp is.

    Infinities take no part in arithmetic, where a derivative of this one would meet 0 times them: of two elements of
    which one is +inf, that one has all the weight, and of two that are -inf, the later one.
    """
    def combine(a: tuple, b: tuple) -> tuple:
        top = o.max_(a[0], b[0])
        finite, infinite, nothing = o.is_finite(top), o.eq(top, number(np.inf, top)), o.eq(top, number(-np.inf, top))
        shift = o.select_n(finite, number(0, top), top)
        weights = [o.exp(_power_of(s, shift, infinite)) for s in (a[0], b[0])]
        total = o.select_n(nothing, o.add(*weights), number(1, top))
        mean = o.div(o.add(o.mul(weights[0], a[1]), o.mul(weights[1], b[1])), total)
        return o.select_n(finite, top, o.add(shift, o.log(total))), o.select_n(nothing, mean, b[1])

    return _scan_by_doubling(op, combine, (x, t), (-np.inf, 0))[1]


derivative(o.Cumlogsumexp, _cumlogsumexp_derivative)


def _power_of(x: Any, shift: Any, infinite: Any) -> Any:
    """x less the shift; where the larger of two elements is +inf, 0 for that one and -inf for a finite one."""
    share = o.select_n(o.eq(x, number(np.inf, x)), number(-np.inf, x), number(0, x))
    return o.select_n(infinite, o.sub(x, shift), share)


@jvp_rule.register(o.Sort)
def _jvp_of_sort(op: o.Sort, primals: list, tangents: list) -> tuple[list, list]:
    shape = aval_of(primals[0]).shape
    positions = o.iota(np.dtype(np.int32), shape, op.dimension)
    *outs, order = bind(o.Sort(op.dimension, op.is_stable, op.num_keys), *primals, positions)
    moved = [t if type(t) is Zero else gather_along(t, order, op.dimension) for t in tangents]
    return outs, moved


@jvp_rule.register(o.TopK)
def _jvp_of_top_k(op: o.TopK, primals: list, tangents: list) -> tuple[list, list]:
    values, places = bind(op, *primals)
    (t,) = tangents
    return [values, places], [gather_along(t, places, aval_of(t).ndim - 1), Zero(aval_of(places))]


@jvp_rule.register(o.Reduce)
def _jvp_of_general_reduce(op: o.Reduce, primals: list, tangents: list) -> tuple[list, list]:
    """That of the reduction by halves, whose steps are elementwise, so that it can be transposed too."""
    program = tree_program(op, [aval_of(x) for x in primals])
    derivative, out_nonzero = jvp(program, [type(t) is not Zero for t in tangents])
    results = splice_moving(derivative, primals, tangents)
    return split_outputs(op, results, program, out_nonzero)
