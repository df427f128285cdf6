"""custom_gradient, closure_convert and linear_call."""

import numpy as np
import pytest

import glax
import glax.numpy as gnp
from glax.custom_derivatives import closure_convert, custom_gradient, custom_vjp, linear_call, zero_from_primal
from glax.ir import aval_of, check, parse


def near(got, wanted, rtol=1e-5):
    np.testing.assert_allclose(np.asarray(got), np.asarray(wanted), rtol=rtol, atol=1e-6)


def test_custom_gradient():
    f = custom_gradient(lambda x: (x ** 2, lambda g: (g * x,)))
    near(f(3.), 9.)
    near(glax.grad(f)(3.), 3.)
    near(glax.grad(glax.grad(f))(3.), 1.)
    near(glax.jit(glax.vmap(glax.grad(f)))(np.arange(3.)), np.arange(3.))
    g = custom_gradient(lambda x, y: (x * y, lambda ct: (y, x)))
    near(glax.grad(g, argnums=1)(3., 4.), 3.)
    h = custom_gradient(lambda x, k=2.: (x * k, lambda ct: 10. * ct * k))
    near(glax.grad(h)(1.), 20.)
    near(glax.grad(lambda x: h(x, k=3.))(1.), 30.)
    t = custom_gradient(lambda p: ((p["a"], p["a"] ** 2), lambda ct: {"a": ct[0] + 7. * ct[1]}))
    near(glax.grad(lambda p: sum(t(p)))({"a": 2.})["a"], 8.)


def test_closure_convert():
    def minimize(objective, x):
        objective, values = closure_convert(objective, x)
        return _minimize(objective, x, *values)

    def solve(objective, x, *values):
        slope = glax.grad(objective)
        for _ in range(50):
            x = x - .4 * slope(x, *values)
        return x

    _minimize = custom_vjp(solve, nondiff_argnums=(0,))

    def forward(objective, x, *values):
        solution = _minimize(objective, x, *values)
        return solution, (solution, values)

    def backward(objective, residuals, ct):
        solution, values = residuals
        curvature = glax.grad(glax.grad(objective))(solution, *values)
        slope = lambda *values: glax.grad(objective)(solution, *values)
        return 0., *glax.vjp(slope, *values)[1](-ct / curvature)

    _minimize.defvjp(forward, backward)
    best = lambda a: minimize(lambda x: (x - a ** 2) ** 2, 0.)
    near(best(3.), 9.)
    near(glax.grad(best)(3.), 6.)
    near(glax.vmap(glax.grad(best))(np.array([1., 3.])), [2., 6.])

    def outer(a, n):
        f, values = closure_convert(lambda x: x * a + n, 1.)
        assert [aval_of(v).dtype.kind for v in values] == ["f"]
        with pytest.raises(TypeError, match="1 arguments and 1 values"):
            f(1.)
        with pytest.raises(TypeError, match="staged for f32"):
            f(np.ones(3), *values)
        return f(2., *values)

    near(glax.jit(glax.grad(outer))(3., 4), 2.)


def divided(n, x):
    return linear_call(lambda n, x: x / n, lambda n, ct: 10. * ct / n, n, x)


def test_linear_call():
    near(divided(4., 8.), 2.)
    near(glax.grad(divided, argnums=1)(4., 8.), 2.5)
    near(glax.jit(glax.grad(divided, argnums=1))(4., 8.), 2.5)
    near(glax.jvp(lambda x: divided(4., x), (8.,), (1.,))[1], .25)
    near(glax.vmap(glax.grad(divided, argnums=1), (0, None))(np.array([1., 2.]), 8.), [10., 5.])
    near(glax.vmap(glax.grad(lambda x: glax.vmap(divided, (0, None))(np.array([1., 2.]), x).sum()))(np.ones(2)),
         [15., 15.])
    near(glax.jvp(divided, (4., 8.), (1., 0.))[1], -.5)
    back = glax.linear_transpose(lambda x: divided(4., x), 1.)
    near(back(1.)[0], 2.5)
    near(glax.linear_transpose(lambda ct: back(ct)[0], 1.)(1.)[0], .25)
    program = glax.make_jaxpr(divided)(1., 2.).jaxpr
    check(program)
    assert parse(str(program)) == program


def test_linear_call_closing_over_staged_values():
    def f(k, x):
        return linear_call(lambda r, x: x * k, lambda r, ct: ct * k * r, 2., x)

    near(glax.vmap(glax.grad(f, argnums=1))(np.arange(3.), np.ones(3)), 2 * np.arange(3.))


def test_errors_of_linear_call():
    with pytest.raises(TypeError, match="tree of linear_args"):
        glax.jit(lambda x: linear_call(lambda r, x: x, lambda r, ct: (ct,), (), x))(1.)
    with pytest.raises(TypeError, match="must return f32"):
        glax.jit(lambda x: linear_call(lambda r, x: x, lambda r, ct: gnp.ones(3), (), x))(1.)


def test_zero_from_primal():
    assert zero_from_primal(3).dtype == glax.float0
    near(zero_from_primal(np.ones(2, np.float32)), np.zeros(2))
    assert zero_from_primal(1., symbolic_zeros=True).shape == ()
