"""Reductions, cumulative reductions, sort and top_k."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, reduce
from math import prod
from typing import Any

import numpy as np

from ..ir import Jaxpr, evaluate
from ..ir import ops as o
from ..ir.limits import greatest, least
from .evaluate import run_jaxpr
from .small import COMPLEX, FLOATS, SMALL_FLOATS, SMALL_INTS, WIDE, signed

# ---- over axes -------------------------------------------------------------------------------------------------


def _accumulating(ufunc: np.ufunc) -> Callable:
    """Sums and products, in the operand's dtype (NumPy widens small integers), or for small floats in float32."""
    def rule(op: Any, x: Any) -> Any:
        dtype = x.dtype
        if not op.axes:
            return x  # an infinite complex number times 1 is not itself
        if dtype in SMALL_FLOATS:
            return ufunc.reduce(x.astype(WIDE[dtype]), op.axes).astype(dtype)
        return ufunc.reduce(x, op.axes, dtype)
    return rule


def _zeros_decided(found: Any, x: Any, of_bools: Callable[[Any], Any], winner: float) -> Any:
    """An extreme among zeros, which NumPy takes for equal numbers: the winner, 0.0 or -0.0, where x has one."""
    zeros = found == 0
    if not zeros.any():
        return found
    here = of_bools((x == 0) & (np.signbit(x) == np.signbit(winner)))
    return np.where(zeros, np.where(here, found.dtype.type(winner), found.dtype.type(-winner)), found)


def _extreme(ufunc: np.ufunc, of_nothing: Callable[[np.dtype], Any], winner: float) -> Callable:
    def rule(op: Any, x: Any) -> Any:
        dtype = x.dtype
        if dtype in SMALL_INTS:
            return ufunc.reduce(x.astype(WIDE[dtype]), op.axes, initial=int(of_nothing(dtype))).astype(dtype)
        if x.size:
            found = ufunc.reduce(x, op.axes)
            if dtype not in FLOATS:
                return found
            return _zeros_decided(found, x, lambda b: np.logical_or.reduce(b, op.axes), winner)
        return ufunc.reduce(x, op.axes, initial=of_nothing(dtype))
    return rule


def _bitwise(ufunc: np.ufunc) -> Callable:
    def rule(op: Any, x: Any) -> Any:
        dtype = x.dtype
        if dtype in SMALL_INTS:
            return ufunc.reduce(x.astype(WIDE[dtype]), op.axes).astype(dtype)
        return ufunc.reduce(x, op.axes)
    return rule


evaluate.register(o.ReduceSum)(_accumulating(np.add))
evaluate.register(o.ReduceProd)(_accumulating(np.multiply))
evaluate.register(o.ReduceMax)(_extreme(np.maximum, least, 0.0))
evaluate.register(o.ReduceMin)(_extreme(np.minimum, greatest, -0.0))
evaluate.register(o.ReduceAnd)(_bitwise(np.bitwise_and))
evaluate.register(o.ReduceOr)(_bitwise(np.bitwise_or))
evaluate.register(o.ReduceXor)(_bitwise(np.bitwise_xor))

evaluate.register(o.Argmax)(lambda op, x: _comparable(x).argmax(op.axis).astype(op.index_dtype))
evaluate.register(o.Argmin)(lambda op, x: _comparable(x).argmin(op.axis).astype(op.index_dtype))


def _comparable(x: Any) -> Any:
    """x in a dtype that NumPy orders as it should, NaN included."""
    wide = WIDE.get(x.dtype)
    return x if wide is None else x.astype(wide)


# ---- by a program ----------------------------------------------------------------------------------------------


@evaluate.register(o.Reduce)
def _reduce(op: o.Reduce, *values: Any) -> list[Any]:
    n = len(values) // 2
    operands, inits = values[:n], values[n:]
    kept = [d for d in range(operands[0].ndim) if d not in op.dimensions]
    shape = tuple([operands[0].shape[d] for d in kept])
    length = prod([operands[0].shape[d] for d in op.dimensions])
    rows = [x.transpose(*op.dimensions, *kept).reshape(length, prod(shape)) for x in operands]
    combine = _on_arrays(op.jaxpr)
    while length > 1:
        half = length // 2
        pairs = combine([x[0:2 * half:2] for x in rows], [x[1:2 * half:2] for x in rows])
        rows = [np.concatenate([pair, x[2 * half:]]) for pair, x in zip(pairs, rows)]
        length -= half
    starts = [np.full((prod(shape),), init, x.dtype) for init, x in zip(inits, rows)]
    results = combine(starts, [x[0] for x in rows]) if length else starts
    return [x.reshape(shape) for x in results]


def _on_arrays(jaxpr: Jaxpr) -> Callable[[list[Any], list[Any]], list[Any]]:
    """A program of scalars as a function of lists of arrays: at once if its operations are elementwise."""
    if _is_elementwise(jaxpr):
        def combine(old: list[Any], new: list[Any]) -> list[Any]:
            return [_filled(x, old[0].shape) for x in run_jaxpr(jaxpr, [*old, *new])]
        return combine

    def combine_each(old: list[Any], new: list[Any]) -> list[Any]:
        outs = [np.empty(x.shape, x.dtype) for x in old]
        for at in np.ndindex(old[0].shape):
            for out, x in zip(outs, run_jaxpr(jaxpr, [np.asarray(x[at]) for x in [*old, *new]])):
                out[at] = x
        return outs
    return combine_each


def _is_elementwise(jaxpr: Jaxpr) -> bool:
    return all(
        _is_elementwise(eqn.op.jaxpr) if isinstance(eqn.op, o.Jit) else isinstance(eqn.op, o.Elementwise)
        for eqn in jaxpr.eqns)


def _filled(x: Any, shape: tuple[int, ...]) -> Any:
    return x if x.shape == shape else np.full(shape, x, x.dtype)


# ---- cumulative ------------------------------------------------------------------------------------------------


_WINNERS = {np.maximum: 0.0, np.minimum: -0.0}


def _cumulative(ufunc: np.ufunc) -> Callable:
    winner = _WINNERS.get(ufunc)

    def rule(op: Any, x: Any) -> Any:
        found = plain(op, x)
        if winner is None or x.dtype not in FLOATS:
            return found
        return _zeros_decided(found, x, lambda b: _accumulated(np.logical_or, b, op.axis, op.reverse), winner)

    def plain(op: Any, x: Any) -> Any:
        dtype = x.dtype
        wide = WIDE.get(dtype)
        if wide is not None:
            return _accumulated(ufunc, x.astype(wide), op.axis, op.reverse).astype(dtype)
        return _accumulated(ufunc, x, op.axis, op.reverse)
    return rule


def _accumulated(ufunc: np.ufunc, x: Any, axis: int, reverse: bool) -> Any:
    if not reverse:
        return ufunc.accumulate(x, axis, x.dtype)
    return np.flip(ufunc.accumulate(np.flip(x, axis), axis, x.dtype), axis)


for _op_type, _ufunc in {o.Cumsum: np.add, o.Cumprod: np.multiply, o.Cummax: np.maximum, o.Cummin: np.minimum,
                         o.Cumlogsumexp: np.logaddexp}.items():
    evaluate.register(_op_type)(_cumulative(_ufunc))


# ---- order -----------------------------------------------------------------------------------------------------


_SORTED_BY_KEYS = COMPLEX | SMALL_FLOATS | SMALL_INTS


@evaluate.register(o.Sort)
def _sort(op: o.Sort, *operands: Any) -> list[Any]:
    """NumPy's order of real numbers is XLA's: stable, NaN last, -0.0 equal to 0.0. Complex numbers go by their real,
    then their imaginary parts."""
    axis = op.dimension
    if len(operands) == 1 and operands[0].dtype not in _SORTED_BY_KEYS:
        return [np.sort(operands[0], axis, kind="stable")]
    keys = [part for x in operands[:op.num_keys] for part in ((x.real, x.imag) if x.dtype in COMPLEX else (x,))]
    order = reduce(lambda so_far, key: _refined(so_far, key, axis), reversed(keys), None)
    return [np.take_along_axis(x, order, axis) for x in operands]


def _refined(order: Any, key: Any, axis: int) -> Any:
    """A sort by a more important key of what was ordered by the less important ones."""
    key = _comparable(key)
    if order is None:
        return np.argsort(key, axis, kind="stable")
    return np.take_along_axis(order, np.argsort(np.take_along_axis(key, order, axis), axis, kind="stable"), axis)


@evaluate.register(o.TopK)
def _top_k(op: o.TopK, x: Any) -> list[Any]:
    """Floats are in their total order: 0.0 above -0.0, NaN above all numbers, NaN with its sign bit set below all."""
    last = x.shape[-1] - 1
    rising = np.argsort(_total_order(x)[..., ::-1], -1, kind="stable")
    falling = last - rising[..., ::-1][..., :op.k]  # sorted in reverse, so that of equals the earlier comes first
    return [np.take_along_axis(x, falling, -1), falling.astype(np.int32)]


def _total_order(x: Any) -> Any:
    """Numbers or integers in the same order as x; floats become their bits."""
    if x.dtype.kind not in "fV" or x.dtype in SMALL_INTS:
        return _comparable(x)
    wide = _comparable(x)
    kind = signed(wide.dtype)
    bits = wide.view(kind)
    return np.where(bits < 0, bits ^ _most(kind), bits)


@cache
def _most(dtype: np.dtype) -> Any:
    return dtype.type(np.iinfo(dtype).max)
