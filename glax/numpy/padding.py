"""pad, and joining or leaving out parts of an axis."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._promotion import as_index, canonical_axis, concrete, scalar_literal, strong, type_of
from ..ir import dtypes
from ..ir import ops as o
from ..lax._arguments import mistaken
from .creation import asarray, linspace
from .indexing import take
from .reductions import max, mean, min
from .selection import where
from .shaping import broadcast_to, concatenate, ravel

_BY_INDEX = ("edge", "reflect", "symmetric", "wrap")


def _widths(pad_width: Any, ndim: int, name: str = "pad_width") -> list[tuple[int, int]]:
    if isinstance(pad_width, dict):
        given = {canonical_axis(d, ndim, "pad", f"an axis of {name}"): w for d, w in pad_width.items()}
        both = [given.get(d, 0) for d in range(ndim)]  # axes that are left out are not padded
        pad_width = [w if isinstance(w, (tuple, list)) else (w, w) for w in both]
    try:
        pairs = np.broadcast_to(concrete(pad_width, "pad", name), (ndim, 2))
    except ValueError:
        raise ValueError(f"pad: {name} must be a number, a pair, or a pair for each of {ndim} dimensions, got "
                         f"{pad_width!r:.200}") from None
    return [(as_index(a, "pad", name), as_index(b, "pad", name)) for a, b in pairs]


def pad(array: Any, pad_width: Any, mode: str | Callable[..., Any] = "constant", **kwargs: Any) -> Any:
    """An array with elements added before and after it along each axis.

    Args:
        array: an array.
        pad_width: how many: a number, a pair (before, after), a pair for each axis, or a dict of them by axis.
        mode: 'constant' (with constant_values), 'edge', 'reflect' and 'symmetric' (with reflect_type, 'even' or 'odd'),
            'wrap', 'linear_ramp' (with end_values), 'maximum', 'minimum', 'mean' (with stat_length), 'empty', or a
            function as for NumPy.

    >>> import glax.numpy as xp
    >>> xp.pad(xp.arange(2), 1, mode="edge")
    Array([0, 0, 1, 1], dtype=int32)
    """
    x = asarray(array) if type_of("pad", array) else array
    ndim = len(x.aval.shape)
    widths = _widths(pad_width, ndim)
    if builtins.any(n < 0 for pair in widths for n in pair):
        raise ValueError(f"pad: pad_width must not be negative, got {pad_width!r}")
    allowed = {"constant": {"constant_values"}, "linear_ramp": {"end_values"}, "maximum": {"stat_length"},
               "minimum": {"stat_length"}, "mean": {"stat_length"}, "median": {"stat_length"},
               "reflect": {"reflect_type"}, "symmetric": {"reflect_type"}}
    if callable(mode):
        return _pad_by_function(x, widths, mode, kwargs)
    if not isinstance(mode, str):
        raise mistaken("pad", "mode", "a string or a function", mode)
    unknown = set(kwargs) - allowed.get(mode, set())
    if unknown:
        raise ValueError(f"pad: mode {mode!r} does not take {', '.join(sorted(unknown))}")
    if mode in ("constant", "empty"):
        return _pad_constant(x, widths, kwargs.get("constant_values", 0))
    if mode in _BY_INDEX:
        reflect_type = kwargs.get("reflect_type", "even")
        if reflect_type not in ("even", "odd"):
            raise ValueError(f"pad: reflect_type must be 'even' or 'odd', got {reflect_type!r}")
        for d, pair in enumerate(widths):
            if pair != (0, 0):
                n = x.aval.shape[d]
                if n == 0:
                    raise ValueError(f"pad: axis {d} of size 0 has nothing to pad with by mode {mode!r}")
                if reflect_type == "odd":
                    x = _pad_by_odd_reflection(x, d, pair, mode)
                    continue
                x = take(x, np.pad(np.arange(n, dtype=np.int32), pair, mode=mode), axis=d, mode="promise_in_bounds")
        return x
    if mode == "linear_ramp":
        return _pad_ramp(x, widths, _values(kwargs.get("end_values", 0), ndim))
    if mode in ("maximum", "minimum", "mean", "median"):
        return _pad_statistic(x, widths, mode, kwargs.get("stat_length"))
    raise ValueError(f"pad: unknown mode {mode!r}")


def _values(values: Any, ndim: int) -> list[tuple[Any, Any]]:
    """A value before and one after each axis."""
    given = broadcast_to(asarray(values), (ndim, 2))
    return [(given[d, 0], given[d, 1]) for d in range(ndim)]


def _pad_constant(x: Any, widths: Sequence[tuple[int, int]], values: Any) -> Any:
    dtype = x.aval.dtype
    if not isinstance(values, (tuple, list)) and not type_of("pad", values).shape:
        return o.pad(x, strong(values, dtype), tuple((a, b, 0) for a, b in widths))
    for d, (pair, ends) in enumerate(zip(widths, _values(values, len(widths)))):
        for side, (n, value) in enumerate(zip(pair, ends)):
            config = tuple(((n, 0, 0), (0, n, 0))[side] if k == d else (0, 0, 0) for k in range(len(widths)))
            x = o.pad(x, strong(value, dtype), config) if n else x
    return x


def _pad_ramp(x: Any, widths: Sequence[tuple[int, int]], ends: Sequence[tuple[Any, Any]]) -> Any:
    dtype = x.aval.dtype
    for d, ((before, after), (low, high)) in enumerate(zip(widths, ends)):
        first, last = take(x, np.arange(1), axis=d), take(x, np.asarray([x.aval.shape[d] - 1]), axis=d)
        edge = tuple(n for n in first.aval.shape)

        def ramp(end: Any, border: Any, n: int, d: int = d, edge: tuple[int, ...] = edge) -> Any:
            flat = tuple(m for k, m in enumerate(edge) if k != d)
            start = o.broadcast(end, flat) if flat else end
            values = linspace(start, o.reshape(border, flat), n, endpoint=False, dtype=dtype, axis=d)
            return values

        parts = [ramp(low, first, before)] if before else []
        parts.append(x)
        if after:
            parts.append(o.rev(ramp(high, last, after), (d,)))
        x = concatenate(parts, d)
    return x


def _pad_by_odd_reflection(x: Any, d: int, pair: tuple[int, int], mode: str) -> Any:
    """x with what lies beyond an end turned by half a circle about the end: twice the end's value less the element."""
    n = x.aval.shape[d]
    period = n - 1 if mode == "reflect" and n > 1 else n
    first, last = take(x, np.asarray([0]), axis=d), take(x, np.asarray([n - 1]), axis=d)

    def along(values: np.ndarray) -> np.ndarray:
        return values.reshape([-1 if k == d else 1 for k in range(len(x.aval.shape))])

    def beyond(places: np.ndarray) -> Any:
        rounds, place = np.divmod(places, 2 * period)
        turned = place >= n
        found = take(x, np.where(turned, period + n - 1 - place, place), axis=d, mode="promise_in_bounds")
        found = where(along(turned), last + last - found, found)
        if not rounds.any():
            return found
        count = asarray(along(2 * rounds).astype(np.int32)).astype(x.aval.dtype)
        return where(along(rounds != 0), found + count * (last - first), found)

    return concatenate([beyond(np.arange(-pair[0], 0)), x, beyond(np.arange(n, n + pair[1]))], d)


def _pad_statistic(x: Any, widths: Sequence[tuple[int, int]], mode: str, stat_length: Any) -> Any:
    from .statistics import median
    function = {"maximum": max, "minimum": min, "mean": mean, "median": median}[mode]
    dtype = x.aval.dtype
    lengths = None if stat_length is None else _widths(stat_length, len(widths), "stat_length")
    for d, (before, after) in enumerate(widths):
        n = x.aval.shape[d]
        parts = []
        for side, width in ((0, before), (1, after)):
            k = n if lengths is None else builtins.min(lengths[d][side], n)
            chosen = np.arange(k) if side == 0 else np.arange(n - k, n)
            value = function(take(x, chosen, axis=d), axis=d, keepdims=True)
            if dtypes.is_integer(dtype) and value.aval.is_inexact:
                value = o.round_(value, 1)
            shape = tuple(width if i == d else m for i, m in enumerate(x.aval.shape))
            parts.append(o.broadcast(strong(value, dtype), shape))
        x = concatenate([parts[0], x, parts[1]], d)
    return x


def _pad_by_function(x: Any, widths: Sequence[tuple[int, int]], function: Callable[..., Any], kwargs: Any) -> Any:
    from .functional import apply_along_axis
    x = _pad_constant(x, widths, 0)
    for d, pair in enumerate(widths):
        x = apply_along_axis(function, d, x, pair, d, kwargs)
    return x


def _concrete_positions(name: str, obj: Any) -> np.ndarray:
    """Positions in an array, or a mask, whose contents are known; ValueError where they are neither ints nor bools."""
    type_of(name, obj, 1)
    found = concrete(obj, name, "obj")
    if found.dtype.kind not in "biu":
        raise ValueError(f"{name}: obj must hold integers or bools, got {obj!r}")
    return found if found.dtype == bool else found.astype(np.int64)


def delete(arr: Any, obj: Any, axis: int | None = None, *, assume_unique_indices: bool = False) -> Any:
    """A copy without the slices at positions of an axis, or elements of the flattened array where axis is None.

    >>> import glax.numpy as xp
    >>> xp.delete(xp.arange(4), 1)
    Array([0, 2, 3], dtype=int32)
    """
    x = asarray(arr)
    if axis is None:
        x, axis = ravel(x), 0
    axis = canonical_axis(axis, len(x.aval.shape), "delete")
    n = x.aval.shape[axis]
    if isinstance(obj, slice):
        obj = np.arange(n)[obj]
    gone = _concrete_positions("delete", obj)
    if not gone.ndim and not -n <= gone < n:
        raise ValueError(f"delete: obj {gone} is out of bounds for axis {axis} of size {n}")
    kept = np.delete(np.arange(n, dtype=np.int32), gone)
    return take(x, kept, axis=axis, mode="promise_in_bounds")


def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Any:
    """A copy with values inserted before positions of an axis, or of the flattened array where axis is None; beyond
    the ends, at the ends.

    >>> import glax.numpy as xp
    >>> xp.insert(xp.array([1, 2, 3]), 1, 9)
    Array([1, 9, 2, 3], dtype=int32)
    """
    x = asarray(arr)
    if axis is None:
        x, axis = ravel(x), 0
    axis = canonical_axis(axis, len(x.aval.shape), "insert")
    n = x.aval.shape[axis]
    if isinstance(obj, slice):
        obj = np.arange(n)[obj]
    places = _concrete_positions("insert", obj)
    places = np.nonzero(places)[0] if places.dtype == bool else places
    values = asarray(values)
    shape = x.aval.shape
    if places.ndim == 0:
        values = values if len(values.aval.shape) else o.reshape(values, (1,) * len(shape))
        from .shaping import moveaxis
        if len(values.aval.shape) == len(shape):
            values = moveaxis(values, 0, axis)
        else:
            values = o.expand_dims(values, (axis,))
        count = values.aval.shape[axis]
    else:
        count = places.size
    places = np.atleast_1d(places).astype(np.int64)
    places = np.clip(np.where(places < 0, places + n, places), 0, n)
    if places.size == 1:
        places = np.repeat(places, count)
    order = np.argsort(places, kind="stable")
    targets = places.copy()
    targets[order] += np.arange(places.size)
    size = n + places.size
    kept = np.ones(size, bool)
    kept[targets] = False
    new_shape = tuple(size if d == axis else m for d, m in enumerate(shape))
    values = broadcast_to(strong(values, x.aval.dtype), tuple(places.size if d == axis else m for d,
                                                              m in enumerate(shape)))
    source = np.empty(size, np.int32)
    source[kept] = np.arange(n)
    source[targets] = n + np.arange(places.size)
    result = take(concatenate([x, values], axis), source, axis=axis, mode="promise_in_bounds")
    return o.reshape(result, new_shape)


def trim_zeros(filt: Any, trim: str = "fb") -> Any:
    """A vector without its leading ('f') and trailing ('b') zeros; its contents must be concrete.

    >>> import glax.numpy as xp
    >>> xp.trim_zeros(xp.array([0, 1, 0, 2, 0]), "f")
    Array([1, 0, 2, 0], dtype=int32)
    """
    x = asarray(filt)
    if not isinstance(trim, str):
        raise mistaken("trim_zeros", "trim", "'f', 'b' or 'fb'", trim)
    if len(x.aval.shape) != 1:
        raise ValueError(f"trim_zeros: filt must be a vector, got shape {x.aval.shape}")
    value = concrete(x, "trim_zeros", "filt")
    there = np.nonzero(value)[0]
    if not there.size:
        return x[:0]
    first = int(there[0]) if "f" in trim.lower() else 0
    last = int(there[-1]) + 1 if "b" in trim.lower() else value.shape[0]
    return x[first:last]


def place(arr: Any, mask: Any, vals: Any, *, inplace: bool = True) -> Any:
    """A copy with the elements where a mask holds replaced by values in turn (inplace must be False). ValueError for
    inplace.

    >>> import glax.numpy as xp
    >>> xp.place(xp.arange(4), xp.array([True, False, True, True]), xp.array([7, 8]), inplace=False)
    Array([7, 1, 8, 7], dtype=int32)
    """
    from .arithmetic import remainder
    from .reductions import cumsum
    from .selection import where
    if inplace:
        raise ValueError("place: arrays are immutable, so inplace must be False; the changed copy is returned")
    x, mask, values = asarray(arr), ravel(asarray(mask)), ravel(asarray(vals))
    if x.aval.size != mask.aval.size:
        raise ValueError(f"place: arr and mask must be of one size, got {x.aval.size} and {mask.aval.size}")
    if not values.aval.size:
        raise ValueError("place: vals must not be empty")
    turn = cumsum(mask != 0) - 1
    chosen = strong(take(values, remainder(turn, values.aval.size), mode="clip"), x.aval.dtype)
    return o.reshape(where(mask, chosen, ravel(x)), x.aval.shape)


def packbits(a: Any, axis: int | None = None, bitorder: str = "big") -> Any:
    """Groups of eight bools, or nonzero integers, along an axis as the bits of uint8 numbers. Zeros fill up the last
    group; with bitorder 'little' the first bool is the lowest bit.

    >>> import glax.numpy as xp
    >>> xp.packbits(xp.array([1, 0, 1]))
    Array([160], dtype=uint8)
    """
    x = asarray(a)
    if bitorder not in ("big", "little"):
        raise ValueError(f"packbits: bitorder must be 'big' or 'little', got {bitorder!r}")
    if dtypes.kind(x.aval.dtype) not in "biu":
        raise TypeError(f"packbits: bools or integers are needed, got {x.aval.short()}")
    if axis is None:
        x, axis = ravel(x), 0
    axis = canonical_axis(axis, len(x.aval.shape), "packbits")
    bits = strong(x != 0, np.dtype(np.uint8))
    n = bits.aval.shape[axis]
    groups = -(-n // 8)
    config = tuple((0, 8 * groups - n if d == axis else 0, 0) for d in range(len(bits.aval.shape)))
    bits = o.pad(bits, np.uint8(0), config)
    shape = bits.aval.shape
    bits = o.reshape(bits, (*shape[:axis], groups, 8, *shape[axis + 1:]))
    places = np.arange(8, dtype=np.uint8)
    weights = o.broadcast_in_dim(places[::-1].copy() if bitorder == "big" else places, bits.aval.shape, (axis + 1,))
    return o.reduce_sum(o.shift_left(bits, weights), (axis + 1,))


def unpackbits(a: Any, axis: int | None = None, count: int | None = None, bitorder: str = "big") -> Any:
    """The bits of uint8 numbers along an axis, eight for each, as uint8 zeros and ones. count is how many to return,
    or, where negative, how many to leave out at the end; with bitorder 'little' the lowest bit comes first. TypeError
    for other dtypes.

    >>> import glax.numpy as xp
    >>> xp.unpackbits(xp.array([5], dtype="uint8"))
    Array([0, 0, 0, 0, 0, 1, 0, 1], dtype=uint8)
    """
    x = asarray(a)
    if bitorder not in ("big", "little"):
        raise ValueError(f"unpackbits: bitorder must be 'big' or 'little', got {bitorder!r}")
    if x.aval.dtype != np.uint8:
        raise TypeError(f"unpackbits: uint8 is needed, got {x.aval.short()}")
    if axis is None:
        x, axis = ravel(x), 0
    axis = canonical_axis(axis, len(x.aval.shape), "unpackbits")
    shape = (*x.aval.shape[:axis + 1], 8, *x.aval.shape[axis + 1:])
    spread = o.broadcast_in_dim(x, shape, tuple(d + (d > axis) for d in range(len(x.aval.shape))))
    places = np.arange(8, dtype=np.uint8)
    places = o.broadcast_in_dim(places[::-1].copy() if bitorder == "big" else places, shape, (axis + 1,))
    one = scalar_literal(1, np.dtype(np.uint8))
    bits = o.and_(o.shift_right_logical(spread, places), one)
    bits = o.reshape(bits, (*x.aval.shape[:axis], 8 * x.aval.shape[axis], *x.aval.shape[axis + 1:]))
    if count is None:
        return bits
    n = bits.aval.shape[axis]
    index = (slice(None),) * axis + (slice(None, count),)
    if count <= n:
        return bits[index]
    return o.pad(bits, np.uint8(0), tuple((0, count - n if d == axis else 0, 0) for d in range(len(bits.aval.shape))))
