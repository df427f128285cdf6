"""custom_jvp: rules, their composition with the transformations, and their errors."""

import numpy as np
import pytest

import glax
import glax.numpy as gnp
from glax.custom_derivatives import SymbolicZero, custom_jvp
from glax.ir import check, parse


@custom_jvp
def log1pexp(x):
    return gnp.log(1. + gnp.exp(x))


@log1pexp.defjvp
def log1pexp_jvp(primals, tangents):
    (x,), (t,) = primals, tangents
    return log1pexp(x), (1 - 1 / (1 + gnp.exp(x))) * t


def near(got, wanted, rtol=1e-5):
    np.testing.assert_allclose(np.asarray(got), wanted, rtol=rtol, atol=1e-6)


def sigmoid(x):
    return 1 / (1 + np.exp(-np.asarray(x, np.float64)))


def test_a_stable_derivative_under_every_transformation():
    xs = np.array([-2., 0., 3., 100.], np.float32)
    near(glax.grad(log1pexp)(100.), 1.)
    near(glax.jit(glax.grad(log1pexp))(100.), 1.)
    near(glax.vmap(glax.grad(log1pexp))(xs), sigmoid(xs))
    near(glax.vmap(glax.jit(glax.grad(log1pexp)))(xs), sigmoid(xs))
    near(glax.grad(lambda x: glax.vmap(log1pexp)(x).sum())(xs), sigmoid(xs))
    near(glax.jvp(log1pexp, (3.,), (2.,))[1], 2 * sigmoid(3.))
    near(glax.linearize(log1pexp, 3.)[1](2.), 2 * sigmoid(3.))
    near(glax.hessian(log1pexp)(1.), sigmoid(1.) * (1 - sigmoid(1.)))
    near(glax.grad(glax.grad(glax.jit(log1pexp)))(1.), sigmoid(1.) * (1 - sigmoid(1.)))
    near(glax.vmap(glax.grad(glax.grad(log1pexp)))(xs[:3]), sigmoid(xs[:3]) * (1 - sigmoid(xs[:3])), 1e-4)


def test_the_rule_is_used_and_not_the_function():
    f = custom_jvp(lambda x: x * 0)
    f.defjvp(lambda primals, tangents: (f(*primals) + 7., 3. * tangents[0]))
    assert float(f(1.)) == 0.
    value, slope = glax.value_and_grad(f)(1.)
    assert (float(value), float(slope)) == (7., 3.)
    assert float(glax.jit(f)(1.)) == 0.


def test_python_control_flow_where_arguments_are_concrete():
    @custom_jvp
    def f(x):
        return gnp.sin(x) if x > 0 else gnp.cos(x)

    @f.defjvp
    def rule(primals, tangents):
        (x,), (t,) = primals, tangents
        return (f(x), 2 * t) if x > 0 else (f(x), 3 * t)

    assert float(glax.grad(f)(1.)) == 2.
    assert float(glax.grad(f)(-1.)) == 3.
    assert float(glax.grad(glax.grad(f))(-1.)) == 0.


def test_a_rule_that_calls_its_function_at_another_point_on_another_path():
    @custom_jvp
    def f(x):
        return x * x

    @f.defjvp
    def rule(primals, tangents):
        (x,), (t,) = primals, tangents
        return f(x), (2 * t if x > 0 else 5 * t) * f(-x)

    near(glax.grad(f)(3.), 18.)
    near(glax.grad(glax.grad(f))(3.), 2 * 5 * 9 * -1)


def test_static_arguments_by_position_and_name():
    for given in ({"nondiff_argnums": (0,)}, {"nondiff_argnames": "f"}):
        apply = custom_jvp(lambda f, x: f(x), **given)
        apply.defjvp(lambda f, primals, tangents: (f(*primals), 2. * tangents[0]))
        assert float(glax.grad(apply, argnums=1)(lambda x: x ** 3, 3.)) == 2.
        assert float(glax.grad(lambda x, apply=apply: apply(x=x, f=lambda x: x ** 3))(3.)) == 2.
        assert float(apply(lambda x: x ** 3, 3.)) == 27.


def test_a_staged_value_as_a_static_argument():
    scaled = custom_jvp(lambda k, x: k * x, nondiff_argnums=(0,))
    scaled.defjvp(lambda k, primals, tangents: (scaled(k, *primals), k * tangents[0]))
    near(glax.vmap(glax.grad(scaled, argnums=1), (0, None))(np.arange(3.), 1.), np.arange(3.))
    near(glax.jit(glax.grad(scaled, argnums=1))(4., 1.), 4.)


def test_trees_keywords_and_defaults():
    @custom_jvp
    def f(p, scale=2.):
        return {"out": p["a"] * scale, "n": p["n"]}

    @f.defjvp
    def rule(primals, tangents):
        p, scale = primals
        assert tangents[0]["n"].dtype == glax.float0
        return f(p, scale), {"out": 10. * tangents[0]["a"], "n": tangents[0]["n"]}

    g = lambda a: f({"a": a, "n": 3})["out"]
    assert float(glax.grad(g)(1.)) == 10.
    assert float(glax.grad(lambda a: f(scale=a, p={"a": a, "n": 3})["out"])(1.)) == 10.
    assert (f.__name__, float(g(1.))) == ("f", 2.)


def test_closures_over_staged_values():
    def outer(y, x):
        f = custom_jvp(lambda x: x * y)
        f.defjvp(lambda primals, tangents: (f(*primals), 3. * y * tangents[0]))
        return f(x)

    near(glax.vmap(glax.grad(outer, argnums=1))(np.arange(3.), np.ones(3)), 3 * np.arange(3.))
    near(glax.jit(glax.grad(glax.jit(outer), argnums=1))(2., 1.), 6.)
    near(glax.grad(glax.jit(lambda x: outer(np.float32(5), x)))(1.), 15.)
    with pytest.raises(TypeError, match="closes over"):
        glax.grad(outer)(2., 1.)


def test_defjvps():
    f = custom_jvp(lambda x, y: gnp.sin(x) * y)
    f.defjvps(lambda t, ans, x, y: gnp.cos(x) * t * y, lambda t, ans, x, y: gnp.sin(x) * t)
    near(glax.grad(f, argnums=(0, 1))(2., 3.), [3 * np.cos(2), np.sin(2)])
    near(glax.hessian(f)(2., 3.), -3 * np.sin(2))
    f.defjvps(None, None)
    near(glax.grad(f)(2., 3.), 0.)


def test_symbolic_zeros():
    seen = []
    f = custom_jvp(lambda x, y, n: x * y)

    def rule(primals, tangents):
        seen.append([type(t) is SymbolicZero for t in tangents])
        dx, dy, _ = tangents
        x, y, n = primals
        return f(x, y, n), dx * y if type(dy) is SymbolicZero else dy

    f.defjvp(rule, symbolic_zeros=True)
    assert float(glax.grad(f)(2., 3., 1)) == 3.
    assert seen[0] == [False, True, True]
    assert float(glax.grad(f, argnums=1)(2., 3., 1)) == 1.
    assert seen[1] == [True, False, True]


def test_nested_custom_functions():
    @custom_jvp
    def inner(x):
        return gnp.exp(x)

    inner.defjvps(lambda t, ans, x: 2. * t * ans)
    outer = custom_jvp(lambda x: inner(x) * x)
    outer.defjvp(lambda p, t: (outer(*p), t[0] * inner(p[0])))
    near(glax.grad(outer)(1.), np.e)
    near(glax.grad(glax.grad(outer))(1.), 2 * np.e)
    near(glax.grad(glax.grad(glax.grad(outer)))(1.), 4 * np.e)


def test_methods():
    class Model:
        def __init__(self, k):
            self.k = k

        def apply(self, x):
            return self.k * x

        apply = custom_jvp(apply, nondiff_argnums=(0,))

        @apply.defjvp
        def rule(self, primals, tangents):
            return self.apply(*primals), 100. * tangents[0]

    assert float(glax.grad(Model(3.).apply)(1.)) == 100.


def test_programs_hold_the_rule_as_data():
    program = glax.make_jaxpr(log1pexp)(1.).jaxpr
    check(program)
    assert parse(str(program)) == program
    assert program == glax.make_jaxpr(log1pexp)(2.).jaxpr


def test_errors():
    f = custom_jvp(lambda x: (x, x))
    with pytest.raises(AttributeError, match="defjvp"):
        f(1.)
    for rule, message in (
            (lambda p, t: p[0], "pair"),
            (lambda p, t: (p[0], t[0]), "tree of the function's output"),
            (lambda p, t: ((p[0], p[0]), t[0]), "the tangent it returns must have the tree"),
            (lambda p, t: ((p[0], p[0]), (t[0], gnp.ones(3))), r"tangent\[1\] must be f32"),
            (lambda p, t: ((p[0], gnp.ones(3)), (t[0], t[0])), r"output\[1\] must be f32"),
            (lambda p, t: 1 / 0, "division")):
        f.defjvp(rule)
        assert float(glax.jit(f)(1.)[0]) == 1.
        with pytest.raises((TypeError, ZeroDivisionError), match=message):
            glax.jvp(f, (1.,), (1.,))
    with pytest.raises(TypeError, match="takes a function"):
        custom_jvp(3)
    with pytest.raises(TypeError, match="nondiff_argnums"):
        custom_jvp(lambda f, x: x, nondiff_argnums=(0,)).defjvps(None)
    g = custom_jvp(lambda x, *, k: x)
    g.defjvps(None)
    with pytest.raises(TypeError, match="keyword-only"):
        g(1., k=2.)
