"""At infinities, NaN and zeros, functions of complex numbers give eagerly what compiled programs give."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import glax
from glax import lax

nan, inf = np.nan, np.inf
PARTS = (-inf, -2.0, -0.0, 0.0, 1.0, inf, nan)
UNARY = ("exp", "exp2", "expm1", "log", "log1p", "sqrt", "rsqrt", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh",
         "asinh", "acosh", "atanh", "logistic", "abs", "square", "neg", "sign", "reciprocal")
BINARY = ("add", "sub", "mul", "div")
FUNCTIONS = {name: getattr(lax, name) for name in UNARY} | {
    f"power of {n}": lambda x, n=n: lax.integer_pow(x, n) for n in (-2, -1, 3)}


def points(dtype):
    return np.array([complex(re, im) for re, im in product(PARTS, PARTS)], dtype)


def assert_agree(f, *xs):
    eager, compiled = np.asarray(f(*xs)), np.asarray(glax.jit(f)(*xs))
    assert eager.dtype == compiled.dtype
    for part in (np.real, np.imag):
        np.testing.assert_allclose(part(eager), part(compiled), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("f", FUNCTIONS.values(), ids=FUNCTIONS)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_functions_of_one(f, dtype):
    with glax.enable_x64(dtype == "complex128"):
        assert_agree(f, points(dtype))


@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two(name):
    x = points("complex64")
    assert_agree(getattr(lax, name), np.repeat(x, x.size), np.tile(x, x.size))


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_sine_and_cosine(name):
    """Of infinite imaginary numbers, whose sine is one too, jaxlib's answer depends on its version."""
    x = points("complex64")
    assert_agree(getattr(lax, name), x[~((x.real == 0) & np.isinf(x.imag))])
