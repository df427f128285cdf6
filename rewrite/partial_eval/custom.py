"""Partial evaluation of checkpoints: what is kept for later, and what is computed again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from ...ir import Builder, Eqn, Jaxpr, Operation, Var, assemble, building, partial_eval_rule
from ...ir import ops as o
from ..dce import dce
from ..inline import inline
from .transform import Fresh, Parts, partial_eval


def may_save(policy: Any, eqn: Eqn) -> bool:
    """Whether a policy lets an equation's results be kept."""
    if policy is None:
        return False
    params = {f.name: getattr(eqn.op, f.name) for f in fields(eqn.op)}
    return bool(policy(eqn.op, *[a.aval for a in eqn.inputs], **params))


@partial_eval_rule.register(o.Checkpoint)
def _split_the_checkpoint(op: o.Checkpoint, eqn: Eqn, unknown: Sequence[bool], fresh: Fresh) -> Parts:
    # Policies look into calls, so these are opened for them.
    split = partial_eval(op.jaxpr if op.policy is None else inline(op.jaxpr), unknown)
    count = len(split.known.outs) - split.residual_count
    saved, recompute, used_inputs = _recomputation(split.known, count, op.policy)
    known_ins = tuple(a for a, flag in zip(eqn.inputs, unknown) if not flag)
    unknown_ins = tuple(a for a, flag in zip(eqn.inputs, unknown) if flag)
    known = assemble(split.known.in_binders, split.known.eqns, [*split.known.outs[:count], *saved])
    kept = [fresh(v.aval) for v in saved]
    known_outs = [v for v, flag in zip(eqn.outputs, split.unknown_outputs) if not flag]
    unknown_outs = tuple(v for v, flag in zip(eqn.outputs, split.unknown_outputs) if flag)
    again = tuple(a for a, flag in zip(known_ins, used_inputs) if flag)
    later = replace(op, jaxpr=_recompute_then(recompute, split.unknown), differentiated=True)
    now = [Eqn(replace(op, jaxpr=dce(known)[0]), known_ins, (*known_outs, *kept), eqn.source)]
    return (now if known_outs or kept or known.effects else [],
            [Eqn(later, (*again, *kept, *unknown_ins), unknown_outs, eqn.source)], split.unknown_outputs)


def _recomputation(known: Jaxpr, count: int, policy: Any) -> tuple[list[Var], Jaxpr, list[bool]]:
    """How the residuals of a known program are made again. What has effects is kept: it must not happen again.

    Returns the variables of the program to keep, the program from the inputs it needs and the kept values to the
    residuals, and which of the known program's inputs it needs.
    """
    keepable = [bool(eqn.op.effects) or may_save(policy, eqn) for eqn in known.eqns]
    candidates = [v for eqn, keep in zip(known.eqns, keepable) if keep for v in eqn.outputs]
    others = [eqn for eqn, keep in zip(known.eqns, keepable) if not keep]
    everything = assemble([*known.in_binders, *candidates], others, known.outs[count:])
    program, used = dce(everything, keep_inputs=False)
    split = len(known.in_binders)
    return [v for v, flag in zip(candidates, used[split:]) if flag], program, used[:split]


def _recompute_then(recompute: Jaxpr, unknown: Jaxpr) -> Jaxpr:
    """The program that computes residuals again and runs the unknown program on them."""
    builder = Builder("checkpoint")
    with building(builder):
        given = [builder.add_input(v.aval) for v in recompute.in_binders]
        unknown_ins = [builder.add_input(v.aval) for v in unknown.in_binders[len(recompute.outs):]]
        residuals = builder.splice(recompute, given)
        return builder.close(builder.splice(unknown, [*residuals, *unknown_ins]))[0]


@partial_eval_rule.register(o.CustomVmapCall)
def _split_as_a_plain_call(op: o.CustomVmapCall, eqn: Eqn, unknown: Sequence[bool], fresh: Fresh) -> Parts:
    """The parts have no rule of their own for vectorising them, so they are plain calls."""
    call: Operation = o.Jit(op.jaxpr, function_name=op.function_name)
    return partial_eval_rule[o.Jit](call, eqn._replace(op=call), unknown, fresh)
