"""Reading and replacing elements: ``x[index]``, ``x.at[index]``, take and their relatives."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._promotion import (
    broadcast_shapes,
    canonical_axis,
    cast,
    dtype_and_weak,
    promote_inexact,
    require_no_out,
    shape_of,
    strong,
    type_of,
)
from ..ir import Tracer, dtypes, shaped_array
from ..ir import ops as o
from ..ir.dtypes import result_type
from ..ir.ops import GatherDimensionNumbers, GatherScatterMode, ScatterDimensionNumbers
from ..ir.staging import current_builder
from ..lax._arguments import entries, operand
from ..lax.gathering import mode_of
from ..lax.slicing import of_one_dtype
from ..lower import Array, from_numpy_owned
from .creation import asarray
from .index_parsing import Parsed, Positions, Whole, parse_index, wrapped

_BASIC = frozenset((int, slice, type(None), type(Ellipsis)))
_IN_BOUNDS = GatherScatterMode.PROMISE_IN_BOUNDS


# ---- reading


def array_getitem(x: Array, idx: Any) -> Any:
    """``x[idx]`` of a value: by NumPy where the index is plain and nothing is being staged."""
    kind = type(idx)
    if current_builder() is None and (kind in _BASIC or (
            kind is tuple and builtins.all([type(i) in _BASIC for i in idx]))):
        value = x._value
        if type(value) is not np.ndarray:
            value = x.value()
        try:
            out = value[idx]
        except (IndexError, TypeError):
            return getitem(x, idx)
        aval = x.aval
        return from_numpy_owned(out, shaped_array(out.shape, aval.dtype, aval.weak_type))
    return getitem(x, idx)


def getitem(x: Any, idx: Any) -> Any:
    """``x[idx]``: positions beyond the ends are moved to them; of arrays of them, no derivative flows back there."""
    return get(x, idx)


def get(x: Any, idx: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None,
        fill_value: Any = None, wrap_negative_indices: bool = True) -> Any:
    """The elements at an index; ``x.at[idx].get`` with its options."""
    parsed = parse_index(idx, x.aval.shape)
    if parsed.lead:
        x = o.expand_dims(x, parsed.lead)
    chosen = _IN_BOUNDS if mode is None and fill_value is None else mode_of(mode, "get")
    shape = x.aval.shape
    positions = {d: wrapped(p, shape[d], d, wrap_negative_indices)
                 for d, p in enumerate(parsed.dims) if isinstance(p, Positions)}
    if parsed.array_shape == () and (chosen is not GatherScatterMode.FILL_OR_DROP or _all_in_bounds(positions, shape)):
        result = _basic_get(x, parsed, positions)
    else:
        x = _sliced(x, parsed.dims)
        result = _gather(x, parsed, positions, chosen, fill_value, indices_are_sorted, unique_indices)
    return o.expand_dims(result, parsed.new_axes)


def _require_elements(shape: tuple[int, ...], d: int) -> None:
    if shape[d] == 0:
        raise IndexError(f"an index into dimension {d} of size 0, of an array of shape {shape}")


def _clamped(i: int, n: int) -> int:
    return builtins.min(builtins.max(i, 0), n - 1)


def _basic_get(x: Any, parsed: Parsed, positions: dict[int, Any]) -> Any:
    """The elements at slices, at fixed positions, and at staged scalar positions."""
    shape = x.aval.shape
    dims = list(parsed.dims)
    moving = {}
    for d, at in positions.items():
        _require_elements(shape, d)
        if type(at) is int or type(at) is not Tracer:
            i = _clamped(int(at), shape[d])
            dims[d] = Whole(i, i + 1, 1)
        else:
            moving[d] = at
            dims[d] = Whole(0, shape[d], 1)
    x = _sliced(x, dims)
    if moving:
        sizes = tuple(1 if d in moving else n for d, n in enumerate(x.aval.shape))
        starts = of_one_dtype([moving.get(d, np.int32(0)) for d in range(len(sizes))])
        x = o.dynamic_slice(x, starts, sizes)
    return o.squeeze(x, tuple(positions))


def _sliced(x: Any, dims: Sequence[Whole | Positions]) -> Any:
    """The slices among the dims taken, the other dimensions left whole."""
    starts, limits, steps, reversed_dims = [], [], [], []
    shape = x.aval.shape
    for d, (n, dim) in enumerate(zip(shape, dims)):
        start, stop, step = (0, n, 1) if isinstance(dim, Positions) else dim
        size = len(range(start, stop, step))
        if step < 0:
            start, step = start + (size - 1) * step, -step
            if size > 1:
                reversed_dims.append(d)
        if size == 0:
            start, step = 0, 1
        elif size == 1:
            step = 1
        starts.append(start)
        limits.append(start + (size - 1) * step + 1 if size else start)
        steps.append(step)
    if limits != list(shape) or builtins.any(starts) or builtins.any(s != 1 for s in steps):
        x = o.slice_(x, starts, limits, None if builtins.all(s == 1 for s in steps) else steps)
    return o.rev(x, tuple(reversed_dims)) if reversed_dims else x


def _moved_inside(positions: dict[int, Any], shape: tuple[int, ...]) -> dict[int, Any]:
    """Positions that are known moved to the nearest that are in bounds."""
    return {d: _clamped(at, shape[d]) if type(at) is int else
            np.clip(at, 0, builtins.max(shape[d] - 1, 0)) if _is_fixed(at) else at for d, at in positions.items()}


def _is_fixed(at: Any) -> bool:
    return type(at) is int or isinstance(at, np.ndarray)


def _all_in_bounds(positions: dict[int, Any], shape: tuple[int, ...]) -> bool:
    return builtins.all(_is_fixed(at) and (np.size(at) == 0 or (np.min(at) >= 0 and np.max(at) < shape[d]))
                        for d, at in positions.items())


def _gather(x: Any, parsed: Parsed, positions: dict[int, Any], mode: GatherScatterMode, fill_value: Any,
            indices_are_sorted: bool, unique_indices: bool) -> Any:
    shape = x.aval.shape
    if mode is not GatherScatterMode.FILL_OR_DROP and parsed.array_shape and 0 not in parsed.array_shape:
        for d in positions:
            _require_elements(shape, d)
    if mode is GatherScatterMode.CLIP:
        positions = _moved_inside(positions, shape)
    if _all_in_bounds(positions, shape):
        mode = _IN_BOUNDS
    vectors = index_vectors([(at, tuple(range(len(parsed.array_shape)))) for at in positions.values()],
                            parsed.array_shape)
    whole = [d for d in range(len(shape)) if d not in positions]
    width = len(parsed.array_shape)
    offset_dims = tuple(i if i < parsed.at else i + width for i in range(len(whole)))
    numbers = GatherDimensionNumbers(offset_dims, tuple(positions), tuple(positions))
    sizes = tuple(1 if d in positions else n for d, n in enumerate(shape))
    if mode is not GatherScatterMode.FILL_OR_DROP and builtins.any(shape[d] == 0 for d in positions):
        result = tuple([*[shape[d] for d in whole[:parsed.at]], *parsed.array_shape,
                        *[shape[d] for d in whole[parsed.at:]]])
        return o.broadcast(np.zeros((), x.aval.dtype)[()], result)
    return o.gather(x, vectors, numbers, sizes, indices_are_sorted, unique_indices, mode, fill_value)


def index_vectors(columns: Sequence[tuple[Any, tuple[int, ...]]], batch: tuple[int, ...]) -> Any:
    """Index vectors in the last dimension of an array whose other dimensions are the batch.

    Args:
        columns: for each component, its positions (an int, a NumPy array or a Tracer), and the batch dimensions to
        which
            its trailing dimensions belong.
    """
    if builtins.all(_is_fixed(at) for at, _ in columns):
        placed = [np.broadcast_to(_placed(np.asarray(at, np.int32), dims, len(batch)), batch) for at, dims in columns]
        return np.stack(placed, axis=-1) if placed else np.zeros((*batch, 0), np.int32)
    kinds = {at.aval.dtype for at, _ in columns if not _is_fixed(at)}
    dtype = kinds.pop() if len(kinds) == 1 else dtypes.python_scalar_dtype(int)
    result = []
    for at, dims in columns:
        if _is_fixed(at):
            column = np.broadcast_to(_placed(np.asarray(at, np.int32).astype(dtype), dims, len(batch)), batch)[...,
                                                                                                               None]
        else:
            at = strong(at, dtype)
            own = dims[len(dims) - len(at.aval.shape):]
            column = o.broadcast_in_dim(at, (*batch, 1), own) if batch else o.reshape(at, (1,))
        result.append(column)
    return result[0] if len(result) == 1 else o.concatenate(result, len(batch))


def _placed(at: np.ndarray, dims: tuple[int, ...], ndim: int) -> np.ndarray:
    shape = [1] * ndim
    for n, d in zip(at.shape[::-1], dims[::-1]):
        shape[d] = n
    return at.reshape(shape)


# ---- replacing


class _Plan(NamedTuple):
    """How updates are laid out: window dimensions and batch dimensions, as scatter has them."""

    window: tuple[int, ...]
    inserted: tuple[int, ...]
    indexed: tuple[int, ...]
    vectors: Any
    in_bounds: bool


def update(x: Any, idx: Any, values: Any, kind: type, combine: Callable[[Any, Any], Any] | None, *,
           indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None,
           wrap_negative_indices: bool = True) -> Any:
    """x with the elements at an index replaced, or combined with values.

    Args:
        kind: the scatter operation.
        combine: the elementwise function it stands for; None where values replace elements. Elements and values meet
            in the dtype to which they promote, and what comes of them is converted to that of x.
    """
    parsed = parse_index(idx, x.aval.shape)
    original = x.aval.shape
    if parsed.lead:
        x = o.expand_dims(x, parsed.lead)
    shape, dtype = x.aval.shape, x.aval.dtype
    chosen = mode_of(mode, "at")
    positions = {d: wrapped(p, shape[d], d, wrap_negative_indices)
                 for d, p in enumerate(parsed.dims) if isinstance(p, Positions)}
    if chosen is GatherScatterMode.CLIP:
        positions = _moved_inside(positions, shape)
    values = np.asarray(values) if isinstance(values, (list, tuple)) else values
    together = dtype if combine is None else result_type((dtype, x.aval.weak_type), dtype_and_weak("at", values))[0]
    if combine in (o.add, o.mul) and dtypes.is_bool(together):
        raise TypeError("at: bools are not added or multiplied; use set, min or max, or give values of another dtype")
    values = _fitted(values, together, parsed)
    if values.aval.size == 0:
        result = x
    elif parsed.array_shape == () and builtins.all(_is_fixed(at) for at in positions.values()) and builtins.all(
            p.step in (1, -1) for p in parsed.dims if isinstance(p, Whole)):
        result = _static_update(x, parsed, positions, values, combine)
    else:
        plan = _scatter_plan(shape, parsed, positions)
        numbers = ScatterDimensionNumbers(plan.window, plan.inserted, plan.indexed)
        result = o.scatter(kind, cast(x, together, x.aval.weak_type), plan.vectors, values, numbers,
                           indices_are_sorted, unique_indices, _IN_BOUNDS if plan.in_bounds else chosen)
    result = _as_type_of(x, result)
    return o.reshape(result, original) if parsed.lead else result


def _as_type_of(x: Any, result: Any) -> Any:
    """A result in the dtype of the array that was updated, and weak where that is."""
    dtype, weak = x.aval.dtype, x.aval.weak_type
    if (result.aval.dtype, result.aval.weak_type) == (dtype, weak):
        return result
    return o.convert_element_type(result, dtype, weak)


def _result_shape(parsed: Parsed) -> tuple[int, ...]:
    whole = [p.size for p in parsed.dims if isinstance(p, Whole)]
    return (*whole[:parsed.at], *parsed.array_shape, *whole[parsed.at:])


def _fitted(values: Any, dtype: np.dtype, parsed: Parsed) -> Any:
    """Values in a dtype, broadcast to the shape of what the index names, less its new axes."""
    values = asarray(cast(values, dtype, dtype_and_weak("at", values)[1]))
    inner = _result_shape(parsed)
    outer = list(inner)
    for place in parsed.new_axes:
        outer.insert(place, 1)
    given = values.aval.shape
    extra = builtins.max(0, len(given) - len(outer))
    if builtins.any(n != 1 for n in given[:extra]) or builtins.any(
            n not in (1, m) for n, m in zip(given[extra:][::-1], outer[::-1])):
        raise ValueError(f"values of shape {given} do not broadcast to the shape {tuple(outer)} of what is indexed")
    if extra:
        values = o.reshape(values, given[extra:])
    values = o.broadcast(values, tuple(outer))
    return o.squeeze(values, parsed.new_axes)


def _static_update(x: Any, parsed: Parsed, positions: dict[int, Any], values: Any,
                   combine: Callable[[Any, Any], Any] | None) -> Any:
    """An update of a box at fixed positions: a slice replaced."""
    shape = x.aval.shape
    starts, sizes, reversed_dims = [], [], []
    for d, dim in enumerate(parsed.dims):
        if d in positions:
            start, size = int(positions[d]), 1
            if not 0 <= start < shape[d]:
                return x
        else:
            size = dim.size
            start = dim.start if dim.step > 0 else dim.start - size + 1
            if dim.step < 0 and size > 1:
                reversed_dims.append(d)
        starts.append(start)
        sizes.append(size)
    box = o.reshape(values, tuple(sizes))
    if reversed_dims:
        box = o.rev(box, tuple(reversed_dims))
    whole = tuple(sizes) == shape
    if combine is not None:
        old = x if whole else o.slice_(x, starts, [a + n for a, n in zip(starts, sizes)])
        box = _as_type_of(x, combine(cast(old, box.aval.dtype, x.aval.weak_type), box))
    if whole:
        return box
    return o.dynamic_update_slice(x, box, [np.int32(a) for a in starts])


def _scatter_plan(shape: tuple[int, ...], parsed: Parsed, positions: dict[int, Any]) -> _Plan:
    """Slices with a step of 1 are windows; other dimensions are indexed, one position at a time."""
    width = len(parsed.array_shape)
    layout: list[tuple[str, int]] = [
        ("strided" if p.step != 1 else "window", d) for d, p in enumerate(parsed.dims) if isinstance(p, Whole)]
    layout[parsed.at:parsed.at] = [("array", i) for i in range(width)]
    result = _result_shape(parsed)
    batch_places = [i for i, (what, _) in enumerate(layout) if what != "window"]
    batch = tuple(result[i] for i in batch_places)
    array_dims = tuple(k for k, i in enumerate(batch_places) if layout[i][0] == "array")
    columns, indexed, inserted, in_bounds = [], [], [], True
    for d, dim in enumerate(parsed.dims):
        if isinstance(dim, Positions):
            columns.append((positions[d], array_dims))
            in_bounds = in_bounds and _all_in_bounds({d: positions[d]}, shape)
        elif dim.step != 1:
            own = next(k for k, i in enumerate(batch_places) if layout[i] == ("strided", d))
            columns.append((np.arange(dim.start, dim.stop, dim.step, dtype=np.int32), (own,)))
        elif dim.start:
            columns.append((dim.start, ()))
            indexed.append(d)
            continue
        else:
            continue
        indexed.append(d)
        inserted.append(d)
    window = tuple(i for i, (what, _) in enumerate(layout) if what == "window")
    return _Plan(window, tuple(inserted), tuple(indexed), index_vectors(columns, batch), in_bounds)


class IndexUpdateHelper:
    """``x.at``: indexing it gives the place whose elements are to be read or replaced."""

    __slots__ = ("array",)

    def __init__(self, array: Any):
        self.array = array

    def __getitem__(self, index: Any) -> IndexUpdateRef:
        return IndexUpdateRef(self.array, index)

    def __repr__(self) -> str:
        return f"IndexUpdateHelper({self.array!r})"


class IndexUpdateRef:
    """``x.at[index]``: its methods return changed copies of x.

    All of them take ``indices_are_sorted`` and ``unique_indices`` (promises that help the compiler), ``mode`` (what
    happens out of bounds: 'drop' or 'fill', the default for updates, 'clip', or 'promise_in_bounds', the default for
    get, which reads the nearest element and lets no derivative flow back there) and ``wrap_negative_indices`` (whether
    negative positions count from the end). Methods that combine values with elements do so in the dtype to which both
    promote; the result has the array's.

    >>> import glax.numpy as xp
    >>> xp.zeros(3).at[1].set(5.0)
    Array([0., 5., 0.], dtype=float32)
    """

    __slots__ = ("array", "index")

    def __init__(self, array: Any, index: Any):
        self.array = array
        self.index = index

    def __repr__(self) -> str:
        return f"IndexUpdateRef({self.array!r}, {self.index!r})"

    def get(self, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None,
            fill_value: Any = None, out_sharding: Any = None, wrap_negative_indices: bool = True) -> Any:
        """The elements at the index; fill_value goes with mode 'fill'."""
        return get(self.array, self.index, indices_are_sorted=indices_are_sorted, unique_indices=unique_indices,
                   mode=mode, fill_value=fill_value, wrap_negative_indices=wrap_negative_indices)

    def set(self, values: Any, **options: Any) -> Any:
        """A copy with the elements replaced by values, which are broadcast and take the array's dtype."""
        return update(self.array, self.index, values, o.Scatter, None, **_options(options))

    def add(self, values: Any, **options: Any) -> Any:
        """A copy with values added to the elements; every one where positions repeat."""
        return update(self.array, self.index, values, o.ScatterAdd, o.add, **_options(options))

    def subtract(self, values: Any, **options: Any) -> Any:
        """A copy with values subtracted from the elements; every one where positions repeat."""
        values = np.asarray(values) if isinstance(values, (list, tuple)) else values
        aval = self.array.aval
        together = result_type((aval.dtype, aval.weak_type), dtype_and_weak("at", values))[0]
        if dtypes.is_bool(together):
            raise TypeError("at: bools are not subtracted; use set, min or max, or give values of another dtype")
        return self.add(o.neg(cast(values, together)), **options)

    def multiply(self, values: Any, **options: Any) -> Any:
        """A copy with the elements multiplied by values; by every one where positions repeat."""
        return update(self.array, self.index, values, o.ScatterMul, o.mul, **_options(options))

    mul = multiply

    def divide(self, values: Any, **options: Any) -> Any:
        """A copy with the elements divided by values; of an array of integers, floats."""
        from .creation import ones_like
        from .ufuncs import divide
        floats, = promote_inexact("divide", self.array)
        return divide(floats, ones_like(floats).at[self.index].multiply(values, **options))

    def min(self, values: Any, **options: Any) -> Any:
        """A copy with the smaller of elements and values."""
        return update(self.array, self.index, values, o.ScatterMin, o.min_, **_options(options))

    def max(self, values: Any, **options: Any) -> Any:
        """A copy with the larger of elements and values."""
        return update(self.array, self.index, values, o.ScatterMax, o.max_, **_options(options))

    def power(self, values: Any, **options: Any) -> Any:
        """A copy with the elements raised to powers; to every one, in turn, where positions repeat."""
        from .arithmetic import power
        if not _may_repeat(self.array, self.index, options):
            return self.apply(lambda old: power(old, values), **options)
        values = np.asarray(values) if isinstance(values, (list, tuple)) else values
        aval = self.array.aval
        given = dtype_and_weak("at", values)
        dtype = result_type((aval.dtype, aval.weak_type), given)[0] if given[1] else given[0]
        dtype = dtypes.python_scalar_dtype(int) if dtypes.is_bool(dtype) else dtype
        exponents = IndexUpdateRef(o.broadcast(np.ones((), dtype)[()], aval.shape), self.index)
        return _as_type_of(self.array, power(self.array, exponents.multiply(values, **options)))

    def apply(self, func: Callable[[Any], Any], **options: Any) -> Any:
        """A copy with a function applied to the elements: once, even where positions repeat.

        The function is called with an array of all the elements at the index.
        """
        if not self.array.aval.size and parse_index(self.index, self.array.aval.shape).array_shape:
            return self.array
        return self.set(func(self.get(**{k: v for k, v in options.items() if k != "out_sharding"})), **options)


def _may_repeat(x: Any, idx: Any, options: dict[str, Any]) -> bool:
    """Whether an index may name an element more than once."""
    if options.get("unique_indices"):
        return False
    shape = x.aval.shape
    parsed = parse_index(idx, shape)
    dims = [(d, p) for d, p in enumerate(parsed.dims) if isinstance(p, Positions)]
    if builtins.all(n <= 1 for n in parsed.array_shape):
        return False
    if parsed.lead or not builtins.all(p.static for _, p in dims):
        return True
    wrap = options.get("wrap_negative_indices", True)
    columns = [np.broadcast_to(wrapped(p, shape[d], d, wrap), parsed.array_shape).ravel() for d, p in dims]
    clipped = mode_of(options.get("mode"), "at") is GatherScatterMode.CLIP
    places = [np.clip(c, 0, shape[d] - 1) if clipped else c for c, (d, _) in zip(columns, dims)]
    return len(np.unique(np.stack(places), axis=1).T) < len(places[0])


def _options(options: dict[str, Any]) -> dict[str, Any]:
    unknown = set(options) - {"indices_are_sorted", "unique_indices", "mode", "out_sharding", "wrap_negative_indices"}
    if unknown:
        raise TypeError(f"at: unexpected arguments {', '.join(sorted(unknown))}")
    options.pop("out_sharding", None)
    return options


# ---- functions


def take(a: Any, indices: Any, axis: int | None = None, out: None = None, mode: str | None = None,
         unique_indices: bool = False, indices_are_sorted: bool = False, fill_value: Any = None) -> Any:
    """Elements, or slices along an axis, at indices.

    Args:
        a: an array, flattened where axis is None.
        indices: an integer array; negative ones count from the end, unless mode is 'clip'.
        axis: an axis or None.
        mode: what happens out of bounds: 'fill' (the default) gives fill_value, 'clip' the nearest element (the first
            one for a negative index), 'wrap' goes round.
        fill_value: by default NaN, or the least integer (greatest, where unsigned).

    >>> import glax.numpy as xp
    >>> xp.take(xp.arange(5) * 2, xp.array([1, -1]))
    Array([2, 8], dtype=int32)
    """
    type_of("take", a)
    given = type_of("take", indices, 1).dtype
    if dtypes.is_bool(given):
        indices = o.convert_element_type(asarray(indices), dtypes.python_scalar_dtype(int))
    elif not dtypes.is_integer(given):
        raise TypeError(f"take: indices must be integers, got dtype {given.name}")
    require_no_out("take", out)
    a = asarray(a)
    if axis is None:
        a, axis = o.reshape(a, (a.aval.size,)), 0
    axis = canonical_axis(axis, len(a.aval.shape), "take")
    if mode == "raise":
        raise NotImplementedError("take: mode 'raise' is not supported: contents of arrays raise no errors")
    if 0 not in shape_of(indices):
        _require_elements(a.aval.shape, axis)
    from_the_end = mode_of(None if mode == "wrap" else mode, "take") is not GatherScatterMode.CLIP
    if mode == "wrap":
        from .arithmetic import remainder
        indices = remainder(strong(indices, dtypes.python_scalar_dtype(int)), a.aval.shape[axis])
        mode = "promise_in_bounds"
    index = (slice(None),) * axis + (indices,)
    if fill_value is not None:
        operand(fill_value, "take", "fill_value")
    return get(a, index, mode="fill" if mode is None else mode, fill_value=fill_value,
               unique_indices=bool(unique_indices), indices_are_sorted=bool(indices_are_sorted),
               wrap_negative_indices=from_the_end)


def take_along_axis(arr: Any, indices: Any, axis: int | None = -1, mode: str | None = None,
                    fill_value: Any = None, *, wrap_negative_indices: bool | None = None) -> Any:
    """Elements at indices along an axis, the other dimensions running along together.

    Args:
        arr: an array, flattened where axis is None.
        indices: an integer array of as many dimensions; sizes other than axis's broadcast with arr's.
        mode, fill_value: what happens out of bounds, as in ``take``, 'wrap' aside.
        wrap_negative_indices: whether negative indices count from the end: yes by default, with 'clip' too.

    >>> import glax.numpy as xp
    >>> xp.take_along_axis(xp.array([[3, 1, 2]]), xp.array([[1, 2, 0]]), axis=1)
    Array([[1, 2, 3]], dtype=int32)
    """
    type_of("take_along_axis", arr)
    aval = type_of("take_along_axis", indices, 1)
    if not dtypes.is_integer(aval.dtype):
        raise TypeError(f"take_along_axis: indices must be integers, got {aval.short()}")
    if fill_value is not None:
        operand(fill_value, "take_along_axis", "fill_value")
    arr, indices = asarray(arr), asarray(indices)
    if axis is None:
        arr, axis = o.reshape(arr, (arr.aval.size,)), 0
    shape, i_shape = arr.aval.shape, indices.aval.shape
    if len(shape) != len(i_shape):
        raise ValueError(f"take_along_axis: indices and arr must have as many dimensions, got shapes {i_shape} and "
                         f"{shape}")
    axis = canonical_axis(axis, len(shape), "take_along_axis")
    rest = broadcast_shapes("take_along_axis", (_without(shape, axis), _without(i_shape, axis)))
    full = (*rest[:axis], i_shape[axis], *rest[axis:])
    arr = o.broadcast(arr, (*rest[:axis], shape[axis], *rest[axis:]))
    indices = o.broadcast(indices, full)
    if not shape[axis]:
        return o.broadcast(np.zeros((), arr.aval.dtype)[()], full)
    at = wrapped(Positions(indices, full, type(indices) is not Tracer), shape[axis], axis, wrap_negative_indices in (
        None, True))
    chosen = mode_of("fill" if mode is None else mode, "take_along_axis")
    if chosen is GatherScatterMode.FILL_OR_DROP and fill_value is None and _all_in_bounds({axis: at}, arr.aval.shape):
        chosen = _IN_BOUNDS
    others = tuple(d for d in range(len(full)) if d != axis)
    vectors = at[..., None] if isinstance(at, np.ndarray) else o.expand_dims(at, (len(full),))
    numbers = GatherDimensionNumbers((), (axis,), (axis,), others, others)
    return o.gather(arr, vectors, numbers, (1,) * len(full), mode=chosen, fill_value=fill_value)


def _without(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return shape[:axis] + shape[axis + 1:]


def put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None, inplace: bool = True, *,
                   mode: str | None = None) -> Any:
    """A copy of arr with the elements at indices along an axis replaced (inplace must be False: arrays are
    immutable).

    >>> import glax.numpy as xp
    >>> xp.put_along_axis(xp.zeros((2, 2)), xp.array([[0], [1]]), 5, axis=1, inplace=False).tolist()
    [[5.0, 0.0], [0.0, 5.0]]
    """
    if inplace:
        raise ValueError("put_along_axis: arrays are immutable, so inplace must be False; the changed copy is returned")
    arr, indices = asarray(arr), asarray(indices)
    if axis is None:
        flat = put_along_axis(o.reshape(arr, (arr.aval.size,)), o.reshape(indices, (indices.aval.size,)), values, 0,
                              False, mode=mode)
        return o.reshape(flat, arr.aval.shape)
    shape = arr.aval.shape
    axis = canonical_axis(axis, len(shape), "put_along_axis")
    grid = tuple(indices if d == axis else np.arange(n, dtype=np.int32).reshape(
        [n if k == d else 1 for k in range(len(shape))]) for d, n in enumerate(shape))
    return arr.at[grid].set(values, mode=mode)


def put(a: Any, ind: Any, v: Any, mode: str | None = None, *, inplace: bool = True) -> Any:
    """A copy of a with the elements at indices of the flattened array replaced (inplace must be False).

    Args:
        a: an array.
        ind: an array of integers.
        v: the new elements, repeated as needed.
        mode: what happens out of bounds: 'clip' takes the nearest position (a negative one being the first), 'wrap'
            goes round; by default negative positions count from the end, and then the nearest one is taken.

    >>> import glax.numpy as xp
    >>> xp.put(xp.zeros(3), xp.array([0, -1]), xp.array([5, 6]), inplace=False)
    Array([5., 0., 6.], dtype=float32)
    """
    if mode not in (None, "clip", "wrap"):
        raise ValueError(f"put: mode must be None, 'clip' or 'wrap', got {mode!r}")
    if inplace:
        raise ValueError("put: arrays are immutable, so inplace must be False; the changed copy is returned")
    a, ind, v = asarray(a), asarray(ind), asarray(v)
    n = ind.aval.size
    if n == 0:
        return a
    flat, ind = o.reshape(a, (a.aval.size,)), o.reshape(ind, (n,))
    from .repeating import resize
    values = resize(v, (n,))
    if mode == "wrap":
        from .arithmetic import remainder
        ind = remainder(strong(ind, dtypes.python_scalar_dtype(int)), flat.aval.shape[0])
    changed = flat.at[ind].set(values, mode="clip", wrap_negative_indices=mode != "clip")
    return o.reshape(changed, a.aval.shape)


def choose(a: Any, choices: Any, out: None = None, mode: str = "clip") -> Any:
    """Elements of choices[a], all broadcast together; mode is 'clip' or 'wrap'. Indices out of bounds are moved to the
    ends with 'clip', and go round with 'wrap'.

    >>> import glax.numpy as xp
    >>> xp.choose(xp.array([1, 0]), [xp.array([1, 2]), xp.array([3, 4])])
    Array([3, 2], dtype=int32)
    """
    from .arithmetic import remainder
    from .selection import clip
    from .shaping import broadcast_arrays, stack
    if mode not in ("clip", "wrap"):
        raise NotImplementedError(f"choose: mode must be 'clip' or 'wrap', got {mode!r}")
    a, choices = asarray(a), entries(choices, "choose", "choices", "a sequence of arrays")
    if not dtypes.is_integer(a.aval.dtype) and not dtypes.is_bool(a.aval.dtype):
        raise TypeError(f"choose: a must hold integers, got {a.aval.short()}")
    index, *arrays = broadcast_arrays(a, *choices)
    n = len(arrays)
    index = clip(index, 0, n - 1) if mode == "clip" else remainder(index, n)
    return take_along_axis(stack(arrays), o.expand_dims(index, (0,)), 0)[0]
