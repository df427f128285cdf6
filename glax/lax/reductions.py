"""Reductions, cumulative reductions, sorting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._calls import require_callable
from .._promotion import as_index, canonical_axes, canonical_axis, named, strong, type_of
from ..ir import bind, dtypes, shaped_array, stage
from ..ir import ops as o
from ..ir.tree import flatten, unflatten
from ._arguments import entries
from ._associative import associative_scan
from ._names import dtype_of, named_error


def _reduction(name: str, kind: type, what: str) -> Callable[..., Any]:
    def function(operand, axes):
        given = entries(axes, name, "axes")
        op = kind(canonical_axes(given, len(type_of(name, operand).shape), name, "axes"))
        return bind(op, operand)

    return named(function, name, __name__, f"""The {what} of the elements over axes, which the result lacks.

    Args:
        operand: an array.
        axes: the axes, in a sequence; negative ones count from the end.

    Returns:
        An array of operand's dtype. ValueError for axes out of range or given twice.
    """)


reduce_sum = _reduction("reduce_sum", o.ReduceSum, "sum")
reduce_prod = _reduction("reduce_prod", o.ReduceProd, "product")
reduce_max = _reduction("reduce_max", o.ReduceMax, "largest")
reduce_min = _reduction("reduce_min", o.ReduceMin, "smallest")
reduce_and = _reduction("reduce_and", o.ReduceAnd, "and (bitwise, or logical of bools)")
reduce_or = _reduction("reduce_or", o.ReduceOr, "or (bitwise, or logical of bools)")
reduce_xor = _reduction("reduce_xor", o.ReduceXor, "exclusive or (bitwise, or logical of bools)")


def _log_of_sum(x: Any, y: Any) -> Any:
    """log(exp(x) + exp(y)) of complex numbers."""
    larger = o.max_(x, y)
    return o.add(larger, o.log1p(o.exp(o.sub(o.min_(x, y), larger))))


def _cumulative(name: str, bind_op: Callable[..., Any], what: str,
                of_complex: Callable[[Any, Any], Any] | None = None) -> Callable[..., Any]:
    def function(operand, axis=0, reverse=False):
        aval = type_of(name, operand)
        axis = canonical_axis(axis, len(aval.shape), name)
        if of_complex is not None and dtypes.is_complex(aval.dtype):
            return associative_scan(of_complex, operand, bool(reverse), axis)
        return bind_op(operand, axis, bool(reverse))

    return named(function, name, __name__, f"""The {what} of the elements up to each one along an axis, from the end
    where reverse is true. Shape and dtype stay; complex numbers are ordered by their real, then their imaginary parts.
    ValueError for an axis out of range.
    """)


cumsum = _cumulative("cumsum", o.cumsum, "sum")
cumprod = _cumulative("cumprod", o.cumprod, "product")
cummax = _cumulative("cummax", o.cummax, "largest", o.max_)
cummin = _cumulative("cummin", o.cummin, "smallest", o.min_)
cumlogsumexp = _cumulative("cumlogsumexp", o.cumlogsumexp, "logarithm of the sum of exponentials", _log_of_sum)


def _arg(name: str, bind_op: Callable[..., Any], what: str) -> Callable[..., Any]:
    def function(operand, axis, index_dtype=np.int32):
        dtype = dtype_of(index_dtype, name, "index_dtype")
        if not dtypes.is_integer(dtype):
            raise TypeError(f"{name}: index_dtype must be an integer dtype, got {dtype.name}")
        return bind_op(operand, canonical_axis(axis, len(type_of(name, operand).shape), name), dtype)

    return named(function, name, __name__, f"""The index of the first {what} element along an axis; a NaN counts as it.

    Args:
        operand: an array of real numbers or bools.
        axis: the axis, which the result lacks.
        index_dtype: the integer dtype of the result.

    Raises:
        ValueError: the axis is out of range or has no elements.
        TypeError: index_dtype is not an integer dtype.
    """)


argmax = _arg("argmax", o.argmax, "largest")
argmin = _arg("argmin", o.argmin, "smallest")


def reduce(operands: Any, init_values: Any, computation: Callable[[Any, Any], Any], dimensions: Sequence[int]) -> Any:
    """A reduction by any associative and commutative function.

    Args:
        operands: an array, or a pytree of arrays of one shape.
        init_values: the neutral scalar, or a pytree of them like operands.
        computation: a function of two values like init_values to one: what is accumulated, and what is new.
        dimensions: the dimensions to reduce.

    >>> from glax import lax
    >>> lax.reduce(lax.iota("int32", 4), 0, lax.max, (0,))
    Array(3, dtype=int32)
    """
    require_callable("reduce", computation, "computation")
    xs, tree = flatten(operands)
    if not xs:
        raise ValueError("reduce: operands must hold at least one array")
    inits, init_tree = flatten(init_values)
    if tree != init_tree:
        raise ValueError(f"reduce: operands and init_values must have one structure, got {tree} and {init_tree}")
    types = [type_of("reduce", x) for x in xs]
    dims = canonical_axes(entries(dimensions, "reduce", "dimensions"), len(types[0].shape), "reduce", "dimensions")
    for init in inits:
        type_of("reduce", init, 1)
    inits = [strong(init, x.dtype) if type(init) in (bool, int, float, complex) else strong(init)
             for init, x in zip(inits, types)]
    for init, x in zip(inits, types):
        if type_of("reduce", init).dtype != x.dtype:
            raise TypeError(f"reduce: an operand of {x.short()} has an initial value of "
                            f"{type_of('reduce', init).short()}; their dtypes must be equal")
    scalars = [shaped_array((), x.dtype) for x in types]

    def apply(*values: Any) -> list[Any]:
        accumulated, new = (unflatten(tree, part) for part in (values[:len(xs)], values[len(xs):]))
        leaves, out_tree = flatten(computation(accumulated, new))
        if out_tree != tree:
            raise TypeError(f"reduce: the computation must return a pytree like the operands, {tree}, got {out_tree}")
        return [strong(leaf, x.dtype) if type_of("reduce", leaf).weak_type else leaf for leaf, x in zip(leaves, types)]

    jaxpr, captured = stage(apply, scalars * 2, "the computation of reduce")
    if captured:
        raise TypeError(f"reduce: the computation must not use {len(captured)} arrays from outside; use Python scalars")
    return unflatten(tree, bind(o.Reduce(jaxpr, dims), *xs, *inits))


def sort(operand: Any, dimension: int = -1, is_stable: bool = True, num_keys: int = 1) -> Any:
    """An array sorted along a dimension; or arrays of one shape, given in a sequence, sorted together by the first
    num_keys of them. NaN comes last, and equal elements keep their order where is_stable is true.

    >>> from glax import lax
    >>> lax.sort((lax.rev(lax.iota("int32", 3), (0,)), lax.iota("int32", 3)))
    (Array([0, 1, 2], dtype=int32), Array([2, 1, 0], dtype=int32))
    """
    many = isinstance(operand, (tuple, list))
    results = _sorted("sort", list(operand) if many else [operand], dimension, is_stable, num_keys)
    return tuple(results) if many else results[0]


def _sorted(name: str, operands: list[Any], dimension: int, is_stable: bool, num_keys: int) -> list[Any]:
    if not operands:
        raise TypeError(f"{name}: at least one array is needed")
    shapes = [type_of(name, x, i).shape for i, x in enumerate(operands)]
    dimension = canonical_axis(dimension, len(shapes[0]), name, "dimension")
    try:
        return o.sort(operands, dimension, bool(is_stable), as_index(num_keys, name, "num_keys"))
    except (TypeError, ValueError) as error:
        raise named_error(error, name) from None


def sort_key_val(keys: Any, values: Any, dimension: int = -1, is_stable: bool = True) -> tuple[Any, Any]:
    """keys sorted along a dimension, and values in the same order. Both have one shape. ValueError for a dimension out
    of range.

    >>> import glax.numpy as xp
    >>> from glax import lax
    >>> lax.sort_key_val(xp.array([3, 1, 2]), xp.array([10, 20, 30]))
    (Array([1, 2, 3], dtype=int32), Array([20, 30, 10], dtype=int32))
    """
    keys, values = _sorted("sort_key_val", [keys, values], dimension, is_stable, 1)
    return keys, values


def top_k(operand: Any, k: int, *, axis: int = -1) -> list[Any]:
    """The k largest elements along an axis, in falling order, and their int32 indices. NaN counts as the largest.
    ValueError where there are fewer than k.

    >>> from glax import lax
    >>> lax.top_k(lax.iota("int32", 4), 2)
    [Array([3, 2], dtype=int32), Array([3, 2], dtype=int32)]
    """
    shape = type_of("top_k", operand).shape
    k = as_index(k, "top_k", "k")
    if not shape:
        raise ValueError("top_k needs an array of at least one dimension, got a scalar")
    axis = canonical_axis(axis, len(shape), "top_k")
    if axis == len(shape) - 1:
        return o.top_k(operand, k)
    swap = tuple(len(shape) - 1 if d == axis else axis if d == len(shape) - 1 else d for d in range(len(shape)))
    return [o.transpose(x, swap) for x in o.top_k(o.transpose(operand, swap), k)]
