"""custom_vmap and sequential_vmap."""

import numpy as np
import pytest

import glax
import glax.numpy as gnp
from glax.custom_batching import custom_vmap, sequential_vmap


def near(got, wanted):
    np.testing.assert_allclose(np.asarray(got), np.asarray(wanted), rtol=1e-5, atol=1e-6)


def marked():
    """sin(x) * y, whose rule adds 100 to show that it was used."""
    f = custom_vmap(lambda x, y: gnp.sin(x) * y)
    calls = []

    @f.def_vmap
    def rule(size, in_batched, x, y):
        calls.append((size, in_batched))
        return (gnp.sin(x) * y + 100., True) if any(in_batched) else (x, False)

    return f, calls


def test_the_rule_is_used():
    f, calls = marked()
    near(f(1., 2.), np.sin(1.) * 2)
    near(glax.jit(f)(1., 2.), np.sin(1.) * 2)
    near(glax.vmap(f, (0, None))(np.arange(3.), 2.), np.sin(np.arange(3.)) * 2 + 100)
    assert calls == [(3, [True, False])]
    near(glax.jit(glax.vmap(glax.jit(f), (0, None)))(np.arange(3.), 2.), np.sin(np.arange(3.)) * 2 + 100)
    near(glax.vmap(f, (1, None))(np.ones((2, 3)), 2.), np.full((3, 2), np.sin(1.) * 2 + 100))


def test_derivatives():
    f, calls = marked()
    xs = np.arange(3.)
    near(glax.grad(f)(1., 2.), np.cos(1.) * 2)
    near(glax.jvp(f, (1., 2.), (1., 0.))[1], np.cos(1.) * 2)
    out, tangent = glax.vmap(lambda x: glax.jvp(f, (x, 2.), (1., 0.)))(xs)
    near(out, np.sin(xs) * 2 + 100)
    near(tangent, np.cos(xs) * 2)
    near(glax.grad(lambda x: glax.vmap(f, (0, None))(x, 2.).sum())(xs), np.cos(xs) * 2)
    near(glax.vmap(glax.grad(f), (0, None))(xs, 2.), np.cos(xs) * 2)


def test_trees_and_outputs_that_are_not_mapped():
    f = custom_vmap(lambda p, y: {"s": p["a"] + y, "y": y})

    @f.def_vmap
    def rule(size, in_batched, p, y):
        assert in_batched == [{"a": True}, False]
        return {"s": p["a"] + y, "y": y}, {"s": True, "y": False}

    out = glax.vmap(f, (0, None), out_axes={"s": 0, "y": None})({"a": np.arange(2.)}, 5.)
    near(out["s"], [5., 6.])
    near(out["y"], 5.)


def test_equal_calls_are_equal_programs():
    f, _ = marked()
    assert glax.make_jaxpr(f)(1., 2.).jaxpr == glax.make_jaxpr(f)(3., 4.).jaxpr


def test_one_after_another():
    f = sequential_vmap(lambda x, y: {"s": x * y, "n": x.sum()})
    xs = np.arange(6.).reshape(3, 2)
    out = glax.vmap(f, (0, None))(xs, 2.)
    near(out["s"], xs * 2)
    near(out["n"], xs.sum(1))
    near(glax.jit(glax.vmap(glax.grad(lambda x: f(x, 2.)["s"].sum())))(xs), np.full((3, 2), 2.))


def test_errors():
    f = custom_vmap(lambda x: x)
    with pytest.raises(AttributeError, match="def_vmap"):
        f(1.)
    for rule, message in ((lambda n, b, x: x, "pair"), (lambda n, b, x: ((x, x), True), "tree of the function's"),
                          (lambda n, b, x: (x, False), r"must be f32\[\]"),
                          (lambda n, b, x: (x[0], True), r"must be f32\[2\] \(mapped\)")):
        f.def_vmap(rule)
        with pytest.raises(TypeError, match=message):
            glax.vmap(f)(np.ones(2, np.float32))

    def closing(y):
        g = custom_vmap(lambda x: x + y)
        g.def_vmap(lambda n, b, x: (x, True))
        return g(1.)

    with pytest.raises(TypeError, match="closes over"):
        glax.vmap(closing)(np.arange(2.))
