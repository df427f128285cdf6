"""Operations that move, repeat or join elements, and iota."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..jaxpr import Literal
from ..operation import Operation, abstract_eval, operation
from ..staging import aval_of, bind
from ..types import ShapedArray, shaped_array
from .typing import require_axes, require_same_dtype

__all__ = [
    "BroadcastInDim", "Concatenate", "Iota", "Pad", "Reshape", "Rev", "Slice", "Split", "Squeeze", "Transpose",
    "broadcast", "broadcast_in_dim", "concatenate", "expand_dims", "full", "iota", "pad", "reshape", "rev", "slice_",
    "split", "squeeze", "transpose",
]


@operation
class BroadcastInDim(Operation):
    """The operand's dimensions placed at broadcast_dimensions of a shape; new and size-1 dimensions are repeated."""

    name = "broadcast_in_dim"
    shape: tuple[int, ...]
    broadcast_dimensions: tuple[int, ...]


@abstract_eval.register(BroadcastInDim)
def _type_of_broadcast(op: BroadcastInDim, x: ShapedArray) -> ShapedArray:
    dims = op.broadcast_dimensions
    if len(dims) != x.ndim:
        raise ValueError(f"broadcast_in_dim: broadcast_dimensions {dims} must name one for each of the operand's "
                         f"{x.ndim} dimensions (shape {x.shape})")
    require_axes(op.name, dims, len(op.shape), "broadcast_dimensions")
    if tuple(sorted(dims)) != dims:
        raise ValueError(f"broadcast_in_dim: broadcast_dimensions {dims} must increase")
    if any(d < 0 for d in op.shape):
        raise ValueError(f"broadcast_in_dim: shape {op.shape} has a negative dimension")
    for size, dim in zip(x.shape, dims):
        if size != op.shape[dim] and size != 1:
            raise ValueError(f"broadcast_in_dim: an operand of shape {x.shape} does not fit shape {op.shape} at "
                             f"broadcast_dimensions {dims}")
    return shaped_array(op.shape, x.dtype, x.weak_type)


@operation
class Reshape(Operation):
    """The same elements in row-major order, in another shape."""

    name = "reshape"
    new_sizes: tuple[int, ...]


@abstract_eval.register(Reshape)
def _type_of_reshape(op: Reshape, x: ShapedArray) -> ShapedArray:
    if prod(op.new_sizes) != x.size or any(d < 0 for d in op.new_sizes):
        raise TypeError(f"reshape: cannot reshape an array of shape {x.shape} (size {x.size}) into {op.new_sizes}")
    return shaped_array(op.new_sizes, x.dtype, x.weak_type)


@operation
class Transpose(Operation):
    """Dimensions permuted: dimension i of the result is dimension permutation[i] of the operand."""

    name = "transpose"
    permutation: tuple[int, ...]


@abstract_eval.register(Transpose)
def _type_of_transpose(op: Transpose, x: ShapedArray) -> ShapedArray:
    if sorted(op.permutation) != list(range(x.ndim)):
        raise TypeError(f"transpose: {op.permutation} is not a permutation of the {x.ndim} dimensions of {x.shape}")
    return shaped_array(tuple(x.shape[d] for d in op.permutation), x.dtype, x.weak_type)


@operation
class Squeeze(Operation):
    """Dimensions of size 1 removed."""

    name = "squeeze"
    dimensions: tuple[int, ...]


@abstract_eval.register(Squeeze)
def _type_of_squeeze(op: Squeeze, x: ShapedArray) -> ShapedArray:
    require_axes(op.name, op.dimensions, x.ndim, "dimensions")
    if any(x.shape[d] != 1 for d in op.dimensions):
        raise ValueError(f"squeeze: cannot remove dimensions {op.dimensions} of shape {x.shape}: not all are of size 1")
    shape = tuple(n for d, n in enumerate(x.shape) if d not in op.dimensions)
    return shaped_array(shape, x.dtype, x.weak_type)


@operation
class Concatenate(Operation):
    """Operands joined along a dimension."""

    name = "concatenate"
    dimension: int


@abstract_eval.register(Concatenate)
def _type_of_concatenate(op: Concatenate, *xs: ShapedArray) -> ShapedArray:
    if not xs:
        raise TypeError("concatenate takes at least one operand")
    require_same_dtype(op.name, xs)
    first, d = xs[0], op.dimension
    if any(x.ndim != first.ndim for x in xs):
        raise TypeError(f"concatenate: operands differ in rank: {[x.shape for x in xs]}")
    require_axes(op.name, (d,), first.ndim, "dimension")
    rest = first.shape[:d] + first.shape[d + 1:]
    if any(x.shape[:d] + x.shape[d + 1:] != rest for x in xs):
        raise TypeError(f"concatenate: operands must agree in every dimension but {d}, got {[x.shape for x in xs]}")
    shape = (*first.shape[:d], sum(x.shape[d] for x in xs), *first.shape[d + 1:])
    return shaped_array(shape, first.dtype, all(x.weak_type for x in xs))


@operation
class Pad(Operation):
    """Copies of a scalar put before, after and between elements: (low, high, interior) a dimension; low and high
    may be negative, which removes elements. As pad(operand, padding_value)."""

    name = "pad"
    padding_config: tuple[tuple[int, int, int], ...]


@abstract_eval.register(Pad)
def _type_of_pad(op: Pad, x: ShapedArray, value: ShapedArray) -> ShapedArray:
    require_same_dtype(op.name, (x, value))
    if value.shape != ():
        raise TypeError(f"pad: the padding value must be a scalar, got shape {value.shape}")
    if len(op.padding_config) != x.ndim:
        raise TypeError(f"pad: padding_config {op.padding_config} must have one entry a dimension of {x.shape}")
    if any(interior < 0 for _, _, interior in op.padding_config):
        raise ValueError(f"pad: interior padding must not be negative, got {op.padding_config}")
    shape = tuple(low + high + n + max(n - 1, 0) * interior
                  for n, (low, high, interior) in zip(x.shape, op.padding_config))
    if any(n < 0 for n in shape):
        raise ValueError(f"pad: {op.padding_config} on shape {x.shape} gives a negative dimension in {shape}")
    return shaped_array(shape, x.dtype, x.weak_type and value.weak_type)


@operation
class Slice(Operation):
    """Elements from start up to limit in steps of strides, a dimension at a time; strides None means all 1."""

    name = "slice"
    start_indices: tuple[int, ...]
    limit_indices: tuple[int, ...]
    strides: tuple[int, ...] | None


@abstract_eval.register(Slice)
def _type_of_slice(op: Slice, x: ShapedArray) -> ShapedArray:
    strides = op.strides or (1,) * x.ndim
    for what, given in (("start_indices", op.start_indices), ("limit_indices", op.limit_indices), ("strides", strides)):
        if len(given) != x.ndim:
            raise TypeError(f"slice: {what} {given} must have one entry a dimension of {x.shape}")
    for n, lo, hi, step in zip(x.shape, op.start_indices, op.limit_indices, strides):
        if not 0 <= lo <= hi <= n or step < 1:
            raise TypeError(f"slice: start_indices {op.start_indices}, limit_indices {op.limit_indices}, strides "
                            f"{op.strides} do not fit shape {x.shape}")
    shape = tuple(-(-(hi - lo) // step) for lo, hi, step in zip(op.start_indices, op.limit_indices, strides))
    return shaped_array(shape, x.dtype, x.weak_type)


@operation
class Rev(Operation):
    """Dimensions reversed."""

    name = "rev"
    dimensions: tuple[int, ...]


@abstract_eval.register(Rev)
def _type_of_rev(op: Rev, x: ShapedArray) -> ShapedArray:
    require_axes(op.name, op.dimensions, x.ndim, "dimensions")
    return x


@operation
class Iota(Operation):
    """An array of which each element is its index along a dimension."""

    name = "iota"
    dtype: np.dtype
    shape: tuple[int, ...]
    dimension: int


@abstract_eval.register(Iota)
def _type_of_iota(op: Iota) -> ShapedArray:
    require_axes(op.name, (op.dimension,), len(op.shape), "dimension")
    return shaped_array(op.shape, op.dtype)


@operation
class Split(Operation):
    """Consecutive pieces of given sizes along an axis."""

    name = "split"
    multiple_results = True
    sizes: tuple[int, ...]
    axis: int


@abstract_eval.register(Split)
def _type_of_split(op: Split, x: ShapedArray) -> list[ShapedArray]:
    require_axes(op.name, (op.axis,), x.ndim, "axis")
    if sum(op.sizes) != x.shape[op.axis] or any(n < 0 for n in op.sizes):
        raise ValueError(f"split: sizes {op.sizes} do not add up to dimension {op.axis} of {x.shape}")
    return [shaped_array((*x.shape[:op.axis], n, *x.shape[op.axis + 1:]), x.dtype, x.weak_type) for n in op.sizes]


def broadcast_in_dim(x: Any, shape: tuple[int, ...], broadcast_dimensions: tuple[int, ...]) -> Any:
    """x with its dimensions placed at broadcast_dimensions of a shape, repeated along new dimensions and those of size
    1.
    """
    return bind(BroadcastInDim(tuple(shape), tuple(broadcast_dimensions)), x)


def broadcast(x: Any, shape: tuple[int, ...]) -> Any:
    """x with leading dimensions added to reach a shape; x itself where it has the shape already."""
    old = aval_of(x).shape
    if old == tuple(shape):
        return x
    return broadcast_in_dim(x, shape, tuple(range(len(shape) - len(old), len(shape))))


def full(shape: tuple[int, ...], value: Any, dtype: np.dtype, weak_type: bool = False) -> Any:
    """An array filled with a Python or NumPy scalar."""
    return broadcast_in_dim(Literal(np.asarray(value, dtype), shaped_array((), np.dtype(dtype), weak_type)), shape, ())


def reshape(x: Any, new_sizes: tuple[int, ...]) -> Any:
    """The elements of x, in row-major order, in another shape; x itself where it has the shape already."""
    return x if aval_of(x).shape == tuple(new_sizes) else bind(Reshape(tuple(new_sizes)), x)


def transpose(x: Any, permutation: tuple[int, ...]) -> Any:
    """x with dimension permutation[i] as dimension i; x itself where the permutation changes nothing."""
    permutation = tuple(permutation)
    return x if permutation == tuple(range(len(permutation))) else bind(Transpose(permutation), x)


def squeeze(x: Any, dimensions: tuple[int, ...]) -> Any:
    """x without some of its dimensions of size 1; x itself where there are none to remove."""
    return bind(Squeeze(tuple(dimensions)), x) if dimensions else x


def expand_dims(x: Any, dimensions: tuple[int, ...]) -> Any:
    """x with dimensions of size 1 inserted, numbered in the result."""
    old = aval_of(x).shape
    kept = [d for d in range(len(old) + len(dimensions)) if d not in dimensions]
    shape = [1] * (len(old) + len(dimensions))
    for d, n in zip(kept, old):
        shape[d] = n
    return broadcast_in_dim(x, tuple(shape), tuple(kept)) if dimensions else x


def concatenate(xs: list[Any], dimension: int) -> Any:
    """Arrays of one dtype, equal in all other dimensions, joined along a dimension."""
    return bind(Concatenate(dimension), *xs)


def pad(x: Any, padding_value: Any, padding_config: tuple[tuple[int, int, int], ...]) -> Any:
    """x with copies of a scalar put in: (low, high, interior) says how many before, after and between, a dimension."""
    return bind(Pad(tuple(tuple(p) for p in padding_config)), x, padding_value)


def slice_(x: Any, start_indices: tuple[int, ...], limit_indices: tuple[int, ...],
           strides: tuple[int, ...] | None = None) -> Any:
    """The elements of x from start_indices up to limit_indices in steps of strides (1 by default), a number a
    dimension.
    """
    return bind(Slice(tuple(start_indices), tuple(limit_indices), strides if strides is None else tuple(strides)), x)


def rev(x: Any, dimensions: tuple[int, ...]) -> Any:
    """x with the elements along some dimensions in the opposite order."""
    return bind(Rev(tuple(dimensions)), x)


def iota(dtype: np.dtype, shape: tuple[int, ...], dimension: int) -> Any:
    """An array of a dtype and shape of which each element is its index along a dimension."""
    return bind(Iota(np.dtype(dtype), tuple(shape), dimension))


def split(x: Any, sizes: tuple[int, ...], axis: int) -> list[Any]:
    """Consecutive pieces of x along an axis, of given sizes, which add up to that of x."""
    return bind(Split(tuple(sizes), axis), x)
