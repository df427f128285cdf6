"""Indexing: dynamic slices, gather, and scatter with its combiners."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ..operation import Operation, abstract_eval, operation
from ..parameters import register_parameter_class
from ..staging import bind
from ..types import ShapedArray, shaped_array
from .typing import kind_of, require_axes, require_same_dtype

__all__ = [
    "DynamicSlice", "DynamicUpdateSlice", "Gather", "GatherDimensionNumbers", "GatherScatterMode", "Scatter",
    "ScatterAdd", "ScatterBase", "ScatterDimensionNumbers", "ScatterMax", "ScatterMin", "ScatterMul", "dynamic_slice",
    "dynamic_update_slice", "gather", "scatter",
]


@register_parameter_class
class GatherScatterMode(Enum):
    """What happens at an index out of bounds.

    CLIP moves it to the nearest that is in bounds; FILL_OR_DROP gives the fill value (gather) or does nothing
    (scatter); PROMISE_IN_BOUNDS says there is none, and the result is unspecified if there is.
    """

    CLIP = "clip"
    FILL_OR_DROP = "fill"
    PROMISE_IN_BOUNDS = "promise_in_bounds"


@register_parameter_class
@dataclass(frozen=True, slots=True)
class GatherDimensionNumbers:
    """How gather reads its operand (the terms are those of the StableHLO specification, ``gather``).

    Attributes:
        offset_dims: the dimensions of the result that run within a slice.
        collapsed_slice_dims: dimensions of the operand, of slice size 1, absent from the result.
        start_index_map: for each component of an index vector, the dimension of the operand it indexes.
        operand_batching_dims: dimensions of the operand (slice size 1, absent from the result) paired with
        start_indices_batching_dims: as many dimensions of the indices, which run along with them.
    The last dimension of the indices holds the index vectors.
    """

    offset_dims: tuple[int, ...]
    collapsed_slice_dims: tuple[int, ...]
    start_index_map: tuple[int, ...]
    operand_batching_dims: tuple[int, ...] = ()
    start_indices_batching_dims: tuple[int, ...] = ()


@register_parameter_class
@dataclass(frozen=True, slots=True)
class ScatterDimensionNumbers:
    """How scatter writes its updates (the terms are those of the StableHLO specification, ``scatter``).

    Attributes:
        update_window_dims: the dimensions of the updates that run within a window.
        inserted_window_dims: dimensions of the operand, of window size 1, absent from the updates.
        scatter_dims_to_operand_dims: for each component of an index vector, the operand's dimension it indexes.
        operand_batching_dims: dimensions of the operand (window size 1, absent from the updates) paired with
        scatter_indices_batching_dims: as many dimensions of the indices, which run along with them.
    The last dimension of the indices holds the index vectors.
    """

    update_window_dims: tuple[int, ...]
    inserted_window_dims: tuple[int, ...]
    scatter_dims_to_operand_dims: tuple[int, ...]
    operand_batching_dims: tuple[int, ...] = ()
    scatter_indices_batching_dims: tuple[int, ...] = ()


@operation
class DynamicSlice(Operation):
    """A slice of fixed sizes at start indices given as scalars, as dynamic_slice(operand, *starts). A start that would
    reach beyond the operand is moved back, so that the slice lies within."""

    name = "dynamic_slice"
    slice_sizes: tuple[int, ...]


def _require_starts(name: str, x: ShapedArray, starts: Sequence[ShapedArray]) -> None:
    if len(starts) != x.ndim:
        raise TypeError(f"{name} needs one start index a dimension of {x.shape}, got {len(starts)}")
    for start in starts:
        if start.shape != () or kind_of(start.dtype) not in "iu":
            raise TypeError(f"{name} needs start indices that are integer scalars, got {start.short()}")


@abstract_eval.register(DynamicSlice)
def _type_of_dynamic_slice(op: DynamicSlice, x: ShapedArray, *starts: ShapedArray) -> ShapedArray:
    _require_starts(op.name, x, starts)
    if len(op.slice_sizes) != x.ndim or any(not 0 <= k <= n for k, n in zip(op.slice_sizes, x.shape)):
        raise TypeError(f"dynamic_slice: slice_sizes {op.slice_sizes} do not fit an operand of shape {x.shape}")
    return shaped_array(op.slice_sizes, x.dtype, x.weak_type)


@operation
class DynamicUpdateSlice(Operation):
    """The operand with a slice replaced, as dynamic_update_slice(operand, update, *starts); starts as dynamic_slice."""

    name = "dynamic_update_slice"


@abstract_eval.register(DynamicUpdateSlice)
def _type_of_dynamic_update(op: DynamicUpdateSlice, x: ShapedArray, update: ShapedArray,
                            *starts: ShapedArray) -> ShapedArray:
    _require_starts(op.name, x, starts)
    require_same_dtype(op.name, (x, update))
    if update.ndim != x.ndim or any(k > n for k, n in zip(update.shape, x.shape)):
        raise TypeError(f"dynamic_update_slice: an update of shape {update.shape} does not fit shape {x.shape}")
    return shaped_array(x.shape, x.dtype, x.weak_type and update.weak_type)


@operation
class Gather(Operation):
    """Slices of an operand at index vectors, as gather(operand, indices)."""

    name = "gather"
    dimension_numbers: GatherDimensionNumbers
    slice_sizes: tuple[int, ...]
    indices_are_sorted: bool = False
    unique_indices: bool = False
    mode: GatherScatterMode = GatherScatterMode.PROMISE_IN_BOUNDS
    fill_value: bool | int | float | complex | None = None

    # The fill value counts as constants do: a NaN is itself, and 0.0 is not -0.0.

    def __eq__(self, other: object) -> bool:
        return self is other or type(other) is type(self) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple:
        fill = self.fill_value
        return (self.dimension_numbers, self.slice_sizes, self.indices_are_sorted, self.unique_indices, self.mode,
                str(fill) if fill is not None and (not fill or fill != fill) else fill)


def _require_increasing(name: str, what: str, dims: tuple[int, ...]) -> None:
    if tuple(sorted(dims)) != dims:
        raise TypeError(f"{name}: {what} {dims} must increase")


def _require_batching(name: str, x: ShapedArray, indices: ShapedArray, dims: tuple[int, ...],
                      indices_dims: tuple[int, ...]) -> None:
    """Batching dimensions of the operand and of the indices are paired, and of equal sizes."""
    require_axes(name, dims, x.ndim, "operand_batching_dims")
    require_axes(name, indices_dims, indices.ndim - 1, "batching dimensions of the indices")
    if [x.shape[d] for d in dims] != [indices.shape[d] for d in indices_dims]:
        raise TypeError(f"{name}: batching dimensions {dims} of {x.shape} and {indices_dims} of the indices' shape "
                        f"{indices.shape} must be as many and of equal sizes")


@abstract_eval.register(Gather)
def _type_of_gather(op: Gather, x: ShapedArray, indices: ShapedArray) -> ShapedArray:
    numbers, sizes = op.dimension_numbers, op.slice_sizes
    if kind_of(indices.dtype) not in "iu" or not indices.ndim:
        raise TypeError(f"gather needs integer indices whose last dimension holds index vectors, got {indices.short()}")
    if len(sizes) != x.ndim or any(not 0 <= k <= n for k, n in zip(sizes, x.shape)):
        raise TypeError(f"gather: slice_sizes {sizes} do not fit an operand of shape {x.shape}")
    if indices.shape[-1] != len(numbers.start_index_map):
        raise TypeError(f"gather: index vectors of {indices.shape[-1]} components, but start_index_map names "
                        f"{numbers.start_index_map}")
    dropped = numbers.collapsed_slice_dims + numbers.operand_batching_dims
    require_axes(op.name, dropped, x.ndim, "collapsed and batching dimensions")
    require_axes(op.name, numbers.start_index_map, x.ndim, "start_index_map")
    _require_batching(op.name, x, indices, numbers.operand_batching_dims, numbers.start_indices_batching_dims)
    if any(sizes[d] > 1 for d in dropped):
        raise TypeError(f"gather: dimensions {dropped} are collapsed, so their slice sizes must be at most 1, got "
                        f"{sizes}")
    offsets = [n for d, n in enumerate(sizes) if d not in dropped]
    if len(offsets) != len(numbers.offset_dims):
        raise TypeError(f"gather: offset_dims {numbers.offset_dims} must name {len(offsets)} dimensions of the result")
    ndim = len(offsets) + indices.ndim - 1
    require_axes(op.name, numbers.offset_dims, ndim, "offset_dims")
    _require_increasing(op.name, "offset_dims", numbers.offset_dims)
    batch, offset = iter(indices.shape[:-1]), iter(offsets)
    shape = tuple(next(offset) if d in numbers.offset_dims else next(batch) for d in range(ndim))
    return shaped_array(shape, x.dtype, x.weak_type)


class ScatterBase(Operation):
    """Base of the scatters, as scatter(operand, indices, updates): windows of updates are combined with the operand
    at index vectors, one after another where they meet."""

    __slots__ = ()
    dimension_numbers: ScatterDimensionNumbers
    indices_are_sorted: bool
    unique_indices: bool
    mode: GatherScatterMode


@abstract_eval.register(ScatterBase)
def _type_of_scatter(op: ScatterBase, x: ShapedArray, indices: ShapedArray, updates: ShapedArray) -> ShapedArray:
    numbers = op.dimension_numbers
    require_same_dtype(op.name, (x, updates))
    if kind_of(indices.dtype) not in "iu" or not indices.ndim:
        raise TypeError(f"{op.name} needs integer indices whose last dimension holds index vectors, got "
                        f"{indices.short()}")
    if indices.shape[-1] != len(numbers.scatter_dims_to_operand_dims):
        raise TypeError(f"{op.name}: index vectors of {indices.shape[-1]} components, but scatter_dims_to_operand_dims "
                        f"names {numbers.scatter_dims_to_operand_dims}")
    dropped = numbers.inserted_window_dims + numbers.operand_batching_dims
    require_axes(op.name, dropped, x.ndim, "inserted and batching dimensions")
    require_axes(op.name, numbers.scatter_dims_to_operand_dims, x.ndim, "scatter_dims_to_operand_dims")
    _require_batching(op.name, x, indices, numbers.operand_batching_dims, numbers.scatter_indices_batching_dims)
    require_axes(op.name, numbers.update_window_dims, updates.ndim, "update_window_dims")
    _require_increasing(op.name, "update_window_dims", numbers.update_window_dims)
    window = [n for d, n in enumerate(x.shape) if d not in dropped]
    if updates.ndim != len(numbers.update_window_dims) + indices.ndim - 1 or len(window) != len(
            numbers.update_window_dims):
        raise TypeError(f"{op.name}: updates of shape {updates.shape} do not fit an operand of shape {x.shape} and "
                        f"indices of shape {indices.shape} by {numbers}")
    batch = tuple(n for d, n in enumerate(updates.shape) if d not in numbers.update_window_dims)
    if batch != indices.shape[:-1] or any(updates.shape[d] > n for d, n in zip(numbers.update_window_dims, window)):
        raise TypeError(f"{op.name}: updates of shape {updates.shape} do not fit an operand of shape {x.shape} and "
                        f"indices of shape {indices.shape} by {numbers}")
    return shaped_array(x.shape, x.dtype, x.weak_type and updates.weak_type)


@operation
class Scatter(ScatterBase):
    """Updates replace elements."""

    name = "scatter"
    dimension_numbers: ScatterDimensionNumbers
    indices_are_sorted: bool = False
    unique_indices: bool = False
    mode: GatherScatterMode = GatherScatterMode.FILL_OR_DROP


@operation
class ScatterAdd(ScatterBase):
    """Updates are added to elements."""

    name = "scatter_add"
    dimension_numbers: ScatterDimensionNumbers
    indices_are_sorted: bool = False
    unique_indices: bool = False
    mode: GatherScatterMode = GatherScatterMode.FILL_OR_DROP


@operation
class ScatterMul(ScatterBase):
    """Elements are multiplied by updates."""

    name = "scatter_mul"
    dimension_numbers: ScatterDimensionNumbers
    indices_are_sorted: bool = False
    unique_indices: bool = False
    mode: GatherScatterMode = GatherScatterMode.FILL_OR_DROP


@operation
class ScatterMin(ScatterBase):
    """Elements become the smaller of themselves and the updates."""

    name = "scatter_min"
    dimension_numbers: ScatterDimensionNumbers
    indices_are_sorted: bool = False
    unique_indices: bool = False
    mode: GatherScatterMode = GatherScatterMode.FILL_OR_DROP


@operation
class ScatterMax(ScatterBase):
    """Elements become the larger of themselves and the updates."""

    name = "scatter_max"
    dimension_numbers: ScatterDimensionNumbers
    indices_are_sorted: bool = False
    unique_indices: bool = False
    mode: GatherScatterMode = GatherScatterMode.FILL_OR_DROP


def dynamic_slice(x: Any, starts: Sequence[Any], slice_sizes: Sequence[int]) -> Any:
    """The slice of x of fixed sizes at integer scalars starts, one a dimension, moved back where it would reach beyond
    x.
    """
    return bind(DynamicSlice(tuple(slice_sizes)), x, *starts)


def dynamic_update_slice(x: Any, update: Any, starts: Sequence[Any]) -> Any:
    """x with the slice at integer scalars starts, one a dimension, replaced by update; starts as in dynamic_slice."""
    return bind(DynamicUpdateSlice(), x, update, *starts)


def gather(x: Any, indices: Any, dimension_numbers: GatherDimensionNumbers, slice_sizes: Sequence[int],
           indices_are_sorted: bool = False, unique_indices: bool = False,
           mode: GatherScatterMode = GatherScatterMode.PROMISE_IN_BOUNDS, fill_value: Any = None) -> Any:
    """Slices of x at index vectors, the rows of indices.

    Args:
        x: the array to read.
        indices: integers; the last dimension holds the index vectors.
        dimension_numbers: which dimensions of x, indices and result belong together.
        slice_sizes: the size of the slices, for each dimension of x.
        indices_are_sorted: promise that the index vectors come in rising order.
        unique_indices: promise that no two index vectors are equal.
        mode: what happens at an index out of bounds.
        fill_value: what FILL_OR_DROP gives there; None for NaN, or what stands in for it in other dtypes.

    >>> from glax.ir import ShapedArray, ops, stage
    >>> numbers = ops.GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,))
    >>> avals = [ShapedArray((5, 3), "float32"), ShapedArray((2, 1), "int32")]
    >>> stage(lambda x, rows: [ops.gather(x, rows, numbers, (1, 3))], avals)[0].out_avals
    [ShapedArray(float32[2,3])]
    """
    op = Gather(dimension_numbers, tuple(slice_sizes), indices_are_sorted, unique_indices, mode, fill_value)
    return bind(op, x, indices)


def scatter(kind: type[ScatterBase], x: Any, indices: Any, updates: Any, dimension_numbers: ScatterDimensionNumbers,
            indices_are_sorted: bool = False, unique_indices: bool = False,
            mode: GatherScatterMode = GatherScatterMode.FILL_OR_DROP) -> Any:
    """x with windows of updates combined with it at index vectors, the rows of indices.

    Args:
        kind: how they are combined: Scatter (replace), ScatterAdd, ScatterMul, ScatterMin or ScatterMax.
        x: the array to start from.
        indices: integers; the last dimension holds the index vectors.
        updates: an array of x's dtype.
        dimension_numbers: which dimensions of x, indices and updates belong together.
        indices_are_sorted: promise that the index vectors come in rising order.
        unique_indices: promise that no two index vectors are equal.
        mode: what happens at an index out of bounds.
    """
    return bind(kind(dimension_numbers, indices_are_sorted, unique_indices, mode), x, indices, updates)
