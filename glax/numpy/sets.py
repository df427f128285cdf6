"""Unique elements and operations on sets. Without size=, contents decide the shape, so they must be concrete."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._promotion import as_index, canonical_axis, concrete, promote, strong
from ..ir import Tracer, dtypes
from ..ir import ops as o
from .creation import asarray
from .indexing import take
from .logic import isnan
from .reductions import cumsum
from .selection import where
from .shaping import broadcast_to, concatenate, moveaxis, ravel
from .sorting import nonzero, searchsorted

INT = dtypes.python_scalar_dtype


def unique(ar: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False,
           axis: int | None = None, *, equal_nan: bool = True, size: int | None = None, fill_value: Any = None,
           sorted: bool = True) -> Any:
    """The different elements in rising order, or the different slices along an axis.

    Args:
        ar: an array, flattened where axis is None.
        return_index, return_inverse, return_counts: whether to return, after the elements, where each first occurs,
            which of them each element of ar is, and how often each occurs.
        axis: an axis or None.
        equal_nan: whether all NaN are one.
        size: how many to return, needed where ar is staged; more are cut off.
        fill_value: what fills the rest where there are fewer, by default the first.

    >>> import glax.numpy as xp
    >>> xp.unique(xp.array([3, 1, 3]), return_counts=True)
    (Array([1, 3], dtype=int32), Array([1, 2], dtype=int32))
    """
    x = asarray(ar)
    given = x.aval.shape
    flat_axis = 0 if axis is None else canonical_axis(axis, len(given), "unique")
    x = o.reshape(x, (x.aval.size,)) if axis is None else moveaxis(x, flat_axis, 0)
    if size is None:
        from .._tracer_conversions import concretized
        value = concretized(x, "unique's ar (give size= to stage it)") if type(x) is Tracer else np.asarray(x)
        found, first, inverse, counts = np.unique(value, True, True, True, axis=None if axis is None else 0,
                                                  equal_nan=equal_nan)
        parts = [asarray(found), *(asarray(p.reshape(-1).astype(INT(int))) for p in (first, inverse, counts))]
    else:
        parts = _unique_of_size(x, as_index(size, "unique", "size"), fill_value, equal_nan)
    parts[0] = parts[0] if axis is None else moveaxis(parts[0], 0, flat_axis)
    if axis is None:
        parts[2] = o.reshape(parts[2], given)
    wanted = [part for part, keep in zip(parts[1:], (return_index, return_inverse, return_counts)) if keep]
    return (parts[0], *wanted) if wanted else parts[0]


def _unique_of_size(x: Any, size: int, fill_value: Any, equal_nan: bool) -> list[Any]:
    """Rows sorted, and the first of each run of equal ones kept."""
    n = x.aval.shape[0]
    rows = o.reshape(x, (n, x.aval.size // n if n else 1))
    if n == 0:
        filled = broadcast_to(strong(asarray(0 if fill_value is None else fill_value), x.aval.dtype),
                              (size, *x.aval.shape[1:]))
        zeros = asarray(np.zeros(size, INT(int)))
        return [filled, zeros, asarray(np.zeros(0, INT(int))), zeros]
    columns = [rows[:, k] for k in range(rows.aval.shape[1])]
    keys = [part for c in columns for part in ((o.real(c), o.imag(c)) if dtypes.is_complex(c.aval.dtype) else (c,))]
    *ordered, order = o.sort([*keys, o.iota(INT(int), (n,), 0)], 0, True, len(keys))
    new = None
    for key in ordered:
        differs = o.ne(key[1:], key[:-1])
        if equal_nan and key.aval.is_inexact:
            differs = o.and_(differs, o.not_(o.and_(isnan(key[1:]), isnan(key[:-1]))))
        new = differs if new is None else o.or_(new, differs)
    starts = concatenate([asarray(np.ones(1, bool)), new])
    bounds = nonzero(starts, size=size + 1, fill_value=n)[0]
    at, ends = bounds[:-1], bounds[1:]
    there = at < n
    first = take(order, at, mode="clip")
    first = where(there, first, first[0])
    found = take(x, first, axis=0, mode="clip")
    if fill_value is not None:
        mask = o.broadcast_in_dim(there, found.aval.shape, (0,))
        found = where(mask, found, strong(asarray(fill_value), x.aval.dtype))
    group = cumsum(starts) - 1
    inverse = asarray(np.zeros(n, INT(int))).at[order].set(group)
    counts = where(there, ends - at, 0)
    return [found, first, inverse, counts]


class _UniqueAll(NamedTuple):
    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class _UniqueCounts(NamedTuple):
    values: Any
    counts: Any


class _UniqueInverse(NamedTuple):
    values: Any
    inverse_indices: Any


def unique_all(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> _UniqueAll:
    """The different elements, where each first occurs, which one each element is, and how often each occurs. A named
    tuple of values, indices, inverse_indices and counts.

    >>> import glax.numpy as xp
    >>> xp.unique_all(xp.array([7, 5, 7])).inverse_indices
    Array([1, 0, 1], dtype=int32)
    """
    return _UniqueAll(*unique(x, True, True, True, equal_nan=False, size=size, fill_value=fill_value))


def unique_counts(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> _UniqueCounts:
    """The different elements and how often each occurs. A named tuple of values and counts.

    >>> import glax.numpy as xp
    >>> xp.unique_counts(xp.array([7, 5, 7])).counts
    Array([1, 2], dtype=int32)
    """
    return _UniqueCounts(*unique(x, return_counts=True, equal_nan=False, size=size, fill_value=fill_value))


def unique_inverse(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> _UniqueInverse:
    """The different elements and which one each element is. A named tuple of values and inverse_indices.

    >>> import glax.numpy as xp
    >>> xp.unique_inverse(xp.array([7, 5, 7])).inverse_indices
    Array([1, 0, 1], dtype=int32)
    """
    return _UniqueInverse(*unique(x, return_inverse=True, equal_nan=False, size=size, fill_value=fill_value))


def unique_values(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> Any:
    """The different elements. In rising order. While staged, size is needed: how many to return, short of which
    fill_value fills the rest.

    >>> import glax.numpy as xp
    >>> xp.unique_values(xp.array([7, 5, 7]))
    Array([5, 7], dtype=int32)
    """
    return unique(x, equal_nan=False, size=size, fill_value=fill_value)


def isin(element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *,
         method: str = "auto") -> Any:
    """Elementwise test for being among some elements.

    >>> import glax.numpy as xp
    >>> xp.isin(xp.arange(3), xp.array([0, 2]))
    Array([ True, False,  True], dtype=bool)
    """
    x, y = (asarray(v) for v in promote("isin", asarray(element), asarray(test_elements)))
    y = o.reshape(y, (y.aval.size,))
    n = y.aval.size
    if n == 0:
        found = o.broadcast(np.bool_(False), x.aval.shape)
    elif dtypes.is_complex(x.aval.dtype) or n * x.aval.size <= 65_536:
        shape = (*x.aval.shape, n)
        same = o.eq(o.broadcast_in_dim(x, shape, tuple(range(len(shape) - 1))), o.broadcast(y, shape))
        found = o.reduce_or(same, (len(shape) - 1,))
    else:
        ordered = o.sort([y], 0, True, 1)[0]
        found = o.eq(take(ordered, searchsorted(ordered, x), mode="clip"), x)
    return o.not_(found) if invert else asarray(found)


def _flat(name: str, *xs: Any) -> list[Any]:
    return [ravel(asarray(x)) for x in promote(name, *[asarray(x) for x in xs])]


def _compacted(values: Any, keep: Any, size: int, fill_value: Any) -> Any:
    """The values to keep, in order, filled up to a size."""
    n = values.aval.shape[0]
    at = nonzero(keep, size=size, fill_value=n)[0]
    picked = take(values, at, mode="clip")
    fill = picked[0] if fill_value is None else strong(asarray(fill_value), values.aval.dtype)
    return where(at < n, picked, fill)


def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False, *, size: int | None = None,
              fill_value: Any = None) -> Any:
    """The different elements of the first array that the second lacks, in rising order. While staged, size is needed:
    how many to return, short of which fill_value fills the rest.

    >>> import glax.numpy as xp
    >>> xp.setdiff1d(xp.array([3, 1, 2]), xp.array([2, 9]))
    Array([1, 3], dtype=int32)
    """
    x, y = _flat("setdiff1d", ar1, ar2)
    if size is None:
        return asarray(np.setdiff1d(concrete(x, "setdiff1d", "ar1"), concrete(y, "setdiff1d", "ar2"), assume_unique))
    return _kept_once(x, isin(x, y, invert=True), size, fill_value)


def _kept_once(x: Any, keep: Any, size: int, fill_value: Any) -> Any:
    ordered, kept = o.sort([x, keep], 0, True, 1)
    first = concatenate([asarray(np.ones(1, bool)), o.ne(ordered[1:], ordered[:-1])]) if x.aval.size else kept
    return _compacted(ordered, o.and_(first, kept), size, fill_value)


def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False, *,
                size: int | None = None, fill_value: Any = None) -> Any:
    """The different elements of both arrays, in rising order; with their first positions where return_indices is true.
    While staged, size is needed: how many to return, short of which fill_value fills the rest.

    >>> import glax.numpy as xp
    >>> xp.intersect1d(xp.array([3, 1, 2]), xp.array([2, 3, 9]))
    Array([2, 3], dtype=int32)
    """
    x, y = _flat("intersect1d", ar1, ar2)
    if size is None:
        result = np.intersect1d(concrete(x, "intersect1d", "ar1"), concrete(y, "intersect1d", "ar2"), assume_unique,
                                return_indices)
        if return_indices:
            return asarray(result[0]), *(asarray(i.astype(INT(int))) for i in result[1:])
        return asarray(result)
    common = _kept_once(x, isin(x, y), size, fill_value)
    if not return_indices:
        return common
    return common, *(o.argmax(o.convert_element_type(
        o.eq(o.broadcast_in_dim(common, (size, v.aval.size), (0,)), o.broadcast(v, (size, v.aval.size))),
        np.dtype(np.int32)), 1, INT(int))
        for v in (x, y))


def union1d(ar1: Any, ar2: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """The different elements of either array, in rising order. While staged, size is needed: how many to return, short
    of which fill_value fills the rest.

    >>> import glax.numpy as xp
    >>> xp.union1d(xp.array([3, 1]), xp.array([1, 2]))
    Array([1, 2, 3], dtype=int32)
    """
    return unique(concatenate(_flat("union1d", ar1, ar2)), size=size, fill_value=fill_value)


def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False, *, size: int | None = None,
             fill_value: Any = None) -> Any:
    """The different elements of one array that the other lacks, in rising order. While staged, size is needed: how many
    to return, short of which fill_value fills the rest.

    >>> import glax.numpy as xp
    >>> xp.setxor1d(xp.array([3, 1, 2]), xp.array([2, 9]))
    Array([1, 3, 9], dtype=int32)
    """
    x, y = _flat("setxor1d", ar1, ar2)
    if size is None:
        return asarray(np.setxor1d(concrete(x, "setxor1d", "ar1"), concrete(y, "setxor1d", "ar2"), assume_unique))
    both = concatenate([x, y])
    return _kept_once(both, concatenate([isin(x, y, invert=True), isin(y, x, invert=True)]), size, fill_value)

