"""Derivatives where there are none, or several: at kinks, at ties and at infinities they are what JAX gives.

Where JAX gives NaN for a value that has a limit, as it does for sums of exponentials of -inf, it is the limit.
"""

import numpy as np
import pytest

import glax
from glax.ir import bind
from glax.ir import ops as o

INF, F32 = np.inf, np.float32


def scattered(cls):
    """An operand and two updates of one place."""
    numbers = o.ScatterDimensionNumbers((), (0,), (0,))
    return lambda x: o.scatter(cls, x[:1], np.zeros((2, 1), np.int32), x[1:], numbers)


# A function; its argument; the derivative, a number for each element of the argument, of the sum of 1, 2, 3... times
# the elements of the result.
KINKS = {
    "abs": (o.abs_, [(0.0, 1), (-0.0, 1), (-1.0, -1), (2.0, 1)]),
    "sign": (o.sign, [(0.0, 0), (-2.0, 0)]),
    "floor": (o.floor, [(1.0, 0)]),
    "ceil": (o.ceil, [(1.0, 0)]),
    "clamp by x": (lambda x: o.clamp(F32(-1), x, F32(2)), [(-2.0, 0), (-1.0, 0), (0.0, 1), (2.0, 0), (3.0, 0)]),
    "clamp by low": (lambda x: o.clamp(x, F32(1), F32(2)), [(0.0, 0), (1.0, 0), (1.5, 1), (2.0, 0), (3.0, 0)]),
    "clamp by high": (lambda x: o.clamp(F32(0), F32(1), x), [(0.5, 1), (1.0, 0), (3.0, 0)]),
    "clamp by x, bounds crossed": (lambda x: o.clamp(F32(2), x, F32(1)), [(v, 0) for v in (0.0, 1.0, 1.5, 2.0, 3.0)]),
    "clamp by high, bounds crossed": (lambda x: o.clamp(F32(2), F32(1), x), [(0.5, 1), (1.0, 0), (1.5, 0)]),
    "clamp to one value": (lambda x: o.clamp(F32(1), x, F32(1)), [(0.0, 0), (1.0, 0), (2.0, 0)]),
    "max": (lambda x: o.max_(x, F32(1)), [(0.0, 0), (1.0, .5), (2.0, 1)]),
    "min": (lambda x: o.min_(F32(1), x), [(0.0, 1), (1.0, .5), (2.0, 0)]),
    "max with itself": (lambda x: o.max_(x, x), [(1.0, 1)]),
    "logaddexp": (lambda x: o.logaddexp(x, F32(1)), [(1.0, .5), (INF, 1), (-INF, 0)]),
    "logaddexp of +inf": (lambda x: o.logaddexp(x, F32(INF)), [(0.0, 0), (-INF, 0)]),
    "logaddexp of -inf": (lambda x: o.logaddexp(F32(-INF), x), [(0.0, 1), (-INF, 1), (INF, 1)]),
    "logaddexp with itself": (lambda x: o.logaddexp(x, x), [(0.0, 1)]),
    "integer_pow of 0": (lambda x: o.integer_pow(x, 0), [(0.0, 0)]),
    "integer_pow of 1": (lambda x: o.integer_pow(x, 1), [(0.0, 1), (INF, 1)]),
    "pow by exponent": (lambda y: o.pow_(F32(0), y), [(0.0, 0), (1.0, 0)]),
    "rem": (lambda x: o.rem(x, F32(2)), [(4.0, 1)]),
    "rem by divisor": (lambda y: o.rem(F32(4), y), [(2.0, -2)]),
    "reduce_max": (lambda x: o.reduce_max(x, (0,)), [([2, 2, 1], [.5, .5, 0]), ([0, -0.0, -1], [.5, .5, 0])]),
    "reduce_min": (lambda x: o.reduce_min(x, (0,)), [([1, 2, 1], [.5, 0, .5])]),
    "reduce_prod": (lambda x: o.reduce_prod(x, (0,)), [([0, 2, 3], [6, 0, 0]), ([0, 2, 0], [0, 0, 0])]),
    "cummax": (o.cummax, [([2, 2, 1], [3.5, 2.5, 0]), ([1, 2, 2], [1, 3.5, 1.5]), ([0, -0.0, -1], [3.5, 2.5, 0])]),
    "cummax, reverse": (lambda x: o.cummax(x, 0, True), [([2, 2, 1], [.5, 2.5, 3]), ([1, 2, 2], [0, 1.5, 4.5])]),
    "cummin": (o.cummin, [([1, 1, 2], [3.5, 2.5, 0]), ([2, 1, 1], [1, 3.5, 1.5])]),
    "cumprod": (o.cumprod, [([0, 2, 0], [5, 0, 0])]),
    "cumlogsumexp": (o.cumlogsumexp, [([1, 1, -INF], [3.5, 2.5, 0]), ([-INF, 0, -INF], [1, 5, 0])]),
    "sort": (lambda x: o.sort([x], 0)[0], [([2, 1, 2], [2, 1, 3]), ([0, -0.0, -1], [2, 3, 1])]),
    "sort by two keys": (lambda x: o.sort([np.int32([1, 0, 1, 0]), x], 0, num_keys=2)[1],
                         [([4, 3, 2, 1], [4, 2, 3, 1]), ([2, 1, 2, 1], [3, 1, 4, 2])]),
    "top_k": (lambda x: o.top_k(x, 2)[0], [([1, 2, 2], [0, 1, 2])]),
    "scatter_max": (scattered(o.ScatterMax), [([3, 3, 1], [.5, .5, 0]), ([1, 3, 3], [0, .5, .5])]),
    "scatter_min": (scattered(o.ScatterMin), [([1, 1, 3], [.5, .5, 0])]),
}


def cases():
    return [pytest.param(f, x, slope, id=f"{name} at {x}") for name, (f, rows) in KINKS.items() for x, slope in rows]


@pytest.mark.parametrize("f, x, slope", cases())
def test_derivatives_at_kinks(f, x, slope):
    """In reverse, forward along each element, and compiled."""
    x = glax.numpy.asarray(np.asarray(x, F32))
    out, pull = glax.vjp(f, x)
    weights = np.arange(1, 1 + out.size, dtype=F32).reshape(out.shape)
    np.testing.assert_allclose(pull(weights)[0], np.asarray(slope, F32), rtol=1e-6)
    np.testing.assert_allclose(glax.jit(lambda x: glax.vjp(f, x)[1](weights)[0])(x), slope, rtol=1e-6)
    for i in range(x.size):
        along = np.zeros(x.size, F32)
        along[i] = 1
        _, tangent = glax.jvp(f, (x,), (along.reshape(x.shape),))
        np.testing.assert_allclose(np.sum(np.asarray(tangent) * weights), np.ravel(slope)[i], rtol=1e-6)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("op, x, along, slope", [
    (o.Abs(), 0, 1, 0), (o.Abs(), 0, 1j, 0), (o.Abs(), -0.0, 1, 0), (o.Abs(), 3 + 4j, 1, .6), (o.Abs(), 3 + 4j, 1j, .8),
    (o.Sign(), 0, 1, 0), (o.Sign(), 0, 1j, 0),
], ids=str)
def test_derivatives_of_complex_numbers_at_kinks(op, x, along, slope, dtype):
    with glax.enable_x64(True):
        _, tangent = glax.jvp(lambda x: bind(op, x), (np.asarray(x, dtype),), (np.asarray(along, dtype),))
        np.testing.assert_allclose(np.asarray(tangent), slope, rtol=1e-6)
