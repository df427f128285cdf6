"""Quantiles, histograms and covariances."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._called import called
from .._promotion import (
    as_index,
    canonical_axes,
    of_parts,
    promote_inexact,
    require_no_out,
    scalar_literal,
    shape_of,
    strong,
)
from ..ir import dtypes
from ..ir import ops as o
from ..lax._arguments import entries, mistaken, operand, pair
from .creation import asarray, linspace, zeros
from .indexing import take_along_axis
from .logic import isnan
from .reductions import average, max, min, sum
from .selection import choose_between, where
from .shaping import concatenate, moveaxis, ravel, reshape, stack

_METHODS = ("linear", "lower", "higher", "nearest", "midpoint")


def _quantile(name: str, a: Any, q: Any, axis: Any, method: str, keepdims: bool, skip_nan: bool) -> Any:
    if method not in _METHODS:
        raise ValueError(f"{name}: method must be one of {', '.join(_METHODS)}, got {method!r}")
    a, = promote_inexact(name, a)
    a, q = (asarray(x) for x in promote_inexact(name, a, q))
    if dtypes.is_complex(a.aval.dtype):
        raise ValueError(f"{name}: complex numbers have no order")
    q_shape = q.aval.shape
    if len(q_shape) > 1:
        raise ValueError(f"{name}: q must be a number or a vector, got shape {q_shape}")
    shape = a.aval.shape
    axes = canonical_axes(axis, len(shape), name)
    kept = [d for d in range(len(shape)) if d not in axes]
    rows = tuple(shape[d] for d in kept)
    n = int(np.prod([shape[d] for d in axes], dtype=np.int64))
    if n == 0:
        raise ValueError(f"{name} of no elements is undefined: axes {axes} of shape {shape}")
    if 0 in rows:
        sizes = [1 if d in axes else m for d, m in enumerate(shape)] if keepdims else rows
        return zeros((*q_shape, *sizes), a.aval.dtype)
    flat = o.reshape(o.transpose(a, (*kept, *axes)), (*rows, n))
    flat = strong(flat)
    ordered = o.sort([flat], len(rows), True, 1)[0]
    missing = isnan(flat)
    dtype = flat.aval.dtype
    qs = strong(o.reshape(q, (q.aval.size,)), dtype)
    wide = (*rows, q.aval.size)
    qs = o.broadcast_in_dim(qs, wide, (len(rows),))
    if skip_nan:
        count = o.convert_element_type(o.reduce_sum(o.convert_element_type(o.not_(missing), np.dtype(np.int32)),
                                                    (len(rows),)), dtype)
        last = o.sub(count, dtype.type(1))
        last = o.broadcast_in_dim(o.max_(last, dtype.type(0)), wide, tuple(range(len(rows))))
    else:
        last = scalar_literal(n - 1, dtype)
    place = o.min_(o.max_(o.mul(qs, last), dtype.type(0)), last)
    low, high = o.floor(place), o.ceil(place)
    at_low, at_high = (take_along_axis(ordered, o.convert_element_type(p, np.dtype(np.int32)), -1, mode="clip")
                       for p in (low, high))
    result = _between(method, at_low, at_high, place, low)
    if not skip_nan:
        spoilt = o.broadcast_in_dim(o.reduce_or(missing, (len(rows),)), wide, tuple(range(len(rows))))
        result = choose_between(name, spoilt, dtype.type(np.nan), result)
    result = moveaxis(result, -1, 0)
    if keepdims:
        result = o.reshape(result, (q.aval.size, *[1 if d in axes else m for d, m in enumerate(shape)]))
    return result if q_shape else result[0]


def _between(method: str, low: Any, high: Any, place: Any, floor: Any) -> Any:
    dtype = low.aval.dtype
    if method == "lower":
        return low
    if method == "higher":
        return high
    if method == "nearest":
        return choose_between("quantile", o.eq(o.round_(place, 1), floor), low, high)
    weight = o.sub(place, floor) if method == "linear" else o.broadcast(dtype.type(0.5), low.aval.shape)
    # No weight is 0 where an end may be infinite, and equal ends are their own mean to the bit. A weight of NaN stays.
    equal = o.and_(o.eq(low, high), o.eq(weight, weight))
    weight = choose_between("quantile", equal, dtype.type(0.5), weight)
    return o.add(o.mul(low, o.sub(dtype.type(1), weight)), o.mul(high, weight))


def quantile(a: Any, q: Any, axis: Any = None, out: None = None, overwrite_input: bool = False, method: str = "linear",
             keepdims: bool = False) -> Any:
    """The elements below which the fractions q of all lie, over axes; NaN where one is NaN.

    Args:
        a: an array.
        q: a number from 0 to 1, or a vector of them, which becomes the first dimension of the result.
        axis: None for all axes, or one or several.
        method: what lies between two elements: 'linear', 'lower', 'higher', 'nearest' or 'midpoint'.
        keepdims: whether the axes stay, with size 1.

    >>> import glax.numpy as xp
    >>> xp.quantile(xp.arange(5.0), 0.5)
    Array(2., dtype=float32)
    """
    require_no_out("quantile", out)
    return _quantile("quantile", a, q, axis, method, keepdims, False)


def nanquantile(a: Any, q: Any, axis: Any = None, out: None = None, overwrite_input: bool = False,
                method: str = "linear", keepdims: bool = False) -> Any:
    """``quantile`` of the elements that are not NaN. NaN where none is.

    >>> import glax.numpy as xp
    >>> xp.nanquantile(xp.array([1.0, xp.nan, 3.0]), 0.5)
    Array(2., dtype=float32)
    """
    require_no_out("nanquantile", out)
    return _quantile("nanquantile", a, q, axis, method, keepdims, True)


def _fraction(q: Any) -> Any:
    q, = promote_inexact("percentile", asarray(q))
    return o.div(q, scalar_literal(100.0, q.aval.dtype, q.aval.weak_type))


def percentile(a: Any, q: Any, axis: Any = None, out: None = None, overwrite_input: bool = False,
               method: str = "linear", keepdims: bool = False) -> Any:
    """``quantile`` with q in per cent.

    >>> import glax.numpy as xp
    >>> xp.percentile(xp.array([1.0, 2.0, 4.0]), xp.array([50, 75]))
    Array([2., 3.], dtype=float32)
    """
    require_no_out("percentile", out)
    return _quantile("percentile", a, _fraction(q), axis, method, keepdims, False)


def nanpercentile(a: Any, q: Any, axis: Any = None, out: None = None, overwrite_input: bool = False,
                  method: str = "linear", keepdims: bool = False) -> Any:
    """``nanquantile`` with q in per cent.

    >>> import glax.numpy as xp
    >>> xp.nanpercentile(xp.array([1.0, xp.nan, 3.0]), 50)
    Array(2., dtype=float32)
    """
    require_no_out("nanpercentile", out)
    return _quantile("nanpercentile", a, _fraction(q), axis, method, keepdims, True)


def median(a: Any, axis: Any = None, out: None = None, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    """The middle element, or the mean of the middle two, over axes; NaN where one is NaN. Other arguments are those of
    ``quantile``; integers become floats.

    >>> import glax.numpy as xp
    >>> xp.median(xp.array([[1, 2, 9], [4, 5, 6]]), axis=1)
    Array([2., 5.], dtype=float32)
    """
    require_no_out("median", out)
    return _quantile("median", a, 0.5, axis, "midpoint", keepdims, False)


def nanmedian(a: Any, axis: Any = None, out: None = None, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    """``median`` of the elements that are not NaN. NaN where none is; other arguments are those of ``quantile``.

    >>> import glax.numpy as xp
    >>> xp.nanmedian(xp.array([1.0, xp.nan, 2.0, 9.0]))
    Array(2., dtype=float32)
    """
    require_no_out("nanmedian", out)
    return _quantile("nanmedian", a, 0.5, axis, "midpoint", keepdims, True)


# ---- covariance


def cov(m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None, fweights: Any = None,
        aweights: Any = None) -> Any:
    """The covariance matrix of variables, which are rows (or columns, where rowvar is false) of observations. The sums
    are divided by the number of observations less ddof, which is 0 where bias is true and else 1. fweights counts
    observations, aweights weighs them; y has further variables.

    >>> import glax.numpy as xp
    >>> xp.cov(xp.array([[1.0, 3.0], [4.0, 2.0]])).tolist()
    [[2.0, -2.0], [-2.0, 2.0]]
    """
    x, = promote_inexact("cov", asarray(m))
    if len(x.aval.shape) > 2:
        raise ValueError(f"cov: m must have at most 2 dimensions, got shape {x.aval.shape}")
    if len(x.aval.shape) < 2:
        x = o.reshape(x, (1, x.aval.size))
    elif not rowvar:
        x = x.T
    if y is not None:
        other, = promote_inexact("cov", asarray(y))
        other = o.reshape(other, (1, other.aval.size)) if len(other.aval.shape) < 2 else other
        x = concatenate([x, other if rowvar or other.aval.shape[0] == 1 else other.T])
    if not x.aval.shape[0]:
        return zeros((0, 0), x.aval.dtype)
    ddof = (0 if bias else 1) if ddof is None else ddof
    if not isinstance(ddof, (int, np.integer)):
        raise mistaken("cov", "ddof", "an integer", ddof)
    weights = None
    fweights, aweights = (None if given is None else asarray(given) for given in (fweights, aweights))
    if fweights is not None and not dtypes.is_integer(fweights.aval.dtype):
        raise TypeError(f"cov: fweights must be integers, got {fweights.aval.short()}")
    for given in (fweights, aweights):
        if given is not None:
            if given.aval.shape != x.aval.shape[1:]:
                raise ValueError(f"cov: weights must be a vector of {x.aval.shape[1]}, got shape {given.aval.shape}")
            weights = given if weights is None else weights * given
    center, total = average(x, 1, weights, returned=True)
    total = total[0]
    if weights is None:
        factor: Any = x.aval.shape[1] - ddof if x.aval.shape[1] else 0  # so that no observations give NaN
    elif aweights is None:
        factor = total - ddof
    else:
        factor = total - ddof * sum(weights * aweights) / total
    deviations = x - center[:, None]
    weighted = deviations if weights is None else deviations * weights
    from .arithmetic import conjugate
    from .linear import dot
    from .ufuncs import divide
    return divide(dot(weighted, conjugate(deviations).T), factor).squeeze()


def corrcoef(x: Any, y: Any = None, rowvar: bool = True) -> Any:
    """The matrix of correlation coefficients of variables; arguments are those of ``cov``. NaN for a variable that does
    not vary.

    >>> import glax.numpy as xp
    >>> xp.corrcoef(xp.array([[1.0, 2.0], [3.0, 1.0]])).round(3).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    c = cov(x, y, rowvar)
    if not shape_of(c):
        return c / c
    from .arithmetic import real
    from .diagonals import diagonal
    from .selection import clip
    from .ufuncs import sqrt
    scale = sqrt(real(diagonal(c)))
    c = c / scale[:, None] / scale[None, :]
    if dtypes.is_complex(c.aval.dtype):
        return of_parts(lambda part: clip(part, -1, 1), c)
    return clip(c, -1, 1)


# ---- histograms


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    """The edges of bins: of a number of equal ones over a range (that of a, by default), or those given.

    >>> import glax.numpy as xp
    >>> xp.histogram_bin_edges(xp.array([0.0, 3.0, 4.0]), bins=4)
    Array([0., 1., 2., 3., 4.], dtype=float32)
    """
    if isinstance(bins, str):
        raise NotImplementedError(f"{called('histogram_bin_edges')}: bins must be a number or edges, not a name")
    a, = promote_inexact("histogram_bin_edges", asarray(a))
    bins_array = asarray(bins)
    if bins_array.aval.shape:
        return strong(bins_array, a.aval.dtype)
    count = as_index(bins, "histogram_bin_edges", "bins")
    if count < 1:
        raise ValueError(f"{called('histogram_bin_edges')}: bins must be at least 1, got {count}")
    if range is None:
        low, high = (min(a), max(a)) if a.aval.size else (asarray(0.0), asarray(1.0))
    else:
        low, high = (asarray(x) for x in pair(range, "histogram_bin_edges", "range", "a pair of numbers"))
    low, high = strong(low, a.aval.dtype), strong(high, a.aval.dtype)
    half = a.aval.dtype.type(0.5)
    same = o.eq(low, high)
    return linspace(where(same, low - half, low), where(same, high + half, high), count + 1, dtype=a.aval.dtype)


def histogram(a: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: bool | None = None) -> Any:
    """How many elements lie in each bin, or the sum of their weights, and the edges of the bins.

    Args:
        a: an array, which is flattened.
        bins: how many equal bins, or their rising edges.
        range: the least and the largest edge, by default those of a.
        weights: an array of a's shape.
        density: whether to divide so that the integral is 1.

    >>> import glax.numpy as xp
    >>> xp.histogram(xp.array([1.0, 2.0, 2.5]), bins=2)[0]
    Array([1., 2.], dtype=float32)
    """
    from .sorting import searchsorted
    edges = histogram_bin_edges(a, bins, range)
    a, = promote_inexact("histogram", asarray(a))
    if weights is None:
        weights = o.broadcast(a.aval.dtype.type(1), a.aval.shape)
    elif shape_of(operand(weights, "histogram", "weights")) != a.aval.shape:
        raise ValueError(f"histogram: weights must have the shape of a, {a.aval.shape}, got {shape_of(weights)}")
    values, weights = ravel(a), ravel(asarray(weights))
    n = edges.aval.shape[0]
    place = searchsorted(edges, values, side="right")
    place = where(values == edges[-1], n - 1, place)
    counts = zeros(n + 1, weights.aval.dtype).at[place].add(weights)[1:n]
    if density:
        widths = edges[1:] - edges[:-1]
        counts = counts / widths / sum(counts)
    return counts, edges


def histogram2d(x: Any, y: Any, bins: Any = 10, range: Any = None, weights: Any = None,
                density: bool | None = None) -> tuple[Any, Any, Any]:
    """``histogram`` of points in the plane, and the edges in both directions. Arguments are those of ``histogram``,
    bins and range for both directions or a pair of them.

    >>> import glax.numpy as xp
    >>> counts, _, _ = xp.histogram2d(xp.array([0.0, 1.0, 1.0]), xp.array([0.0, 0.0, 1.0]), bins=2)
    >>> counts.tolist()
    [[1, 0], [1, 1]]
    """
    if not isinstance(bins, (tuple, list)) and len(shape_of(bins)) == 1:
        bins = [bins, bins]
    counts, (first, second) = histogramdd(stack([ravel(asarray(x)), ravel(asarray(y))], 1), bins, range, weights,
                                          density)
    return counts, first, second


def histogramdd(sample: Any, bins: Any = 10, range: Any = None, weights: Any = None,
                density: bool | None = None) -> tuple[Any, list[Any]]:
    """``histogram`` of points, the rows of sample, and the edges in each direction. Arguments are those of
    ``histogram``, bins and range for all directions or one for each.

    >>> import glax.numpy as xp
    >>> counts, edges = xp.histogramdd(xp.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]), bins=2)
    >>> counts.tolist(), len(edges)
    ([[1, 0], [1, 1]], 2)
    """
    from .sorting import ravel_multi_index, searchsorted
    sample, = promote_inexact("histogramdd", asarray(sample))
    if len(sample.aval.shape) != 2:
        raise ValueError(f"histogramdd: sample must be a matrix of points, got shape {sample.aval.shape}")
    count, dim = sample.aval.shape
    bins = list(bins) if isinstance(bins, (tuple, list)) else [bins] * dim
    ranges = [None] * dim if range is None else entries(range, "histogramdd", "range", "a sequence of pairs")
    if len(bins) != dim or len(ranges) != dim:
        raise ValueError(f"{called('histogramdd')}: bins and range must have an entry for each of {dim} dimensions")
    edges = [histogram_bin_edges(sample[:, d], bins[d], ranges[d]) for d in np.arange(dim).tolist()]
    places = []
    for d, e in enumerate(edges):
        column, n = sample[:, d], e.aval.shape[0]
        place = searchsorted(e, column, side="right")
        places.append(where(column == e[-1], n - 1, place))
    sizes = [e.aval.shape[0] + 1 for e in edges]
    weights = o.broadcast(dtypes.python_scalar_dtype(int).type(1), (count,)) if weights is None else asarray(weights)
    flat = ravel_multi_index(places, sizes, mode="clip")
    counts = zeros(int(np.prod(sizes)), weights.aval.dtype).at[flat].add(weights)
    counts = reshape(counts, tuple(sizes))[(slice(1, -1),) * dim]
    if density:
        counts = counts / sum(counts)
        for d, e in enumerate(edges):
            widths = e[1:] - e[:-1]
            counts = counts / o.broadcast_in_dim(widths, counts.aval.shape, (d,))
    return counts, edges
