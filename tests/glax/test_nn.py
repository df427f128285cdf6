"""Activations: values, derivatives at kinks and far out, masks."""

import numpy as np
import pytest

import glax
from glax import nn
from glax import numpy as xp
from glax.scipy import special

X = np.array([-200.0, -3, -1, -0.5, 0, 0.5, 1, 3, 6, 200], np.float32)
ERF = np.vectorize(__import__("math").erf)
REFERENCE = {
    "relu": lambda x: np.maximum(x, 0), "relu6": lambda x: np.clip(x, 0, 6), "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "softplus": lambda x: np.logaddexp(x, 0), "silu": lambda x: x / (1 + np.exp(-x)),
    "elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))), "hard_tanh": lambda x: np.clip(x, -1, 1),
    "celu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))), "log_sigmoid": lambda x: -np.logaddexp(-x, 0),
    "hard_sigmoid": lambda x: np.clip(x + 3, 0, 6) / 6, "hard_silu": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "soft_sign": lambda x: x / (1 + np.abs(x)), "mish": lambda x: x * np.tanh(np.logaddexp(x, 0)),
    "leaky_relu": lambda x: np.where(x >= 0, x, 0.01 * x),
    "selu": lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(np.minimum(x, 0))),
    "softmax": lambda x: np.exp(x - x.max()) / np.exp(x - x.max()).sum(),
    "log_softmax": lambda x: x - x.max() - np.log(np.exp(x - x.max()).sum()),
}


@pytest.mark.parametrize("name", REFERENCE)
def test_values_and_finite_derivatives(name):
    f = getattr(nn, name)
    with np.errstate(all="ignore"):
        want = REFERENCE[name](X.astype(np.float64))
    np.testing.assert_allclose(f(xp.asarray(X)), want, rtol=2e-5, atol=1e-6)
    slope = np.asarray(glax.grad(lambda x: (f(x) * xp.arange(10.0)).sum())(X))
    assert np.isfinite(slope).all()


def test_gelu_both_ways():
    exact = X * (1 + ERF(X.astype(np.float64) / np.sqrt(2))) / 2
    np.testing.assert_allclose(nn.gelu(X, approximate=False), exact, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(nn.gelu(X), exact, atol=2e-3)


@pytest.mark.parametrize("f, x, slope", [
    (nn.relu, 0.0, 0.0), (nn.relu, 1.0, 1.0), (nn.relu6, 0.0, 0.0), (nn.relu6, 6.0, 0.0), (nn.sigmoid, -200.0, 0.0),
    (nn.sigmoid, 200.0, 0.0), (nn.sigmoid, 0.0, 0.25), (nn.softplus, 0.0, 0.5), (nn.softplus, -300.0, 0.0),
    (nn.softplus, 300.0, 1.0), (nn.leaky_relu, 0.0, 1.0), (nn.hard_tanh, 1.0, 1.0), (nn.elu, 0.0, 1.0)])
def test_derivatives_at_kinks_and_far_out(f, x, slope):
    assert float(glax.grad(f)(x)) == pytest.approx(slope)


def test_second_derivative_of_sinc_and_ties():
    grad = glax.grad
    assert float(grad(grad(xp.sinc))(0.0)) == pytest.approx(-np.pi**2 / 3, rel=1e-5)
    assert float(grad(lambda x: xp.maximum(x, 0.0))(0.0)) == 0.5
    np.testing.assert_allclose(grad(xp.prod)(xp.array([0.0, 2, 3])), [6, 0, 0])
    slope = np.asarray(grad(xp.nanstd)(xp.array([np.nan, 1.0, 2, 4])))
    assert slope[0] == 0 and np.isfinite(slope).all()


def test_softmax_of_rows_without_anything():
    rows = xp.array([[1.0, 2.0], [-np.inf, -np.inf]])
    assert np.isnan(np.asarray(nn.softmax(rows)[1])).all()  # as JAX
    mask = xp.array([[True, False], [False, False]])
    np.testing.assert_allclose(nn.softmax(xp.ones((2, 2)), where=mask), [[1, 0], [0, 0]])
    slope = glax.grad(lambda x: (nn.softmax(x, where=mask) * xp.array([1.0, 2.0])).sum())(rows)
    assert np.isfinite(np.asarray(slope)).all()


def test_logsumexp():
    assert float(nn.logsumexp(xp.array([-np.inf, -np.inf]))) == -np.inf
    assert float(nn.logsumexp(xp.array([1e30, 1.0]))) == pytest.approx(1e30)
    np.testing.assert_allclose(glax.grad(nn.logsumexp)(xp.array([-np.inf, 1.0])), [0, 1])
    value, sign = special.logsumexp(xp.array([1.0, 2.0]), b=xp.array([1.0, -1.0]), return_sign=True)
    assert float(sign) == -1 and float(value) == pytest.approx(np.log(np.e**2 - np.e), rel=1e-5)


def test_one_hot_glu_standardize():
    np.testing.assert_array_equal(nn.one_hot(xp.array([0, 3, -1]), 3), [[1, 0, 0], [0, 0, 0], [0, 0, 0]])
    assert nn.one_hot(xp.array([1]), 3, axis=0, dtype="int8").shape == (3, 1)
    np.testing.assert_allclose(nn.glu(xp.arange(4.0)), [0, 1 / (1 + np.exp(-3))], rtol=1e-5)
    with pytest.raises(ValueError, match="even"):
        nn.glu(xp.arange(3.0))
    np.testing.assert_allclose(np.asarray(nn.standardize(xp.arange(1000.0) + 1e4)).std(), 1, rtol=1e-3)


def test_special_functions():
    assert float(special.xlogy(0.0, 0.0)) == 0 and float(special.xlog1py(0.0, -1.0)) == 0
    assert float(glax.grad(lambda x: special.xlogy(x, 0.5))(0.0)) == pytest.approx(np.log(0.5))
    assert float(special.log_ndtr(-30.0)) == pytest.approx(-454.3212439955, rel=1e-6)
    assert float(special.logit(0.25)) == pytest.approx(np.log(1 / 3), rel=1e-5)
    assert float(special.gamma(-1.5)) == pytest.approx(2.36327180, rel=1e-5)
    np.testing.assert_allclose(special.entr(xp.array([0.0, 1.0, 0.5])), [0, 0, 0.34657359], atol=1e-6)


def test_special_softmax_is_over_all_axes():
    np.testing.assert_allclose(special.softmax(xp.zeros((2, 2))), np.full((2, 2), 0.25))
    np.testing.assert_allclose(special.log_softmax(xp.zeros((2, 2)), axis=0), np.full((2, 2), np.log(0.5)), rtol=1e-6)
    assert float(special.softmax(1.0)) == 1 and float(special.log_softmax(1.0)) == 0


def test_special_functions_of_python_scalars():
    assert float(special.beta(1.0, 2.0)) == pytest.approx(0.5) and float(special.betaln(1, 2)) == pytest.approx(
        np.log(0.5))
    assert float(special.poch(2, 3)) == pytest.approx(24)
    assert float(special.multigammaln(4, 2)) == pytest.approx(3.5650978)


@pytest.mark.parametrize("f, args, want", [
    (special.loggamma, (-1.5,), np.nan), (special.loggamma, (0.0,), np.nan), (special.loggamma, (1.0,), 0),
    (special.gammasgn, (np.nan,), np.nan), (special.gammasgn, (-0.0,), -1), (special.gammasgn, (0.0,), 1),
    (special.gammasgn, (-1.0,), np.nan), (special.gammasgn, (-2.5,), -1), (special.gamma, (-0.0,), -np.inf),
    (special.poch, (0.0, 0.0), 1), (special.poch, (np.nan, 0.0), 1), (special.poch, (0.0, 2.0), 0),
    (special.poch, (-1.0, 2.0), np.nan), (special.comb, (0, 0), 1), (special.comb, (-1.0, 0.0), 0)])
def test_special_points(f, args, want):
    np.testing.assert_allclose(f(*args), want, atol=1e-6)


def test_combinations_with_repetition():
    for n, k, want in ((0, 0, 1), (0, 1, 0), (5, 2, 15)):
        assert float(special.comb(n, k, repetition=True)) == pytest.approx(want)


@pytest.mark.parametrize("f", [
    lambda x: special.polygamma(x, 2.0), lambda x: xp.nextafter(x, 2.0), lambda x: xp.nextafter(2.0, x)])
def test_what_has_no_derivative_says_so(f):
    with pytest.raises(NotImplementedError, match="has no derivative by"):
        glax.grad(f)(1.0)
    assert float(glax.grad(lambda x: f(glax.lax.stop_gradient(x)) + x)(1.0)) == 1


@pytest.mark.parametrize("x, i, slope", [
    ([-np.inf, 1, 0], 1, [0, 1, 0]), ([-np.inf, 1, 0], 0, [1, 0, 0]), ([-np.inf, -np.inf, 0], 1, [0, 1, 0]),
    ([np.inf, 1, 0], 0, [1, 0, 0]), ([np.inf, 1, 0], 2, [1, 0, 0]), ([1, -np.inf, 0], 2, [0.731059, 0, 0.268941])])
def test_cumulative_logsumexp_at_infinities(x, i, slope):
    f = glax.grad(lambda x: glax.lax.cumlogsumexp(x)[i])
    np.testing.assert_allclose(f(xp.array(x)), slope, rtol=1e-5)
    assert np.isfinite(np.asarray(glax.jvp(glax.grad(lambda x: f(x).sum()), (xp.array(x),), (xp.ones(3),))[1])).all()


@pytest.mark.parametrize("call, dtype, weak", [
    (lambda: nn.hard_tanh(xp.arange(3)), "int32", False), (lambda: nn.hard_tanh(2), "int32", True),
    (lambda: nn.relu(True), "int32", True), (lambda: nn.relu(xp.array([True])), "int32", True),
    (lambda: nn.relu(xp.arange(3, dtype="uint8")), "uint8", False), (lambda: nn.leaky_relu(-1, 2), "int32", True),
    (lambda: nn.leaky_relu(xp.arange(3), 2), "int32", False), (lambda: nn.leaky_relu(xp.arange(3)), "float32", True),
    (lambda: nn.leaky_relu(xp.ones(2, "float16")), "float16", False),
    *[(lambda f=f: f(xp.arange(3)), "float32", True) for f in (
        nn.elu, nn.celu, nn.selu, nn.relu6, nn.hard_sigmoid, nn.hard_silu, nn.sparse_plus, nn.sparse_sigmoid)],
    *[(lambda f=f: f(xp.ones(3, "float16")), "float16", False) for f in (nn.elu, nn.relu6, nn.hard_silu, nn.hard_tanh)],
])
def test_integers_meet_the_python_numbers_of_a_formula(call, dtype, weak):
    result = call()
    assert (result.dtype, result.weak_type) == (np.dtype(dtype), weak)
