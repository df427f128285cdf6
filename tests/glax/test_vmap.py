"""What vmap passes to its function: mapped arguments a slice at a time, shared ones as they are."""

from __future__ import annotations

import numpy as np
import pytest

import glax
import glax.numpy as gnp

X = gnp.arange(3.)


@pytest.mark.parametrize("transform", [lambda f: f, glax.jit, lambda f: glax.vmap(f, in_axes=0)])
def test_shared_arguments_are_passed_as_they_are(transform):
    """Numbers decide branches, loops and static arguments; what is no array at all is passed on too."""
    power = glax.jit(lambda x, n: x ** n, static_argnums=1)

    def f(x, options):
        for _ in range(options["times"]):
            x = options["apply"](x) if options["kind"] == "twice" else -x
        return power(x, options["times"])

    options = {"times": 2, "kind": "twice", "apply": lambda x: 2. * x}
    x = gnp.stack([X, X])
    run = transform(lambda x: glax.vmap(f, in_axes=(0, None))(x, options))
    np.testing.assert_array_equal(run(x), (4 * np.asarray(x)) ** 2)


def test_values_known_to_all_calls_may_be_asked_for():
    assert np.asarray(glax.vmap(lambda x, n: x if n > 0 else -x, in_axes=(0, None))(X, gnp.asarray(-1))).tolist() == [
        0., -1., -2.]
    assert np.asarray(glax.vmap(lambda x: x * float(gnp.max(X)))(X)).tolist() == [0., 2., 4.]
    slope = glax.grad(lambda x: glax.vmap(lambda y: y * y if (x < 10).all() else y)(x).sum())
    assert np.asarray(slope(X)).tolist() == [0., 2., 4.]
    assert np.asarray(slope(X + 9)).tolist() == [1., 1., 1.]


@pytest.mark.parametrize("transform", [lambda f: f, glax.jit, glax.grad])
def test_values_of_one_call_may_not(transform):
    with pytest.raises(glax.errors.TracerBoolConversionError, match="while staging vmap of one"):
        def one(x):
            return x if x > 0 else -x

        transform(lambda x: glax.vmap(one)(x).sum())(X)


def test_shared_arrays_have_derivatives():
    weights = gnp.arange(6.).reshape(2, 3)
    slope = glax.grad(lambda w: glax.vmap(lambda x, w: gnp.tanh(w @ x), in_axes=(0, None))(gnp.stack([X, X]), w).sum())
    by_hand = 2 * (1 - np.tanh(np.asarray(weights) @ np.asarray(X)) ** 2)[:, None] * np.asarray(X)
    np.testing.assert_allclose(slope(weights), by_hand, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("size", [2.0, "3", True])
def test_the_size_of_an_axis_is_an_int(size):
    with pytest.raises(TypeError, match="vmap of .*: axis_size must be an int"):
        glax.vmap(lambda x: x, axis_size=size)(X)
