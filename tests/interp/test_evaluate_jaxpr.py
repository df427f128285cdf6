"""Running programs."""

from __future__ import annotations

import gc
import warnings
import weakref

import numpy as np
import pytest

from glax.interp import evaluate_jaxpr, step_jaxpr
from glax.interp.evaluate import _PLANS
from glax.ir import MissingRule, Operation, ShapedArray, Var, abstract_eval, evaluate, expand_rule, stage
from glax.ir import ops as o
from glax.ir.jaxpr import Eqn, Jaxpr

F3 = ShapedArray((3,), "float32")
X = np.array([1, 2, 3], np.float32)


def program(f, *avals):
    return stage(f, avals)[0]


def test_results_are_arrays_even_of_scalars():
    jaxpr = program(lambda x: [o.reduce_sum(x, (0,)), x, np.float32(2)], F3)
    results = evaluate_jaxpr(jaxpr, X)
    assert [type(r) for r in results] == [np.ndarray] * 3
    assert [r.tolist() for r in results] == [6, [1, 2, 3], 2]


def test_scalars_are_taken_as_arguments():
    jaxpr = program(lambda x: [o.add(x, x)], ShapedArray((), "float32"))
    assert evaluate_jaxpr(jaxpr, np.float32(2))[0] == 4


@pytest.mark.parametrize(("args", "message"), [
    ((), "program of 2 inputs was given 0 arguments"),
    ((X, X[:2]), r"input 1 of the program must be f32\[3\], got an array of shape \(2,\) and dtype float32"),
    ((X.astype(np.int32), X), r"input 0 of the program must be f32\[3\], got .* dtype int32"),
    ((X, 2.0), r"input 1 of the program must be f32\[3\]"),
])
def test_arguments_that_do_not_fit(args, message):
    jaxpr = program(lambda x, y: [o.add(x, y)], F3, F3)
    with pytest.raises(TypeError, match=message):
        evaluate_jaxpr(jaxpr, *args)
    with pytest.raises(TypeError, match=message):
        next(step_jaxpr(jaxpr, *args))


def test_nothing_warns():
    jaxpr = program(lambda x: [o.log(o.neg(x)), o.div(x, o.sub(x, x)), o.convert_element_type(o.exp(
        o.mul(x, np.float32(1000))), "int32")], F3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        logs, quotients, whole = evaluate_jaxpr(jaxpr, X)
        assert len(list(step_jaxpr(jaxpr, X))) == len(jaxpr.eqns)
    assert np.isnan(logs).all()
    assert np.isinf(quotients).all()
    assert whole.tolist() == [2**31 - 1] * 3


def test_step_leaves_the_callers_error_settings_alone():
    jaxpr = program(lambda x: [o.neg(x)], F3)
    with np.errstate(divide="raise"):
        for _ in step_jaxpr(jaxpr, X):
            assert np.geterr()["divide"] == "raise"


def test_values_are_freed_after_their_last_use():
    seen = []

    def run(op, values):
        seen.append(sum(ref() is not None for ref in refs))
        result = np.array(evaluate[type(op)](op, *values))
        refs.append(weakref.ref(result))
        return result

    refs = []

    def chain(x):
        for _ in range(10):
            x = o.sin(x)
        return [x]
    evaluate_jaxpr(program(chain, F3), X, run=run)
    gc.collect()
    assert max(seen) <= 1


def test_unused_results_and_literals():
    jaxpr = program(lambda x: [(o.sin(x), o.cos(x))[1], np.float32(5)], F3)
    assert evaluate_jaxpr(jaxpr, X)[1] == 5


def test_long_programs_do_not_recurse():
    def chain(x):
        for _ in range(3000):
            x = o.neg(x)
        return [x]
    assert evaluate_jaxpr(program(chain, F3), X)[0].tolist() == X.tolist()


def test_plans_go_with_their_programs():
    jaxpr = program(lambda x: [o.sin(o.sin(x))], F3)
    evaluate_jaxpr(jaxpr, X)
    key = id(jaxpr)
    assert key in _PLANS
    del jaxpr
    gc.collect()
    assert key not in _PLANS


def nested():
    inner = program(lambda x: [o.sin(x), x], F3)
    return program(lambda x: [o.add(*o.jit_call(inner, [x])), *o.split(x, (1, 2), 0)], F3)


def test_run_sees_every_operation_and_those_within_calls():
    names = []

    def run(op, values):
        names.append(op.name)
        return NotImplemented

    plain, seen = evaluate_jaxpr(nested(), X), evaluate_jaxpr(nested(), X, run=run)
    assert names == ["jit", "sin", "add", "split"]
    assert [a.tolist() for a in plain] == [a.tolist() for a in seen]


def test_run_may_answer_for_a_call():
    def run(op, values):
        return [values[0], values[0]] if op.name == "jit" else evaluate[type(op)](op, *values)
    assert evaluate_jaxpr(nested(), X, run=run)[0].tolist() == [2, 4, 6]


def test_steps():
    steps = step_jaxpr(nested(), X)
    names = []
    while True:
        try:
            eqn, inputs, outputs = next(steps)
        except StopIteration as end:
            results = end.value
            break
        names.append((eqn.op.name, len(inputs), len(outputs)))
    assert names == [("jit", 1, 2), ("add", 2, 1), ("split", 1, 2)]
    assert [r.tolist() for r in results] == [r.tolist() for r in evaluate_jaxpr(nested(), X)]


class Doubled(Operation):
    name = "doubled_in_a_test"


class WithoutMeaning(Operation):
    name = "without_meaning_in_a_test"


Doubled.__dataclass_fields__ = WithoutMeaning.__dataclass_fields__ = {}
for _cls in (Doubled, WithoutMeaning):
    abstract_eval.register(_cls)(lambda op, x: x)


@expand_rule.register(Doubled)
def _expand(op, x):
    return program(lambda x: [o.add(x, x)], x)


def _of(op):
    return Jaxpr([Var(0, F3)], [Eqn(op, (Var(0, F3),), (Var(1, F3),))], [Var(1, F3)])


def test_an_operation_without_a_rule_is_what_it_expands_to():
    names = []
    assert evaluate_jaxpr(_of(Doubled()), X)[0].tolist() == [2, 4, 6]
    evaluate_jaxpr(_of(Doubled()), X, run=lambda op, values: names.append(op.name) or NotImplemented)
    assert names == ["doubled_in_a_test", "add"]


def test_an_operation_without_meaning():
    with pytest.raises(MissingRule, match="without_meaning_in_a_test"):
        evaluate_jaxpr(_of(WithoutMeaning()), X)


def test_a_general_reduction_by_a_program_that_is_not_elementwise():
    def combine(x, y):
        return [o.add(o.reshape(o.broadcast_in_dim(x, (1,), ()), ()), y)]
    scalar = ShapedArray((), "float32")
    op = o.Reduce(program(combine, scalar, scalar), (1,))
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert evaluate[o.Reduce](op, x, np.float32(1))[0].tolist() == [4, 13]


def test_results_do_not_alias_what_a_rule_wrote_to():
    x = np.zeros(4, np.float32)
    out = evaluate[o.DynamicUpdateSlice](o.DynamicUpdateSlice(), x, np.ones(2, np.float32), np.int32(1))
    assert not np.shares_memory(out, x)
    assert x.tolist() == [0, 0, 0, 0]
