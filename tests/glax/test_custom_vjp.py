"""custom_vjp: rules, their composition with the transformations, and their errors."""

import numpy as np
import pytest

import glax
import glax.numpy as gnp
from glax.custom_derivatives import CustomVJPPrimal, SymbolicZero, custom_vjp
from glax.ir import check, parse


@custom_vjp
def product(x, y):
    return gnp.sin(x) * y


def product_forward(x, y):
    return product(x, y), (gnp.cos(x), gnp.sin(x), y)


product.defvjp(product_forward, lambda r, g: (r[0] * g * r[2], r[1] * g))


@custom_vjp
def clip_gradient(lo, hi, x):
    return x


clip_gradient.defvjp(lambda lo, hi, x: (x, (lo, hi)), lambda r, g: (None, None, gnp.clip(g, r[0], r[1])))


def near(got, wanted, rtol=1e-5):
    wanted = np.array(wanted) if isinstance(wanted, list) else wanted
    for a, b in zip(glax.tree.leaves(got), glax.tree.leaves(wanted), strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=rtol, atol=1e-6)


def test_the_tutorial_function_under_every_transformation():
    xs = np.array([0., 1., 2.], np.float32)
    wanted = np.cos(2.) * 3, np.sin(2.)
    near(glax.grad(product, (0, 1))(2., 3.), wanted)
    near(glax.jit(glax.grad(product, (0, 1)))(2., 3.), wanted)
    near(glax.grad(glax.jit(product), (0, 1))(2., 3.), wanted)
    near(glax.vjp(product, 2., 3.)[1](1.), wanted)
    near(glax.vmap(glax.grad(product), (0, None))(xs, 3.), np.cos(xs) * 3)
    mapped = lambda x, y: glax.vmap(product, (0, None))(x, y).sum()
    near(glax.grad(mapped, (0, 1))(xs, 3.), (np.cos(xs) * 3, np.sin(xs).sum()))
    near(glax.grad(glax.jit(mapped), (0, 1))(xs, 3.), (np.cos(xs) * 3, np.sin(xs).sum()))
    near(glax.grad(glax.grad(product))(2., 3.), -np.sin(2.) * 3)
    near(glax.grad(glax.grad(product, 1))(2., 3.), np.cos(2.))
    near(glax.vmap(glax.grad(glax.grad(product)), (0, None))(xs, 3.), -np.sin(xs) * 3)


def test_a_map_within_a_map():
    table = lambda x, y: glax.vmap(lambda x: glax.vmap(lambda y: product(x, y))(y))(x).sum()
    x, y = np.array([1., 2.], np.float32), np.array([3., 4., 5.], np.float32)
    near(glax.grad(table, (0, 1))(x, y), (np.cos(x) * y.sum(), np.full(3, np.sin(x).sum())))


def test_forward_mode_by_transposing_the_backward_rule():
    near(glax.jvp(product, (2., 3.), (1., 10.)), (np.sin(2.) * 3, np.cos(2.) * 3 + 10 * np.sin(2.)))
    near(glax.linearize(product, 2., 3.)[1](1., 0.), np.cos(2.) * 3)
    near(glax.hessian(product)(2., 3.), -np.sin(2.) * 3)
    near(glax.jacfwd(glax.jacfwd(product))(2., 3.), -np.sin(2.) * 3)
    xs = np.arange(3.)
    near(glax.vmap(lambda x: glax.jvp(product, (x, 3.), (1., 0.))[1])(xs), np.cos(xs) * 3)
    near(glax.jvp(glax.vmap(product, (0, None)), (xs, 3.), (xs, 1.))[1], np.cos(xs) * 3 * xs + np.sin(xs))
    with pytest.raises(TypeError, match="no forward-mode derivative"):
        glax.jvp(lambda x: clip_gradient(-1., 1., x), (1.,), (1.,))


def test_gradient_clipping():
    slope = glax.grad(lambda x: gnp.sin(5. * clip_gradient(-.5, .5, x)))
    near(slope(0.), .5)
    near(glax.jit(glax.vmap(slope))(np.array([0., np.pi / 5])), [.5, -.5])
    near(glax.vmap(glax.jit(slope))(np.array([0., np.pi / 5])), [.5, -.5])


def test_a_fixed_point_differentiated_implicitly():
    def solve(f, a, x, steps=40):
        for _ in range(steps):
            x = f(a, x)
        return x

    fixed_point = custom_vjp(solve, nondiff_argnums=(0,))

    def forward(f, a, x, steps):
        solution = fixed_point(f, a, x, steps)
        return solution, (a, solution)

    def backward(f, residuals, ct):
        a, solution = residuals
        _, pull_x = glax.vjp(lambda x: f(a, x), solution)
        w = ct
        for _ in range(40):
            w = ct + pull_x(w)[0]
        return glax.vjp(lambda a: f(a, solution), a)[1](w)[0], None, None

    fixed_point.defvjp(forward, backward)
    root = lambda a: fixed_point(lambda a, x: .5 * (x + a / x), a, a)
    near(root(2.), np.sqrt(2.))
    near(glax.grad(root)(2.), .5 / np.sqrt(2.))
    near(glax.grad(glax.grad(root))(2.), -.25 * 2 ** -1.5, 1e-3)
    near(glax.jit(glax.vmap(glax.grad(root)))(np.array([1., 4.])), [.5, .25])


def test_closures_over_staged_values():
    def f(x, y):
        go = custom_vjp(lambda y: x)
        go.defvjp(lambda y: (go(y), None), lambda r, g: (g,))
        return go(y)

    near(glax.vmap(f, in_axes=(0, None))(np.array([1.]), 2.), [1.])
    near(glax.vmap(glax.grad(f, argnums=1), (0, None))(np.array([1., 3.]), 2.), [1., 1.])
    near(glax.jit(glax.grad(glax.jit(f), argnums=1))(1., 2.), 1.)
    with pytest.raises(TypeError, match="closes over"):
        glax.grad(f)(1., 2.)

    def scaled(k, x):
        go = custom_vjp(lambda x: x)
        go.defvjp(lambda x: (go(x) * 1., ()), lambda r, g: (k * g,))
        return go(x)

    near(glax.vmap(glax.grad(scaled, argnums=1))(np.arange(3.), np.ones(3)), np.arange(3.))
    near(glax.vmap(glax.grad(glax.grad(scaled, argnums=1), argnums=1))(np.arange(3.), np.ones(3)), np.zeros(3))


def test_static_arguments():
    apply = custom_vjp(lambda f, x, k: f(x) * k, nondiff_argnums=(0, 2))
    apply.defvjp(lambda f, x, k: (apply(f, x, k), x), lambda f, k, x, g: (k * g * x,))
    near(glax.grad(apply, argnums=1)(gnp.sin, 3., 2.), 6.)
    near(glax.grad(lambda x: apply(gnp.sin, k=2., x=x))(3.), 6.)


def test_trees_integers_and_missing_cotangents():
    f = custom_vjp(lambda p, n: {"a": p["w"] * n, "n": n})

    def forward(p, n):
        return f(p, n), (p, n)

    def backward(residuals, ct):
        assert ct["n"].dtype == glax.float0
        return {"w": 5. * ct["a"], "b": None}, np.zeros((), glax.float0)

    f.defvjp(forward, backward)
    near(glax.grad(lambda p: f(p, 3)["a"])({"w": 2., "b": (1., np.ones(2, np.float32))}),
         {"w": 5., "b": (0., np.zeros(2))})
    f.defvjp(forward, lambda residuals, ct: (None, None))
    near(glax.grad(lambda p: f(p, 3)["a"])({"w": 2., "b": 1.}), {"w": 0., "b": 0.})


def test_symbolic_zeros():
    seen = []
    f = custom_vjp(lambda x, y: x * y)

    def forward(x, y):
        seen.append((x.perturbed, y.perturbed))
        assert isinstance(x, CustomVJPPrimal)
        return x.value * y.value, (x.value, y.value)

    f.defvjp(forward, lambda r, g: (g * r[1], SymbolicZero(r[1].aval)), symbolic_zeros=True)
    near(glax.grad(f)(2., 3.), 3.)
    near(glax.grad(f, argnums=1)(2., 3.), 0.)
    assert seen == [(True, False), (False, True)]


def test_python_control_flow_where_arguments_are_concrete():
    f = custom_vjp(lambda x: x)

    def backward(x, g):
        return (2. * g if x > 0 else 3. * g,)

    f.defvjp(lambda x: (f(x), x), backward)
    assert (float(glax.grad(f)(1.)), float(glax.grad(f)(-1.))) == (2., 3.)
    assert float(glax.jit(f)(1.)) == 1.
    with pytest.raises(TypeError, match="bool"):
        glax.jit(glax.grad(f))(1.)


def test_programs_hold_the_rules_as_data():
    program = glax.make_jaxpr(product)(1., 2.).jaxpr
    check(program)
    assert parse(str(program)) == program
    assert program == glax.make_jaxpr(product)(2., 3.).jaxpr


def test_no_recursion_in_a_rule_that_does_not_call_its_function():
    f = custom_vjp(lambda x: gnp.exp(x))
    f.defvjp(lambda x: (gnp.exp(x), gnp.exp(x)), lambda e, g: (g * e,))
    assert "Recursive" not in str(glax.make_jaxpr(f)(1.))
    near(glax.grad(glax.grad(glax.grad(f)))(1.), np.e)


def test_errors():
    f = custom_vjp(lambda x, p: (x, p["a"]))
    p = {"a": 1.}
    with pytest.raises(AttributeError, match="defvjp"):
        f(1., p)
    good = lambda x, p: ((x, p["a"]), None)
    zero = lambda r, g: (None, None)
    for forward, backward, message in (
            (lambda x, p: x, zero, "must return a pair"),
            (lambda x, p: ([x, x], None), zero, "tree of the function's output"),
            (lambda x, p: ((x, gnp.ones(2)), None), zero, r"output\[1\] must be f32"),
            (lambda x, p: ((x, x), "text"), zero, "residuals must return arrays"),
            (good, lambda r, g: g[0], "tuple with a cotangent for each of 2"),
            (good, lambda r, g: (g[0],), "a tuple of 1"),
            (good, lambda r, g: (g[0], {"b": g[0]}), r"at output\[1\], expected a dict with keys a"),
            (good, lambda r, g: (g[0], g[0]), r"at output\[1\], expected a dict"),
            (good, lambda r, g: (gnp.ones(3), None), r"output\[0\] must be f32\*?\[\]"),
            (good, lambda r, g: 1 / 0, "division")):
        f.defvjp(forward, backward)
        assert float(glax.jit(f)(1., p)[0]) == 1.
        with pytest.raises((TypeError, ZeroDivisionError), match=message):
            glax.grad(lambda x, p: f(x, p)[0], argnums=(0, 1))(1., p)
