"""Dead code elimination: equations whose results nobody uses are dropped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..ir import Eqn, Jaxpr, Operation, Var, assemble, dce_rule
from ..ir import ops as o
from .passes import rewrite_pass


@rewrite_pass
def dce(jaxpr: Jaxpr, used_outputs: Sequence[bool] | None = None,
        keep_inputs: bool | Sequence[bool] = True) -> tuple[Jaxpr, list[bool]]:
    """A program without the equations that its used outputs do not need, at every depth.

    Args:
        jaxpr: the program.
        used_outputs: which outputs to keep; all by default.
        keep_inputs: whether to keep inputs that are not used, for all or for each.

    Returns:
        The program, with the used outputs only, and which of the inputs it has.
    """
    flags = [True] * len(jaxpr.outs) if used_outputs is None else list(used_outputs)
    outs = [a for a, used in zip(jaxpr.outs, flags, strict=True) if used]
    live = {a[0] for a in outs if type(a) is Var}
    kept: list[Eqn] = []
    for eqn in reversed(jaxpr.eqns):
        used = [v[0] in live for v in eqn[2]]
        if True in used or eqn.op.effects:
            new = dce_rule[type(eqn.op)](eqn.op, eqn, used)
            kept.append(new)
            live.update([a[0] for a in new[1] if type(a) is Var])
    kept.reverse()
    keep = [keep_inputs] * len(jaxpr.in_binders) if isinstance(keep_inputs, bool) else list(keep_inputs)
    has_input = [flag or v.index in live for v, flag in zip(jaxpr.in_binders, keep)]
    return assemble([v for v, has in zip(jaxpr.in_binders, has_input) if has], kept, outs), has_input


@dce_rule.register(Operation)
def _keep_whole(op: Operation, eqn: Eqn, used: Sequence[bool]) -> Eqn:
    return eqn


@dce_rule.register(o.Jit)
def _within_the_call(op: o.Jit, eqn: Eqn, used: Sequence[bool]) -> Eqn:
    program, has_input = dce(op.jaxpr, used, keep_inputs=False)
    if len(program.eqns) == len(op.jaxpr.eqns) and all(used) and all(has_input):
        return eqn if program == op.jaxpr else eqn._replace(op=replace(op, jaxpr=program))
    positions = [i for i, has in enumerate(has_input) if has]
    donated = tuple(positions.index(i) for i in op.donated if has_input[i])
    return Eqn(replace(op, jaxpr=program, donated=donated), tuple(eqn.inputs[i] for i in positions),
               tuple(v for v, flag in zip(eqn.outputs, used) if flag), eqn.source)


@dce_rule.register(o.Sort)
def _drop_operands_that_are_no_keys(op: o.Sort, eqn: Eqn, used: Sequence[bool]) -> Eqn:
    keep = [flag or position < op.num_keys for position, flag in enumerate(used)]
    if all(keep):
        return eqn
    return eqn._replace(inputs=tuple(a for a, flag in zip(eqn.inputs, keep) if flag),
                        outputs=tuple(v for v, flag in zip(eqn.outputs, keep) if flag))
