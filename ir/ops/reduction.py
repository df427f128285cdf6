"""Reductions, cumulative reductions, sort and top_k."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..jaxpr import Jaxpr
from ..operation import Operation, abstract_eval, operation
from ..staging import bind
from ..types import ShapedArray, shaped_array
from .typing import require_axes, require_kind

__all__ = [
    "ArgReduction", "Argmax", "Argmin", "AxesReduction", "Cumlogsumexp", "Cummax", "Cummin", "Cumprod", "Cumsum",
    "Cumulative", "Reduce", "ReduceAnd", "ReduceMax", "ReduceMin", "ReduceOr", "ReduceProd", "ReduceSum", "ReduceXor",
    "Sort", "TopK", "argmax", "argmin", "cumlogsumexp", "cummax", "cummin", "cumprod", "cumsum", "reduce_and",
    "reduce_max", "reduce_min", "reduce_or", "reduce_prod", "reduce_sum", "sort", "top_k",
]


def _without(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(n for d, n in enumerate(shape) if d not in axes)


class AxesReduction(Operation):
    """Base of the reductions of one operand over some of its axes."""

    __slots__ = ()
    accepts: ClassVar[str] = "iufc"
    axes: tuple[int, ...]


@abstract_eval.register(AxesReduction)
def _type_of_reduction(op: AxesReduction, x: ShapedArray) -> ShapedArray:
    require_axes(op.name, op.axes, x.ndim)
    require_kind(op.name, op.accepts, x)
    return shaped_array(_without(x.shape, op.axes), x.dtype, x.weak_type)


@operation
class ReduceSum(AxesReduction):
    """The sum over axes; 0 of no elements."""

    name = "reduce_sum"
    axes: tuple[int, ...]


@operation
class ReduceProd(AxesReduction):
    """The product over axes; 1 of no elements."""

    name = "reduce_prod"
    axes: tuple[int, ...]


@operation
class ReduceMax(AxesReduction):
    """The largest; of no elements, the least value of the dtype. NaN wins."""

    name = "reduce_max"
    accepts = "biufc"
    axes: tuple[int, ...]


@operation
class ReduceMin(AxesReduction):
    """The smallest; of no elements, the greatest value of the dtype. NaN wins."""

    name = "reduce_min"
    accepts = "biufc"
    axes: tuple[int, ...]


@operation
class ReduceAnd(AxesReduction):
    """The bitwise (for bool, logical) and over axes."""

    name = "reduce_and"
    accepts = "biu"
    axes: tuple[int, ...]


@operation
class ReduceOr(AxesReduction):
    """The bitwise (for bool, logical) or over axes."""

    name = "reduce_or"
    accepts = "biu"
    axes: tuple[int, ...]


@operation
class ReduceXor(AxesReduction):
    """The bitwise (for bool, logical) exclusive or over axes."""

    name = "reduce_xor"
    accepts = "biu"
    axes: tuple[int, ...]


class ArgReduction(Operation):
    """Base of argmax and argmin: the index, along one axis, of the first extreme element; NaN is extreme."""

    __slots__ = ()
    axis: int
    index_dtype: np.dtype


@operation
class Argmax(ArgReduction):
    """The index of the first largest element along an axis; NaN is the largest."""

    name = "argmax"
    axis: int
    index_dtype: np.dtype


@operation
class Argmin(ArgReduction):
    """The index of the first smallest element along an axis; NaN is the smallest."""

    name = "argmin"
    axis: int
    index_dtype: np.dtype


@abstract_eval.register(ArgReduction)
def _type_of_arg_reduction(op: ArgReduction, x: ShapedArray) -> ShapedArray:
    require_axes(op.name, (op.axis,), x.ndim, "axis")
    require_kind(op.name, "biuf", x)
    if x.shape[op.axis] == 0:
        raise ValueError(f"{op.name}: axis {op.axis} of shape {x.shape} has no elements")
    return shaped_array(_without(x.shape, (op.axis,)), op.index_dtype)


@operation
class Reduce(Operation):
    """A general reduction of n operands with n scalar initial values, as reduce(*operands, *init_values), by a
    program of 2n scalars (accumulated, then new) to n scalars, which must be associative and commutative."""

    name = "reduce"
    multiple_results = True
    jaxpr: Jaxpr
    dimensions: tuple[int, ...]


@abstract_eval.register(Reduce)
def _type_of_general_reduce(op: Reduce, *avals: ShapedArray) -> list[ShapedArray]:
    n = len(avals) // 2
    operands, inits = avals[:n], avals[n:]
    if not n or len(avals) % 2 or len(op.jaxpr.in_binders) != 2 * n or len(op.jaxpr.outs) != n:
        raise TypeError(f"reduce takes as many initial values as operands and a program of twice as many scalars, got "
                        f"{len(avals)} values and a program of {len(op.jaxpr.in_binders)} inputs")
    for x, init in zip(operands, inits):
        if x.shape != operands[0].shape or init.shape != () or init.dtype != x.dtype:
            raise TypeError(f"reduce: operands {[a.short() for a in operands]} must have equal shapes and initial "
                            f"values {[a.short() for a in inits]} must be scalars of their dtypes")
    require_axes(op.name, op.dimensions, operands[0].ndim, "dimensions")
    for x, out in zip(operands, op.jaxpr.out_avals):
        if (out.shape, out.dtype) != ((), x.dtype):
            raise TypeError(f"reduce: the computation must return a scalar of dtype {x.dtype.name}, got {out.short()}")
    return [shaped_array(_without(x.shape, op.dimensions), x.dtype) for x in operands]


class Cumulative(Operation):
    """Base of the cumulative reductions along one axis, from the start or (reverse) from the end."""

    __slots__ = ()
    accepts: ClassVar[str] = "iufc"
    axis: int
    reverse: bool


@abstract_eval.register(Cumulative)
def _type_of_cumulative(op: Cumulative, x: ShapedArray) -> ShapedArray:
    require_axes(op.name, (op.axis,), x.ndim, "axis")
    require_kind(op.name, op.accepts, x)
    return x


@operation
class Cumsum(Cumulative):
    """Sums of all elements up to each along an axis, or from each on (reverse)."""

    name = "cumsum"
    axis: int
    reverse: bool


@operation
class Cumprod(Cumulative):
    """Products of all elements up to each along an axis, or from each on (reverse)."""

    name = "cumprod"
    axis: int
    reverse: bool


@operation
class Cummax(Cumulative):
    """The largest of all elements up to each along an axis, or from each on (reverse)."""

    name = "cummax"
    accepts = "biuf"
    axis: int
    reverse: bool


@operation
class Cummin(Cumulative):
    """The smallest of all elements up to each along an axis, or from each on (reverse)."""

    name = "cummin"
    accepts = "biuf"
    axis: int
    reverse: bool


@operation
class Cumlogsumexp(Cumulative):
    """The logarithms of the sums of exponentials up to each along an axis, or from each on (reverse)."""

    name = "cumlogsumexp"
    accepts = "f"
    axis: int
    reverse: bool


@operation
class Sort(Operation):
    """Operands of one shape sorted together along a dimension, by the first num_keys of them in turn. NaN comes last,
    and -0.0 and 0.0 are equal."""

    name = "sort"
    multiple_results = True
    dimension: int
    is_stable: bool
    num_keys: int


@abstract_eval.register(Sort)
def _type_of_sort(op: Sort, *xs: ShapedArray) -> list[ShapedArray]:
    if not xs or any(x.shape != xs[0].shape for x in xs):
        raise TypeError(f"sort needs operands of one shape, got {[x.shape for x in xs]}")
    require_axes(op.name, (op.dimension,), xs[0].ndim, "dimension")
    if not 1 <= op.num_keys <= len(xs):
        raise ValueError(f"sort: num_keys must be from 1 to {len(xs)}, got {op.num_keys}")
    return list(xs)


@operation
class TopK(Operation):
    """The k largest along the last dimension, in falling order, and their int32 indices; ties by lower index."""

    name = "top_k"
    multiple_results = True
    k: int


@abstract_eval.register(TopK)
def _type_of_top_k(op: TopK, x: ShapedArray) -> list[ShapedArray]:
    require_kind(op.name, "biuf", x)
    if not x.ndim:
        raise TypeError("top_k needs an array of at least one dimension, got a scalar")
    if not 0 <= op.k <= x.shape[-1]:
        raise ValueError(f"top_k: k must be from 0 to the last dimension of {x.shape}, got {op.k}")
    shape = (*x.shape[:-1], op.k)
    return [shaped_array(shape, x.dtype, x.weak_type), shaped_array(shape, np.dtype(np.int32))]


def reduce_sum(x: Any, axes: Sequence[int]) -> Any:
    """The sum of x over axes, which the result does not have; x itself where there are none.

    >>> from glax.ir import ShapedArray, ops, stage
    >>> stage(lambda x: [ops.reduce_sum(x, (0,))], [ShapedArray((2, 3), "float32")])[0]
    { lambda ; a:f32[2,3]. let b:f32[3] = reduce_sum[axes=(0,)] a in (b,) }
    """
    return bind(ReduceSum(tuple(axes)), x) if axes else x


def reduce_prod(x: Any, axes: Sequence[int]) -> Any:
    """The product of x over axes, which the result does not have."""
    return bind(ReduceProd(tuple(axes)), x)


def reduce_max(x: Any, axes: Sequence[int]) -> Any:
    """The largest element of x over axes, which the result does not have; NaN wins."""
    return bind(ReduceMax(tuple(axes)), x)


def reduce_min(x: Any, axes: Sequence[int]) -> Any:
    """The smallest element of x over axes, which the result does not have; NaN wins."""
    return bind(ReduceMin(tuple(axes)), x)


def reduce_and(x: Any, axes: Sequence[int]) -> Any:
    """The bitwise (for bool, logical) and of x over axes, which the result does not have."""
    return bind(ReduceAnd(tuple(axes)), x)


def reduce_or(x: Any, axes: Sequence[int]) -> Any:
    """The bitwise (for bool, logical) or of x over axes, which the result does not have."""
    return bind(ReduceOr(tuple(axes)), x)


def argmax(x: Any, axis: int, index_dtype: np.dtype) -> Any:
    """The index, of a given dtype, of the first largest element of x along an axis; NaN is the largest."""
    return bind(Argmax(axis, np.dtype(index_dtype)), x)


def argmin(x: Any, axis: int, index_dtype: np.dtype) -> Any:
    """The index, of a given dtype, of the first smallest element of x along an axis; NaN is the smallest."""
    return bind(Argmin(axis, np.dtype(index_dtype)), x)


def cumsum(x: Any, axis: int = 0, reverse: bool = False) -> Any:
    """The sums of all elements of x up to each along an axis, or from each on (reverse); of x's shape."""
    return bind(Cumsum(axis, reverse), x)


def cumprod(x: Any, axis: int = 0, reverse: bool = False) -> Any:
    """The products of all elements of x up to each along an axis, or from each on (reverse); of x's shape."""
    return bind(Cumprod(axis, reverse), x)


def cummax(x: Any, axis: int = 0, reverse: bool = False) -> Any:
    """The largest of all elements of x up to each along an axis, or from each on (reverse); of x's shape."""
    return bind(Cummax(axis, reverse), x)


def cummin(x: Any, axis: int = 0, reverse: bool = False) -> Any:
    """The smallest of all elements of x up to each along an axis, or from each on (reverse); of x's shape."""
    return bind(Cummin(axis, reverse), x)


def cumlogsumexp(x: Any, axis: int = 0, reverse: bool = False) -> Any:
    """The logarithms of the sums of exponentials of x up to each along an axis, or from each on (reverse); of x's
    shape.
    """
    return bind(Cumlogsumexp(axis, reverse), x)


def sort(operands: Sequence[Any], dimension: int, is_stable: bool = True, num_keys: int = 1) -> list[Any]:
    """Operands of one shape sorted together along a dimension, from 0, by the first num_keys of them; one list entry
    each.
    """
    return bind(Sort(dimension, is_stable, num_keys), *operands)


def top_k(x: Any, k: int) -> list[Any]:
    """The k largest elements of x along its last dimension, in falling order, and their int32 indices."""
    return bind(TopK(k), x)
