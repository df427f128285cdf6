"""debug_nans and debug_infs name the equation that made what they find."""

import numpy as np
import pytest

import glax
import glax.numpy as gnp
from glax import lax
from glax._nan_checks import debug_infs, debug_nans
from glax.ir.config import config


def error_of(f, *args, how=debug_nans):
    with how(), pytest.raises(FloatingPointError) as caught:
        f(*args)
    return str(caught.value)


def test_eager_operation():
    text = error_of(lambda: gnp.zeros(3) / gnp.zeros(3))
    assert "NaN in a result of div: made by div" in text and __file__ in text
    assert "operand 0: f32[3] [0., 0., 0.]" in text and "NaN in 3 of 3" in text


def test_nothing_happens_without_it_or_without_nans():
    assert np.isnan(np.asarray(gnp.log(-1.)))
    with debug_nans():
        assert float(glax.jit(gnp.log)(1.)) == 0.
        assert np.isinf(np.asarray(gnp.log(0.)))
        with debug_nans(False):
            assert np.isnan(np.asarray(gnp.log(-1.)))


def test_jitted_function_also_after_it_was_called_without():
    f = glax.jit(lambda x: gnp.sin(x) + gnp.log(x) * 2)
    x = gnp.array([1., -1.])
    f(x)
    f(x)
    text = error_of(f, x)
    assert "jit of <lambda>: made by log" in text
    assert "operand 0: f32[2] [ 1., -1.]" in text and "NaN in 1 of 2" in text
    assert "> c:f32[2] = log a" in text and "sin a" in text and "mul c" in text
    f(x)


def test_donated_arguments_are_still_known():
    f = glax.jit(lambda x: gnp.log(x), donate_argnums=0)
    assert "made by log" in error_of(f, gnp.array([-1.]))


def test_it_is_the_origin_that_is_named():
    def f(x):
        harmless = gnp.where(x > 0, gnp.sqrt(x), 1.)
        return gnp.exp(harmless + gnp.log(x - 10.) * 2)

    assert "made by log" in error_of(glax.jit(f), -1.)
    assert "made by sqrt" not in error_of(glax.jit(f), -1.)


def test_derivatives_say_which_rewrites_they_came_through():
    text = error_of(glax.grad(lambda x: gnp.where(x > 0, gnp.sqrt(x), 0.)), 0.)
    assert "by jvp" in text
    text = error_of(glax.jit(glax.grad(lambda x: gnp.sqrt(x) * 0.)), 0.)
    assert "made by mul" in text and "transpose" in text



@pytest.mark.parametrize(("f", "way"), [
    (lambda x: lax.scan(lambda c, _: (c - 1., gnp.log(c)), x, None, 5)[1], "step 3"),
    (lambda x: lax.while_loop(lambda c: ~(c[0] < -1.), lambda c: (c[0] - 1., gnp.log(c[0])), (x, x))[1], "step 3"),
    (lambda x: lax.cond(x > 0, lambda x: gnp.log(-x), lambda x: x, x), "branch 1"),
    (lambda x: glax.jit(lambda x: glax.jit(lambda x: gnp.log(-x))(x))(x), "jit"),
    (lambda x: glax.checkpoint(lambda x: gnp.log(-x))(x), "checkpoint"),
])
def test_within_programs(f, way):
    text = error_of(glax.jit(f), np.float32(2.))
    assert "made by log" in text and "within" in text and way in text
    assert "made by log" in error_of(f, np.float32(2.))


def test_infinities():
    text = error_of(glax.jit(lambda x: 1. / x), 0., how=debug_infs)
    assert "infinity in a result of jit of <lambda>: made by div" in text
    with debug_infs():
        assert np.isnan(np.asarray(gnp.log(-1.)))


def test_settings():
    config.update("debug_nans", True)
    try:
        assert config.slow_path
        with pytest.raises(FloatingPointError):
            gnp.log(-1.)
    finally:
        config.update("debug_nans", False)
    assert not config.slow_path
    with config.override(disable_jit=True):
        assert config.slow_path
    assert not config.slow_path


def test_integers_and_small_floats():
    with debug_nans():
        gnp.arange(3) + 1
        assert "made by" in error_of(lambda: gnp.sqrt(gnp.array(-1., "bfloat16")))
