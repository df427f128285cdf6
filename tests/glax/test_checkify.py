"""Checks raise at once on values, and become results under checkify, through every transformation."""

import numpy as np
import pytest
from hypothesis import given
from programs import programs

import glax
import glax.numpy as gnp
from glax import lax, rewrite
from glax.experimental import checkify
from glax.experimental.checkify import JaxRuntimeError, check
from glax.interp import evaluate_jaxpr
from glax.ir import check as check_jaxpr
from glax.testing import check_text


def near(got, wanted):
    np.testing.assert_allclose(np.asarray(got), np.asarray(wanted), rtol=1e-5, atol=1e-6)


def error_of(f, *args, errors=checkify.user_checks):
    """The error's text, which is the same compiled."""
    error, out = checkify.checkify(f, errors)(*args)
    compiled, again = glax.jit(checkify.checkify(f, errors))(*args)
    assert error.get() == compiled.get()
    for a, b in zip(glax.tree.leaves(out), glax.tree.leaves(again)):
        near(a, b)
    return error.get()


def positive_log(x):
    check(x > 0, "x must be positive, got {x}, or {:.1f} more than that", x + 1, x=x)
    return gnp.log(x)


BAD = "x must be positive, got -1.0, or 0.0 more than that (`check` failed)"
XS = np.array([1., -1., -2.], np.float32)


def test_checks_of_values():
    check(True, "fine")
    near(positive_log(1.), 0.)
    with pytest.raises(JaxRuntimeError, match="x must be positive, got -1.0"):
        positive_log(-1.)
    with pytest.raises(ValueError):
        positive_log(gnp.float32(-1.))
    check(False, "not heeded", debug=True)
    checkify.debug_check(False, "not heeded")


def test_checkify():
    assert error_of(positive_log, -1.) == BAD
    assert error_of(positive_log, 1.) is None
    error, y = checkify.checkify(positive_log)(-1.)
    with pytest.raises(JaxRuntimeError) as caught:
        error.throw()
    assert str(caught.value) == BAD and str(error.get_exception()) == BAD
    checkify.checkify(positive_log)(1.)[0].throw()
    assert repr(error) == f"Error({BAD})" and repr(checkify.init_error) == "Error(None)"


def test_the_first_error_counts():
    def f(x):
        check(x > 1, "first {}", x)
        check(x > 2, "second {a} {b}", a=x, b=gnp.arange(2))
        return x

    assert error_of(f, 0.).startswith("first 0.0")
    assert error_of(f, 1.5).startswith("second 1.5 [0 1]")
    assert error_of(f, 3.) is None


def test_without_checkify_compiling_says_what_to_do():
    for f in (glax.jit(positive_log), lambda x: lax.scan(lambda c, _: (positive_log(c), None), x, None, 2)):
        with pytest.raises(ValueError, match="checkify"):
            f(1.)
    with pytest.raises(ValueError, match="test_checkify.py"):
        glax.jit(positive_log)(1.)

    def quiet(x):
        checkify.debug_check(x > 0, "negative")
        return x

    near(glax.jit(quiet)(-1.), -1.)
    assert error_of(quiet, -1.).startswith("negative")


def test_transformations_on_values_raise():
    near(glax.grad(positive_log)(2.), .5)
    with pytest.raises(JaxRuntimeError, match="must be positive"):
        glax.grad(positive_log)(-1.)
    with pytest.raises(JaxRuntimeError, match="at mapped index 1: x must be positive"):
        glax.vmap(positive_log)(XS)


def test_vmap_of_checkify_has_an_error_for_each_row():
    error, ys = glax.vmap(checkify.checkify(positive_log))(XS)
    first, second = error.get().split("\n")
    assert first == f"at mapped index 1: {BAD}"
    assert second.startswith("at mapped index 2: x must be positive, got -2.0")
    near(ys[0], 0.)
    assert glax.vmap(checkify.checkify(positive_log))(-XS[1:])[0].get() is None
    error, _ = glax.vmap(glax.vmap(checkify.checkify(positive_log)))(np.stack([-XS[1:], XS[1:]]))
    assert error.get().startswith("at mapped index (1, 0): x must")


def test_checkify_of_vmap_has_the_first_rows_error():
    assert error_of(glax.vmap(positive_log), XS) == f"at mapped index 1: {BAD}"
    assert error_of(glax.vmap(glax.vmap(positive_log)), np.stack([-XS[1:], XS[1:]])) == f"at mapped index (1, 0): {BAD}"
    assert error_of(glax.vmap(positive_log), -XS[1:]) is None
    assert error_of(glax.vmap(positive_log), np.zeros(0, np.float32)) is None
    error, _ = glax.vmap(checkify.checkify(glax.vmap(positive_log)))(np.stack([XS, -XS[:1].repeat(3)]))
    assert error.get().split("\n")[0] == f"at mapped index 0: at mapped index 1: {BAD}"


def test_grad_of_checkify_and_checkify_of_grad():
    near(glax.grad(lambda x: checkify.checkify(positive_log)(x)[1])(2.), .5)
    error, slope = checkify.checkify(glax.grad(positive_log))(-1.)
    assert error.get() == BAD
    near(slope, -1.)
    (_, error), slope = glax.value_and_grad(lambda x: checkify.checkify(positive_log)(x)[::-1], has_aux=True)(-1.)
    assert error.get() == BAD
    near(slope, -1.)


def test_control_flow():
    inside = {
        "jit": lambda x: glax.jit(positive_log)(x),
        "cond": lambda x: lax.cond(x < 5, positive_log, lambda x: x, x),
        "scan": lambda x: lax.scan(lambda c, d: (c + positive_log(d), None), 0., gnp.stack([x + 2, x + 0, x - 9]))[0],
        "while": lambda x: lax.while_loop(lambda c: c[0] < 2, lambda c: (c[0] + 1, positive_log(x) + 0 * c[1]),
                                          (0, x))[1],
        "nested": lambda x: glax.jit(lambda x: lax.fori_loop(0, 3, lambda i, c: lax.cond(
            i == 1, lambda c: positive_log(x) + 0 * c, lambda c: c, c), x))(x),
        "checkpoint": glax.checkpoint(positive_log),
    }
    for f in inside.values():
        assert error_of(f, np.float32(-1.)) == BAD
    for name in ("jit", "cond", "while", "nested"):
        assert error_of(inside[name], np.float32(2.)) is None
    assert error_of(inside["cond"], np.float32(7.)) is None
    for name in ("jit", "cond", "nested"):
        error, _ = glax.vmap(checkify.checkify(inside[name]))(XS)
        assert error.get().startswith(f"at mapped index 1: {BAD}\nat mapped index 2")
        assert error_of(glax.vmap(inside[name]), XS).endswith(BAD)


def test_branches_that_rows_do_not_take_are_not_checked():
    f = lambda x: lax.cond(x > 0, positive_log, lambda x: x, x)
    assert error_of(glax.vmap(f), XS) is None
    assert glax.vmap(checkify.checkify(f))(XS)[0].get() is None
    count = lambda n: lax.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, _counted(c[0], n)), (0, 0))[1]
    assert error_of(glax.vmap(count), np.array([1, 3], np.int32)) is None
    assert glax.vmap(checkify.checkify(count))(np.array([1, 3], np.int32))[0].get() is None


def _counted(i, n):
    check(i < n, "{} steps are too many for {}", i, n)
    return i


def test_conditions_of_loops_are_checked():
    def condition(i):
        check(i < 3, "i is {}", i)
        return i < 5

    def run(i):
        return lax.while_loop(condition, lambda i: i + 1, i)

    assert error_of(run, 0).startswith("i is 3")
    assert error_of(lambda i: lax.while_loop(condition, lambda i: i + 1, i), 4).startswith("i is 4")
    assert int(checkify.checkify(run)(0)[1]) == 5


def test_nan_checks():
    text = error_of(lambda x: gnp.sin(x), np.inf, errors=checkify.nan_checks)
    assert text.startswith("nan generated by primitive: sin, at ")
    f = lambda x: lax.cond(x > 0, lambda x: gnp.log(x - 2) * 2, lambda x: x, x)
    assert error_of(f, 1., errors=checkify.float_checks).startswith("nan generated by primitive: log")
    assert error_of(f, -1., errors=checkify.float_checks) is None
    assert error_of(lambda x: gnp.where(x > 0, gnp.sqrt(x), 0.), -1., errors=checkify.nan_checks) is not None


def test_div_checks():
    assert error_of(lambda x, y: x / y, np.float32(1), np.zeros(2, np.float32),
                    errors=checkify.div_checks).startswith("division by zero")
    assert error_of(lambda x, y: lax.div(x, y), np.int32(1), np.int32(0),
                    errors=checkify.float_checks).startswith("division by zero")
    assert error_of(lambda x, y: x / y, 0., 1., errors=checkify.all_checks) is None


def test_index_checks():
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    wrong = "out-of-bounds indexing for array of shape (3, 2): index 5 is out of bounds for axis 0 with size 3, at"
    for f in (lambda x, i: x[i], lambda x, i: x.at[i].set(1.), lambda x, i: x.at[i].add(1.),
              lambda x, i: x[gnp.stack([0 * i, i])], lambda x, i: lax.dynamic_slice(x, (i, 0 * i), (1, 1)),
              lambda x, i: lax.dynamic_update_slice(x, gnp.ones((1, 1)), (i, 0 * i))):
        assert error_of(f, gnp.asarray(x), 5, errors=checkify.index_checks).startswith(wrong)
        assert error_of(f, gnp.asarray(x), 2, errors=checkify.index_checks) is None
    f = lambda x, i, j: x[gnp.stack([i, i]), gnp.stack([0 * j, j])]
    assert "index 7 is out of bounds for axis 1 with size 2" in error_of(f, gnp.asarray(x), 1, 7,
                                                                        errors=checkify.index_checks)


def test_kinds_that_are_not_asked_for_are_left_out():
    f = lambda x: glax.jit(positive_log)(x) / 0.
    assert error_of(f, 2., errors=checkify.nan_checks) is None
    assert error_of(f, -1., errors=frozenset()) is None
    assert error_of(f, -1., errors=checkify.div_checks).startswith("division by zero")
    assert error_of(f, -1., errors=checkify.all_checks) == BAD


def test_check_error():
    def handled(x):
        error, y = checkify.checkify(positive_log)(x)
        checkify.check_error(error)
        return y

    assert error_of(handled, -1.) == BAD
    with pytest.raises(JaxRuntimeError, match="must be positive"):
        handled(-1.)
    rows = lambda xs: checkify.check_error(glax.vmap(checkify.checkify(positive_log))(xs)[0])
    assert error_of(rows, XS) == f"at mapped index 1: {BAD}"
    assert error_of(rows, -XS[1:]) is None


def test_functions_with_rules_keep_them():
    @glax.custom_jvp
    def log(x):
        return positive_log(x)

    @log.defjvp
    def _(primals, tangents):
        return log(*primals), 10. * tangents[0]

    @glax.custom_vjp
    def root(x):
        check(x > 1, "less than one")
        return gnp.sqrt(x)

    root.defvjp(lambda x: (root(x), x), lambda x, g: (100. * g * x,))

    def f(x):
        return log(x) + root(x) + log(x + 1.)

    assert error_of(f, np.float32(-1.)) == BAD
    assert error_of(f, np.float32(.5)) == "less than one (`check` failed)"
    for g in (lambda x: checkify.checkify(f)(x)[1], glax.jit(lambda x: checkify.checkify(f)(x)[1])):
        near(glax.grad(g)(np.float32(4.)), 20. + 400.)
    near(glax.vmap(glax.grad(lambda x: checkify.checkify(f)(x)[1]))(np.array([2., 4.], np.float32)), [220., 420.])
    near(checkify.checkify(glax.vmap(glax.grad(f)))(np.array([2., 4.], np.float32))[1], [220., 420.])
    batched = lambda xs: checkify.checkify(glax.vmap(f))(xs)[1].sum()
    near(glax.grad(batched)(np.array([2., 4.], np.float32)), [220., 420.])


def test_checks_within_solves():
    def divide(a, b):
        def solve(_, b):
            check(a != 0, "singular")
            return b / a

        return lax.custom_linear_solve(lambda x: a * x, b, solve, symmetric=True)

    assert error_of(divide, 0., 1.) == "singular (`check` failed)"
    near(glax.grad(lambda a: checkify.checkify(divide)(a, 6.)[1])(2.), -1.5)


def test_errors_go_through_loops_and_trees():
    def step(c, x):
        error, y = checkify.checkify(positive_log)(x)
        return c + y, error

    _, errors = lax.scan(step, 0., XS)
    assert errors.get().startswith(f"at mapped index 1: {BAD}")
    error = glax.tree.map(lambda x: x, checkify.checkify(positive_log)(-1.)[0])
    assert error.get() == BAD


def test_text_of_programs_with_checks():
    program = glax.make_jaxpr(lambda x: glax.jit(positive_log)(x))(1.).jaxpr
    check_text(program)
    assert "check[" in str(program)


def test_misuse():
    with pytest.raises(TypeError, match="pred must be a bool scalar, got bool"):
        check(gnp.array([True]), "a")
    with pytest.raises(TypeError, match="pred must be a bool scalar"):
        check(1., "a")
    with pytest.raises(TypeError, match="msg must be a string"):
        check(True, 3)
    with pytest.raises(TypeError, match="arrays or numbers"):
        check(True, "{}", "text")
    with pytest.raises(ValueError, match="shows the value '1'"):
        check(True, "{} {}", 1)
    with pytest.raises(ValueError, match="shows the value 'a'"):
        check(True, "{a}", 1)
    with pytest.raises(ValueError, match="errors must be made of"):
        checkify.checkify(positive_log, errors={"none"})
    with pytest.raises(TypeError, match="takes an Error"):
        checkify.check_error(3)
    with pytest.raises(TypeError, match="takes a function"):
        checkify.checkify(3)


@given(programs(smooth=False, whiles=True, most=6))
@pytest.mark.usefixtures("x64")
def test_outputs_stay_the_same_bit_for_bit(case):
    program, args = case
    checked, sites, count = rewrite.checkify(program, checkify.all_checks)
    check_jaxpr(checked)
    flag, code, *outs = evaluate_jaxpr(checked, *args)
    wanted = evaluate_jaxpr(program, *args)
    for a, b in zip(outs[count:], wanted, strict=True):
        assert a.dtype == b.dtype and a.tobytes() == b.tobytes()
    assert flag or not any(np.isnan(x).any() for x in wanted)


@pytest.fixture
def x64():
    with glax.enable_x64(True):
        yield
