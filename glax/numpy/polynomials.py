"""Polynomials, as vectors of coefficients from the highest power down."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from .._promotion import as_index, concrete, promote, promote_inexact, strong
from ..ir import dtypes
from ..ir import ops as o
from ..lax._arguments import mistaken
from .calculus import convolve
from .creation import arange, array, asarray, zeros
from .shaping import atleast_1d, concatenate


def _coefficients(name: str, p: Any) -> Any:
    p = atleast_1d(asarray(p))
    if len(p.aval.shape) != 1:
        raise ValueError(f"{name}: coefficients must be a vector, got shape {p.aval.shape}")
    return p


def polyval(p: Any, x: Any, *, unroll: int = 16) -> Any:
    """The values of a polynomial.

    >>> import glax.numpy as xp
    >>> xp.polyval(xp.array([1, 0, -1]), 3)
    Array(8, dtype=int32)
    """
    p, x = (asarray(v) for v in promote("polyval", asarray(p), asarray(x)))
    if not p.aval.shape:
        raise ValueError("polyval: p must be a vector of coefficients, got a scalar")
    result = zeros(x.aval.shape, x.aval.dtype)
    for k in range(p.aval.shape[0]):
        result = result * x + p[k]
    return result


def polyadd(a1: Any, a2: Any) -> Any:
    """The sum of two polynomials. Coefficients go from the highest power down.

    >>> import glax.numpy as xp
    >>> xp.polyadd(xp.array([1, 2]), xp.array([5]))
    Array([1, 7], dtype=int32)
    """
    a1, a2 = (_coefficients("polyadd", v) for v in promote("polyadd", asarray(a1), asarray(a2)))
    missing = a1.aval.size - a2.aval.size
    zero = a1.aval.dtype.type(0)
    return o.add(o.pad(a1, zero, ((builtins.max(0, -missing), 0, 0),)), o.pad(a2, zero, ((builtins.max(0, missing), 0,
                                                                                          0),)))


def polysub(a1: Any, a2: Any) -> Any:
    """The difference of two polynomials. Coefficients go from the highest power down.

    >>> import glax.numpy as xp
    >>> xp.polysub(xp.array([1, 2]), xp.array([5]))
    Array([ 1, -3], dtype=int32)
    """
    a1, a2 = promote("polysub", asarray(a1), asarray(a2))
    return polyadd(a1, o.neg(a2))


def polymul(a1: Any, a2: Any, *, trim_leading_zeros: bool = False) -> Any:
    """The product of two polynomials. Coefficients go from the highest power down; integers become floats.

    >>> import glax.numpy as xp
    >>> xp.polymul(xp.array([1, 1]), xp.array([1, -1]))
    Array([ 1.,  0., -1.], dtype=float32)
    """
    a1, a2 = (_coefficients("polymul", v) for v in promote_inexact("polymul", asarray(a1), asarray(a2)))
    if trim_leading_zeros:
        from .padding import trim_zeros
        a1, a2 = (t if t.aval.size else zeros(1, t.aval.dtype) for t in (trim_zeros(a1, "f"), trim_zeros(a2, "f")))
    return convolve(a1, a2)


def polydiv(u: Any, v: Any, *, trim_leading_zeros: bool = False) -> tuple[Any, Any]:
    """The quotient and the remainder of two polynomials. Coefficients go from the highest power down.

    >>> import glax.numpy as xp
    >>> xp.polydiv(xp.array([1.0, 3.0, 2.0]), xp.array([1.0, 1.0]))
    (Array([1., 2.], dtype=float32), Array([0., 0., 0.], dtype=float32))
    """
    u, v = (_coefficients("polydiv", x) for x in promote_inexact("polydiv", asarray(u), asarray(v)))
    m, n = u.aval.size - 1, v.aval.size - 1
    steps = builtins.max(m - n + 1, 1)
    quotient = []
    rest = u
    for k in range(m - n + 1):
        factor = rest[k] / v[0]
        quotient.append(factor)
        rest = rest.at[k:k + n + 1].add(-factor * v)
    found = array(quotient) if quotient else zeros(steps, u.aval.dtype)
    if trim_leading_zeros:
        from .padding import trim_zeros
        rest = trim_zeros(rest, "f")
    return found, rest


def polyder(p: Any, m: int = 1) -> Any:
    """The derivative of order m of a polynomial. Coefficients go from the highest power down; integers become floats.
    Of more dimensions, the first one is shortened, and the powers are those of the last.

    >>> import glax.numpy as xp
    >>> xp.polyder(xp.array([1, 0, 5]))
    Array([2., 0.], dtype=float32)
    """
    m = as_index(m, "polyder", "m")
    if m < 0:
        raise ValueError(f"polyder: m must not be negative, got {m}")
    p, = promote_inexact("polyder", atleast_1d(asarray(p)))
    n = p.aval.shape[0]
    if m == 0 or m >= n:
        return p if m == 0 else p[:0]
    factors = np.prod([np.arange(n - 1 - i, m - 1 - i, -1.0) for i in range(m)], axis=0)
    return p[:n - m] * asarray(factors).astype(p.aval.dtype)


def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    """The integral of order m of a polynomial, with constants k. Coefficients go from the highest power down. k is one
    number, or m of them.

    >>> import glax.numpy as xp
    >>> xp.polyint(xp.array([2.0, 1.0]), k=7)
    Array([1., 1., 7.], dtype=float32)
    """
    m = as_index(m, "polyint", "m")
    if m < 0:
        raise ValueError(f"polyint: m must not be negative, got {m}")
    p, = promote_inexact("polyint", _coefficients("polyint", p))
    constants = zeros(m, p.aval.dtype) if k is None else atleast_1d(asarray(k))
    if constants.aval.size == 1 and m > 1:
        constants = o.broadcast(constants, (m,))
    if constants.aval.size != m:
        raise ValueError(f"polyint: k must be one constant or {m}, got {constants.aval.size}")
    for i in range(m):
        n = p.aval.size
        p = concatenate([p / arange(n, 0, -1).astype(p.aval.dtype), strong(constants[i:i + 1], p.aval.dtype)])
    return p


def poly(seq_of_zeros: Any) -> Any:
    """The polynomial with the given roots, and a first coefficient of 1. Coefficients come from the highest power down.
    ValueError for a matrix, whose eigenvalues NumPy takes.

    >>> import glax.numpy as xp
    >>> xp.poly(xp.array([1.0, 2.0]))
    Array([ 1., -3.,  2.], dtype=float32)
    """
    roots_, = promote_inexact("poly", _coefficients("poly", seq_of_zeros))
    one = o.broadcast(roots_.aval.dtype.type(1), (1,))
    result = one
    for k in range(roots_.aval.size):
        result = convolve(result, concatenate([one, -roots_[k:k + 1]]))
    return result


def roots(p: Any, *, strip_zeros: bool = True) -> Any:
    """The roots of a polynomial, complex, whose coefficients must be concrete.

    Args:
        p: coefficients.
        strip_zeros: whether leading zeros are left out; else there is a NaN for each in the place of a root.

    >>> import glax.numpy as xp
    >>> xp.roots(xp.array([1.0, -3.0, 2.0])).round(3)
    Array([2.+0.j, 1.+0.j], dtype=complex64)
    """
    value = concrete(_coefficients("roots", p), "roots", "p")
    found = np.roots(value.astype(np.complex128 if dtypes.is_complex(value.dtype) else np.float64))
    if not strip_zeros:
        missing = builtins.max(value.size - 1 - found.size, 0)
        found = np.concatenate([found, np.full(missing, complex(np.nan, np.nan))])
    return asarray(found.astype(dtypes.to_complex(value.dtype)))


def polyfit(x: Any, y: Any, deg: int, rcond: float | None = None, full: bool = False, w: Any = None,
            cov: bool = False) -> Any:
    """The polynomial of a degree with the least squared distance from points, which must be concrete. With full, the
    sum of squares, the rank, the singular values and rcond follow; with cov, the covariance of the coefficients. w
    weighs the points. Coefficients come from the highest power down.

    >>> import glax.numpy as xp
    >>> xp.polyfit(xp.array([0.0, 1.0, 2.0]), xp.array([1.0, 3.0, 5.0]), 1).round(2)
    Array([2., 1.], dtype=float32)
    """
    given = {"x": x, "y": y, "w": w}
    values = [None if v is None and what == "w" else concrete(asarray(v), "polyfit", what) for what, v in given.items()]
    for what, value in zip("xy", values):
        if value.ndim != 1 and (what, value.ndim) != ("y", 2) or not value.size:
            raise mistaken("polyfit", what, "a vector that is not empty", given[what])
    if len(values[0]) != len(values[1]):
        raise mistaken("polyfit", "y", f"of x's size {len(values[0])}", y, ValueError)
    degree = as_index(deg, "polyfit", "deg")
    if degree < 0:
        raise mistaken("polyfit", "deg", "a number from 0 on", deg, ValueError)
    if not isinstance(rcond, (int, float, np.number, type(None))):
        raise mistaken("polyfit", "rcond", "None or a number", rcond)
    dtype = dtypes.canonicalize(dtypes.to_inexact(values[1].dtype))
    result = np.polyfit(*(v.astype(np.float64) for v in values[:2]), degree, rcond, full,
                        values[2], cov)
    parts = result if isinstance(result, tuple) else (result,)
    found = tuple(asarray(np.asarray(p).astype(dtype)) if isinstance(p, np.ndarray) else p for p in parts)
    return found if isinstance(result, tuple) else found[0]
