"""What an index means: static slices, single positions, and arrays of positions, dimension by dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._promotion import PYTHON_SCALARS, broadcast_shapes, type_of
from ..ir import NonConcreteBooleanIndexError, Tracer, aval_of, dtypes
from ..ir import ops as o
from ..lower import Array

INT32 = np.dtype(np.int32)


class Whole(NamedTuple):
    """A dimension indexed by a slice, in Python's sense: start, stop and step are all ints."""

    start: int
    stop: int
    step: int

    @property
    def size(self) -> int:
        return len(range(self.start, self.stop, self.step))


class Positions(NamedTuple):
    """A dimension indexed by a position, or by an array of them: an int, a NumPy array, an Array or a Tracer."""

    index: Any
    shape: tuple[int, ...]
    static: bool


class Parsed(NamedTuple):
    """An index, understood.

    Attributes:
        dims: what becomes of each dimension of the array.
        new_axes: where dimensions of size 1 are inserted in the result.
        lead: dimensions of size 1 to insert in the array first, for bools that index no dimension.
        at: how many of the sliced dimensions precede those of index arrays in the result: these take the place of the
            first index array, or come first of all where slices separate them.
        array_shape: the shape to which the index arrays broadcast.
    """

    dims: tuple[Whole | Positions, ...]
    new_axes: tuple[int, ...]
    lead: tuple[int, ...]
    at: int
    array_shape: tuple[int, ...]


def as_tuple(idx: Any) -> tuple[Any, ...]:
    if isinstance(idx, tuple):
        return idx
    if isinstance(idx, (list, set, dict)):
        raise TypeError(f"a {type(idx).__name__} is not an index: use x[numpy.array(indices)], or a tuple for several "
                        f"dimensions")
    return (idx,)


def _entry(x: Any) -> list[Any]:
    """An entry of an index in one of the forms None, Ellipsis, slice, bool, Positions; an array mask is several."""
    if x is None or x is Ellipsis or isinstance(x, slice):
        return [x]
    if isinstance(x, (bool, np.bool_)):
        return [bool(x)]
    if type(x) is int:
        return [Positions(x, (), True)]
    if isinstance(x, (list, tuple)):
        x = np.asarray(x) if x else np.zeros(0, np.int32)
    if isinstance(x, (str, bytes)):
        raise TypeError(f"arrays are not indexed by strings, got {x!r}")
    if isinstance(x, (float, complex)) and isinstance(x, PYTHON_SCALARS):
        raise TypeError(f"an index must be an integer or a bool, got {x!r} of type {type(x).__name__}")
    try:
        aval = aval_of(x)
    except TypeError:
        if hasattr(x, "__index__"):
            return [Positions(x.__index__(), (), True)]
        raise TypeError(f"an index must be an int, a slice, None, Ellipsis or an array of integers or bools, got {x!r} "
                        f"of type {type(x).__name__}") from None
    kind = dtypes.kind(aval.dtype)
    if kind not in "biu":
        raise TypeError(f"an index array must be of integers or bools, got {aval.short()}")
    static = type(x) is not Tracer
    if kind == "b":
        return _mask(x, static)
    if static:
        value = np.asarray(x)
        return [Positions(int(value) if not value.ndim else value, value.shape, True)]
    return [Positions(x, aval.shape, False)]


def _mask(x: Any, static: bool) -> list[Any]:
    if not static:
        from .._tracer_conversions import fail, known_value
        value = known_value(x)
        if value is None:
            fail(NonConcreteBooleanIndexError, x, "a boolean index",
                 "The mask's contents decide the shape of the result; use numpy.where(mask, x, other) with three "
                 "arguments, or nonzero with size=.")
        x = value
    mask = np.asarray(x)
    if not mask.ndim:
        return [bool(mask)]
    return [Positions(found.astype(np.int32), found.shape, True) for found in np.nonzero(mask)]


def _check_masks(idx: Sequence[Any], shape: tuple[int, ...]) -> None:
    """A mask has the sizes of the dimensions it indexes."""
    d = 0
    names_after = sum(_consumed(x) for x in idx)
    for x in idx:
        if x is Ellipsis:
            d = len(shape) - (names_after - _consumed_before(idx))
        elif isinstance(x, (list, np.ndarray, Array)) and _is_mask(x):
            dims = np.shape(x)
            if tuple(shape[d:d + len(dims)]) != dims:
                raise IndexError(f"a boolean index of shape {dims} does not fit dimensions {d} to {d + len(dims)} of "
                                 f"an array of shape {shape}")
        d += _consumed(x) if x is not Ellipsis else 0


def _consumed_before(idx: Sequence[Any]) -> int:
    before = 0
    for x in idx:
        if x is Ellipsis:
            return before
        before += _consumed(x)
    return before


def _is_mask(x: Any) -> bool:
    return np.asarray(x).dtype == bool if isinstance(x, (list, np.ndarray)) else x.dtype == bool


def _consumed(x: Any) -> int:
    """How many dimensions an entry indexes."""
    if x is None or x is Ellipsis or isinstance(x, (bool, np.bool_)):
        return 0
    if isinstance(x, (list, np.ndarray, Array, Tracer)) and _is_mask(x):
        return len(np.shape(x)) if isinstance(x, list) else x.ndim
    return 1


def _whole(s: slice, n: int, d: int) -> Whole:
    for end in (s.start, s.stop, s.step):
        if type(end) is Tracer:
            from .._tracer_conversions import known_value
            if known_value(end) is None:
                raise IndexError(f"the ends and the step of a slice must be concrete ints, got {s} for dimension {d} "
                                 f"of the array; use lax.dynamic_slice, whose start is computed and size is fixed")
    start, stop, step = s.indices(n)
    return Whole(start, stop, step)


def parse_index(idx: Any, shape: tuple[int, ...]) -> Parsed:
    """Understand an index of an array of a shape. IndexError where it names too many dimensions."""
    given = as_tuple(idx)
    if sum(x is Ellipsis for x in given) > 1:
        raise IndexError("an index has more than one Ellipsis (...)")
    consumed = sum(_consumed(x) for x in given)
    if consumed > len(shape):
        raise IndexError(f"too many indices: the array has {len(shape)} dimensions (shape {shape}), {consumed} were "
                         f"indexed")
    _check_masks(given, shape)
    entries = [e for x in given for e in _entry(x)]
    if Ellipsis not in [e for e in entries if not isinstance(e, Positions)]:
        entries.append(Ellipsis)
    rest = len(shape) - consumed
    flat: list[Any] = []
    for e in entries:
        flat.extend([slice(None)] * rest if e is Ellipsis else [e])
    has_arrays = any(isinstance(e, bool) or (isinstance(e, Positions) and e.shape) for e in flat)
    return _layout(flat, shape, has_arrays)


def _layout(flat: list[Any], shape: tuple[int, ...], has_arrays: bool) -> Parsed:
    dims: list[Whole | Positions] = []
    lead: list[int] = []
    places: list[int] = []  # of position entries, among all entries
    before: list[str] = []  # what each entry gives the result: "new", "whole", or nothing
    sizes = iter(shape)
    d = 0
    for place, e in enumerate(flat):
        if e is None:
            before.append("new")
        elif isinstance(e, bool):
            lead.append(len(dims))
            dims.append(Positions(np.zeros(int(e), np.int32), (int(e),), True))
            places.append(place)
            before.append("")
        elif isinstance(e, slice):
            dims.append(_whole(e, next(sizes), d))
            d += 1
            before.append("whole")
        else:
            next(sizes)
            d += 1
            dims.append(e)
            places.append(place)
            before.append("")
    array_shape = broadcast_shapes("index arrays", [p.shape for p in dims if isinstance(p, Positions)] or [()])
    together = not places or places == list(range(places[0], places[-1] + 1))
    first = places[0] if has_arrays and together else 0
    at = sum(1 for what in before[:first] if what == "whole") if has_arrays else 0
    new_axes = _new_axes(before, first, has_arrays, len(array_shape))
    return Parsed(tuple(dims), new_axes, tuple(lead), at, array_shape)


def _new_axes(before: list[str], first: int, has_arrays: bool, width: int) -> tuple[int, ...]:
    """Where the None entries are in the result, the dimensions of index arrays being inserted before entry first."""
    found, place = [], 0
    for i, what in enumerate(before):
        if has_arrays and i == first:
            place += width
        if what == "new":
            found.append(place)
        place += what != ""
    return tuple(found)


def wrapped(p: Positions, n: int, d: int, wrap: bool = True) -> Any:
    """Positions with negative ones counted from the end: an int, a NumPy array, or a Tracer of at least 32 bits."""
    if p.static:
        if type(p.index) is int:
            return p.index + n if wrap and p.index < 0 else p.index
        value = np.asarray(p.index)
        if value.dtype == np.uint64:
            value = np.minimum(value, np.uint64(2**63 - 1))
        value = value.astype(np.int64)
        return np.clip(np.where(value < 0, value + n, value) if wrap else value, -2**31, 2**31 - 1).astype(np.int32)
    x = p.index
    dtype = type_of("index", x).dtype
    if dtypes.itemsize_bits(dtype) < 32:
        x, dtype = o.convert_element_type(x, INT32), INT32
    if not wrap or dtypes.kind(dtype) == "u":
        return x
    return o.select_n(o.lt(x, dtype.type(0)), x, o.add(x, dtype.type(n)))
