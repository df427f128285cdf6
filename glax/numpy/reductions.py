"""Reductions over axes: sums, extremes, means, and their cumulative forms."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from math import prod as product_of
from typing import Any

import numpy as np

from .._called import called
from .._promotion import (
    broadcast_shapes,
    canonical_axes,
    canonical_axis,
    cast,
    named,
    of_parts,
    require_no_out,
    scalar_literal,
    shape_of,
    strong,
    type_of,
)
from ..ir import Tracer, bind, dtypes
from ..ir import ops as o
from ..ir.limits import greatest, least
from ..ir.operation import Operation
from ..lax._arguments import mistaken, operand
from ..lax._names import dtype_of
from ..lower import Array
from .creation import asarray
from .selection import as_bool, choose_between

_HALF_FLOATS = frozenset(d for d in dtypes.DTYPES if dtypes.is_float(d) and d.itemsize <= 2)
_FLOAT32 = np.dtype(np.float32)
_OVER_ALL: dict[tuple[type, int], Operation] = {}
_DIRECT = frozenset(d for d in dtypes.DTYPES if dtypes.is_inexact(d) and d not in _HALF_FLOATS)


def _over_all(kind: type, ndim: int) -> Operation:
    """The reduction over all of ndim axes."""
    found = _OVER_ALL.get((kind, ndim))
    if found is None:
        found = _OVER_ALL[kind, ndim] = kind(tuple(range(ndim)))
    return found


def as_array_of(name: str, a: Any) -> Any:
    """An argument as an array; TypeError where it is not one, nor a number."""
    type_of(name, a)
    return asarray(a)


def sum_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype in which numbers are added up and multiplied: narrow integers become 32-bit ones."""
    kind = dtypes.kind(dtype)
    if kind == "b":
        return dtypes.python_scalar_dtype(int)
    if kind in "iu" and dtype.itemsize < dtypes.default_dtype(dtype).itemsize:
        return dtypes.default_dtype(dtype)
    return dtype


def _masked(name: str, a: Any, where: Any, value: Any) -> Any:
    """a with the elements where the mask is false replaced by a value of its dtype."""
    shape = broadcast_shapes(name, (shape_of(a), type_of(name, where).shape))
    return choose_between(name, as_bool(name, where), o.broadcast(a, shape), value)


def reduced(kind: type[Operation], a: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    """A reduction over axes, which stay with size 1 where keepdims is true."""
    result = bind(kind(axes), a) if axes else a
    return o.expand_dims(result, axes) if keepdims and axes else result


# Bools are added and multiplied by or and and.
_OF_BOOLS = {o.ReduceSum: (o.ReduceOr, o.or_), o.ReduceProd: (o.ReduceAnd, o.and_)}


def _accumulation(name: str, kind: type[Operation], identity: int, combine: Callable[..., Any], what: str) -> Any:
    """sum or prod."""
    def function(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None, promote_integers=True):
        if (axis is None and dtype is None and out is None and keepdims is False and initial is None and where is None
                and (type(a) is Array or type(a) is Tracer) and a.aval.dtype in _DIRECT and not a.aval.weak_type
                and a.aval.shape):
            return bind(_over_all(kind, len(a.aval.shape)), a)
        require_no_out(name, out)
        aval = type_of(name, a)
        if dtype is not None:
            result_dtype = dtype_of(dtype, name)
        else:
            result_dtype = sum_dtype(aval.dtype) if promote_integers or dtypes.is_bool(aval.dtype) else aval.dtype
        computed = _FLOAT32 if result_dtype in _HALF_FLOATS else result_dtype
        of_bools = dtypes.is_bool(computed)
        reduction, combined = _OF_BOOLS[kind] if of_bools else (kind, combine)
        a = as_bool(name, a) if of_bools else strong(a, computed)
        if where is not None:
            a = _masked(name, a, where, scalar_literal(identity, computed))
        result = reduced(reduction, a, canonical_axes(axis, len(shape_of(a)), name), keepdims)
        if initial is not None:
            operand(initial, name, "initial")
            result = combined(result, as_bool(name, initial) if of_bools else strong(initial, computed))
        return strong(asarray(result), result_dtype)

    return named(function, name, __name__, f"""The {what} of the elements over axes.

    Args:
        a: an array.
        axis: None for all axes, or one or several.
        dtype: the dtype of the result; by default that of a, or a 32-bit one for narrower integers.
        keepdims: whether the axes stay, with size 1.
        initial: a scalar that is combined with the result.
        where: a mask, broadcast with a, of the elements that take part.
        promote_integers: whether narrow integers become 32-bit ones.

    Returns:
        An array without the axes. ValueError for an axis out of range.
    """)


sum = _accumulation("sum", o.ReduceSum, 0, o.add, "sum")
prod = _accumulation("prod", o.ReduceProd, 1, o.mul, "product")


def _extreme(name: str, kind: type[Operation], combine: Callable[..., Any], what: str, largest: bool) -> Any:
    """max or min."""
    def function(a, axis=None, out=None, keepdims=False, initial=None, where=None):
        if (axis is None and out is None and keepdims is False and initial is None and where is None
                and (type(a) is Array or type(a) is Tracer) and not a.aval.weak_type and a.aval.shape
                and 0 not in a.aval.shape):
            return bind(_over_all(kind, len(a.aval.shape)), a)
        require_no_out(name, out)
        dtype = type_of(name, a).dtype
        if where is not None:
            if initial is None:
                raise ValueError(f"{called(name)} has no value for no elements, so with where= an initial= is needed")
            a = _masked(name, a, where, scalar_literal((least if largest else greatest)(dtype), dtype))
        shape = shape_of(a)
        axes = canonical_axes(axis, len(shape), name)
        if initial is None and builtins.any(shape[d] == 0 for d in axes):
            raise ValueError(f"{name} of no elements is undefined: axes {axes} of shape {shape}; give initial=")
        result = reduced(kind, a, axes, keepdims)
        if initial is not None:
            operand(initial, name, "initial")
            result = combine(result, strong(initial, dtype))
        return strong(asarray(result))

    return named(function, name, __name__,
                 f"""The {what} element over axes. A NaN wins; equal ones share the derivative.

    Args:
        a: an array.
        axis: None for all axes, or one or several.
        keepdims: whether the axes stay, with size 1.
        initial: a scalar that takes part.
        where: a mask, broadcast with a, of the elements that take part; it needs initial.

    Returns:
        An array without the axes. ValueError for an axis out of range, and for no elements without initial.
    """)


max = _extreme("max", o.ReduceMax, o.max_, "largest", True)
min = _extreme("min", o.ReduceMin, o.min_, "smallest", False)
amax, amin = max, min


def _quantifier(name: str, kind: type[Operation], identity: bool, what: str) -> Any:
    def function(a, axis=None, out=None, keepdims=False, *, where=None):
        require_no_out(name, out)
        a = as_bool(name, a)
        if where is not None:
            a = _masked(name, a, where, scalar_literal(identity, np.dtype(bool)))
        return asarray(reduced(kind, a, canonical_axes(axis, len(shape_of(a)), name), keepdims))

    return named(function, name, __name__, f"""Whether {what} over axes are nonzero; {identity} of no elements.

    Args:
        a: an array.
        axis: None for all axes, or one or several.
        keepdims: whether the axes stay, with size 1.
        where: a mask, broadcast with a, of the elements that take part.

    Returns:
        A bool array without the axes. ValueError for an axis out of range.
    """)


all = _quantifier("all", o.ReduceAnd, True, "all elements")
any = _quantifier("any", o.ReduceOr, False, "some of the elements")


def count_nonzero(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """How many elements over axes are nonzero. An int32 array without the axes, which are None for all or one or
    several; where keepdims is true they stay, with size 1.

    >>> import glax.numpy as xp
    >>> xp.count_nonzero(xp.array([[1, 0], [2, 3]]), axis=1)
    Array([1, 2], dtype=int32)
    """
    return sum(as_bool("count_nonzero", a), axis=axis, dtype=int, keepdims=keepdims)


def ptp(a: Any, axis: Any = None, out: None = None, keepdims: bool = False) -> Any:
    """The largest element over axes less the smallest. axis and keepdims are those of ``max``. TypeError for bools.

    >>> import glax.numpy as xp
    >>> xp.ptp(xp.array([[1, 2], [3, 7]]), axis=1)
    Array([1, 4], dtype=int32)
    """
    require_no_out("ptp", out)
    return o.sub(max(a, axis, keepdims=keepdims), min(a, axis, keepdims=keepdims))


# ---- means


def count_of(a: Any, axes: tuple[int, ...], where: Any, dtype: np.dtype, keepdims: bool) -> Any:
    """How many elements take part in a reduction, as a number or, with a mask, an array."""
    shape = shape_of(a)
    if where is None:
        return product_of(shape[d] for d in axes)
    mask = o.broadcast(as_bool("where", where), broadcast_shapes("where", (shape, shape_of(where))))
    return reduced(o.ReduceSum, o.convert_element_type(mask, dtype), axes, keepdims)


def mean(a: Any, axis: Any = None, dtype: Any = None, out: None = None, keepdims: bool = False, *,
         where: Any = None) -> Any:
    """The mean of the elements over axes; of integers, as floats.

    Args:
        a: an array.
        axis: None for all axes, or one or several.
        dtype: the dtype of the result.
        keepdims: whether the axes stay, with size 1.
        where: a mask, broadcast with a, of the elements that take part.

    >>> import glax.numpy as xp
    >>> xp.mean(xp.arange(4))
    Array(1.5, dtype=float32)
    """
    require_no_out("mean", out)
    given = type_of("mean", a)
    result_dtype = dtypes.canonicalize(dtypes.to_inexact(given.dtype)) if dtype is None else dtype_of(dtype, "mean")
    computed = _FLOAT32 if result_dtype in _HALF_FLOATS else (
        result_dtype if dtypes.is_inexact(result_dtype) else dtypes.python_scalar_dtype(float))
    a = strong(a, computed)
    if where is not None:
        a = _masked("mean", a, where, scalar_literal(0, computed))
    axes = canonical_axes(axis, len(shape_of(a)), "mean")
    real = dtypes.real_part_dtype(computed)
    count = count_of(a, axes, where, real, keepdims)
    total = reduced(o.ReduceSum, a, axes, keepdims)
    return strong(_over_count(total, scalar_literal(count, real) if type(count) is int else count), result_dtype)


def _over_count(total: Any, count: Any) -> Any:
    """A sum over a real number: complex sums part by part, as a complex divisor would make NaN of infinities."""
    if dtypes.is_complex(type_of("mean", total).dtype):
        return of_parts(lambda part: o.div(part, count), total)
    return o.div(total, count)


def var(a: Any, axis: Any = None, dtype: Any = None, out: None = None, ddof: int = 0, keepdims: bool = False, *,
        where: Any = None, mean: Any = None, correction: int | float | None = None) -> Any:
    """The variance of the elements over axes: the mean squared distance from their mean.

    Args:
        a: an array.
        axis: None for all axes, or one or several.
        dtype: the dtype to compute in, and of the result; where it is an integer dtype, that is a float without a
            fraction.
        ddof, correction: what is subtracted from the number of elements that the sum of squares is divided by.
        keepdims: whether the axes stay, with size 1.
        where: a mask, broadcast with a, of the elements that take part.
        mean: the mean, where it is known, with the axes kept.

    Returns:
        An array, real unless dtype is complex, and NaN where there are no more elements than ddof.

    >>> import glax.numpy as xp
    >>> xp.var(xp.arange(5))
    Array(2., dtype=float32)
    """
    require_no_out("var", out)
    if correction is not None:
        if ddof:
            raise ValueError("var: give ddof or correction, not both")
        ddof = correction
    if not isinstance(ddof, (int, float, np.integer, np.floating)):
        raise mistaken("var", "ddof" if correction is None else "correction", "a number", ddof)
    if mean is not None:
        operand(mean, "var", "mean")
    given = type_of("var", a)
    wanted = dtypes.canonicalize(dtypes.to_inexact(given.dtype)) if dtype is None else dtype_of(dtype, "var")
    if dtypes.is_complex(given.dtype) and not dtypes.is_complex(wanted):
        raise ValueError(f"var: a of dtype {given.dtype.name} needs a complex dtype, got {wanted.name}")
    if dtypes.is_bool(wanted):
        raise ValueError("var: dtype must be one of numbers, got bool")
    computed = _FLOAT32 if wanted in _HALF_FLOATS else wanted
    a = strong(a, computed)
    axes = canonical_axes(axis, len(shape_of(a)), "var")
    center = strong(_mean_of(a, axes, where) if mean is None else mean, computed)
    squares = _squared_size(o.sub(a, o.broadcast(center, shape_of(a))))
    floating = dtypes.canonicalize(dtypes.to_inexact(computed))
    real = dtypes.real_part_dtype(floating)
    squares = strong(squares, real)
    if where is not None:
        squares = _masked("var", squares, where, scalar_literal(0, real))
    count = count_of(a, axes, where, real, keepdims)
    total = reduced(o.ReduceSum, squares, axes, keepdims)
    result_dtype = dtypes.real_part_dtype(wanted) if dtype is None else wanted
    result_dtype = result_dtype if dtypes.is_inexact(result_dtype) else real
    if type(count) is int:
        divisor = count - ddof
        if divisor <= 0:
            return o.broadcast(scalar_literal(np.nan, result_dtype), shape_of(total)) if shape_of(total) else asarray(
                np.asarray(np.nan, result_dtype))
        return _as_wanted(o.div(total, scalar_literal(divisor, real)), wanted, result_dtype)
    divisor = o.sub(count, scalar_literal(ddof, real))
    enough = o.gt(divisor, scalar_literal(0, real))
    quotient = _as_wanted(o.div(total, choose_between("var", enough, divisor, scalar_literal(1, real))), wanted, real)
    return strong(choose_between("var", enough, quotient, scalar_literal(np.nan, real)), result_dtype)


def _as_wanted(x: Any, wanted: np.dtype, result: np.dtype) -> Any:
    """x in a dtype, rounded towards zero where what is wanted is integers."""
    return strong(strong(x, wanted) if dtypes.is_integer(wanted) else x, result)


def _mean_of(a: Any, axes: tuple[int, ...], where: Any) -> Any:
    return mean(a, axes, keepdims=True, where=where) if axes else a


def _squared_size(x: Any) -> Any:
    return o.real(o.mul(x, o.conj(x))) if dtypes.is_complex(type_of("var", x).dtype) else o.square(x)


def std(a: Any, axis: Any = None, dtype: Any = None, out: None = None, ddof: int = 0, keepdims: bool = False, *,
        where: Any = None, mean: Any = None, correction: int | float | None = None) -> Any:
    """The standard deviation of the elements over axes; arguments are those of ``var``.

    >>> import glax.numpy as xp
    >>> xp.std(xp.array([1.0, 3.0]))
    Array(1., dtype=float32)
    """
    require_inexact("std", dtype)
    return o.sqrt(var(a, axis, dtype, out, ddof, keepdims, where=where, mean=mean, correction=correction))


def require_inexact(name: str, dtype: Any) -> None:
    """ValueError where a dtype is given that is neither floating nor complex."""
    if dtype is not None and not dtypes.is_inexact(dtype_of(dtype, name)):
        raise ValueError(f"{name}: dtype must be floating or complex, got {dtypes.canonicalize(dtype).name}")


def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, keepdims: bool = False) -> Any:
    """The mean of elements over axes, weighted where weights are given.

    Args:
        a: an array.
        axis: None for all axes, or one or several.
        weights: an array of a's shape, or of the axes'.
        returned: whether to return the sums of weights as well.

    >>> import glax.numpy as xp
    >>> xp.average(xp.array([1.0, 5.0]), weights=xp.array([3.0, 1.0]))
    Array(2., dtype=float32)
    """
    from .ufuncs import divide, multiply
    a = asarray(a)
    shape = a.aval.shape
    axes = canonical_axes(axis, len(shape), "average")
    if weights is None:
        result = mean(a, axes, keepdims=keepdims)
        count = product_of(shape[d] for d in axes)
        return (result, o.broadcast(scalar_literal(count, result.aval.dtype), result.aval.shape)
                if result.aval.shape else asarray(float(count))) if returned else result
    weights = asarray(weights)
    w_shape = weights.aval.shape
    if w_shape != shape:
        if axis is None or w_shape != tuple(shape[d] for d in axes):
            raise ValueError(f"average: weights of shape {w_shape} fit neither a of shape {shape} nor its axes {axes}")
        order = tuple(np.argsort(axes))
        weights = o.broadcast_in_dim(o.transpose(weights, order), tuple(
            n if d in axes else 1 for d, n in enumerate(shape)), tuple(sorted(axes)))
    total = sum(o.broadcast(weights, shape), axes, keepdims=keepdims)
    result = divide(sum(multiply(a, weights), axes, keepdims=keepdims), total)
    return (result, cast(total, result.aval.dtype)) if returned else result


# ---- positions of extremes


def _arg_extreme(name: str, bind_op: Callable[..., Any], what: str) -> Any:
    def function(a, axis=None, out=None, keepdims=False):
        require_no_out(name, out)
        a = as_array_of(name, a)
        shape = a.aval.shape
        if axis is None:
            result = bind_op(o.reshape(a, (a.aval.size,)), 0, dtypes.python_scalar_dtype(int))
            return o.expand_dims(result, tuple(range(len(shape)))) if keepdims and shape else result
        axis = canonical_axis(axis, len(shape), name)
        if shape[axis] == 0:
            raise ValueError(f"{name} of no elements is undefined: axis {axis} of shape {shape}")
        result = bind_op(a, axis, dtypes.python_scalar_dtype(int))
        return o.expand_dims(result, (axis,)) if keepdims else result

    return named(function, name, __name__, f"""The index of the first {what} element, along an axis or of the flattened
    array; a NaN counts as it.

    Args:
        a: an array.
        axis: an axis, or None to flatten.
        keepdims: whether the axis stays, with size 1.

    Returns:
        An int32 array. ValueError for no elements.
    """)


argmax = _arg_extreme("argmax", o.argmax, "largest")
argmin = _arg_extreme("argmin", o.argmin, "smallest")


# ---- cumulative forms


def _cumulative(name: str, bind_op: Callable[..., Any], what: str) -> Any:
    def function(a, axis=None, dtype=None, out=None):
        require_no_out(name, out)
        a = as_array_of(name, a)
        if axis is None:
            a, axis = o.reshape(a, (a.aval.size,)), 0
        axis = canonical_axis(axis, len(a.aval.shape), name)
        if dtype is not None and dtypes.is_bool(dtype_of(dtype, name)):
            counts = bind_op(o.convert_element_type(as_bool(name, a), dtypes.python_scalar_dtype(int)), axis)
            return as_bool(name, counts)
        if dtype is not None:
            a = strong(a, dtypes.canonicalize(dtype))
        elif dtypes.is_bool(a.aval.dtype):
            a = o.convert_element_type(a, dtypes.python_scalar_dtype(int))
        return bind_op(strong(a), axis)

    return named(function, name, __name__, f"""The {what} of the elements up to each one along an axis, or of the
    flattened array where axis is None.

    Args:
        a: an array.
        axis: an axis, or None to flatten.
        dtype: the dtype of the result; by default that of a, narrow integers too, and int32 for bools.

    Returns:
        An array of a's shape, or a vector. ValueError for an axis out of range.
    """)


cumsum = _cumulative("cumsum", o.cumsum, "sum")
cumprod = _cumulative("cumprod", o.cumprod, "product")


def _standard_cumulative(name: str, function: Callable[..., Any], identity: int, widens: bool) -> Any:
    def cumulative(x, /, *, axis=None, dtype=None, include_initial=False):
        x = asarray(x)
        shape = x.aval.shape
        if axis is None and len(shape) != 1:
            raise ValueError(f"{name}: an axis is needed for an array of {len(shape)} dimensions")
        axis = canonical_axis(axis or 0, len(shape), name)
        result = function(x, axis, sum_dtype(x.aval.dtype) if dtype is None and widens else dtype)
        if not include_initial:
            return result
        first = scalar_literal(identity, result.aval.dtype)
        return o.concatenate([o.broadcast(first, tuple(1 if d == axis else n for d, n in enumerate(shape))), result],
                             axis)

    usual = "that of x, or a 32-bit one for narrower integers" if widens else "that of x, and int32 for bools"
    return named(cumulative, name, __name__, f"""``{function.__name__}`` as the array API standard has it.

    Args:
        x: an array.
        axis: the axis, which only a vector may leave out.
        dtype: the dtype of the result; by default {usual}.
        include_initial: whether {identity}, what no elements give, comes first.

    Returns:
        An array of x's shape, one longer along the axis with include_initial. ValueError for an axis that is out of
        range or missing.
    """)


cumulative_sum = _standard_cumulative("cumulative_sum", cumsum, 0, widens=True)
cumulative_prod = _standard_cumulative("cumulative_prod", cumprod, 1, widens=False)
