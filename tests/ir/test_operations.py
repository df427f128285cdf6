"""What every operation has, and where it is found."""

import inspect
from enum import Enum

import pytest

from glax.ir import OPERATIONS, Effect, Jaxpr, Operation, ShapedArray, abstract_eval, expand_rule, ops, stage
from glax.ir.ops.custom import Recursive, RuleFailure

OWN = {name: cls for name, cls in OPERATIONS.items() if cls.__module__.startswith("glax.ir.ops.")}
F32 = ShapedArray((), "float32")


@pytest.mark.parametrize("name", sorted(OWN))
def test_operations_are_found_in_the_namespace(name):
    assert getattr(ops, OWN[name].__name__) is OWN[name]
    assert (abstract_eval.find(OWN[name]) or expand_rule.find(OWN[name])) is not None


def test_the_namespace_holds_nothing_else():
    parameters = (Enum, ops.GatherDimensionNumbers, ops.ScatterDimensionNumbers, Recursive, RuleFailure)
    for name, value in vars(ops).items():
        if name.startswith("_") or inspect.ismodule(value):
            continue
        if isinstance(value, type):
            assert issubclass(value, (Operation, Effect, *parameters)), name
            assert value.__module__.startswith("glax.ir.ops."), name
        else:
            function = getattr(value, "func", value)
            assert function.__module__.startswith(("glax.ir.ops.", "glax.ir.staging")), name


def test_programs_among_the_parameters_are_found():
    program = stage(lambda x: [ops.sin(x)], [F32], "program")[0]
    calls = {ops.Jit(program): 1, ops.Cond((program, program)): 2, ops.Sin(): 0, ops.ReduceSum((0,)): 0}
    for op, count in calls.items():
        found = list(op.sub_jaxprs())
        assert len(found) == count and all(type(sub) is Jaxpr for sub in found)
        assert op.has_sub_jaxprs() is bool(count)
