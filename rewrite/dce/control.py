"""Dead code in control flow: parts of a carry, outputs, and operands that nothing used depends on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...ir import Eqn, Jaxpr, dce_rule
from ...ir import ops as o
from ..programs import any_of, chosen, cut, either
from .transform import dce


@dce_rule.register(o.Cond)
def _cond(op: o.Cond, eqn: Eqn, used: Sequence[bool]) -> Eqn:
    """Branches keep the outputs that are used, and the operands that any of them needs."""
    needed = any_of([dce(branch, used, keep_inputs=False)[1] for branch in op.branches])
    branches = tuple([dce(branch, used, keep_inputs=needed)[0] for branch in op.branches])
    return Eqn(o.Cond(branches), (eqn.inputs[0], *chosen(eqn.inputs[1:], needed)), tuple(chosen(eqn.outputs, used)),
               eqn.source)


def live_carry(body: Jaxpr, num_consts: int, carry: list[bool], more_outputs: Sequence[bool] = ()) -> list[bool]:
    """Which parts of a loop's carry are needed for those of which it is known, and for further outputs."""
    while True:
        needed = dce(body, [*carry, *more_outputs], keep_inputs=False)[1][num_consts:num_consts + len(carry)]
        if either(carry, needed) == carry:
            return carry
        carry = either(carry, needed)


@dce_rule.register(o.Scan)
def _scan(op: o.Scan, eqn: Eqn, used: Sequence[bool]) -> Eqn:
    used_carry, used_ys = cut(used, op.num_carry)
    carry = live_carry(op.jaxpr, op.num_consts, used_carry, used_ys)
    others = len(op.jaxpr.in_binders) - op.num_consts - op.num_carry
    keep = [False] * op.num_consts + carry + [False] * others
    body, has_input = dce(op.jaxpr, [*carry, *used_ys], keep_inputs=keep)
    new = replace(op, jaxpr=body, num_consts=sum(has_input[:op.num_consts]), num_carry=sum(carry))
    return Eqn(new, tuple(chosen(eqn.inputs, has_input)), tuple(chosen(eqn.outputs, [*carry, *used_ys])), eqn.source)


@dce_rule.register(o.While)
def _while(op: o.While, eqn: Eqn, used: Sequence[bool]) -> Eqn:
    """The condition needs its part of the carry, whatever is used."""
    of_cond, of_body, init = cut(eqn.inputs, op.cond_consts, op.body_consts)
    needed = dce(op.cond_jaxpr, keep_inputs=False)[1][op.cond_consts:]
    carry = live_carry(op.body_jaxpr, op.body_consts, either(used, needed))
    condition, has_cond = dce(op.cond_jaxpr, keep_inputs=[False] * op.cond_consts + carry)
    body, has_body = dce(op.body_jaxpr, carry, keep_inputs=[False] * op.body_consts + carry)
    of_cond, of_body = chosen(of_cond, has_cond), chosen(of_body, has_body)
    return Eqn(o.While(condition, body, len(of_cond), len(of_body)), (*of_cond, *of_body, *chosen(init, carry)),
               tuple(chosen(eqn.outputs, carry)), eqn.source)
