"""Slices at fixed and at computed positions."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._called import called
from .._promotion import as_index, as_shape, canonical_axis, shape_of, type_of
from ..ir import IncompatibleShapesError, Tracer, dtypes
from ..ir import ops as o
from ._arguments import entries, integers, mistaken
from ._names import named_error

INT32 = np.dtype(np.int32)


def slice(operand: Any, start_indices: Sequence[int], limit_indices: Sequence[int],
          strides: Sequence[int] | None = None) -> Any:
    """Elements from start_indices up to limit_indices (excluded) in steps of strides.

    >>> from glax import lax
    >>> lax.slice(lax.iota("int32", 6), (1,), (6,), (2,))
    Array([1, 3, 5], dtype=int32)
    """
    type_of("slice", operand)
    starts = integers(start_indices, "slice", "start_indices")
    limits = integers(limit_indices, "slice", "limit_indices")
    return o.slice_(operand, starts, limits, None if strides is None else integers(strides, "slice", "strides"))


def slice_in_dim(operand: Any, start_index: int | None, limit_index: int | None, stride: int = 1, axis: int = 0) -> Any:
    """A slice along one axis, its ends given as in Python (None, or negative from the end).

    >>> import glax.numpy as xp
    >>> from glax import lax
    >>> lax.slice_in_dim(xp.arange(5), 1, -1, stride=2)
    Array([1, 3], dtype=int32)
    """
    shape = type_of("slice_in_dim", operand).shape
    axis = canonical_axis(axis, len(shape), "slice_in_dim")
    n, stride = shape[axis], as_index(stride, "slice_in_dim", "stride")
    ends = []
    for given, default in ((start_index, 0), (limit_index, n)):
        end = default if given is None else as_index(given, "slice_in_dim", "start_index and limit_index")
        ends.append(end + n if end < 0 else end)
    starts, limits = (tuple(end if d == axis else (0, m)[i] for d, m in enumerate(shape)) for i, end in enumerate(ends))
    strides = None if stride == 1 else tuple(stride if d == axis else 1 for d in range(len(shape)))
    try:
        return o.slice_(operand, starts, limits, strides)
    except (TypeError, ValueError) as error:
        raise named_error(error, "slice_in_dim") from None


def index_in_dim(operand: Any, index: int, axis: int = 0, keepdims: bool = True) -> Any:
    """The slice at a fixed index of an axis, which stays with size 1 where keepdims is true. IndexError for an index
    out of bounds.

    >>> import glax.numpy as xp
    >>> from glax import lax
    >>> lax.index_in_dim(xp.array([5, 6, 7]), -1)
    Array([7], dtype=int32)
    """
    shape = type_of("index_in_dim", operand).shape
    axis = canonical_axis(axis, len(shape), "index_in_dim")
    index, n = as_index(index, "index_in_dim", "index"), shape[axis]
    if not -n <= index < n:
        raise IndexError(f"index_in_dim: index {index} is out of bounds for axis {axis} of size {n}")
    piece = slice_in_dim(operand, index % n, index % n + 1, axis=axis)
    return piece if keepdims else o.squeeze(piece, (axis,))


def start_index(name: str, index: Any, size: int, wrap: bool = True) -> Any:
    """A start index with a negative one counted from the end, of an integer dtype that holds the size."""
    try:
        aval = type_of(name, index)
    except TypeError:
        raise mistaken(name, "a start index", "an integer scalar", index) from None
    if aval.shape or not dtypes.is_integer(aval.dtype):
        raise TypeError(f"{called(name)}: start indices must be integer scalars, got {aval.short()}")
    if type(index) is not Tracer:
        value = int(np.asarray(index))
        return np.int32(max_of(min_of(value + size if wrap and value < 0 else value, 2**31 - 1), -2**31))
    if dtypes.itemsize_bits(aval.dtype) < 32:
        index, aval = o.convert_element_type(index, INT32), aval.update(dtype=INT32)
    if not wrap or dtypes.kind(aval.dtype) == "u":
        return index
    return o.select_n(o.lt(index, aval.dtype.type(0)), index, o.add(index, aval.dtype.type(size)))


min_of, max_of = builtins.min, builtins.max


def _starts(name: str, operand: Any, start_indices: Any, wrap: bool | Sequence[bool]) -> list[Any]:
    shape = type_of(name, operand).shape
    if not isinstance(start_indices, (tuple, list)):
        indices = type_of(name, start_indices, 1)
        if len(indices.shape) != 1:
            raise TypeError(f"{name}: start_indices must be a sequence of scalars or a 1-dimensional array, got "
                            f"{indices.short()}")
        start_indices = [o.squeeze(piece, (0,)) for piece in o.split(start_indices, (1,) * indices.shape[0], 0)]
    if len(start_indices) != len(shape):
        raise ValueError(f"{name}: start_indices must have one for each dimension of {shape}, got {len(start_indices)}")
    wraps = _wraps(name, wrap, len(shape))
    return of_one_dtype([start_index(name, i, n, w) for i, n, w in zip(start_indices, shape, wraps)])


def _wraps(name: str, given: bool | Sequence[bool], ndim: int) -> tuple[bool, ...]:
    """For each dimension, whether negative indices count from the end."""
    if isinstance(given, bool):
        return (given,) * ndim
    wraps = entries(given, name, "allow_negative_indices", "a bool, or a sequence of them")
    if len(wraps) != ndim:
        raise ValueError(f"{called(name)}: allow_negative_indices must have one for each of the {ndim} dimensions, got "
                         f"{len(wraps)}")
    return wraps


def of_one_dtype(starts: list[Any]) -> list[Any]:
    """Start indices of one dtype: that of the staged ones where they agree, else the default integer dtype."""
    kinds = {i.aval.dtype for i in starts if type(i) is Tracer}
    if not kinds:
        return starts
    dtype = kinds.pop() if len(kinds) == 1 else dtypes.python_scalar_dtype(int)
    return [i.astype(dtype) if type(i) is not Tracer else i if i.aval.dtype == dtype else
            o.convert_element_type(i, dtype) for i in starts]


def dynamic_slice(operand: Any, start_indices: Any, slice_sizes: Sequence[int], *,
                  allow_negative_indices: bool | Sequence[bool] = True) -> Any:
    """A slice of fixed sizes at computed start indices.

    Args:
        operand: an array.
        start_indices: a scalar integer for each dimension, or a 1-dimensional array of them. A negative one counts from
            the end; one that would reach beyond the operand is moved back, so that the slice lies within.
        slice_sizes: the size in each dimension.

    >>> from glax import lax
    >>> lax.dynamic_slice(lax.iota("int32", 5), (-2,), (2,))
    Array([3, 4], dtype=int32)
    """
    sizes = as_shape(slice_sizes, "dynamic_slice", "slice_sizes")
    return _sliced("dynamic_slice", operand, start_indices, sizes, allow_negative_indices)


def _sliced(name: str, operand: Any, start_indices: Any, sizes: tuple[int, ...], wrap: bool | Sequence[bool]) -> Any:
    starts = _starts(name, operand, start_indices, wrap)
    try:
        return o.dynamic_slice(operand, starts, sizes)
    except TypeError as error:
        raise named_error(error, name) from None


def dynamic_update_slice(operand: Any, update: Any, start_indices: Any, *,
                         allow_negative_indices: bool | Sequence[bool] = True) -> Any:
    """operand with a slice of the update's shape replaced at computed start indices, which are as in dynamic_slice.

    >>> import glax.numpy as xp
    >>> from glax import lax
    >>> lax.dynamic_update_slice(xp.arange(4), xp.array([8, 9]), (3,))
    Array([0, 1, 8, 9], dtype=int32)
    """
    return _updated("dynamic_update_slice", operand, update, start_indices, allow_negative_indices)


def _updated(name: str, operand: Any, update: Any, start_indices: Any, wrap: bool | Sequence[bool]) -> Any:
    type_of(name, update, 1)
    starts = _starts(name, operand, start_indices, wrap)
    try:
        return o.dynamic_update_slice(operand, update, starts)
    except TypeError as error:
        raise named_error(error, name) from None


def _placed(operand: Any, index: Any, axis: int) -> list[Any]:
    return [index if d == axis else 0 for d in range(len(shape_of(operand)))]


def dynamic_slice_in_dim(operand: Any, start_index: Any, slice_size: int, axis: int = 0, *,
                         allow_negative_indices: bool = True) -> Any:
    """dynamic_slice along one axis. A slice that would reach beyond the end is moved back. start_index is an integer
    scalar; a negative one counts from the end, unless allow_negative_indices is false.

    >>> import glax.numpy as xp
    >>> from glax import lax
    >>> lax.dynamic_slice_in_dim(xp.arange(5), 4, 2)
    Array([3, 4], dtype=int32)
    """
    return _sliced_in_dim("dynamic_slice_in_dim", operand, start_index, slice_size, axis, allow_negative_indices)


def _sliced_in_dim(name: str, operand: Any, start: Any, slice_size: int, axis: int, wrap: bool) -> Any:
    shape = type_of(name, operand).shape
    axis = canonical_axis(axis, len(shape), name)
    size = as_index(slice_size, name, "slice_size")
    if size < 0:
        raise IncompatibleShapesError(f"{name}: slice_size must not be negative, got {size}")
    sizes = tuple(size if d == axis else n for d, n in enumerate(shape))
    return _sliced(name, operand, _placed(operand, start, axis), sizes, wrap)


def dynamic_index_in_dim(operand: Any, index: Any, axis: int = 0, keepdims: bool = True, *,
                         allow_negative_indices: bool = True) -> Any:
    """The slice at a computed index of an axis, which stays with size 1 where keepdims is true. An index out of bounds
    is moved to the nearest end.

    >>> import glax.numpy as xp
    >>> from glax import lax
    >>> lax.dynamic_index_in_dim(xp.array([5, 6, 7]), 9, keepdims=False)
    Array(7, dtype=int32)
    """
    piece = _sliced_in_dim("dynamic_index_in_dim", operand, index, 1, axis, allow_negative_indices)
    return piece if keepdims else o.squeeze(piece, (canonical_axis(axis, len(shape_of(operand)), "axis"),))


def dynamic_update_slice_in_dim(operand: Any, update: Any, start_index: Any, axis: int, *,
                                allow_negative_indices: bool = True) -> Any:
    """dynamic_update_slice along one axis. The update has operand's shape apart from the axis; start_index is as in
    dynamic_slice_in_dim.

    >>> import glax.numpy as xp
    >>> from glax import lax
    >>> lax.dynamic_update_slice_in_dim(xp.arange(4), xp.array([8, 9]), 1, axis=0)
    Array([0, 8, 9, 3], dtype=int32)
    """
    axis = canonical_axis(axis, len(type_of("dynamic_update_slice_in_dim", operand).shape),
                          "dynamic_update_slice_in_dim")
    return _updated("dynamic_update_slice_in_dim", operand, update, _placed(operand, start_index, axis),
                    allow_negative_indices)


def dynamic_update_index_in_dim(operand: Any, update: Any, index: Any, axis: int, *,
                                allow_negative_indices: bool = True) -> Any:
    """operand with the slice at a computed index of an axis replaced; the update may lack the axis. An index out of
    bounds is moved to the nearest end.

    >>> import glax.numpy as xp
    >>> from glax import lax
    >>> lax.dynamic_update_index_in_dim(xp.arange(3), 9, 1, axis=0)
    Array([0, 9, 2], dtype=int32)
    """
    ndim = len(type_of("dynamic_update_index_in_dim", operand).shape)
    axis = canonical_axis(axis, ndim, "dynamic_update_index_in_dim")
    if len(type_of("dynamic_update_index_in_dim", update, 1).shape) != ndim:
        update = o.expand_dims(update, (axis,))
    return _updated("dynamic_update_index_in_dim", operand, update, _placed(operand, index, axis),
                    allow_negative_indices)
