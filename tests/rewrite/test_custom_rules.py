"""The rewrites of custom calls and checkpoints, as programs."""

import pickle

import numpy as np
import pytest

import glax
import glax.checkpoint_policies
import glax.numpy as gnp
from glax import rewrite
from glax.custom_derivatives import custom_jvp, custom_vjp
from glax.interp import evaluate_jaxpr
from glax.ir import bind, check, parse, shaped_array, stage
from glax.ir import ops as o
from glax.rewrite.custom_rules import jvp_program, vjp_programs

SCALAR = shaped_array((), np.dtype("float32"))


@custom_jvp
def cube(x):
    return x * x * x


cube.defjvps(lambda t, ans, x: 3. * t * cube(x) / x)


def op_of(program):
    (eqn,) = program.eqns
    return eqn.op


def test_a_rule_that_calls_its_function_is_finite_and_unrolls_one_level_at_a_time():
    program, _ = stage(lambda x: [cube(x)], [SCALAR])
    op = op_of(program)
    inner = [eqn.op for eqn in op.rule.eqns if eqn.op.name == "custom_jvp_call"]
    assert [i.rule for i in inner] == [o.Recursive(0)] * 2
    unrolled = [eqn.op for eqn in jvp_program(op).eqns if eqn.op.name == "custom_jvp_call"]
    assert [i.rule for i in unrolled] == [op.rule] * 2
    assert parse(str(program)) == pickle.loads(pickle.dumps(program)) == program


def test_mutually_recursive_rules():
    f, g = custom_jvp(gnp.sin), custom_jvp(gnp.cos)
    f.defjvps(lambda t, ans, x: t * g(x))
    g.defjvps(lambda t, ans, x: -t * f(x))
    first, second = glax.grad(f), glax.grad(glax.grad(f))
    slopes = [float(slope(1.)) for slope in (first, second, glax.grad(second))]
    np.testing.assert_allclose(slopes, [np.cos(1), -np.sin(1), -np.cos(1)], rtol=1e-5)
    program = glax.make_jaxpr(f)(1.).jaxpr
    check(program)
    assert parse(str(program)) == program
    assert "Recursive[depth=1]" in str(program)


def test_vectorised_calls_keep_their_rules():
    program, _ = stage(lambda x: [cube(x)], [SCALAR])
    batched, _ = rewrite.vmap(program, rewrite.BatchAxis(3), [0])
    twice, _ = rewrite.vmap(batched, rewrite.BatchAxis(2), [1])
    op = op_of(twice)
    assert op.rule == op_of(program).rule
    assert op.vmaps == ((3, None, (0,)), (2, None, (1,)))
    rule = jvp_program(op)
    check(rule)
    x, t = np.arange(1., 7., dtype=np.float32).reshape(3, 2), np.ones((3, 2), np.float32)
    np.testing.assert_allclose(evaluate_jaxpr(rule, x, t)[1], 3 * x.T ** 2, rtol=1e-5)
    assert [a.shape for a in rule.out_avals] == [a.shape for a in twice.out_avals] * 2


def test_cotangents_of_shared_arguments_are_summed():
    f = custom_vjp(lambda x, y: x * y)
    f.defvjp(lambda x, y: (x * y, (x, y)), lambda r, g: (g * r[1], g * r[0]))
    program, _ = stage(lambda x, y: [f(x, y)], [SCALAR, SCALAR])
    batched, _ = rewrite.vmap(program, rewrite.BatchAxis(3), [0, None])
    _, backward = vjp_programs(op_of(batched))
    check(backward)
    assert [a.shape for a in backward.out_avals] == [(3,), ()]


def test_failed_rules_travel_as_their_message():
    f = custom_jvp(lambda x: x)
    f.defjvp(lambda p, t: 1 / 0)
    program, _ = stage(lambda x: [f(x)], [SCALAR])
    again = pickle.loads(pickle.dumps(program))
    assert again == program == parse(str(program))
    with pytest.raises(ZeroDivisionError):
        rewrite.jvp(program, [True])
    with pytest.raises(TypeError, match="ZeroDivisionError: division by zero"):
        rewrite.jvp(again, [True])


def test_a_linear_call_transposes_to_its_other_program():
    double, _ = stage(lambda x: [o.add(x, x)], [SCALAR])
    triple, _ = stage(lambda x: [o.add(o.add(x, x), x)], [SCALAR])
    program, _ = stage(lambda x: bind(o.LinearCall(double, triple), x), [SCALAR])
    back, _ = rewrite.transpose(program, [True])
    assert op_of(back) == o.LinearCall(triple, double)
    assert rewrite.transpose(back, [True])[0] == program


def test_dead_results_of_a_checkpoint_are_not_computed():
    body, _ = stage(lambda x, y: [o.sin(x), o.cos(y)], [SCALAR, SCALAR])
    program, _ = stage(lambda x, y: bind(o.Checkpoint(body), x, y)[:1], [SCALAR, SCALAR])
    cleaned, _ = rewrite.dce(program)
    assert [eqn.op.name for eqn in op_of(cleaned).jaxpr.eqns] == ["sin"]
    assert len(cleaned.eqns[0].inputs) == 1


def test_the_known_part_of_a_checkpoint_keeps_what_the_policy_says():
    def net(x, y):
        return [o.mul(y, o.sin(o.named(o.exp(x), "a")))]

    body, _ = stage(net, [SCALAR, SCALAR])
    for policy, kept in ((None, 0), (glax.checkpoint_policies.save_only_these_names("a"), 1)):
        program, _ = stage(lambda x, y, policy=policy: bind(o.Checkpoint(body, policy), x, y), [SCALAR, SCALAR])
        split = rewrite.partial_eval(program, [False, True])
        check(split.known)
        check(split.unknown)
        (later,) = split.unknown.eqns
        names = [eqn.op.name for eqn in later.op.jaxpr.eqns]
        assert names == (["sin", "mul"] if kept else ["exp", "name", "sin", "mul"])
        assert later.op.differentiated and len(split.known.eqns) == kept
        known = evaluate_jaxpr(split.known, np.float32(1))
        np.testing.assert_allclose(evaluate_jaxpr(split.unknown, *known, np.float32(2))[0], 2 * np.sin(np.e), rtol=1e-6)
