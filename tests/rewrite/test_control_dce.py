"""Dead code in control flow."""

import numpy as np
import pytest

import glax
from glax.interp import evaluate_jaxpr
from glax.ir import ShapedArray, check, stage
from glax.ir import ops as o
from glax.rewrite import cse, dce, fold, inline

F32, I32 = np.dtype(np.float32), np.dtype(np.int32)
SCALAR, INDEX, FLAG = ShapedArray((), F32), ShapedArray((), I32), ShapedArray((), np.dtype(bool))


def program(f, *avals):
    return stage(f, avals)[0]


def only_eqn(jaxpr):
    check(jaxpr)
    (eqn,) = jaxpr.eqns
    return eqn


def three_carries():
    """a goes by itself, b by a and a constant, c by c, x and another constant."""
    body = program(lambda p, q, a, b, c, x, y: [o.sin(a), o.add(o.mul(a, p), b), o.add(o.mul(c, q), x), y, a],
                   *[SCALAR] * 7)
    arrays = [ShapedArray((4,), F32)] * 2
    return program(lambda *args: o.scan(body, 4, args[:2], args[2:5], args[5:]), *[SCALAR] * 5, *arrays)


def test_scan_keeps_the_carries_that_used_results_need():
    jaxpr = three_carries()
    eqn = only_eqn(dce(jaxpr, [True, False, False, False, False], keep_inputs=False)[0])
    assert (eqn.op.num_consts, eqn.op.num_carry, len(eqn.inputs), len(eqn.outputs)) == (0, 1, 1, 1)
    eqn = only_eqn(dce(jaxpr, [False, True, False, False, False])[0])
    assert (eqn.op.num_consts, eqn.op.num_carry, len(eqn.inputs)) == (1, 2, 3)
    eqn = only_eqn(dce(jaxpr, [False, False, False, True, False])[0])
    assert (eqn.op.num_consts, eqn.op.num_carry, len(eqn.inputs), len(eqn.outputs)) == (0, 0, 1, 1)
    eqn = only_eqn(dce(jaxpr, [False, False, True, False, True])[0])
    assert (eqn.op.num_consts, eqn.op.num_carry, len(eqn.inputs), len(eqn.outputs)) == (1, 2, 4, 3)


def test_pruned_scans_compute_the_same():
    jaxpr = three_carries()
    args = [np.float32(x) for x in (.5, 2, 1, 3, 4)] + [np.arange(4, dtype=F32), np.ones(4, F32)]
    whole = evaluate_jaxpr(jaxpr, *args)
    for used in np.ndindex(2, 2, 2, 2, 2):
        flags = [bool(u) for u in used]
        pruned, _ = dce(jaxpr, flags)
        check(pruned)
        for got, wanted in zip(evaluate_jaxpr(pruned, *args), [w for w, flag in zip(whole, flags) if flag]):
            np.testing.assert_array_equal(got, wanted)
        assert dce(pruned)[0] == pruned


def test_while_keeps_what_its_condition_needs():
    go_on = program(lambda n, i, x, y: [o.lt(i, n)], INDEX, INDEX, SCALAR, SCALAR)
    step = program(lambda k, i, x, y: [o.add(i, np.int32(1)), o.mul(x, k), o.add(y, x)], SCALAR, INDEX, SCALAR, SCALAR)
    jaxpr = program(lambda n, k, i, x, y: o.while_loop(go_on, step, [n], [k], [i, x, y]),
                    INDEX, SCALAR, INDEX, SCALAR, SCALAR)
    eqn = only_eqn(dce(jaxpr, [True, False, False])[0])
    assert (eqn.op.cond_consts, eqn.op.body_consts, len(eqn.inputs), len(eqn.outputs)) == (1, 0, 2, 1)
    eqn = only_eqn(dce(jaxpr, [False, True, False])[0])
    assert (eqn.op.cond_consts, eqn.op.body_consts, len(eqn.outputs)) == (1, 1, 2)
    assert only_eqn(dce(jaxpr, [False, False, True])[0]) == jaxpr.eqns[0]


def test_cond_drops_results_and_operands():
    branches = [program(lambda x, y, z: [o.sin(x), o.cos(y)], *[SCALAR] * 3),
                program(lambda x, y, z: [x, z], *[SCALAR] * 3)]
    jaxpr = program(lambda i, x, y, z: o.cond(branches, i, [x, y, z]), INDEX, *[SCALAR] * 3)
    eqn = only_eqn(dce(jaxpr, [True, False])[0])
    assert eqn.inputs == jaxpr.in_binders[:2] and len(eqn.outputs) == 1
    eqn = only_eqn(dce(jaxpr, [False, True])[0])
    assert eqn.inputs == (jaxpr.in_binders[0], *jaxpr.in_binders[2:])


def test_clean_ups_go_into_sub_programs():
    body = program(lambda c, x: [o.add(o.jit_call(program(lambda a: [o.sin(a)], SCALAR), [c])[0], o.sin(c))],
                   SCALAR, SCALAR)
    jaxpr = program(lambda c, x: o.scan(body, 2, [], [c], [x]), SCALAR, ShapedArray((2,), F32))
    cleaned = only_eqn(cse(inline(jaxpr))).op.jaxpr
    assert [e.op.name for e in cleaned.eqns] == ["sin", "add"]


def run_for_ever():
    endless = program(lambda i: [o.ge(i, np.int32(0))], INDEX)
    same = program(lambda i: [i], INDEX)
    return program(lambda: o.while_loop(endless, same, [], [], [np.int32(1)]))


def run_python():
    def forbidden(x):
        raise AssertionError("called while folding")
    return glax.make_jaxpr(lambda: glax.pure_callback(forbidden, glax.ShapeDtypeStruct((), I32), 1))().jaxpr


@pytest.mark.parametrize("make", [run_for_ever, run_python])
@pytest.mark.parametrize("wrap", [
    lambda p: p,
    lambda p: program(lambda: o.jit_call(p, [])),
    lambda p: program(lambda: o.cond([p, program(lambda: [np.int32(1)])], np.int32(0), [])),
    lambda p: program(lambda: o.jit_call(program(lambda: o.jit_call(p, [])), [])),
    lambda p: glax.make_jaxpr(glax.checkpoint(lambda: glax.core.eval_jaxpr(p, [])))().jaxpr,
], ids=["itself", "jit", "cond", "jit in jit", "checkpoint"])
def test_what_may_take_for_ever_or_runs_python_is_not_folded(make, wrap):
    jaxpr = wrap(make())
    assert fold(jaxpr) == jaxpr
