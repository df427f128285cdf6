"""Special functions, elementwise unless said otherwise. Integers become floats."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._promotion import broadcast_to_one_shape, promote_inexact, strong, type_of
from .._promotion import literal_like as _like
from ..ir import ops as o
from ..numpy import divide, exp, multiply, subtract
from ..numpy.log_sum_exp import log_softmax as _log_softmax
from ..numpy.log_sum_exp import logsumexp
from ..numpy.log_sum_exp import softmax as _softmax
from ..numpy.selection import as_array
from ..numpy.selection import where_of_one_dtype as _where
from ..numpy.ufuncs import binary_inexact, unary_inexact

__all__ = [
    "beta", "betaln", "boxcox", "boxcox1p", "comb", "digamma", "entr", "erf", "erfc", "erfinv", "expit", "factorial",
    "gamma", "gammaln", "gammasgn", "kl_div", "log_ndtr", "log_softmax", "logit", "loggamma", "logsumexp",
    "multigammaln", "ndtr", "ndtri", "poch", "polygamma", "rel_entr", "softmax", "xlog1py", "xlogy",
]


expit = unary_inexact("expit", o.logistic, "logistic function 1 / (1 + exp(-x))", "x")
logit = unary_inexact("logit", lambda x: o.log(o.div(x, o.sub(_like(x, 1.0), x))), "log(x / (1 - x))", "x")
erf = unary_inexact("erf", o.erf, "error function", "x")
erfc = unary_inexact("erfc", o.erfc, "1 - erf(x)", "x")
erfinv = unary_inexact("erfinv", o.erf_inv, "inverse of erf", "x")
gammaln = unary_inexact("gammaln", o.lgamma, "logarithm of the absolute value of the gamma function", "x")


def _loggamma(x: Any) -> Any:
    positive = o.gt(x, _like(x, 0.0))
    logs = o.lgamma(_where(positive, x, _like(x, 1.0)))
    return _where(positive, logs, o.broadcast(_like(x, math.nan), type_of("loggamma", x).shape))


loggamma = unary_inexact("loggamma", _loggamma, "logarithm of the gamma function, NaN where x is not positive", "x")
digamma = unary_inexact("digamma", o.digamma, "derivative of gammaln", "x")


def polygamma(n: Any, x: Any) -> Any:
    """The derivative of order n of digamma at x."""
    return o.polygamma(*broadcast_to_one_shape("polygamma", promote_inexact("polygamma", n, x)))


def _gammasgn(x: Any) -> Any:
    zero, one = _like(x, 0.0), _like(x, 1.0)
    floor = o.floor(x)
    odd = o.ne(floor, o.mul(_like(x, 2.0), o.floor(o.mul(floor, _like(x, 0.5)))))
    negative = o.lt(x, zero)
    minus_zero = o.and_(o.eq(x, zero), o.lt(o.div(one, o.stop_gradient(x)), zero))
    undefined = o.or_(o.ne(x, x), o.and_(negative, o.eq(x, floor)))
    sign = _where(o.or_(minus_zero, o.and_(negative, odd)), _like(x, -1.0), one)
    return strong(_where(undefined, _like(x, math.nan), o.broadcast(sign, type_of("gammasgn", x).shape)))


gammasgn = unary_inexact("gammasgn", _gammasgn, "sign of the gamma function, NaN at its poles and of NaN", "x")
gamma = unary_inexact("gamma", lambda x: o.mul(_gammasgn(x), o.exp(o.lgamma(x))), "gamma function", "x")


def _log_times(log: Any, low: float, neutral: float) -> Any:
    """x times a logarithm of y, whose derivative to x at 0 is the logarithm."""
    def function(x: Any, y: Any) -> Any:
        inside = o.and_(o.gt(y, _like(y, low)), o.lt(y, _like(y, math.inf)))
        vanishes = o.and_(o.eq(x, _like(x, 0.0)), o.and_(o.not_(inside), o.eq(y, y)))
        return o.mul(x, log(_where(vanishes, _like(y, neutral), y)))

    return function


xlogy = binary_inexact("xlogy", _log_times(o.log, 0.0, 1.0), "x * log(y), 0 where x is 0", "x", "y")
xlog1py = binary_inexact("xlog1py", _log_times(o.log1p, -1.0, 0.0), "x * log(1 + y), 0 where x is 0", "x", "y")


def _entr(x: Any) -> Any:
    positive = o.gt(x, _like(x, 0.0))
    safe = _where(positive, x, _like(x, 1.0))
    rest = _where(o.lt(x, _like(x, 0.0)), _like(x, -math.inf), o.mul(x, _like(x, 0.0)))
    return _where(positive, o.neg(o.mul(safe, o.log(safe))), rest)


entr = unary_inexact("entr", _entr, "-x * log(x), 0 at 0, -inf for negative x", "x")


def _rel_entr(p: Any, q: Any) -> Any:
    zero = _like(p, 0.0)
    both = o.and_(o.gt(p, zero), o.gt(q, zero))
    safe_p, safe_q = _where(both, p, _like(p, 1.0)), _where(both, q, _like(q, 1.0))
    none = o.and_(o.eq(p, zero), o.ge(q, zero))
    result = o.sub(o.mul(safe_p, o.log(safe_p)), o.mul(safe_p, o.log(safe_q)))
    return _where(both, result, _where(none, zero, _like(p, math.inf)))


rel_entr = binary_inexact("rel_entr", _rel_entr, "p * log(p / q)", "p", "q")
kl_div = binary_inexact("kl_div", lambda p, q: o.add(o.sub(_rel_entr(p, q), p), q), "p * log(p / q) - p + q", "p", "q")


def betaln(a: Any, b: Any) -> Any:
    """The logarithm of the absolute value of the beta function."""
    a, b = map(as_array, promote_inexact("betaln", a, b))
    return subtract(gammaln(a) + gammaln(b), gammaln(a + b))


def beta(a: Any, b: Any) -> Any:
    """The beta function."""
    a, b = map(as_array, promote_inexact("beta", a, b))
    return gammasgn(a) * gammasgn(b) * gammasgn(a + b) * exp(betaln(a, b))


def poch(z: Any, m: Any) -> Any:
    """The rising factorial gamma(z + m) / gamma(z); 1 where m is 0."""
    z, m = map(as_array, promote_inexact("poch", z, m))
    result = gammasgn(z) * gammasgn(z + m) * exp(gammaln(z + m) - gammaln(z))
    empty = o.and_(*broadcast_to_one_shape("poch", [o.not_(o.is_finite(gammaln(z))), o.eq(m, _like(m, 0.0))]))
    return _where(empty, _like(result, 1.0), result)


def factorial(n: Any, exact: bool = False) -> Any:
    """The factorial of n, as a float; 0 for negative n."""
    if exact:
        raise NotImplementedError("factorial: exact=True is not supported")
    n, = promote_inexact("factorial", n)
    negative = o.lt(n, _like(n, 0.0))
    return _where(negative, _like(n, 0.0), o.exp(o.lgamma(o.add(_where(negative, _like(n, 0.0), n), _like(n, 1.0)))))


def comb(N: Any, k: Any, exact: bool = False, repetition: bool = False) -> Any:
    """How many ways there are to choose k of N, as a float."""
    if exact:
        raise NotImplementedError("comb: exact=True is not supported")
    N, k = broadcast_to_one_shape("comb", promote_inexact("comb", N, k))
    one, zero = _like(N, 1.0), _like(N, 0.0)
    if repetition:  # of nothing, nothing can be chosen in one way
        N = _where(o.and_(o.eq(N, zero), o.eq(k, zero)), zero, o.sub(o.add(N, k), one))
    valid = o.and_(o.ge(k, zero), o.ge(N, k))
    n_, k_ = _where(valid, N, one), _where(valid, k, zero)
    logs = o.sub(o.lgamma(o.add(n_, one)), o.add(o.lgamma(o.add(k_, one)), o.lgamma(o.add(o.sub(n_, k_), one))))
    return _where(valid, o.exp(logs), zero)


def multigammaln(a: Any, d: int) -> Any:
    """The logarithm of the gamma function of d dimensions."""
    a = as_array(*promote_inexact("multigammaln", a))
    constant = d * (d - 1) / 4 * math.log(math.pi)
    total: Any = constant
    for j in range(d):
        total = total + gammaln(a - j / 2)
    return total


def boxcox(x: Any, lmbda: Any) -> Any:
    """(x**lmbda - 1) / lmbda, log(x) where lmbda is 0."""
    x, lmbda = broadcast_to_one_shape("boxcox", promote_inexact("boxcox", x, lmbda))
    return _boxcox_of_log(o.log(x), lmbda)


def boxcox1p(x: Any, lmbda: Any) -> Any:
    """boxcox of 1 + x."""
    x, lmbda = broadcast_to_one_shape("boxcox1p", promote_inexact("boxcox1p", x, lmbda))
    return _boxcox_of_log(o.log1p(x), lmbda)


def _boxcox_of_log(logs: Any, lmbda: Any) -> Any:
    zero = o.eq(lmbda, _like(lmbda, 0.0))
    safe = _where(zero, _like(lmbda, 1.0), lmbda)
    return _where(zero, logs, divide(o.expm1(multiply(safe, logs)), safe))


# ---- sums of exponentials


def softmax(x: Any, /, *, axis: Any = None) -> Any:
    """exp(x) divided by its sum over axes, by default over all of them.

    >>> import glax.numpy as xp
    >>> from glax.scipy import special
    >>> special.softmax(xp.zeros((2, 2)))
    Array([[0.25, 0.25],
           [0.25, 0.25]], dtype=float32)
    """
    return _softmax(x, axis)


def log_softmax(x: Any, /, *, axis: Any = None) -> Any:
    """The logarithm of softmax, exact for small probabilities; over all axes by default."""
    return _log_softmax(x, axis)


# ---- the normal distribution

_SQRT_HALF = math.sqrt(0.5)


def _ndtr(x: Any) -> Any:
    x = strong(x)
    w = o.mul(x, _like(x, _SQRT_HALF))
    half = _like(x, 0.5)
    near = o.lt(o.abs_(w), _like(x, _SQRT_HALF))
    tail = o.erfc(o.abs_(w))
    upper = _where(o.gt(w, _like(x, 0.0)), o.sub(_like(x, 2.0), tail), tail)
    return o.mul(half, _where(near, o.add(_like(x, 1.0), o.erf(w)), upper))


ndtr = unary_inexact("ndtr", _ndtr, "distribution function of the normal distribution", "x")


def _ndtri(p: Any) -> Any:
    p = strong(p)
    return o.mul(_like(p, math.sqrt(2.0)), o.erf_inv(o.sub(o.mul(_like(p, 2.0), p), _like(p, 1.0))))


ndtri = unary_inexact("ndtri", _ndtri, "inverse of ndtr", "p")


def _log_ndtr(x: Any, series_order: int) -> Any:
    """The logarithm of ndtr, by its asymptotic series far on the left and by -ndtr(-x) far on the right."""
    low, high = (-10.0, 5.0) if np.dtype(type_of("log_ndtr", x).dtype).itemsize < 8 else (-20.0, 8.0)
    left, right = o.lt(x, _like(x, low)), o.gt(x, _like(x, high))
    middle_x = _where(o.or_(left, right), _like(x, 0.0), x)
    left_x, right_x = _where(left, x, _like(x, low)), _where(right, x, _like(x, high))
    square = o.square(left_x)
    series, term = _like(x, 1.0), _like(x, 1.0)
    for k in range(1, series_order + 1):
        term = o.neg(o.mul(term, o.div(_like(x, float(2 * k - 1)), square)))
        series = o.add(series, term)
    far_left = o.sub(o.sub(o.log(series), o.mul(square, _like(x, 0.5))),
                     o.add(o.log(o.neg(left_x)), _like(x, 0.5 * math.log(2.0 * math.pi))))
    far_right = o.neg(_ndtr(o.neg(right_x)))
    return _where(left, far_left, _where(right, far_right, o.log(_ndtr(middle_x))))


def log_ndtr(x: Any, series_order: int = 3) -> Any:
    """The logarithm of the normal distribution function, exact far into both tails."""
    x = strong(*promote_inexact("log_ndtr", x))
    return _log_ndtr(x, max(1, int(series_order)) + 4)


def __dir__() -> list[str]:
    return __all__
