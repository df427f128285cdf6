"""Differences, integrals, interpolation, convolution and windows."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .._called import called
from .._promotion import as_index, canonical_axes, canonical_axis, named, promote_inexact, strong
from ..ir import dtypes
from ..ir import ops as o
from ..lax._arguments import mistaken, operand
from .creation import arange, asarray, zeros
from .reductions import cumsum, sum
from .selection import where
from .shaping import concatenate, flip, lax_slice, moveaxis, ravel


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """The differences of neighbours along an axis, n times over; of bools, whether they differ.

    >>> import glax.numpy as xp
    >>> xp.diff(xp.array([1, 4, 9]))
    Array([3, 5], dtype=int32)
    """
    a = asarray(a)
    n = as_index(n, "diff", "n")
    if n < 0:
        raise ValueError(f"diff: n must not be negative, got {n}")
    if n == 0:
        return a
    if not a.aval.shape:
        raise ValueError("diff needs an array of at least one dimension, got a scalar")
    axis = canonical_axis(axis, len(a.aval.shape), "diff")
    parts = [a]
    for given, at_start in ((prepend, True), (append, False)):
        if given is not None:
            given = asarray(given)
            if not given.aval.shape:
                given = o.broadcast(given, tuple(1 if d == axis else m for d, m in enumerate(a.aval.shape)))
            parts = [given, *parts] if at_start else [*parts, given]
    a = concatenate(parts, axis)
    for _ in builtins.range(n):
        size = a.aval.shape[axis]
        later, earlier = lax_slice(a, builtins.min(1, size), size, axis), lax_slice(a, 0, builtins.max(size - 1, 0),
                                                                                    axis)
        a = o.ne(later, earlier) if dtypes.is_bool(a.aval.dtype) else o.sub(later, earlier)
    return a


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """The differences of neighbours in the flattened array, with elements put before and after them. to_begin and
    to_end are numbers or arrays, which are flattened.

    >>> import glax.numpy as xp
    >>> xp.ediff1d(xp.array([1, 2, 4]), to_begin=0)
    Array([0, 1, 2], dtype=int32)
    """
    result = diff(ravel(asarray(ary)))
    parts = [*([] if to_begin is None else [ravel(asarray(to_begin))]), result,
             *([] if to_end is None else [ravel(asarray(to_end))])]
    return concatenate([strong(p, result.aval.dtype) for p in parts])


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int | None = None) -> Any:
    """Slopes along axes by differences of neighbours on both sides, on one side at the ends.

    Args:
        f: an array.
        varargs: the distance of samples: none (1), one for all axes, or one for each: a number or the coordinates.
        axis: None for all axes, or one or several.
        edge_order: None or 1.

    Returns:
        An array, or a list of them for several axes.

    >>> import glax.numpy as xp
    >>> xp.gradient(xp.array([1.0, 2.0, 4.0, 7.0]))
    Array([1. , 1.5, 2.5, 3. ], dtype=float32)
    >>> xp.gradient(xp.array([1.0, 3.0, 13.0]), xp.array([0.0, 1.0, 3.0]))
    Array([2., 3., 5.], dtype=float32)
    """
    if edge_order not in (None, 1):
        raise NotImplementedError(f"gradient: edge_order must be 1, got {edge_order}")
    f, = promote_inexact("gradient", asarray(f))
    axes = canonical_axes(axis, len(f.aval.shape), "gradient")
    spacings = [1.0] * len(axes) if not varargs else list(varargs) * (len(axes) if len(varargs) == 1 else 1)
    if len(spacings) != len(axes):
        raise TypeError(f"gradient: give no distance, one, or one for each of {len(axes)} axes, got {len(varargs)}")
    results = [_slope(f, d, h) for d, h in zip(axes, spacings)]
    return results[0] if len(results) == 1 else results


def _slope(f: Any, axis: int, h: Any) -> Any:
    n = f.aval.shape[axis]
    if n < 2:
        raise ValueError(f"gradient: axis {axis} of shape {f.aval.shape} must have at least 2 elements")

    def piece(start: int, stop: int) -> Any:
        return lax_slice(f, start, stop, axis)

    h = asarray(h)
    first, last = piece(1, 2) - piece(0, 1), piece(n - 1, n) - piece(n - 2, n - 1)
    if not h.aval.shape:
        inner = (piece(2, n) - piece(0, n - 2)) * 0.5
        return concatenate([first, inner, last], axis) / h
    if h.aval.shape != (n,):
        raise ValueError(f"gradient: coordinates along axis {axis} must be a vector of {n}, got shape {h.aval.shape}")
    steps = o.broadcast_in_dim(diff(strong(h, f.aval.dtype)), tuple(
        n - 1 if d == axis else 1 for d in builtins.range(len(f.aval.shape))), (axis,))
    before, after = lax_slice(steps, 0, n - 2, axis), lax_slice(steps, 1, n - 1, axis)
    low = -after / (before * (before + after))
    middle = (after - before) / (before * after)
    high = before / (after * (before + after))
    inner = low * piece(0, n - 2) + middle * piece(1, n - 1) + high * piece(2, n)
    return concatenate([first / lax_slice(steps, 0, 1, axis), inner, last / lax_slice(steps, n - 2, n - 1, axis)], axis)


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """The integral along an axis by the trapezoid rule, over coordinates x or steps dx.

    >>> import glax.numpy as xp
    >>> xp.trapezoid(xp.array([0.0, 1.0, 4.0]))
    Array(3., dtype=float32)
    """
    y, = promote_inexact("trapezoid", asarray(y))
    steps: Any = operand(dx, "trapezoid", "dx")
    if x is not None:
        y, x = promote_inexact("trapezoid", y, asarray(x))
        steps = diff(x) if len(x.aval.shape) == 1 else moveaxis(diff(x, axis=axis), axis, -1)
    y = moveaxis(y, axis, -1)
    return 0.5 * sum(steps * (y[..., 1:] + y[..., :-1]), -1)


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """Values at x of the function that goes straight from point to point.

    Args:
        x: where to evaluate, an array.
        xp, fp: the coordinates of the points, rising, and the values there: vectors.
        left, right: the values before the first and after the last point: the ends' by default, 'extrapolate' to go on.
        period: the period of the function, where it has one.

    >>> import glax.numpy as np
    >>> np.interp(1.5, np.arange(3), np.array([0.0, 10.0, 30.0]))
    Array(20., dtype=float32)
    """
    from .sorting import argsort, searchsorted
    x, points = promote_inexact("interp", asarray(x), asarray(xp))
    values, = promote_inexact("interp", asarray(fp))
    if len(points.aval.shape) != 1 or points.aval.shape != values.aval.shape:
        raise ValueError(f"interp: xp and fp must be vectors of one size, got shapes {points.aval.shape} and "
                         f"{values.aval.shape}")
    if period is not None:
        operand(period, "interp", "period")
        x, points = x % period, points % period
        order = argsort(points)
        points, values = points[order], values[order]
        points = concatenate([points[-1:] - period, points, points[:1] + period])
        values = concatenate([values[-1:], values, values[:1]])
    n = points.aval.shape[0]
    if n == 1:
        base, step, width, start = values[0], 0.0, 1.0, points[0]
    else:
        from .selection import clip
        i = clip(searchsorted(points, x, side="right"), 1, n - 1)
        start, width = points[i - 1], points[i] - points[i - 1]
        base, step = values[i - 1], values[i] - values[i - 1]
    # Points in the same place have no slope between them.
    flat = width == 0
    result = where(flat, base, base + (x - start) / where(flat, 1, width) * step)
    if period is not None:
        return result
    for given, outside, end in ((left, x < points[0], values[0]), (right, x > points[-1], values[-1])):
        if isinstance(given, str):
            if given != "extrapolate":
                raise ValueError(f"interp: left and right must be a number or 'extrapolate', got {given!r}")
            continue
        result = where(outside, end if given is None else given, result)
    return result


def unwrap(p: Any, discont: Any = None, axis: int = -1, period: Any = 2 * math.pi) -> Any:
    """Angles along an axis with jumps of more than half a period taken out, by adding whole periods. Jumps below
    discont stay, too. Integers become floats.

    >>> import glax.numpy as xp
    >>> xp.unwrap(xp.array([300, 350, 10]), period=360)
    Array([300., 350., 370.], dtype=float32)
    """
    from .arithmetic import floats_of, remainder
    p = floats_of("unwrap", asarray(p))
    for given, argument in ((period, "period"), (0 if discont is None else discont, "discont")):
        operand(given, "unwrap", argument)
    steps = diff(p, axis=axis)
    half = period / 2
    within = remainder(steps + half, period) - half
    within = where((within == -half) & (steps > 0), half, within)
    correction = within - steps
    correction = where(abs(steps) < (half if discont is None else discont), 0, correction)
    axis = canonical_axis(axis, len(p.aval.shape), "unwrap")
    size = p.aval.shape[axis]
    start = builtins.min(1, size)
    first, rest = lax_slice(p, 0, start, axis), lax_slice(p, start, size, axis) + cumsum(correction, axis)
    return concatenate([first, rest], axis)


def convolve(a: Any, v: Any, mode: str = "full", *, precision: Any = None, preferred_element_type: Any = None) -> Any:
    """The convolution of two vectors: 'full', 'same' (of the longer one's size) or 'valid' (where they overlap fully).
    Integers become floats.

    >>> import glax.numpy as xp
    >>> xp.convolve(xp.array([1, 2, 3]), xp.array([1, 1]))
    Array([1., 3., 5., 3.], dtype=float32)
    """
    a, v = (asarray(x) for x in promote_inexact("convolve", asarray(a), asarray(v)))
    if len(a.aval.shape) != 1 or len(v.aval.shape) != 1 or 0 in (a.aval.size, v.aval.size):
        raise ValueError(f"{called('convolve')}: non-empty vectors are needed, got shapes {a.aval.shape} and "
                         f"{v.aval.shape}")
    if a.aval.size < v.aval.size:
        a, v = v, a
    return _sliding_products(a, flip(v), mode, "convolve", precision, preferred_element_type)


def correlate(a: Any, v: Any, mode: str = "valid", *, precision: Any = None, preferred_element_type: Any = None) -> Any:
    """The correlation of two vectors; modes are those of ``convolve``. Where a is at least as long as v, element k of
    'valid' is the sum of a[k + i] * conj(v[i]). Integers become floats.

    >>> import glax.numpy as xp
    >>> xp.correlate(xp.array([1, 2, 3]), xp.array([0, 1]), "full")
    Array([1., 2., 3., 0.], dtype=float32)
    """
    from .arithmetic import conjugate
    a, v = asarray(a), asarray(v)
    if a.aval.size < v.aval.size:
        return conjugate(flip(correlate(v, a, mode, precision=precision,
                                        preferred_element_type=preferred_element_type)))
    return convolve(a, flip(conjugate(v)), mode, precision=precision,
                    preferred_element_type=preferred_element_type)


def _sliding_products(a: Any, v: Any, mode: str, name: str, precision: Any, preferred: Any) -> Any:
    """The dot products of a vector with each window of a longer one."""
    from .linear import dot
    n, k = a.aval.size, v.aval.size
    if not isinstance(mode, str) or mode not in ("full", "same", "valid"):
        raise mistaken(name, "mode", "'full', 'same' or 'valid'", mode, ValueError)
    before = {"full": k - 1, "same": k // 2, "valid": 0}[mode]
    after = {"full": k - 1, "same": k - 1 - k // 2, "valid": 0}[mode]
    padded = o.pad(a, a.aval.dtype.type(0), ((before, after, 0),))
    count = n + before + after - k + 1
    windows = padded[np.arange(count, dtype=np.int32)[:, None] + np.arange(k, dtype=np.int32)]
    return dot(windows, v, precision=precision, preferred_element_type=preferred)


# ---- windows


def _window(name: str, value: Callable[[np.ndarray], np.ndarray], what: str) -> Any:
    def window(M):
        n = as_index(M, name, "M")
        dtype = dtypes.python_scalar_dtype(float)
        if n < 1:
            return zeros((0,), dtype)
        t = np.arange(n) / builtins.max(n - 1, 1)
        return asarray((value(t) if n > 1 else np.ones(1)).astype(dtype))

    return named(window, name, __name__,
                 f"The {what} window of M points, a vector of floats. M is a Python int; below 1 there are none.")


bartlett = _window("bartlett", lambda t: 1 - np.abs(2 * t - 1), "triangular")
hamming = _window("hamming", lambda t: 0.54 - 0.46 * np.cos(2 * np.pi * t), "Hamming")
hanning = _window("hanning", lambda t: 0.5 - 0.5 * np.cos(2 * np.pi * t), "Hann")
blackman = _window("blackman", lambda t: 0.42 - 0.5 * np.cos(2 * np.pi * t) + 0.08 * np.cos(4 * np.pi * t), "Blackman")


def kaiser(M: int, beta: Any) -> Any:
    """The Kaiser window of M points and shape beta. A vector of floats; beta 0 gives ones, and larger ones a narrower
    window.

    >>> import glax.numpy as xp
    >>> xp.kaiser(3, 0.0)
    Array([1., 1., 1.], dtype=float32)
    """
    from .bessel import i0
    from .ufuncs import sqrt
    n = as_index(M, "kaiser", "M")
    operand(beta, "kaiser", "beta")
    if n == 1:
        return asarray(np.ones(1, dtypes.python_scalar_dtype(float)))
    t = 2 * arange(n) / (n - 1) - 1.0
    return i0(beta * sqrt(1 - t * t)) / i0(beta)

