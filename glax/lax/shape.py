"""Operations that move, repeat or join elements, and arrays filled with a value or with indices."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from .._promotion import (
    PYTHON_SCALARS,
    as_index,
    as_shape,
    canonical_axes,
    canonical_axis,
    cast,
    dtype_and_weak,
    scalar_literal,
    shape_of,
    strong,
    type_of,
)
from .._promotion import broadcast_shapes as _broadcast_shapes
from ..ir import IncompatibleShapesError, Tracer, dtypes, shaped_array
from ..ir import ops as o
from ..ir.staging import current_builder
from ..lower import Array, from_numpy_owned
from ._arguments import as_result, entries, integers
from ._names import dtype_of


def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]:
    """The shape to which shapes broadcast by NumPy's rule. ValueError where they do not.

    >>> from glax import lax
    >>> lax.broadcast_shapes((3, 1), (4,))
    (3, 4)
    """
    return _broadcast_shapes("broadcast_shapes", [as_shape(s, "broadcast_shapes") for s in shapes] or [()])


def broadcast(operand: Any, sizes: Sequence[int]) -> Any:
    """operand repeated along new leading dimensions of the given sizes.

    >>> import glax.numpy as xp
    >>> from glax import lax
    >>> lax.broadcast(xp.arange(2), (3,)).shape
    (3, 2)
    """
    shape = type_of("broadcast", operand).shape
    sizes = as_shape(sizes, "broadcast", "sizes")
    return o.broadcast_in_dim(operand, sizes + shape, tuple(range(len(sizes), len(sizes) + len(shape))))


def broadcast_in_dim(operand: Any, shape: Sequence[int], broadcast_dimensions: Sequence[int]) -> Any:
    """operand's dimensions placed at broadcast_dimensions of a shape, and repeated where they are new or of size 1.

    >>> from glax import lax
    >>> lax.broadcast_in_dim(1.0, (2,), ())
    Array([1., 1.], dtype=float32, weak_type=True)
    """
    shape = as_shape(shape, "broadcast_in_dim")
    dims = integers(broadcast_dimensions, "broadcast_in_dim", "broadcast_dimensions")
    if type_of("broadcast_in_dim", operand).shape == shape and dims == tuple(range(len(shape))) and isinstance(
            operand, (Array, Tracer)):
        return operand
    try:
        return o.broadcast_in_dim(operand, shape, dims)
    except ValueError as error:
        raise IncompatibleShapesError(str(error)) from None


def broadcast_to_rank(x: Any, rank: int) -> Any:
    """x with leading dimensions of size 1 added to reach a rank. ValueError where x has more dimensions.

    >>> import glax.numpy as xp
    >>> from glax import lax
    >>> lax.broadcast_to_rank(xp.arange(2), 3).shape
    (1, 1, 2)
    """
    rank = as_index(rank, "broadcast_to_rank", "rank")
    missing = rank - len(type_of("broadcast_to_rank", x).shape)
    if missing < 0:
        raise ValueError(f"broadcast_to_rank: an array of shape {shape_of(x)} has more than {rank} dimensions")
    return as_result(o.expand_dims(x, tuple(range(missing))))


def broadcast_like(arr: Any, like_arr: Any) -> Any:
    """arr broadcast to the shape of like_arr. The dtype stays that of arr. ValueError where the shapes do not
    broadcast.

    >>> import glax.numpy as xp
    >>> from glax import lax
    >>> lax.broadcast_like(1, xp.zeros(3))
    Array([1, 1, 1], dtype=int32, weak_type=True)
    """
    shape, wanted = type_of("broadcast_like", arr).shape, type_of("broadcast_like", like_arr, 1).shape
    if len(shape) > len(wanted) or builtins.any(n not in (1, m) for n, m in zip(shape[::-1], wanted[::-1])):
        raise IncompatibleShapesError(f"broadcast_like: an array of shape {shape} does not broadcast to shape {wanted}")
    return as_result(o.broadcast(arr, wanted))


def resolve_sizes(name: str, shape: tuple[int, ...], new_sizes: Any) -> tuple[int, ...]:
    """New sizes with a -1 among them replaced by what is left; IncompatibleShapesError where the numbers of elements
    differ."""
    given = new_sizes if isinstance(new_sizes, (tuple, list)) else (
        tuple(new_sizes) if isinstance(new_sizes, np.ndarray) and new_sizes.ndim else (new_sizes,))
    sizes = [as_index(n, name, "shape") for n in given]
    size = prod(shape)
    if sizes.count(-1) > 1:
        raise IncompatibleShapesError(f"{name}: at most one size may be -1, got {tuple(sizes)}")
    if -1 in sizes:
        rest = prod(n for n in sizes if n != -1)
        if rest == 0 or size % rest:
            raise IncompatibleShapesError(f"{name}: cannot reshape an array of shape {shape} (size {size}) into "
                                          f"{tuple(sizes)}: {size} is no multiple of {rest}")
        sizes[sizes.index(-1)] = size // rest
    if prod(sizes) != size or builtins.any(n < 0 for n in sizes):
        raise IncompatibleShapesError(f"{name}: cannot reshape an array of shape {shape} (size {size}) into "
                                      f"{tuple(sizes)}")
    return tuple(sizes)


def reshape(operand: Any, new_sizes: Sequence[int], dimensions: Sequence[int] | None = None) -> Any:
    """The same elements in row-major order, in another shape; dimensions, where given, are permuted first.

    >>> from glax import lax
    >>> lax.reshape(lax.iota("int32", 4), (2, 2))
    Array([[0, 1],
           [2, 3]], dtype=int32)
    """
    shape = type_of("reshape", operand).shape
    if dimensions is not None:
        operand = _transposed("reshape", operand, integers(dimensions, "reshape", "dimensions"))
    sizes = resolve_sizes("reshape", shape, new_sizes)
    return as_result(o.reshape(operand, sizes))


def transpose(operand: Any, permutation: Sequence[int]) -> Any:
    """Dimensions permuted: dimension i of the result is dimension permutation[i] of the operand.

    >>> import glax.numpy as xp
    >>> from glax import lax
    >>> lax.transpose(xp.zeros((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    type_of("transpose", operand)
    return as_result(_transposed("transpose", operand, integers(permutation, "transpose", "permutation")))


def _transposed(name: str, operand: Any, permutation: tuple[int, ...]) -> Any:
    ndim = len(shape_of(operand))
    if sorted(permutation) != list(range(ndim)):
        raise TypeError(f"{name}: {permutation} is not a permutation of the {ndim} dimensions of {shape_of(operand)}")
    return o.transpose(operand, permutation)


def squeeze(array: Any, dimensions: Sequence[int] | int) -> Any:
    """Dimensions of size 1 removed. ValueError where one is not of size 1.

    >>> import glax.numpy as xp
    >>> from glax import lax
    >>> lax.squeeze(xp.zeros((1, 3, 1)), (0,)).shape
    (3, 1)
    """
    shape = type_of("squeeze", array).shape
    return as_result(o.squeeze(array, tuple(sorted(canonical_axes(dimensions, len(shape), "squeeze", "dimensions")))))


def expand_dims(array: Any, dimensions: Sequence[int] | int) -> Any:
    """Dimensions of size 1 inserted, numbered as in the result.

    >>> import glax.numpy as xp
    >>> from glax import lax
    >>> lax.expand_dims(xp.arange(2), (0, -1)).shape
    (1, 2, 1)
    """
    given = tuple(dimensions) if isinstance(dimensions, (tuple, list)) else (dimensions,)
    ndim = len(type_of("expand_dims", array).shape) + len(given)
    return as_result(o.expand_dims(array, canonical_axes(given, ndim, "expand_dims", "dimensions")))


def concatenate(operands: Sequence[Any], dimension: int) -> Any:
    """Arrays of one dtype joined along a dimension. TypeError where dtypes differ, or sizes apart from that
    dimension's.

    >>> from glax import lax
    >>> lax.concatenate([lax.iota("int32", 2), lax.iota("int32", 1)], 0)
    Array([0, 1, 0], dtype=int32)
    """
    operands = entries(operands, "concatenate", "operands", "a sequence of arrays")
    if not operands:
        raise ValueError("concatenate: at least one array is needed")
    ndim = len([type_of("concatenate", x, i) for i, x in enumerate(operands)][0].shape)
    return o.concatenate(operands, canonical_axis(dimension, ndim, "concatenate", "dimension"))


def pad(operand: Any, padding_value: Any, padding_config: Sequence[tuple[int, int, int]]) -> Any:
    """operand padded with a scalar: each dimension has (low, high, interior) counts, low and high possibly negative.
    low and high count what comes before and after (or is cut off there), interior what comes between neighbours.
    padding_value is a scalar of operand's dtype.

    >>> import glax.numpy as xp
    >>> from glax import lax
    >>> lax.pad(xp.array([1, 2]), 0, [(1, 0, 1)])
    Array([0, 1, 0, 2], dtype=int32)
    >>> lax.pad(xp.array([1, 2]), 0, [(-1, 2, 0)])
    Array([2, 0, 0], dtype=int32)
    """
    expected = "a sequence with a (low, high, interior) for each dimension"
    config = tuple([tuple([as_index(n, "pad", "padding_config") for n in entries(entry, "pad", "padding_config",
                                                                                 expected)])
                    for entry in entries(padding_config, "pad", "padding_config", expected)])
    if builtins.any(len(entry) != 3 for entry in config):
        raise ValueError(f"pad: padding_config has a (low, high, interior) for each dimension, got {config}")
    for position, value in enumerate((operand, padding_value)):
        type_of("pad", value, position)
    return o.pad(operand, padding_value, config)


def rev(operand: Any, dimensions: Sequence[int]) -> Any:
    """Dimensions reversed. The elements along each of the dimensions come in reverse order; the shape stays.

    >>> import glax.numpy as xp
    >>> from glax import lax
    >>> lax.rev(xp.arange(3), (0,))
    Array([2, 1, 0], dtype=int32)
    """
    ndim = len(type_of("rev", operand).shape)
    dims = canonical_axes(entries(dimensions, "rev", "dimensions"), ndim, "rev", "dimensions")
    return o.rev(operand, dims) if dims else as_result(operand)


def iota(dtype: Any, size: int) -> Any:
    """The integers from 0 to size - 1 in a dtype.

    >>> from glax import lax
    >>> lax.iota("float32", 3)
    Array([0., 1., 2.], dtype=float32)
    """
    return o.iota(dtype_of(dtype, "iota"), as_shape((size,), "iota", "size"), 0)


def broadcasted_iota(dtype: Any, shape: Sequence[int], dimension: int) -> Any:
    """An array of which each element is its index along a dimension.

    >>> from glax import lax
    >>> lax.broadcasted_iota("int32", (2, 3), 1)
    Array([[0, 1, 2],
           [0, 1, 2]], dtype=int32)
    """
    shape = as_shape(shape, "broadcasted_iota")
    return o.iota(dtype_of(dtype, "broadcasted_iota"), shape,
                  canonical_axis(dimension, len(shape), "broadcasted_iota", "dimension"))


def full(shape: Sequence[int], fill_value: Any, dtype: Any = None) -> Any:
    """An array filled with a scalar; without a dtype, of the scalar's, weak for a Python scalar.

    >>> from glax import lax
    >>> lax.full((2,), 3.0)
    Array([3., 3.], dtype=float32, weak_type=True)
    """
    return filled("full", shape, fill_value, dtype)


def filled(name: str, shape: Any, fill_value: Any, dtype: Any) -> Any:
    """As ``full``, for a function that is named in errors."""
    shape = as_shape(shape, name)
    found, weak = dtype_and_weak(name, fill_value, 1)
    if shape_of(fill_value):
        raise TypeError(f"{name}: fill_value must be a scalar, got an array of shape {shape_of(fill_value)}")
    if dtype is not None:
        found, weak = dtype_of(dtype, name), False
    if type(fill_value) in PYTHON_SCALARS:
        value = _python_scalar_in(name, fill_value, found)
        if current_builder() is None:
            return from_numpy_owned(np.full(shape, value), shaped_array(shape, found, weak))
        return o.broadcast_in_dim(scalar_literal(fill_value, found, weak) if value == fill_value else value, shape, ())
    return o.broadcast_in_dim(strong(fill_value, found) if dtype is not None else cast(fill_value, found), shape, ())


def _python_scalar_in(name: str, value: Any, dtype: np.dtype) -> Any:
    if dtypes.is_integer(dtype) and type(value) is int:
        return scalar_literal(value, dtype).value[()]
    if dtypes.is_inexact(dtype) or not isinstance(value, complex):
        with np.errstate(all="ignore"):
            return np.asarray(value).astype(dtype)[()]
    raise TypeError(f"{name}: a complex fill_value {value} does not fit dtype {dtype.name}")


def full_like(x: Any, fill_value: Any, dtype: Any = None, shape: Sequence[int] | None = None) -> Any:
    """An array of the shape and dtype of x, or of those given, filled with a scalar. TypeError where fill_value is not
    a scalar.

    >>> import glax.numpy as xp
    >>> from glax import lax
    >>> lax.full_like(xp.arange(2), 7)
    Array([7, 7], dtype=int32)
    """
    aval = type_of("full_like", x)
    result = filled("full_like", aval.shape if shape is None else shape, fill_value,
                    aval.dtype if dtype is None else dtype)
    if dtype is None and aval.weak_type:
        return o.convert_element_type(result, aval.dtype, True)
    return result


def empty(shape: Sequence[int], dtype: Any) -> Any:
    """An array whose contents are unspecified (zeros, here).

    >>> from glax import lax
    >>> lax.empty((2,), "float32")
    Array([0., 0.], dtype=float32)
    """
    return filled("empty", shape, 0, dtype)


def split(operand: Any, sizes: Sequence[int], axis: int = 0) -> list[Any]:
    """Consecutive pieces of given sizes along an axis, which they must add up to. ValueError where they do not.

    >>> import glax.numpy as xp
    >>> from glax import lax
    >>> lax.split(xp.arange(3), (2, 1))
    [Array([0, 1], dtype=int32), Array([2], dtype=int32)]
    """
    shape = type_of("split", operand).shape
    return o.split(operand, integers(sizes, "split", "sizes"), canonical_axis(axis, len(shape), "split"))


def collapse(operand: Any, start_dimension: int, stop_dimension: int | None = None) -> Any:
    """Dimensions from start_dimension up to stop_dimension (excluded) joined into one. Without stop_dimension, up to
    the last one. ValueError where there is none to join.

    >>> import glax.numpy as xp
    >>> from glax import lax
    >>> lax.collapse(xp.zeros((2, 3, 4)), 1).shape
    (2, 12)
    """
    shape = type_of("collapse", operand).shape
    start = as_index(start_dimension, "collapse", "start_dimension")
    stop = None if stop_dimension is None else as_index(stop_dimension, "collapse", "stop_dimension")
    lo, hi, _ = slice(start, stop).indices(len(shape))
    if hi <= lo:
        raise ValueError(f"collapse: no dimensions from {start_dimension} to {stop_dimension} in shape {shape}")
    return as_result(o.reshape(operand, (*shape[:lo], prod(shape[lo:hi]), *shape[hi:])))


def tile(operand: Any, reps: Sequence[int]) -> Any:
    """operand repeated reps[d] times along each dimension d. ValueError unless there is one of reps for each dimension.

    >>> import glax.numpy as xp
    >>> from glax import lax
    >>> lax.tile(xp.arange(2), (2,))
    Array([0, 1, 0, 1], dtype=int32)
    """
    shape, reps = type_of("tile", operand).shape, as_shape(reps, "tile", "reps")
    if len(reps) != len(shape):
        raise ValueError(f"tile: reps {reps} must have one entry for each dimension of {shape}")
    if builtins.all(n == 1 for n in reps):
        return as_result(operand)
    doubled = tuple(n for pair in zip(reps, shape) for n in pair)
    spread = o.broadcast_in_dim(operand, doubled, tuple(range(1, 2 * len(shape), 2)))
    return o.reshape(spread, tuple(r * n for r, n in zip(reps, shape)))


def stack(operands: Sequence[Any], axis: int = 0) -> Any:
    """Arrays of one shape and dtype joined along a new axis. The axis is numbered as in the result.

    >>> import glax.numpy as xp
    >>> from glax import lax
    >>> lax.stack([xp.arange(2), xp.arange(2)], axis=1)
    Array([[0, 0],
           [1, 1]], dtype=int32)
    """
    operands = entries(operands, "stack", "operands", "a sequence of arrays")
    if not operands:
        raise ValueError("stack: at least one array is needed")
    shapes = [type_of("stack", x, i).shape for i, x in enumerate(operands)]
    if len(set(shapes)) != 1:
        raise TypeError(f"stack: operands must have one shape, got {shapes}")
    axis = canonical_axis(axis, len(shapes[0]) + 1, "stack")
    return o.concatenate([o.expand_dims(x, (axis,)) for x in operands], axis)


def unstack(x: Any, axis: int = 0) -> list[Any]:
    """The slices of x along an axis. The slices lack the axis.

    >>> import glax.numpy as xp
    >>> from glax import lax
    >>> lax.unstack(xp.array([[1, 2], [3, 4]]))
    [Array([1, 2], dtype=int32), Array([3, 4], dtype=int32)]
    """
    shape = type_of("unstack", x).shape
    axis = canonical_axis(axis, len(shape), "unstack")
    return [o.squeeze(part, (axis,)) for part in o.split(x, (1,) * shape[axis], axis)] if shape[axis] else []
