"""Sorting, searching and counting."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._promotion import as_index, as_shape, canonical_axis, concrete, promote, shape_of, strong, type_of
from ..ir import dtypes
from ..ir import ops as o
from ..lax._arguments import entries, integers, operand
from .creation import asarray
from .reductions import as_array_of
from .selection import as_bool

INT = dtypes.python_scalar_dtype
_INT32 = np.dtype(np.int32)  # of places in a vector, in x64 mode too


def _sortable(name: str, a: Any, axis: int | None) -> tuple[Any, int]:
    a = as_array_of(name, a)
    if axis is None:
        return o.reshape(a, (a.aval.size,)), 0
    return a, canonical_axis(axis, len(a.aval.shape), name)


def _sort_operands(name: str, operands: list[Any], axis: int, stable: bool) -> list[Any]:
    """Operands sorted together by the first, complex numbers by real, then imaginary part."""
    keys = operands[0]
    if not dtypes.is_complex(keys.aval.dtype):
        return o.sort(operands, axis, stable, 1)
    parts = o.sort([o.real(keys), o.imag(keys), *operands[1:]], axis, stable, 2)
    return [o.complex_(*parts[:2]), *parts[2:]]


def sort(a: Any, axis: int | None = -1, *, kind: None = None, order: None = None, stable: bool = True,
         descending: bool = False) -> Any:
    """The elements in rising order along an axis, or flattened where axis is None; NaN comes last.

    Args:
        a: an array.
        axis: an axis or None.
        stable: whether equal elements keep their order.
        descending: whether to sort in falling order (NaN first).

    >>> import glax.numpy as xp
    >>> xp.sort(xp.array([3, 1, 2]))
    Array([1, 2, 3], dtype=int32)
    """
    _no_kind("sort", kind, order)
    a, axis = _sortable("sort", a, axis)
    result = _sort_operands("sort", [a], axis, bool(stable))[0]
    return o.rev(result, (axis,)) if descending else result


def _no_kind(name: str, kind: Any, order: Any) -> None:
    if kind is not None or order is not None:
        raise ValueError(f"{name}: kind and order are not supported; use stable=True or False")


def argsort(a: Any, axis: int | None = -1, *, kind: None = None, order: None = None, stable: bool = True,
            descending: bool = False) -> Any:
    """The indices that sort an array along an axis; arguments are those of ``sort``.

    >>> import glax.numpy as xp
    >>> xp.argsort(xp.array([3, 1, 2]))
    Array([1, 2, 0], dtype=int32)
    """
    _no_kind("argsort", kind, order)
    a, axis = _sortable("argsort", a, axis)
    shape = a.aval.shape
    index = o.iota(INT(int), shape, axis)
    if not descending:
        return _sort_operands("argsort", [a, index], axis, bool(stable))[1]
    backwards = _sort_operands("argsort", [o.rev(a, (axis,)), index], axis, bool(stable))[1]
    return o.sub(np.asarray(shape[axis] - 1, INT(int))[()], o.rev(backwards, (axis,)))


def lexsort(keys: Any, axis: int = -1) -> Any:
    """The indices that sort by several keys, of which the last counts most. keys are a sequence of arrays of one shape,
    or the rows of an array.

    >>> import glax.numpy as xp
    >>> xp.lexsort((xp.array([2, 1, 0]), xp.array([7, 7, 5])))
    Array([2, 1, 0], dtype=int32)
    """
    arrays = [asarray(k) for k in entries(keys, "lexsort", "keys", "a sequence of arrays, or an array of rows")]
    if not arrays:
        raise TypeError("lexsort: at least one key is needed")
    shape = arrays[0].aval.shape
    if builtins.any(k.aval.shape != shape for k in arrays):
        raise ValueError(f"lexsort: keys must have one shape, got {', '.join(str(k.aval.shape) for k in arrays)}")
    if not shape:
        return asarray(np.zeros((), INT(int)))
    axis = canonical_axis(axis, len(shape), "lexsort")
    return o.sort([*arrays[::-1], o.iota(INT(int), shape, axis)], axis, True, len(arrays))[-1]


def sort_complex(a: Any) -> Any:
    """The elements sorted along the last axis, as complex numbers. Real numbers become complex; real parts count first,
    then imaginary ones.

    >>> import glax.numpy as xp
    >>> xp.sort_complex(xp.array([2, 1 - 1j, 1 - 2j]))
    Array([1.-2.j, 1.-1.j, 2.+0.j], dtype=complex64)
    """
    result = sort(a)
    return result if dtypes.is_complex(result.aval.dtype) else strong(result, dtypes.to_complex(result.aval.dtype))


def partition(a: Any, kth: int, axis: int = -1) -> Any:
    """An array with the kth smallest element in its place along an axis, smaller ones before it (sorted, here).

    >>> import glax.numpy as xp
    >>> xp.partition(xp.array([30, 10, 20]), 1)
    Array([10, 20, 30], dtype=int32)
    """
    a = as_array_of("partition", a)
    axis = canonical_axis(axis, len(a.aval.shape), "partition")
    canonical_axis(kth, a.aval.shape[axis], "partition", "kth")
    return sort(a, axis)


def argpartition(a: Any, kth: int, axis: int = -1) -> Any:
    """The indices that partition an array along an axis (sort it, here).

    >>> import glax.numpy as xp
    >>> xp.argpartition(xp.array([30, 10, 20]), 1)
    Array([1, 2, 0], dtype=int32)
    """
    a = as_array_of("argpartition", a)
    axis = canonical_axis(axis, len(a.aval.shape), "argpartition")
    canonical_axis(kth, a.aval.shape[axis], "argpartition", "kth")
    return strong(argsort(a, axis), _INT32)


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None, *, method: str = "scan") -> Any:
    """Where elements would be inserted in a sorted vector to keep it sorted.

    Args:
        a: a sorted vector.
        v: the elements, an array of any shape.
        side: 'left' for before equal elements, 'right' for after.
        sorter: indices that sort a.
        method: a name JAX knows ('scan', 'scan_unrolled', 'sort', 'compare_all'); all give the same result.

    >>> import glax.numpy as xp
    >>> xp.searchsorted(xp.array([1, 3, 5]), xp.array([3, 4]))
    Array([1, 2], dtype=int32)
    """
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side must be 'left' or 'right', got {side!r}")
    if method not in ("scan", "scan_unrolled", "sort", "compare_all", "default"):
        raise ValueError(f"searchsorted: unknown method {method!r}")
    a, v = (asarray(x) for x in promote("searchsorted", a, v))
    if len(a.aval.shape) != 1:
        raise ValueError(f"searchsorted: a must be a vector, got shape {a.aval.shape}")
    if sorter is not None:
        a = a[sorter]
    n, wanted = a.aval.shape[0], v.aval.shape
    if n * v.aval.size > _MOST_COMPARED:
        return _binary_search(a, v, side)
    shape = (n, *wanted)
    left, right = (o.broadcast_in_dim(a, shape, (0,)), o.broadcast_in_dim(v, shape, tuple(range(1, len(shape)))))
    before = _sorts_before(left, right) if side == "left" else o.not_(_sorts_before(right, left))
    return o.reduce_sum(o.convert_element_type(before, _INT32), (0,))


_MOST_COMPARED = 65_536  # pairs of elements, up to which comparing all of them is the faster way


def _binary_search(a: Any, v: Any, side: str) -> Any:
    """Bounds that close in on each element's place, halving the distance at every step."""
    n = a.aval.shape[0]
    low, high = (o.broadcast(np.int32(place), v.aval.shape) for place in (0, n))
    one = np.int32(1)
    for _ in range(n.bit_length()):
        middle = o.shift_right_logical(o.add(low, high), one)
        found = a[middle]
        go_on = _sorts_before(found, v) if side == "left" else o.not_(_sorts_before(v, found))
        go_on = o.and_(go_on, o.lt(low, high))
        low, high = o.select_n(go_on, low, o.add(middle, one)), o.select_n(go_on, middle, high)
    return low


def _sorts_before(x: Any, y: Any) -> Any:
    """Whether x is less than y, NaN being the largest."""
    if dtypes.is_complex(x.aval.dtype):
        from .ufuncs import less
        return less(x, y)
    before = o.lt(x, y)
    if not dtypes.is_float(x.aval.dtype):
        return before
    return o.or_(before, o.and_(o.ne(y, y), o.eq(x, x)))


def digitize(x: Any, bins: Any, right: bool = False, *, method: str | None = None) -> Any:
    """The index of the bin, between rising or falling edges, of each element. For rising edges, bin i has bins[i - 1]
    <= x < bins[i], and for falling ones bins[i - 1] > x >= bins[i]; where right is true, the upper edge belongs to it
    and not the lower one.

    >>> import glax.numpy as xp
    >>> xp.digitize(xp.array([0.5, 1.0, 9.0]), xp.array([0.0, 1.0, 2.0]))
    Array([1, 2, 3], dtype=int32)
    """
    from .selection import choose_between
    bins = asarray(bins)
    if len(bins.aval.shape) != 1:
        raise ValueError(f"digitize: bins must be a vector, got shape {bins.aval.shape}")
    side = "left" if right else "right"
    n = bins.aval.shape[0]
    if n == 0:
        return asarray(np.zeros(shape_of(x), _INT32))
    rising = searchsorted(bins, x, side=side)
    falling = o.sub(np.int32(n), searchsorted(bins[::-1], x, side=side))
    return choose_between("digitize", _sorts_before(bins[-1], bins[0]), falling, rising)


# ---- what depends on contents: sizes are given, or values are concrete


def nonzero(a: Any, *, size: int | None = None, fill_value: Any = None) -> tuple[Any, ...]:
    """The indices of elements that are nonzero, an array for each dimension.

    Args:
        a: an array.
        size: how many indices to return, needed where a is staged; more are cut off.
        fill_value: what the rest is filled with where there are fewer: a number or one for each dimension, by default
        0.

    >>> import glax.numpy as xp
    >>> xp.nonzero(xp.array([0, 5, 7]))
    (Array([1, 2], dtype=int32),)
    """
    a = as_array_of("nonzero", a)
    shape = a.aval.shape
    if not shape:
        raise ValueError("nonzero needs an array of at least one dimension, got a scalar; use atleast_1d")
    if size is None:
        found = np.nonzero(concrete(a, "nonzero", "a (give size= to stage it)"))
        return tuple(asarray(i.astype(INT(int))) for i in found)
    size = as_index(size, "nonzero", "size")
    from .reductions import cumsum, sum
    from .selection import choose_between
    mask = o.reshape(as_bool("nonzero", a), (a.aval.size,))
    fills = fill_value if isinstance(fill_value, tuple) else (0 if fill_value is None else fill_value,) * len(shape)
    if len(fills) != len(shape):
        raise ValueError(f"nonzero: fill_value must be a number or {len(shape)} numbers, got {fills}")
    if a.aval.size == 0 or size == 0:
        return tuple(asarray(np.full(size, f, INT(int))) for f in fills)
    places = strong(searchsorted(cumsum(mask), asarray(np.arange(1, size + 1, dtype=INT(int)))), INT(int))
    there = o.lt(asarray(np.arange(size, dtype=INT(int))), sum(mask))
    results, rest = [], places
    for n, fill in zip(shape[::-1], fills[::-1]):
        step = np.asarray(n, INT(int))[()]
        results.append(choose_between("nonzero", there, o.rem(rest, step), strong(fill, INT(int))))
        rest = o.div(rest, step)
    return tuple(results[::-1])


def flatnonzero(a: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """The indices of elements of the flattened array that are nonzero. While staged, size is needed: how many to
    return, short of which fill_value fills the rest.

    >>> import glax.numpy as xp
    >>> xp.flatnonzero(xp.array([[0, 1], [2, 0]]))
    Array([1, 2], dtype=int32)
    """
    from .shaping import ravel
    return nonzero(ravel(a), size=size, fill_value=fill_value)[0]


def argwhere(a: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """The indices of elements that are nonzero, a row for each. While staged, size is needed: how many rows to return,
    short of which fill_value fills the rest.

    >>> import glax.numpy as xp
    >>> xp.argwhere(xp.array([[0, 1], [2, 0]])).tolist()
    [[0, 1], [1, 0]]
    """
    from .shaping import atleast_1d, stack
    result = stack(nonzero(atleast_1d(a), size=size, fill_value=fill_value), axis=1)
    return result if shape_of(a) else o.reshape(result[:, :0], (result.aval.shape[0], 0))


def extract(condition: Any, arr: Any, *, size: int | None = None, fill_value: Any = 0) -> Any:
    """The elements of the flattened array where a condition of its size holds. While staged, size is needed: how many
    to return, short of which fill_value fills the rest.

    >>> import glax.numpy as xp
    >>> xp.extract(xp.array([True, False, True]), xp.array([5, 6, 7]))
    Array([5, 7], dtype=int32)
    """
    from .shaping import ravel
    return compress(ravel(condition), ravel(arr), size=size, fill_value=fill_value)


def compress(condition: Any, a: Any, axis: int | None = None, *, size: int | None = None, fill_value: Any = 0,
             out: None = None) -> Any:
    """The slices along an axis where a condition holds.

    Args:
        condition: a vector, which may be shorter than the axis.
        a: an array.
        axis: an axis; None for the flattened array.
        size: how many slices to return, needed where condition is staged, and at most its size.
        fill_value: what fills the rest where there are fewer.

    >>> import glax.numpy as xp
    >>> xp.compress(xp.array([True, False, True]), xp.array([5, 6, 7]))
    Array([5, 7], dtype=int32)
    """
    from .indexing import take
    from .selection import choose_between
    from .shaping import ravel
    condition = asarray(condition)
    if len(condition.aval.shape) != 1:
        raise ValueError(f"compress: condition must be a vector, got shape {condition.aval.shape}")
    if axis is None:
        a, axis = ravel(a), 0
    a = asarray(a)
    axis = canonical_axis(axis, len(a.aval.shape), "compress")
    n = a.aval.shape[axis]
    if condition.aval.shape[0] > n:
        if concrete(condition[n:], "compress", "condition").any():
            raise ValueError(f"compress: condition holds beyond the {n} elements of axis {axis}, at "
                             f"{condition.aval.shape[0]} places in all")
        condition = condition[:n]
    size = None if size is None else as_index(size, "compress", "size")
    if size is not None and size > condition.aval.shape[0]:
        raise ValueError(f"compress: size must be at most that of the condition and of the array, "
                         f"{condition.aval.shape[0]}, got {size}")
    if size is None:
        return take(a, np.nonzero(concrete(condition, "compress", "condition"))[0].astype(np.int32), axis=axis)
    index = nonzero(condition, size=size, fill_value=n)[0]
    picked = take(a, index, axis=axis, mode="clip")
    there = o.broadcast_in_dim(o.lt(index, np.asarray(n, INT(int))[()]), picked.aval.shape, (axis,))
    return choose_between("compress", there, picked, strong(fill_value, a.aval.dtype))


def bincount(x: Any, weights: Any = None, minlength: int = 0, *, length: int | None = None) -> Any:
    """How often each integer from 0 on occurs, or the sum of its weights.

    Args:
        x: a vector of integers; negative ones count as 0, and those beyond the length are left out.
        weights: a vector of x's shape.
        minlength: the least length of the result.
        length: the length of the result, needed where x is staged.

    >>> import glax.numpy as xp
    >>> xp.bincount(xp.array([1, 1, 3]))
    Array([0, 2, 0, 1], dtype=int32)
    """
    x = as_array_of("bincount", x)
    if not (dtypes.is_integer(x.aval.dtype) or dtypes.is_bool(x.aval.dtype)) or len(x.aval.shape) != 1:
        raise TypeError(f"bincount: x must be a vector of integers, got {x.aval.short()}")
    if length is None:
        value = concrete(x, "bincount", "x (give length= to stage it)")
        needed = int(value.max(initial=0)) + 1 if value.size else 0
        length = builtins.max(as_index(minlength, "bincount", "minlength"), needed)
    length, = as_shape((length,), "bincount", "length")
    from .creation import zeros
    from .selection import clip
    if weights is None:
        weights = np.asarray(1, INT(int))[()]
    elif shape_of(operand(weights, "bincount", "weights")) != x.aval.shape:
        raise ValueError(f"bincount: weights must have the shape of x, {x.aval.shape}, got {shape_of(weights)}")
    if dtypes.is_bool(x.aval.dtype):
        x = strong(x, INT(int))
    dtype = dtypes.canonicalize(type_of("bincount", weights).dtype)
    return zeros(length, dtype).at[clip(x, 0)].add(weights, mode="drop")


def unravel_index(indices: Any, shape: Any) -> tuple[Any, ...]:
    """Indices of the flattened array as indices of each dimension of a shape; beyond the ends, moved to them.

    >>> import glax.numpy as xp
    >>> xp.unravel_index(5, (2, 3))
    (Array(1, dtype=int32), Array(2, dtype=int32))
    """
    from .._promotion import as_shape
    from .selection import clip
    sizes = as_shape(shape, "unravel_index")
    indices = asarray(indices)
    total = int(np.prod(sizes, dtype=np.int64))
    if total > dtypes.iinfo(indices.aval.dtype).max:
        indices = strong(indices, INT(int))
    flat = clip(indices, -total, builtins.max(total - 1, 0))
    flat = o.select_n(flat < 0, flat, flat + total) if dtypes.kind(indices.aval.dtype) == "i" else flat
    results = []
    for n in sizes[::-1]:
        step = indices.aval.dtype.type(builtins.max(n, 1))
        results.append(o.rem(flat, step))
        flat = o.div(flat, step)
    return tuple(results[::-1])


def ravel_multi_index(multi_index: Sequence[Any], dims: Sequence[int], mode: str = "raise", order: str = "C") -> Any:
    """Indices of each dimension of a shape as indices of the flattened array.

    Args:
        multi_index: an integer array for each dimension.
        dims: the shape.
        mode: 'raise' (concrete indices only), 'clip' or 'wrap'.
        order: 'C' for row-major, 'F' for column-major.

    >>> import glax.numpy as xp
    >>> xp.ravel_multi_index((xp.array([0, 1]), xp.array([2, 0])), (2, 3))
    Array([2, 3], dtype=int32)
    """
    from .arithmetic import remainder
    from .selection import clip
    multi_index = entries(multi_index, "ravel_multi_index", "multi_index", "a sequence of arrays")
    dims = integers(dims, "ravel_multi_index", "dims")
    if len(multi_index) != len(dims):
        raise ValueError(f"ravel_multi_index: {len(multi_index)} indices for {len(dims)} dimensions")
    if mode not in ("raise", "clip", "wrap"):
        raise ValueError(f"ravel_multi_index: mode must be 'raise', 'clip' or 'wrap', got {mode!r}")
    sizes = dims
    parts = [asarray(i) for i in multi_index]
    if mode == "raise":
        for part, n in zip(parts, sizes):
            value = concrete(part, "ravel_multi_index", "multi_index (use mode='clip' or 'wrap' to stage it)")
            if value.size and not (0 <= value.min() and value.max() < n):
                raise ValueError(f"ravel_multi_index: an index is out of bounds for a dimension of size {n}")
    else:
        parts = [clip(p, 0, n - 1) if mode == "clip" else remainder(p, n) for p, n in zip(parts, sizes)]
    pairs = list(zip(parts, sizes))
    result: Any = None
    for part, n in pairs if order == "C" else pairs[::-1]:
        result = part if result is None else result * n + part
    return result

