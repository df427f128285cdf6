"""Lowering of calls, and of operations that stand for a program."""

from __future__ import annotations

from ...ir import Eqn, Operation, expand_rule, lower_rule
from ...ir import ops as o
from ..writer import FunctionWriter


@lower_rule.register(o.Jit)
def _jit(op: o.Jit, write: FunctionWriter, eqn: Eqn, *names: str) -> list[str]:
    return write.program(op.jaxpr, names) if op.inline else write.call(op.jaxpr, names, op.function_name)


def _lower_expansion(op: Operation, write: FunctionWriter, eqn: Eqn, *names: str) -> str | list[str]:
    """Call the program that an operation without a rule stands for."""
    jaxpr = expand_rule[type(op)](op, *[a.aval for a in eqn.inputs])
    results = write.call(jaxpr, names, op.name)
    return results if op.multiple_results else results[0]


lower_rule.by_expansion = _lower_expansion
