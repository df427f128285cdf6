"""Distributions that are functions of uniform or normal floats."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .._promotion import broadcast_shapes, cast, shape_of, strong, type_of
from ..ir import aval_of, dtypes
from ..ir import ops as o
from ..numpy import multiply, power
from .arguments import constant, float_dtype, full, int_dtype, parameters, sampler, shape_argument
from .basic import check_mode, normal_floats, signs, uniform_floats, unit_floats
from .keys import key_words
from .threefry import unstacked_keys

Draw = Callable[..., Any]


# ---- of the key alone ------------------------------------------------------------------------------------------

_DTYPES = """

    Args:
        key: a single key.
        shape: the shape of the result.
        dtype: a floating dtype, by default float32, or float64 with 64-bit types enabled.
    """


def _standard(name: str, draw: Draw, what: str) -> Callable[..., Any]:
    """The sampler of a distribution without parameters, of its function (key, shape, dtype) -> floats."""
    sampled = sampler("shape", "dtype")(draw)

    def function(key: Any, shape: Any = (), dtype: Any = None) -> Any:
        words = key_words(name, key)
        return sampled(words, shape=shape_argument(name, shape), dtype=float_dtype(name, dtype))

    function.__name__ = function.__qualname__ = name
    function.__module__ = __name__
    function.__doc__ = f"Floats of {what}{_DTYPES}"
    return function


def _between(key: Any, low: float, high: float, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    return uniform_floats(key, np.asarray(low, dtype), np.asarray(high, dtype), shape, dtype)


def exponential_floats(key: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    return o.neg(o.log1p(o.neg(unit_floats(key, shape, dtype))))


def _laplace(key: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    u = _between(key, float(dtypes.finfo(dtype).epsneg) - 1, 1, shape, dtype)
    return o.mul(o.sign(u), o.log1p(o.neg(o.abs_(u))))


def _logistic(key: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    u = _between(key, dtypes.finfo(dtype).tiny, 1, shape, dtype)
    return o.sub(o.log(u), o.log1p(o.neg(u)))


def _cauchy(key: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    u = _between(key, dtypes.finfo(dtype).eps, 1, shape, dtype)
    return o.tan(o.mul(constant(math.pi, u), o.sub(u, constant(0.5, u))))


def maxwell_floats(key: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """The lengths of normal vectors of three dimensions."""
    x = normal_floats(key, (*shape, 3), dtype)
    return o.sqrt(o.reduce_sum(o.mul(x, x), (len(shape),)))


exponential = _standard("exponential", exponential_floats, "the exponential distribution of mean 1.")
laplace = _standard("laplace", _laplace, "the Laplace distribution, whose density is exp(-|x|) / 2.")
logistic = _standard("logistic", _logistic, "the logistic distribution, whose distribution function is 1 / (1 + e^-x).")
cauchy = _standard("cauchy", _cauchy, "the Cauchy distribution, whose density is 1 / (pi (1 + x^2)).")
maxwell = _standard("maxwell", maxwell_floats, "the Maxwell distribution: lengths of normal vectors of 3 dimensions.")


@sampler("shape", "dtype", "mode")
def gumbel_floats(key: Any, shape: tuple[int, ...], dtype: np.dtype, mode: str) -> Any:
    info = dtypes.finfo(dtype)
    if mode == "low":
        return o.neg(o.log(o.neg(o.log(_between(key, info.tiny, 1, shape, dtype)))))
    # Small floats get a second draw for the digits below the first's resolution; -log(u) is taken as -log1p(-(1 - u)).
    coarse, fine = [o.squeeze(x, (0,)) for x in o.split(unit_floats(key, (2, *shape), dtype), (1, 1), 0)]
    small = o.add(o.add(coarse, o.mul(constant(float(info.eps), fine), fine)), constant(float(info.tiny), fine))
    u = o.select_n(o.ge(coarse, constant(0.5, coarse)), small, coarse)
    return o.neg(o.log(o.neg(o.log1p(o.neg(u)))))


def gumbel(key: Any, shape: Any = (), dtype: Any = None, mode: str | None = None) -> Any:
    """Floats of the Gumbel distribution, whose distribution function is exp(-exp(-x)).

    Args:
        key: a single key.
        shape: the shape of the result.
        dtype: a floating dtype, by default float32, or float64 with 64-bit types enabled.
        mode: "high" for twice the random bits, and so a longer upper tail; "low" by default.
    """
    words = key_words("gumbel", key)
    return gumbel_floats(words, shape=shape_argument("gumbel", shape), dtype=float_dtype("gumbel", dtype),
                         mode=check_mode("gumbel", mode))


# ---- with parameters -------------------------------------------------------------------------------------------


def _pareto(key: Any, b: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    return o.exp(o.div(exponential_floats(key, shape, dtype), b))


def _rayleigh(key: Any, scale: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    logs = o.log(unit_floats(key, shape, dtype))
    return o.mul(full(scale, shape), o.sqrt(o.mul(logs, constant(-2, logs))))


def _lognormal(key: Any, sigma: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    return o.exp(o.mul(normal_floats(key, shape, dtype), sigma))


def _wald(key: Any, mean: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """The root of a quadratic equation, or the other one with the probability it is to have."""
    first, second = unstacked_keys(key, 2)
    mean = full(mean, shape)
    y = o.integer_pow(normal_floats(first, shape, dtype), 2)
    u = unit_floats(second, shape, dtype)
    two = constant(2, y)
    square = o.integer_pow(mean, 2)
    root = o.sqrt(o.add(o.mul(o.mul(constant(4, y), mean), y), o.mul(square, o.integer_pow(y, 2))))
    x = o.sub(o.add(mean, o.div(o.mul(square, y), two)), o.mul(o.div(mean, two), root))
    return o.select_n(o.le(u, o.div(mean, o.add(mean, x))), o.div(square, x), x)


def _triangular(key: Any, left: Any, mode: Any, right: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    left, mode, right = [full(x, shape) for x in (left, mode, right)]
    u = unit_floats(key, shape, dtype)
    width = o.sub(right, left)
    rising = o.add(left, o.sqrt(o.mul(o.mul(u, width), o.sub(mode, left))))
    falling = o.sub(right, o.sqrt(o.mul(o.mul(o.sub(constant(1, u), u), width), o.sub(right, mode))))
    return o.select_n(o.lt(u, o.div(o.sub(mode, left), width)), falling, rising)


_sampled_pareto, _sampled_rayleigh, _sampled_lognormal, _sampled_wald, _sampled_triangular = [
    sampler("shape", "dtype")(draw) for draw in (_pareto, _rayleigh, _lognormal, _wald, _triangular)]


def _with_parameters(name: str, sampled: Draw, key: Any, shape: Any, dtype: Any, **given: Any) -> Any:
    words, found = key_words(name, key), float_dtype(name, dtype)
    shape, values = parameters(name, shape, found, **given)
    return sampled(words, *values, shape=shape, dtype=found)


def pareto(key: Any, b: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Floats of the Pareto distribution of density b / x^(b + 1) from 1 on; shape is by default that of b."""
    return _with_parameters("pareto", _sampled_pareto, key, shape, dtype, b=b)


def rayleigh(key: Any, scale: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Floats of the Rayleigh distribution of a scale; shape is by default that of scale."""
    return _with_parameters("rayleigh", _sampled_rayleigh, key, shape, dtype, scale=scale)


def lognormal(key: Any, sigma: Any = 1.0, shape: Any = None, dtype: Any = None) -> Any:
    """Floats whose logarithms are normal, of standard deviation sigma; shape is by default that of sigma."""
    return _with_parameters("lognormal", _sampled_lognormal, key, shape, dtype, sigma=sigma)


def wald(key: Any, mean: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Floats of the Wald (inverse Gaussian) distribution of a mean and scale 1; shape is by default that of mean."""
    return _with_parameters("wald", _sampled_wald, key, shape, dtype, mean=mean)


def triangular(key: Any, left: Any, mode: Any, right: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Floats of the distribution whose density rises linearly from left to mode, and falls to right.

    The shape is by default the common one of the three.
    """
    return _with_parameters("triangular", _sampled_triangular, key, shape, dtype, left=left, mode=mode, right=right)


def weibull_min(key: Any, scale: Any, concentration: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Floats of the Weibull distribution, whose survival function is exp(-(x / scale)^concentration).

    Args:
        key: a single key.
        scale, concentration: positive numbers, or arrays, which are broadcast with one draw of the shape.
        shape: the shape of the draw.
        dtype: a floating dtype, by default float32, or float64 with 64-bit types enabled.
    """
    found = float_dtype("weibull_min", dtype)
    scale, inverse = [strong(cast(x, found), found) for x in (scale, 1.0 / concentration)]
    return multiply(power(exponential(key, shape, found), inverse), scale)


def double_sided_maxwell(key: Any, loc: Any, scale: Any, shape: Any = (), dtype: Any = None) -> Any:
    """loc + scale * x, where x is of the Maxwell distribution times a random sign.

    Args:
        key: a single key.
        loc, scale: numbers, or arrays that broadcast together.
        shape: a prefix of the shape of the result, which goes on with the common shape of loc and scale.
        dtype: a floating dtype, by default float32, or float64 with 64-bit types enabled.
    """
    words, found = key_words("double_sided_maxwell", key), float_dtype("double_sided_maxwell", dtype)
    common = broadcast_shapes("double_sided_maxwell", [shape_of(x) for x in (loc, scale)])
    prefix = shape_argument("double_sided_maxwell", shape) or common
    _, (loc, scale) = parameters("double_sided_maxwell", (*prefix, *common), found, loc=loc, scale=scale)
    return _sampled_double_sided(words, loc, scale, shape=(*prefix, *common), dtype=found)


@sampler("shape", "dtype")
def _sampled_double_sided(key: Any, loc: Any, scale: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    first, second = unstacked_keys(key, 2)
    x = o.mul(signs(second, shape, dtype), maxwell_floats(first, shape, dtype))
    return o.add(o.mul(x, scale), loc)


@sampler("shape", "dtype")
def _sampled_geometric(key: Any, p: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    u = unit_floats(key, shape, aval_of(p).dtype)
    u = o.select_n(o.eq(u, constant(0, u)), u, full(constant(1, u), shape))
    trials = o.add(o.floor(o.div(o.log(u), full(o.log1p(o.neg(p)), shape))), constant(1, u))
    return o.convert_element_type(trials, dtype)


def geometric(key: Any, p: Any, shape: Any = None, dtype: Any = None) -> Any:
    """How many independent trials, each a success with probability p, it takes to the first success.

    Args:
        key: a single key.
        p: the probability, a float or an array of floats.
        shape: the shape of the result, to which p broadcasts; by default p's.
        dtype: an integer dtype, by default int32, or int64 with 64-bit types enabled.
    """
    words, found = key_words("geometric", key), int_dtype("geometric", dtype)
    given = type_of("geometric: p", p).dtype
    floats = given if dtypes.is_float(given) else float_dtype("geometric", None)
    shape, (p,) = parameters("geometric", shape, floats, p=p)
    return _sampled_geometric(words, p, shape=shape, dtype=found)
