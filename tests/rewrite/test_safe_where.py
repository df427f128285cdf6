"""Values stay the same, and what a select does not take has no part in derivatives."""

import numpy as np
import pytest
from hypothesis import given
from programs import programs

import glax
import glax.numpy as gnp
from glax import lax, rewrite
from glax.experimental import safe_where
from glax.interp import evaluate_jaxpr
from glax.ir import check
from glax.ir import ops as o


def near(got, wanted):
    np.testing.assert_allclose(np.asarray(got), np.asarray(wanted), rtol=1e-5, atol=1e-6)


def program_of(f, *args):
    return glax.make_jaxpr(f)(*args).jaxpr


FUNCTIONS = {
    "sinc": (lambda x: gnp.where(x == 0, 1., gnp.sin(x) / x), 0., 0.),
    "sqrt": (lambda x: gnp.where(x > 0, gnp.sqrt(x), 0.), 0., 0.),
    "log": (lambda x: gnp.where(x > 0, x * gnp.log(x), 0.), 0., 0.),
    "both cases": (lambda x: gnp.where(x > 0, gnp.log(x), gnp.sqrt(-x)), -4., -.25),
    "overflow": (lambda x: gnp.where(x > 50, x, gnp.log(1 + gnp.exp(x))), 1000., 1.),
    "nested": (lambda x: gnp.where(x >= 0, gnp.where(x > 0, gnp.sqrt(x), 0.), gnp.log(-x)), 0., 0.),
    "nested, outer": (lambda x: gnp.where(x >= 0, gnp.where(x > 0, gnp.sqrt(x), 0.), gnp.log(-x)), -2., -.5),
    "not a number": (lambda x: gnp.where(gnp.isnan(x), 3., x * x), np.nan, 0.),
    "pole at one": (lambda x: gnp.where(x == 1, 2., (x ** 2 - 1) / (x - 1)), 1., 0.),
    "case used twice": (lambda x: (lambda s: gnp.where(x > 0, s, 0.) + gnp.where(x > 0, 2 * s, 1.))(gnp.sqrt(x)), 0.,
                        0.),
    "either condition": (lambda x: (lambda s: gnp.where(x > 0, s, 0.) + gnp.where(x > 1, 2 * s, 1.))(gnp.sqrt(x)), 0.,
                         0.),
    "jitted case": (lambda x: gnp.where(x > 0, glax.jit(gnp.log)(x), 0.), 0., 0.),
    "inner select": (lambda x: gnp.where(x > 0, gnp.log(gnp.where(x > 5, 2 * x, x)), 0.), 0., 0.),
    "inside jit": (glax.jit(lambda x: gnp.where(x > 0, gnp.sqrt(x), 0.)), 0., 0.),
    "inside cond": (lambda x: lax.cond(x < 9, lambda x: gnp.where(x > 0, gnp.sqrt(x), 0.), lambda x: x, x), 0., 0.),
    "inside scan": (lambda x: lax.scan(lambda c, _: (gnp.where(c > 0, gnp.sqrt(c), 0.), None), x, None, 2)[0], 0., 0.),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivative_is_that_of_the_case_taken(name):
    f, x, slope = FUNCTIONS[name]
    guarded = safe_where(f)
    x = gnp.float32(x)
    assert np.asarray(guarded(x)).tobytes() == np.asarray(f(x)).tobytes()
    near(glax.grad(guarded)(x), slope)
    near(glax.jacfwd(guarded)(x), slope)
    if name in ("sinc", "nested", "jitted case", "inside scan"):
        near(glax.jit(glax.grad(guarded))(x), slope)
    near(glax.grad(lambda x: glax.grad(guarded)(x))(x), glax.jacfwd(glax.jacfwd(guarded))(x))
    assert np.isfinite(np.asarray(glax.grad(glax.grad(guarded))(x)))
    near(glax.vmap(glax.grad(guarded))(np.array([x, x])), [slope, slope])
    near(glax.grad(lambda xs: glax.vmap(guarded)(xs).sum())(np.array([x, 2.5], np.float32))[0], slope)
    near(glax.jacfwd(guarded)(np.float32(2.5)), glax.jacfwd(f)(np.float32(2.5)))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_programs_are_well_formed_and_the_pass_is_idempotent(name):
    f, x, _ = FUNCTIONS[name]
    program = program_of(f, np.float32(x))
    once = rewrite.safe_where(program)
    check(once)
    assert once != program
    assert rewrite.safe_where(once) == once


def test_the_trap_is_one_without_the_pass():
    assert np.isnan(np.asarray(glax.grad(FUNCTIONS["sinc"][0])(0.)))


def test_arrays_with_scalar_conditions_and_operands():
    def f(x, n):
        return gnp.where(n == 0, 0., x / n).sum() + gnp.where(x > 0, gnp.log(x) * n, 0.).sum()

    xs = np.array([0., 1., 2.], np.float32)
    for mode in (glax.grad, glax.jacfwd):
        by_x, by_n = mode(safe_where(f), (0, 1))(xs, np.float32(0.))
        near(by_x, [0., 0., 0.])
        near(by_n, np.log(2.))
    near(glax.grad(safe_where(f), 0)(xs, np.float32(2.)), [.5, 2.5, 1.5])


def test_keywords_trees_and_captured_values():
    a = np.array([0., 4.], np.float32)
    f = safe_where(lambda d, *, scale: {"out": gnp.where(d["x"] > 0, gnp.sqrt(d["x"]) * a, scale)})
    out = f({"x": a}, scale=3.)["out"]
    near(out, [3., 8.])
    near(glax.grad(lambda x: f({"x": x}, scale=3.)["out"].sum())(a), [0., 1.])


def test_a_sum_ends_what_is_guarded():
    f = lambda x: gnp.where(x.sum() > 0, gnp.sqrt(x.sum()), 0.)
    near(glax.grad(safe_where(f))(np.zeros(3, np.float32)), np.zeros(3))
    program = rewrite.safe_where(program_of(f, np.zeros(3, np.float32)))
    names = [e.op.name for e in program.eqns]
    assert names.index("reduce_sum") < names.index("sqrt")


def test_selects_of_many_cases():
    f = lambda i, x: o.select_n(i, x, o.log(x), o.sqrt(o.neg(x)))
    guarded = safe_where(f)
    i = np.array([0, 1, 2], np.int32)
    x = np.array([0., 2., -4.], np.float32)
    near(glax.grad(lambda x: guarded(i, x).sum())(x), [1., .5, -.25])


def test_programs_without_selects_or_without_risk_stay_as_they_are():
    for f in (lambda x: gnp.log(x), lambda x: gnp.where(x > 0, x + 1, -x)):
        program = program_of(f, np.ones(3, np.float32))
        assert rewrite.safe_where(program) == program


def test_long_chains_of_selects_stay_linear():
    def f(x):
        for _ in range(30):
            x = gnp.where(x > 1, gnp.sqrt(x), x + 1)
        return x

    program = program_of(f, np.float32(0.))
    assert rewrite.safe_where(program).count() <= 2 * program.count()


def test_errors():
    with pytest.raises(TypeError, match="safe_where takes a function"):
        safe_where(3)


@pytest.fixture
def x64():
    with glax.enable_x64(True):
        yield


@given(programs(smooth=False, whiles=True))
@pytest.mark.usefixtures("x64")
def test_values_stay_the_same_bit_for_bit(case):
    program, args = case
    once = rewrite.safe_where(program)
    check(once)
    assert rewrite.safe_where(once) == once
    for a, b in zip(evaluate_jaxpr(once, *args), evaluate_jaxpr(program, *args)):
        assert a.dtype == b.dtype and a.tobytes() == b.tobytes()
