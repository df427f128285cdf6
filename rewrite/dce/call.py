"""Dead code in calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...ir import Eqn, dce_rule
from ...ir import ops as o
from .transform import dce


@dce_rule.register(o.Jit)
def _within_the_call(op: o.Jit, eqn: Eqn, used: Sequence[bool]) -> Eqn:
    program, has_input = dce(op.jaxpr, used, keep_inputs=False)
    if len(program.eqns) == len(op.jaxpr.eqns) and all(used) and all(has_input):
        return eqn if program == op.jaxpr else eqn._replace(op=replace(op, jaxpr=program))
    positions = [i for i, has in enumerate(has_input) if has]
    donated = tuple(positions.index(i) for i in op.donated if has_input[i])
    return Eqn(replace(op, jaxpr=program, donated=donated), tuple(eqn.inputs[i] for i in positions),
               tuple(v for v, flag in zip(eqn.outputs, used) if flag), eqn.source)
