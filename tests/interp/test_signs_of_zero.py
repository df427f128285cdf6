"""Signs of zero, and values on branch cuts, are XLA's."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import glax
from glax import lax

FLOATS = ["float32", "float64", "float16", ml_dtypes.bfloat16]
ZEROS = [(0.0, -0.0), (-0.0, 0.0), (-0.0, -0.0), (0.0, 0.0)]


@pytest.fixture(autouse=True)
def x64():
    with glax.enable_x64(True):
        yield


def text(x):
    """Elements with their signs of zero."""
    return [repr(complex(v)) for v in np.asarray(x).reshape(-1)]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(), (5,)])
def test_negative_zero_is_less_than_zero(dtype, shape):
    for a, b in ZEROS:
        x, y = np.full(shape, a, dtype), np.full(shape, b, dtype)
        largest, least = max(a, b, key=lambda v: np.copysign(1, v)), min(a, b, key=lambda v: np.copysign(1, v))
        for f, want in ((lax.max, largest), (lax.min, least)):
            assert text(f(x, y)) == text(glax.jit(f)(x, y)) == text(np.full(shape, want))


def test_extremes_elsewhere():
    x = np.array([0, -0.0, 1, np.nan, np.inf, -2, 0], np.float32)
    y = np.array([-0.0, 0, 0, 0, -np.inf, 0, np.nan], np.float32)
    for f in (lax.max, lax.min):
        np.testing.assert_array_equal(text(f(x, y)), text(glax.jit(f)(x, y)))


@pytest.mark.parametrize("dtype", FLOATS)
def test_erf_inv_keeps_the_sign_of_zero(dtype):
    x = np.array([-0.0, 0.0], dtype)
    assert text(lax.erf_inv(x)) == text(x)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("f", [lax.sqrt, lax.acosh, lax.acos, lax.asin, lax.exp, lax.sinh], ids=lambda f: f.__name__)
def test_functions_on_the_real_axis_take_the_side_above(f, dtype):
    below, above = [np.array([complex(re, im) for re in (-2, -1, -.5, .5, 1, 2)], dtype) for im in (-0.0, 0.0)]
    got = np.asarray(f(below))
    assert text(got) == text(f(above))
    compiled = np.asarray(glax.jit(f)(below))
    np.testing.assert_allclose(got, compiled, rtol=1e-6)
    np.testing.assert_array_equal(np.signbit(got.imag), np.signbit(compiled.imag))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_expm1_at_real_infinities(dtype):
    x = np.array([complex(np.inf, 0), complex(-np.inf, 0), complex(1, 0), 1 + 2j], dtype)
    got = np.asarray(lax.expm1(x))
    assert text(got[:2]) == ["(inf+0j)", "(-1+0j)"]
    np.testing.assert_allclose(got, np.asarray(glax.jit(lax.expm1)(x)), rtol=1e-5)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("reverse", [False, True])
def test_extremes_over_an_axis_know_signs_of_zero(dtype, reverse):
    x = np.array([[0, -0.0], [-0.0, 0], [-1, 0], [-1, -0.0], [1, -0.0], [np.nan, 0]], dtype)
    for f in (lambda x: lax.cummax(x, 1, reverse), lambda x: lax.cummin(x, 1, reverse),
              lambda x: glax.numpy.max(x, 1), lambda x: glax.numpy.min(x, 1), lambda x: glax.numpy.nanmin(x, 1)):
        assert text(f(x)) == text(glax.jit(f)(x))
