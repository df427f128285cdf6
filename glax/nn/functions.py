"""Activation functions of neural networks, with the derivatives at kinks that training relies on."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import numpy as xp
from .._promotion import (
    as_index,
    canonical_axis,
    named,
    promote,
    promote_inexact,
    shape_of,
    strong,
    type_of,
)
from .._promotion import literal_like as _like
from ..ir import Tracer, dtypes
from ..ir import ops as o
from ..lower import Array
from ..numpy.log_sum_exp import log_softmax, logsumexp, softmax
from ..numpy.selection import where_of_one_dtype as _where
from ..numpy.ufuncs import tanh, unary_inexact

__all__ = [
    "celu", "elu", "gelu", "glu", "hard_sigmoid", "hard_silu", "hard_swish", "hard_tanh", "identity", "leaky_relu",
    "log1mexp", "log_sigmoid", "log_softmax", "logmeanexp", "logsumexp", "mish", "one_hot", "relu", "relu6", "selu",
    "sigmoid", "silu", "soft_sign", "softmax", "softplus", "sparse_plus", "sparse_sigmoid", "squareplus", "standardize",
    "swish", "tanh",
]


_INEXACT = frozenset(d for d in dtypes.DTYPES if dtypes.is_inexact(d))


def _meeting(name: str, constant: float, body: Callable[[Any], Any], what: str) -> Callable[[Any], Any]:
    """A function of one operand, promoted with a Python scalar, as that in its formula would."""
    def function(x: Any) -> Any:
        kind = type(x)
        if (kind is Tracer or kind is Array) and x.aval.dtype in _INEXACT:
            return body(x)
        return body(xp.asarray(promote(name, x, constant)[0]))

    return named(function, name, __name__, f"""{what}. Integers meet Python numbers.

    Args:
        x: an array or a number.

    Returns:
        An array of x's shape; TypeError for what is not an array or a number.
    """)


def relu(x: Any) -> Any:
    """max(x, 0), with a derivative of 0 at 0.

    >>> import glax.numpy as xp
    >>> from glax import nn
    >>> nn.relu(xp.array([-1.0, 2.0]))
    Array([0., 2.], dtype=float32)
    """
    x = xp.asarray(promote("relu", x, 0)[0] if dtypes.is_bool(type_of("relu", x).dtype) else x)
    zero = _like(x, 0)
    # A NaN is kept; where x is 0 the constant is chosen, so that nothing flows back.
    return _where(o.le(x, zero), zero, x)


def _relu6(x: Any) -> Any:
    six = _like(x, 6.0)
    return _where(o.ge(x, six), six, relu(x))


relu6 = _meeting("relu6", 0.0, _relu6, "min(max(x, 0), 6), with derivatives of 0 at 0 and at 6")
sigmoid = unary_inexact("sigmoid", o.logistic, "1 / (1 + exp(-x))", "x")


def _softplus(x: Any) -> Any:
    return xp.logaddexp(x, _like(x, 0.0))


softplus = unary_inexact("softplus", _softplus, "log(1 + exp(x))", "x")
log_sigmoid = unary_inexact("log_sigmoid", lambda x: o.neg(_softplus(o.neg(x))), "log(sigmoid(x))", "x")
silu = unary_inexact("silu", lambda x: o.mul(x, o.logistic(x)), "x * sigmoid(x)", "x")
swish = silu
soft_sign = unary_inexact("soft_sign", lambda x: o.div(x, o.add(o.abs_(x), _like(x, 1.0))), "x / (|x| + 1)", "x")


def _bounded(x: Any, low: float, high: float) -> Any:
    """x limited to [low, high], with derivatives of 0 at the limits."""
    return _where(o.ge(x, _like(x, high)), _like(x, high), _where(o.le(x, _like(x, low)), _like(x, low), x))


def _hard_tanh(x: Any) -> Any:
    one = _like(x, 1)
    if dtypes.kind(type_of("hard_tanh", x).dtype) == "u":
        return _where(o.gt(x, one), one, x)
    minus_one = _like(x, -1)
    return _where(o.gt(x, one), one, _where(o.lt(x, minus_one), minus_one, x))


hard_tanh = _meeting("hard_tanh", 1, _hard_tanh, "x limited to [-1, 1], with derivatives of 1 at the limits")


def _hard_sigmoid(x: Any) -> Any:
    return o.div(_bounded(o.add(x, _like(x, 3.0)), 0.0, 6.0), _like(x, 6.0))


hard_sigmoid = _meeting("hard_sigmoid", 0.0, _hard_sigmoid, "min(max(x + 3, 0), 6) / 6")
hard_silu = _meeting("hard_silu", 0.0, lambda x: o.mul(x, _hard_sigmoid(x)), "x * hard_sigmoid(x)")
hard_swish = hard_silu
mish = unary_inexact("mish", lambda x: o.mul(x, o.tanh(_softplus(x))), "x * tanh(softplus(x))", "x")


def identity(x: Any) -> Any:
    """x, as an array."""
    return xp.asarray(x)


def gelu(x: Any, approximate: bool = True) -> Any:
    """x times the normal distribution function of x; by a formula with tanh where approximate is true.

    >>> from glax import nn
    >>> nn.gelu(0.0)
    Array(0., dtype=float32)
    """
    x = strong(*promote_inexact("gelu", x))
    if approximate:
        inner = o.add(x, o.mul(_like(x, 0.044715), o.integer_pow(x, 3)))
        cdf = o.mul(_like(x, 0.5), o.add(_like(x, 1.0), o.tanh(o.mul(_like(x, math.sqrt(2 / math.pi)), inner))))
        return o.mul(x, cdf)
    return o.mul(o.mul(x, _like(x, 0.5)), o.erfc(o.mul(o.neg(x), _like(x, math.sqrt(0.5)))))


def elu(x: Any, alpha: Any = 1.0) -> Any:
    """x where it is positive, alpha * (exp(x) - 1) elsewhere."""
    x = promote("elu", x, 0.0)[0]
    positive = o.gt(x, _like(x, 0.0))
    negative_part = _where(positive, _like(x, 0.0), x)
    return xp.where(positive, x, xp.multiply(alpha, o.expm1(negative_part)))


def celu(x: Any, alpha: Any = 1.0) -> Any:
    """x where it is positive, alpha * (exp(x / alpha) - 1) elsewhere."""
    x = promote("celu", x, 0.0)[0]
    positive = o.gt(x, _like(x, 0.0))
    negative_part = _where(positive, _like(x, 0.0), x)
    return xp.where(positive, x, xp.multiply(alpha, xp.expm1(xp.divide(negative_part, alpha))))


def selu(x: Any) -> Any:
    """elu scaled so that the mean and variance of normal inputs are kept."""
    x = promote("selu", x, 0.0)[0]
    return o.mul(_like(x, 1.0507009873554805), elu(x, 1.6732632423543772))


def leaky_relu(x: Any, negative_slope: Any = 1e-2) -> Any:
    """x where it is not negative, negative_slope * x elsewhere."""
    x, slope = promote("leaky_relu", x, negative_slope)
    return xp.where(o.ge(x, _like(x, 0)), x, xp.multiply(slope, x))


def squareplus(x: Any, b: Any = 4) -> Any:
    """(x + sqrt(x**2 + b)) / 2."""
    x, b = promote_inexact("squareplus", x, b)
    return xp.divide(xp.add(x, xp.sqrt(xp.add(xp.square(x), b))), 2)


def sparse_plus(x: Any) -> Any:
    """0 up to -1, x from 1 on, (x + 1)**2 / 4 between."""
    x = promote("sparse_plus", x, 0.0)[0]
    middle = o.div(o.square(o.add(x, _like(x, 1.0))), _like(x, 4.0))
    return _where(o.le(x, _like(x, -1.0)), _like(x, 0.0), _where(o.ge(x, _like(x, 1.0)), x, middle))


def sparse_sigmoid(x: Any) -> Any:
    """The derivative of sparse_plus: 0 up to -1, 1 from 1 on, (x + 1) / 2 between."""
    x = promote("sparse_sigmoid", x, 0.0)[0]
    return o.mul(_like(x, 0.5), xp.clip(o.add(x, _like(x, 1.0)), 0.0, 2.0))


def glu(x: Any, axis: int = -1) -> Any:
    """The first half along an axis times the sigmoid of the second. ValueError where the axis is of odd size."""
    x, = promote_inexact("glu", x)
    axis = canonical_axis(axis, len(shape_of(x)), "glu")
    if shape_of(x)[axis] % 2:
        raise ValueError(f"glu: axis {axis} must be of even size, got shape {shape_of(x)}")
    first, second = xp.split(x, 2, axis)
    return o.mul(first, o.logistic(second))


def log1mexp(x: Any) -> Any:
    """log(1 - exp(-x)) for positive x, exact near 0 and far from it."""
    x, = promote_inexact("log1mexp", x)
    near = o.lt(x, _like(x, math.log(2.0)))
    near_x = _where(near, x, _like(x, 1.0))
    far_x = _where(near, _like(x, 1.0), x)
    return _where(near, o.log(o.neg(o.expm1(o.neg(near_x)))), o.log1p(o.neg(o.exp(o.neg(far_x)))))


def logmeanexp(x: Any, axis: Any = None, where: Any = None, keepdims: bool = False) -> Any:
    """log(mean(exp(x))) over axes, without overflow."""
    total = logsumexp(x, axis, keepdims=keepdims, where=where)
    x = xp.asarray(x)
    count = xp.sum(xp.ones_like(x, total.dtype), axis, keepdims=keepdims, where=where)
    return o.sub(total, o.log(count))


def one_hot(x: Any, num_classes: int, *, dtype: Any = None, axis: int = -1) -> Any:
    """Vectors that are 1 at the positions x and 0 elsewhere; all 0 for positions out of range.

    Args:
        x: an array of positions.
        num_classes: the size of the vectors.
        dtype: the dtype of the result, float32 by default.
        axis: where the new axis lies in the result.

    >>> import glax.numpy as xp
    >>> from glax import nn
    >>> nn.one_hot(xp.array([0, 2]), 3)
    Array([[1., 0., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    n = as_index(num_classes, "one_hot", "num_classes")
    x = xp.asarray(x)
    dtype = dtypes.canonicalize(float if dtype is None else dtype)
    axis = canonical_axis(axis, len(x.aval.shape) + 1, "one_hot")
    shape = (*x.aval.shape[:axis], n, *x.aval.shape[axis:])
    positions = o.broadcast(o.expand_dims(x, (axis,)), shape)
    classes = o.iota(x.aval.dtype if dtypes.kind(x.aval.dtype) in "iuf" else np.dtype(np.int32), shape, axis)
    return o.convert_element_type(xp.equal(positions, classes), dtype)


def standardize(x: Any, axis: Any = -1, mean: Any = None, variance: Any = None, epsilon: Any = 1e-5,
                where: Any = None) -> Any:
    """x less its mean over axes, divided by its standard deviation.

    Args:
        x: an array.
        axis: one or several axes.
        mean, variance: where they are known, broadcast with x.
        epsilon: added to the variance.
        where: a mask of the elements that take part in mean and variance.
    """
    x, = promote_inexact("standardize", x)
    if mean is None:
        mean = xp.mean(x, axis, keepdims=True, where=where)
    if variance is None:
        # The mean squared distance: the mean of squares less the squared mean loses all digits of a small one.
        variance = xp.mean(xp.square(xp.subtract(x, mean)), axis, keepdims=True, where=where)
    return xp.multiply(xp.subtract(x, mean), o.rsqrt(xp.add(variance, epsilon)))
