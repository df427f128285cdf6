"""Partial evaluation of calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...ir import Eqn, partial_eval_rule
from ...ir import ops as o
from ..programs import chosen, others
from .transform import Fresh, Parts, partial_eval


@partial_eval_rule.register(o.Jit)
def _split_the_call(op: o.Jit, eqn: Eqn, unknown: Sequence[bool], fresh: Fresh) -> Parts:
    """A call is split into a call of the known part and one of the rest."""
    split = partial_eval(op.jaxpr, unknown)
    residuals = [fresh(a.aval) for a in split.residuals]
    known_outs, unknown_outs = others(eqn.outputs, split.unknown_outputs), chosen(eqn.outputs, split.unknown_outputs)
    now = Eqn(replace(op, jaxpr=split.known, donated=()), tuple(others(eqn.inputs, unknown)),
              (*known_outs, *residuals), eqn.source)
    later = Eqn(replace(op, jaxpr=split.unknown, donated=()), (*residuals, *chosen(eqn.inputs, unknown)),
                tuple(unknown_outs), eqn.source)
    return [now], [later], split.unknown_outputs
