"""The gamma distribution, and those that are made of it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._custom_jvp import custom_jvp
from .._promotion import as_index, cast, shape_of, strong, type_of
from .._vmap import vmap
from ..ir import aval_of
from ..ir import ops as o
from ..lax import while_loop
from ..numpy import abs, divide, exp, expand_dims, max, multiply, power, sqrt, subtract, sum
from .arguments import constant, fit, float_dtype, full, parameters, sampler, shape_argument
from .basic import normal, normal_floats, rademacher, unit_floats
from .continuous import exponential, exponential_floats
from .keys import key_words
from .threefry import split_key, unstacked_keys


def _rejected(square: Any, cube: Any, u: Any, d: Any) -> Any:
    """Whether a draw is to be repeated: by a quick bound first, which most draws meet."""
    quick = o.sub(constant(1, u), o.mul(constant(0.0331, u), o.mul(square, square)))
    exact = o.add(o.mul(square, constant(0.5, u)), o.mul(d, o.add(o.sub(constant(1, u), cube), o.log(cube))))
    return o.and_(o.ge(u, quick), o.ge(o.log(u), exact))


def _one_gamma(key: Any, a: Any, log_space: bool) -> Any:
    """One draw by rejection (Marsaglia and Tsang, 2000). Where a < 1 it is made of one for a + 1."""
    dtype = aval_of(a).dtype
    zero, one = np.zeros((), dtype), np.ones((), dtype)
    large = o.ge(a, one)
    d = o.sub(o.select_n(large, o.add(a, one), a), constant(1 / 3, a))
    c = o.div(constant(1 / 3, a), o.sqrt(d))

    def draw_until_positive(key: Any) -> tuple[Any, Any]:
        def step(state: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
            key, subkey = unstacked_keys(state[0], 2)
            x = normal_floats(subkey, (), dtype)
            return key, x, o.add(one, o.mul(x, c))

        return while_loop(lambda state: o.le(state[2], zero), step, (key, zero, np.asarray(-1, dtype)))[1:]

    def draw(state: tuple[Any, ...]) -> tuple[Any, ...]:
        key, normal_key, uniform_key = unstacked_keys(state[0], 3)
        x, v = draw_until_positive(normal_key)
        return key, o.mul(x, x), o.mul(o.mul(v, v), v), unit_floats(uniform_key, (), dtype)

    key, boost_key = unstacked_keys(key, 2)
    first = (key, zero, one, np.asarray(2, dtype))
    _, _, cube, _ = while_loop(lambda state: _rejected(*state[1:], d), draw, first)
    if log_space:
        # The logarithm of the uniform factor, to which 1 / a may be infinite.
        log_u = o.neg(exponential_floats(boost_key, (), dtype))
        boost = o.select_n(o.or_(large, o.eq(log_u, zero)), o.mul(log_u, o.div(one, a)), zero)
        return o.add(o.add(o.log(d), o.log(cube)), boost)
    u = o.sub(one, unit_floats(boost_key, (), dtype))
    boost = o.select_n(large, o.pow_(u, o.div(one, a)), one)
    return o.mul(o.mul(d, cube), boost)


@sampler("shape", "log_space", always=True)
def _sampled_gamma(key: Any, a: Any, shape: tuple[int], log_space: bool) -> Any:
    """A draw for each element of a vector. All shapes of so many elements have one program in common."""
    return vmap(lambda k, a: _one_gamma(k, a, log_space))(split_key(key, shape), a)


def _gamma_of_parameter(name: str, key: Any, a: Any, shape: tuple[int, ...], dtype: np.dtype, log_space: bool) -> Any:
    """Samples as a function of a, of which the derivative is refused: that of a rejected draw would be wrong."""
    @custom_jvp
    def samples(a: Any) -> Any:
        count = math.prod(shape)
        if not count:
            return o.full(shape, 0, dtype)
        flat = o.reshape(full(a, shape or (1,)), (count,))
        return o.reshape(_sampled_gamma(key, flat, shape=(count,), log_space=log_space), shape)

    @samples.defjvp
    def refuse(primals: Any, tangents: Any) -> Any:
        raise NotImplementedError(f"{name}: samples of the gamma distribution are not differentiable in its parameter; "
                                  f"apply glax.lax.stop_gradient to it")

    return samples(a)


def _gamma(name: str, key: Any, a: Any, shape: Any, dtype: Any, log_space: bool) -> Any:
    words, found = key_words(name, key), float_dtype(name, dtype)
    shape, (a,) = parameters(name, shape, found, a=a)
    return _gamma_of_parameter(name, words, a, shape, found, log_space)


def gamma(key: Any, a: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Floats of the gamma distribution of density proportional to x^(a - 1) e^-x.

    Args:
        key: a single key.
        a: the positive shape parameter, a number or an array. Derivatives in it are refused.
        shape: the shape of the result, to which a broadcasts; by default a's.
        dtype: a floating dtype, by default float32, or float64 with 64-bit types enabled.
    """
    return _gamma("gamma", key, a, shape, dtype, False)


def loggamma(key: Any, a: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Logarithms of gamma samples, which for small a are exact where the samples themselves would be 0."""
    return _gamma("loggamma", key, a, shape, dtype, True)


def beta(key: Any, a: Any, b: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Floats of the beta distribution of density proportional to x^(a - 1) (1 - x)^(b - 1).

    The shape is by default the common one of a and b.
    """
    words, found = key_words("beta", key), float_dtype("beta", dtype)
    shape, (a, b) = parameters("beta", shape, found, a=a, b=b)
    keys = unstacked_keys(words, 2)
    logs = [_gamma_of_parameter("beta", k, x, shape, found, True) for k, x in zip(keys, (a, b))]
    largest = o.max_(*logs)
    one, other = [o.exp(o.sub(x, largest)) for x in logs]
    return o.div(one, o.add(one, other))


def dirichlet(key: Any, alpha: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Vectors of probabilities, of density proportional to the product of x_i^(alpha_i - 1).

    Args:
        key: a single key.
        alpha: an array of positive numbers, the last dimension along the vector.
        shape: the shape of the result without its last dimension, to which alpha broadcasts; by default alpha's.
        dtype: a floating dtype, by default float32, or float64 with 64-bit types enabled.
    """
    own = type_of("dirichlet: alpha", alpha).shape
    if not own:
        raise ValueError("dirichlet: alpha must have at least one dimension, got a scalar")
    whole = None if shape is None else (*shape_argument("dirichlet", shape), own[-1])
    logs = _gamma("dirichlet", key, alpha, whole, dtype, True)
    shares = exp(subtract(logs, max(logs, axis=-1, keepdims=True)))
    return divide(shares, sum(shares, axis=-1, keepdims=True))


def chisquare(key: Any, df: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Floats of the chi-square distribution of df degrees of freedom; shape is by default that of df."""
    found = float_dtype("chisquare", dtype)
    half = o.div(strong(cast(df, found), found), np.asarray(2, found))
    logs = _gamma("chisquare", key, half, shape, found, True)
    return o.mul(o.exp(logs), np.asarray(2, found))


def f(key: Any, dfnum: Any, dfden: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Floats of the F distribution: the ratio of two chi-square variables, each over its degrees of freedom.

    The shape is by default the common one of dfnum and dfden.
    """
    words, found = key_words("f", key), float_dtype("f", dtype)
    shape, (above, below) = parameters("f", shape, found, dfnum=dfnum, dfden=dfden)
    below_key, above_key = unstacked_keys(words, 2)
    return o.div(o.div(chisquare(above_key, above, shape, found), above),
                 o.div(chisquare(below_key, below, shape, found), below))


def t(key: Any, df: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Floats of Student's t distribution of df degrees of freedom; shape is by default that of df."""
    words, found = key_words("t", key), float_dtype("t", dtype)
    shape, (df,) = parameters("t", shape, found, df=df)
    normal_key, gamma_key = unstacked_keys(words, 2)
    half = o.div(df, np.asarray(2, found))
    return multiply(normal(normal_key, shape, found), sqrt(o.div(half, gamma(gamma_key, half, shape, found))))


def generalized_normal(key: Any, p: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Floats of density proportional to exp(-|x|^p).

    Args:
        key: a single key.
        p: a positive number, or an array that broadcasts to the shape.
        shape: the shape of the result.
        dtype: a floating dtype, by default float32, or float64 with 64-bit types enabled.
    """
    words, found = key_words("generalized_normal", key), float_dtype("generalized_normal", dtype)
    shape = shape_argument("generalized_normal", shape)
    inverse = fit("generalized_normal", "p", strong(cast(divide(1, p), found), found), shape)
    size_key, sign_key = unstacked_keys(words, 2)
    return multiply(rademacher(sign_key, shape, found), power(gamma(size_key, inverse, shape, found), inverse))


def ball(key: Any, d: int, p: Any = 2, shape: Any = (), dtype: Any = None) -> Any:
    """Points that are equally likely everywhere in the ball of radius 1 of a norm: the p-th root of the sum of |x_i|^p.

    Args:
        key: a single key.
        d: the number of dimensions.
        p: the norm's exponent, a positive number.
        shape: the shape of the array of points; the result has a last dimension of d more.
        dtype: a floating dtype, by default float32, or float64 with 64-bit types enabled.
    """
    words, found = key_words("ball", key), float_dtype("ball", dtype)
    shape, d = shape_argument("ball", shape), as_index(d, "ball", "d")
    direction_key, radius_key = unstacked_keys(words, 2)
    direction = generalized_normal(direction_key, p, (*shape, d), found)
    exponent = cast(p, found)
    total = sum(power(abs(direction), exponent), axis=-1) + exponential(radius_key, shape, found)
    norm = power(total, strong(cast(divide(1, p), found), found))
    return divide(direction, expand_dims(norm, -1)) if shape_of(norm) else divide(direction, norm)
