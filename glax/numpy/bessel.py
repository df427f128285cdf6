"""The modified Bessel function of order 0."""

from __future__ import annotations

from functools import cache
from math import factorial
from typing import Any

import numpy as np

from .._promotion import literal_like as _like
from .._promotion import promote_inexact, type_of
from ..ir import dtypes
from ..ir import ops as o
from .selection import where_of_one_dtype as _where


def i0(x: Any) -> Any:
    """Modified Bessel function of order 0, elementwise and to the accuracy of the dtype.

    >>> import glax.numpy as xp
    >>> xp.i0(0.0)
    Array(1., dtype=float32, weak_type=True)
    """
    x, = promote_inexact("i0", x)
    if dtypes.is_complex(type_of("i0", x).dtype):
        raise ValueError("i0 does not accept complex numbers")
    wide = dtypes.itemsize_bits(type_of("i0", x).dtype) > 32
    return _for_float64(x) if wide else _for_float32(x)


def _split(x: Any, limit: float) -> tuple[Any, Any, Any]:
    """Whether |x| is at most the limit, and |x| for either side: 0 or the limit where it is on the other."""
    size = o.abs_(x)
    near = o.le(size, _like(x, limit))
    return near, _where(near, size, _like(x, 0.0)), _where(near, _like(x, limit), size)


def _for_float32(x: Any) -> Any:
    """Polynomial approximations 9.8.1 and 9.8.2 of Abramowitz and Stegun, Handbook of Mathematical Functions."""
    near, small, large = _split(x, 3.75)
    t = o.square(o.div(small, _like(x, 3.75)))
    inner = _polynomial(t, (1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.0360768, 0.0045813))
    u = o.div(_like(x, 3.75), large)
    series = _polynomial(u, (0.39894228, 0.01328592, 0.00225319, -0.00157565, 0.00916281, -0.02057706, 0.02635537,
                             -0.01647633, 0.00392377))
    return _where(near, inner, o.mul(o.div(o.exp(large), o.sqrt(large)), series))


_LIMIT = 8.0
_POWERS = tuple(1.0 / factorial(k) ** 2 for k in range(25))  # of x**2 / 4: positive, so that nothing cancels


def _for_float64(x: Any) -> Any:
    """The power series up to the limit; beyond it exp(x) / sqrt(x) times a Chebyshev series in 1 / x."""
    near, small, large = _split(x, _LIMIT)
    inner = _polynomial(o.mul(o.square(small), _like(x, 0.25)), _POWERS)
    u = o.sub(o.div(_like(x, 2 * _LIMIT), large), _like(x, 1.0))
    return _where(near, inner, o.mul(o.div(o.exp(large), o.sqrt(large)), _chebyshev_sum(u, _far_coefficients())))


@cache
def _far_coefficients() -> tuple[float, ...]:
    """Of sqrt(x) exp(-x) I0(x) for x from the limit to infinity, which is u = 2 limit / x - 1 from 1 to -1."""
    def function(u: np.ndarray) -> np.ndarray:
        x = 2 * _LIMIT / (1 + u)
        return np.array([_scaled_value(v) for v in x.tolist()])

    return tuple(np.polynomial.chebyshev.chebinterpolate(function, 28).tolist())


def _scaled_value(x: float) -> float:
    """sqrt(x) exp(-x) I0(x), by the power series or, where it is exact enough, the asymptotic one."""
    if x < 30:
        total = term = 1.0
        for k in range(1, 80):
            term *= x * x / (4 * k * k)
            total += term
        return float(np.sqrt(x) * np.exp(-x) * total)
    total = term = 1.0
    for k in range(1, 30):
        term *= (2 * k - 1) ** 2 / (8 * k * x)
        total += term
    return total / float(np.sqrt(2 * np.pi))


def _chebyshev_sum(u: Any, coefficients: tuple[float, ...]) -> Any:
    """The sum of coefficients[k] * T_k(u), by Clenshaw's recurrence."""
    doubled = o.mul(u, _like(u, 2.0))
    later, latest = _like(u, 0.0), _like(u, coefficients[-1])
    for c in reversed(coefficients[1:-1]):
        later, latest = latest, o.add(o.sub(o.mul(doubled, latest), later), _like(u, c))
    return o.add(o.sub(o.mul(u, latest), later), _like(u, coefficients[0]))


def _polynomial(x: Any, coefficients: tuple[float, ...]) -> Any:
    """The sum of coefficients[k] * x**k."""
    result = _like(x, coefficients[-1])
    for c in reversed(coefficients[:-1]):
        result = o.add(o.mul(result, x), _like(x, c))
    return result
