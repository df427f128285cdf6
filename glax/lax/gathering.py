"""Gather and scatter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._promotion import as_shape, canonical_axes, named, shape_of, type_of
from ..ir import dtypes
from ..ir import ops as o
from ..ir.ops import GatherDimensionNumbers, GatherScatterMode, ScatterDimensionNumbers
from ._arguments import dimension_numbers_of, entries

__all__ = [
    "GatherDimensionNumbers", "GatherScatterMode", "ScatterDimensionNumbers", "gather", "index_take", "scatter",
    "scatter_add", "scatter_max", "scatter_min", "scatter_mul", "scatter_sub",
]
_MODES = {"clip": GatherScatterMode.CLIP, "fill": GatherScatterMode.FILL_OR_DROP,
          "drop": GatherScatterMode.FILL_OR_DROP,
          "promise_in_bounds": GatherScatterMode.PROMISE_IN_BOUNDS, None: GatherScatterMode.FILL_OR_DROP}


def mode_of(mode: str | GatherScatterMode | None, name: str = "gather") -> GatherScatterMode:
    """The mode of a name; ValueError for a name that is none."""
    if isinstance(mode, GatherScatterMode):
        return mode
    if not isinstance(mode, str | None) or mode not in _MODES:
        raise ValueError(f"{name}: mode must be 'clip', 'fill', 'drop' or 'promise_in_bounds', got {mode!r}")
    return _MODES[mode]


def _from_any(text: str | GatherScatterMode | None) -> GatherScatterMode:
    """The mode of a name ('clip', 'fill', 'drop', 'promise_in_bounds'), of None, or a mode itself."""
    return mode_of(text, "GatherScatterMode")


GatherScatterMode.from_any = staticmethod(_from_any)


def gather(operand: Any, start_indices: Any, dimension_numbers: GatherDimensionNumbers, slice_sizes: Sequence[int], *,
           unique_indices: bool = False, indices_are_sorted: bool = False,
           mode: str | GatherScatterMode | None = None, fill_value: Any = None) -> Any:
    """Slices of operand at index vectors, which the last dimension of start_indices holds.

    Args:
        operand: an array.
        start_indices: an integer array.
        dimension_numbers: which dimensions are which.
        slice_sizes: the size of the slices in each dimension of operand.
        unique_indices, indices_are_sorted: promises that help the compiler.
        mode: what happens out of bounds; by default the fill value is given.
        fill_value: by default NaN, or the least integer (greatest, where unsigned), or True.

    >>> import glax.numpy as xp
    >>> from glax import lax
    >>> numbers = lax.GatherDimensionNumbers(offset_dims=(), collapsed_slice_dims=(0,), start_index_map=(0,))
    >>> lax.gather(xp.array([5.0, 6.0]), xp.array([[1], [9]]), numbers, (1,))
    Array([ 6., nan], dtype=float32)
    """
    type_of("gather", operand)
    type_of("gather", start_indices, 1)
    numbers = dimension_numbers_of(GatherDimensionNumbers, dimension_numbers, "gather")
    return o.gather(operand, start_indices, numbers, as_shape(slice_sizes, "gather", "slice_sizes"),
                    bool(indices_are_sorted), bool(unique_indices), mode_of(mode), fill_value)


def _scatter(name: str, kind: type, what: str) -> Callable[..., Any]:
    def function(operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=False,
                 unique_indices=False, mode=None):
        for position, value in enumerate((operand, scatter_indices, updates)):
            type_of(name, value, position)
        numbers = dimension_numbers_of(ScatterDimensionNumbers, dimension_numbers, name)
        return o.scatter(kind, operand, scatter_indices, updates, numbers, bool(indices_are_sorted),
                         bool(unique_indices), mode_of(mode, name))

    return named(function, name, __name__, f"""operand with windows of updates {what} at index vectors.

    Args:
        operand: an array.
        scatter_indices: an integer array whose last dimension holds index vectors.
        updates: an array of operand's dtype.
        dimension_numbers: a ScatterDimensionNumbers.
        indices_are_sorted, unique_indices: promises that help the compiler.
        mode: what happens out of bounds; by default nothing is written there.
    """)


scatter = _scatter("scatter", o.Scatter, "written")
scatter_add = _scatter("scatter_add", o.ScatterAdd, "added")
scatter_mul = _scatter("scatter_mul", o.ScatterMul, "multiplied")
scatter_min = _scatter("scatter_min", o.ScatterMin, "combined by minimum")
scatter_max = _scatter("scatter_max", o.ScatterMax, "combined by maximum")


def scatter_sub(operand: Any, scatter_indices: Any, updates: Any, dimension_numbers: ScatterDimensionNumbers, *,
                indices_are_sorted: bool = False, unique_indices: bool = False,
                mode: str | GatherScatterMode | None = None) -> Any:
    """operand with windows of updates subtracted at index vectors; arguments are those of scatter_add.

    >>> import glax.numpy as xp
    >>> from glax import lax
    >>> numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
    >>> lax.scatter_sub(xp.ones(3), xp.array([[1], [1]]), xp.array([5.0, 6.0]), numbers)
    Array([  1., -10.,   1.], dtype=float32)
    """
    for position, value in enumerate((operand, scatter_indices, updates)):
        type_of("scatter_sub", value, position)
    return scatter_add(operand, scatter_indices, o.neg(updates), dimension_numbers,
                       indices_are_sorted=indices_are_sorted, unique_indices=unique_indices, mode=mode)


def index_take(src: Any, idxs: Sequence[Any], axes: Sequence[int]) -> Any:
    """The slices of src at 1-dimensional arrays of indices, one for each of axes, along a new first dimension. Negative
    indices count from the end; beyond the ends the result is undefined.

    >>> import glax.numpy as xp
    >>> from glax import lax
    >>> lax.index_take(xp.array([5, 6, 7]), (xp.array([0, -1]),), (0,))
    Array([5, 7], dtype=int32)
    """
    shape = type_of("index_take", src).shape
    axes = canonical_axes(entries(axes, "index_take", "axes"), len(shape), "index_take", "axes")
    idxs = entries(idxs, "index_take", "idxs", "a sequence of arrays")
    if not idxs or len(idxs) != len(axes):
        raise ValueError(f"index_take: idxs must hold an array for each of axes, and at least one, got {len(idxs)} for "
                         f"axes {axes}")
    columns = []
    for idx, axis in zip(idxs, axes):
        aval = type_of("index_take", idx)
        if len(aval.shape) != 1 or not dtypes.is_integer(aval.dtype):
            raise TypeError(f"index_take: idxs must hold 1-dimensional arrays of integers, got {aval.short()}")
        if dtypes.itemsize_bits(aval.dtype) < 32:  # it may not hold the size
            aval = aval.update(dtype=np.dtype(np.int32))
            idx = o.convert_element_type(idx, aval.dtype)
        zero, size = aval.dtype.type(0), aval.dtype.type(shape[axis])
        wrapped = o.select_n(o.lt(idx, zero), idx, o.add(idx, size)) if aval.dtype.kind == "i" else idx
        columns.append(o.expand_dims(wrapped, (len(aval.shape),)))
    indices = o.concatenate(columns, len(shape_of(columns[0])) - 1)
    offset_dims = tuple(range(1, len(shape) - len(axes) + 1))
    numbers = GatherDimensionNumbers(offset_dims, tuple(sorted(axes)), axes)
    sizes = tuple(1 if d in axes else n for d, n in enumerate(shape))
    return o.gather(src, indices, numbers, sizes, mode=GatherScatterMode.PROMISE_IN_BOUNDS)
