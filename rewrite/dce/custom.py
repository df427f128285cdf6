"""Dead code in checkpoints. Custom calls are kept whole, so that their rules stay theirs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...ir import Eqn, dce_rule
from ...ir import ops as o
from .transform import dce


@dce_rule.register(o.Checkpoint)
def _within_the_checkpoint(op: o.Checkpoint, eqn: Eqn, used: Sequence[bool]) -> Eqn:
    program, has_input = dce(op.jaxpr, used, keep_inputs=False)
    if program == op.jaxpr and all(used) and all(has_input):
        return eqn
    return Eqn(replace(op, jaxpr=program), tuple(a for a, has in zip(eqn.inputs, has_input) if has),
               tuple(v for v, flag in zip(eqn.outputs, used) if flag), eqn.source)
