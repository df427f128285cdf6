"""The checks that users call fail what they should, and pass what is right."""

import numpy as np
import pytest

import glax
import glax.numpy as gnp
from glax import lax, testing
from glax.ir import (
    INTERPRETATIONS,
    OPERATIONS,
    bind,
    evaluate,
    jvp_rule,
    lower_rule,
    operation,
    ops,
    transpose_rule,
    vmap_rule,
)
from glax.ir.ops import elementwise

XS = np.linspace(.2, 1, 5)


@pytest.fixture(autouse=True)
def x64():
    with glax.enable_x64(True):
        yield


@pytest.fixture(autouse=True)
def registered():
    """Operations defined in a test are forgotten after it."""
    before = dict(OPERATIONS)
    yield
    OPERATIONS.clear()
    OPERATIONS.update(before)
    for interpretation in INTERPRETATIONS.values():
        interpretation.resolved.clear()


def sine(**rules):
    """An operation that is right, a sine, but for given rules."""
    class Sine(elementwise.Unary):
        name = f"sine_with_{'_'.join(rules) or 'no'}_fault"
        accepts = "fc"

    cls = operation(Sine)
    usual = {"evaluate": lambda op, x: np.sin(x), "lower_rule": lower_rule[ops.Sin],
             "jvp_rule": lambda op, primals, tangents: (bind(op, *primals), times(tangents[0], ops.cos(primals[0])))}
    for name, rule in (usual | rules).items():
        INTERPRETATIONS[name].register(cls)(rule)
    return cls()


def times(tangent, slope):
    return ops.mul(tangent, slope)


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "bfloat16", "c8", "c16"])
def test_a_right_operation_passes_in_any_dtype(dtype):
    xs = np.linspace(.2, 1, 5).astype(glax.ir.dtypes.check_array_dtype(dtype))
    testing.check_operation(ops.Sin(), xs)


def test_a_right_operation_of_ones_own_passes():
    testing.check_operation(sine(), XS)
    testing.check_operation(sine(), XS.astype("f4"))


def off_by(share):
    return lambda op, primals, tangents: (
        bind(op, *primals), times(tangents[0], ops.mul(ops.cos(primals[0]), np.array(1 + share, primals[0].dtype))))


def mutating(op, x):
    x += 1
    return np.sin(x - 1)


def second_order_wrong(op, primals, tangents):
    x, = primals
    return bind(op, x), times(tangents[0], ops.stop_gradient(ops.cos(x)))


def wrong_primal(op, primals, tangents):
    return ops.cos(*primals), times(tangents[0], ops.cos(primals[0]))


FAULTS = {
    "jvp wrong by a tenth": ({"jvp_rule": off_by(.1)}, "jvp against differences"),
    "jvp wrong by a hundredth": ({"jvp_rule": off_by(.01)}, "jvp against differences"),
    "jvp of another sign": ({"jvp_rule": off_by(-2)}, "jvp against differences"),
    "primal output of jvp wrong": ({"jvp_rule": wrong_primal}, "primal outputs of jvp"),
    "second derivative missing": ({"jvp_rule": second_order_wrong}, "jvp against differences"),
    "vmap reverses": ({"vmap_rule": lambda op, axis, args, dims: (
        ops.rev(bind(op, *args), (dims[0],)), dims[0])}, "vmap in_dims"),
    "lowering is another function": ({"lower_rule": lower_rule[ops.Cos]}, "lowering"),
    "argument is changed": ({"evaluate": mutating}, "evaluating changed argument 0"),
    "result of another dtype": ({"evaluate": lambda op, x: np.sin(x).astype("f2")}, "result 0 is float16"),
    "result of another shape": ({"evaluate": lambda op, x: np.sin(x)[None]}, "result 0 is"),
    "result differs from call to call": ({"evaluate": lambda op, x: np.sin(x) + np.random.rand()}, "evaluating twice"),
}


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("rules, message", FAULTS.values(), ids=FAULTS)
def test_a_faulty_operation_fails(rules, message, dtype):
    with pytest.raises(AssertionError, match=message):
        testing.check_operation(sine(**rules), XS.astype(dtype))


def negated(share):
    """An operation that is linear, -x, with a transpose that is off by a share."""
    class Negated(elementwise.Unary):
        name = "negated_off" if share else "negated"
        accepts = "f"

    cls = operation(Negated)
    evaluate.register(cls)(lambda op, x: -x)
    lower_rule.register(cls)(lower_rule[ops.Neg])
    jvp_rule.register(cls)(lambda op, primals, tangents: (bind(op, *primals), bind(op, *tangents)))
    transpose_rule.register(cls)(
        lambda op, cotangent, args: [ops.mul(cotangent, np.array(-1 - share, cotangent.dtype))])
    return cls()


def test_a_transpose_that_is_off_fails():
    for dtype in ("f8", "f4"):
        testing.check_operation(negated(0), XS.astype(dtype))
        with pytest.raises(AssertionError, match="vjp is not the transpose of jvp"):
            testing.check_operation(negated(.1), XS.astype(dtype))


def test_derivatives_are_checked_at_inexact_operands():
    with pytest.raises(ValueError, match="derivatives of square cannot be checked at operands of dtypes int64"):
        testing.check_operation(ops.Square(), np.arange(3))
    testing.check_operation(ops.Square(), np.arange(3), derivatives=False)
    testing.check_operation(ops.And(), np.arange(3), np.arange(3))
    testing.check_operation(ops.Gather(ops.GatherDimensionNumbers((), (0,), (0,)), (1,)), XS, np.array([[0], [2]]))


def test_closeness_is_by_element():
    big = np.array([1e6, 1e-3])
    with pytest.raises(AssertionError, match="law: result 0 differs by"):
        testing.assert_close("law", [big], [big * [1, 1.5]])
    with pytest.raises(AssertionError, match="law: result 0 differs by"):
        testing.assert_close("law", [np.array([1e-8])], [np.array([2e-8])])
    small = np.array([1e-8], "f4")
    with pytest.raises(AssertionError, match="law: result 0 differs by"):
        testing.assert_close("law", [small], [2 * small])
    testing.assert_close("law", [big], [big * (1 + 1e-12)])
    special = np.array([np.inf, -np.inf, np.nan, 0])
    testing.assert_close("law", [special], [special])
    for wrong in ([np.inf, np.inf, np.nan, 0], [np.inf, -np.inf, 0, 0], [1e300, -np.inf, np.nan, 0],
                  [np.inf, -np.inf, np.nan, np.inf]):
        with pytest.raises(AssertionError, match="law: result 0 differs by"):
            testing.assert_close("law", [np.array(wrong)], [special])


def custom_vjp_off_by(share):
    @glax.custom_vjp
    def f(x):
        return gnp.sin(x)

    f.defvjp(lambda x: (gnp.sin(x), gnp.cos(x)), lambda cos, g: (g * cos * (1 + share),))
    return f


def custom_jvp_of(value, slope):
    @glax.custom_jvp
    def f(x):
        return gnp.sin(x)

    f.defjvp(lambda primals, tangents: (value(primals[0]), slope(primals[0]) * tangents[0]))
    return f


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("modes", ["rev", ("rev",), ["rev"]])
def test_check_grads_fails_a_wrong_vjp(modes, dtype):
    x = XS.astype(dtype)
    testing.check_grads(custom_vjp_off_by(0), (x,), 1, modes)
    with pytest.raises(AssertionError, match="vjp"):
        testing.check_grads(custom_vjp_off_by(.1), (x,), 1, modes)


@pytest.mark.parametrize("modes", ["fwd", "rev", ("fwd", "rev")])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_check_grads_fails_what_jvp_gets_wrong(modes, dtype):
    x = XS.astype(dtype)
    testing.check_grads(custom_jvp_of(gnp.sin, gnp.cos), (x,), 2, modes)
    for value, slope, order, message in ((gnp.sin, lambda x: 1.1 * gnp.cos(x), 1, "1 more to check"),
                                         (gnp.cos, gnp.cos, 1, "primal outputs of"),
                                         (gnp.sin, lambda x: lax.stop_gradient(gnp.cos(x)), 2, "1 more to check")):
        with pytest.raises(AssertionError, match=message):
            testing.check_grads(custom_jvp_of(value, slope), (x,), order, modes)


def test_check_grads_passes_what_is_right():
    f4 = np.float32
    testing.check_grads(lambda x, y: gnp.sin(x) * y["a"], (XS.astype(f4), {"a": f4(2)}), 3)
    testing.check_grads(lambda x: gnp.exp(3 * x) + 1000, (XS.astype(f4),), 2)
    testing.check_grads(lambda x: x @ x, (np.arange(9, dtype=f4).reshape(3, 3),), 2)
    testing.check_grads(lambda x: gnp.exp(x) * x, (np.array([1 + 2j, .5]),), 2)
    testing.check_grads(lambda x: gnp.abs(x), (np.array([1 + 2j, .5]),), 2)
    testing.check_grads(lambda x: (x * x, gnp.argmax(x)), (XS,), 2)
    testing.check_grads(lambda x: gnp.linalg.norm(x), (XS.astype("f2"),), 1)


def test_check_grads_says_what_it_takes():
    for modes in ("backward", ("fwd", "both"), ()):
        with pytest.raises(ValueError, match="modes must be 'fwd', 'rev' or both, got"):
            testing.check_grads(gnp.sin, (1.,), 1, modes)
    with pytest.raises(ValueError, match="order must be at least 1, got 0"):
        testing.check_grads(gnp.sin, (1.,), 0)
    with pytest.raises(TypeError, match=r"inexact arguments, but leaf 1 of args is i64\[3\]"):
        testing.check_grads(lambda x, n: x * n, (1., np.arange(3)))


def test_tolerances_given_are_kept():
    nearly = custom_vjp_off_by(1e-3)
    testing.check_grads(nearly, (XS,), 1, "rev", rtol=1e-2, atol=1e-2)
    with pytest.raises(AssertionError, match="vjp"):
        testing.check_grads(nearly, (XS,), 1, "rev", rtol=1e-6, atol=1e-6)
    testing.check_grads(gnp.sin, (XS,), 1, eps=1e-3)


def test_vmap_rules_are_found_for_the_family():
    assert vmap_rule[type(sine())] is vmap_rule[ops.Sin]
