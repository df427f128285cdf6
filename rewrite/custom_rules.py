"""The programs of custom rules, made ready for use: recursion unrolled, pending vectorisations done."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..ir import Jaxpr, Operation, assemble
from ..ir import ops as o
from .vmap import BatchAxis, batched_backward, vmap

CustomCall = o.CustomJvpCall | o.CustomVjpCall


def rules_of(op: Operation) -> dict[str, Any]:
    """The fields of a custom call that hold its author's rules."""
    if isinstance(op, o.CustomJvpCall):
        return {"rule": op.rule}
    return {"forward": op.forward, "backward": op.backward} if isinstance(op, o.CustomVjpCall) else {}


def unrolled(program: Jaxpr, owner: CustomCall, depth: int = 0) -> Jaxpr:
    """A rule of a call, with the call's rules in the place of what stands for them in it."""
    changed = False
    eqns = []
    for eqn in program.eqns:
        op = _unrolled_operation(eqn.op, owner, depth)
        changed = changed or op is not eqn.op
        eqns.append(eqn if op is eqn.op else eqn._replace(op=op))
    return assemble(program.in_binders, eqns, program.outs) if changed else program


def _unrolled_operation(op: Operation, owner: CustomCall, depth: int) -> Operation:
    rules = rules_of(op)
    if not rules:
        made = op.map_jaxprs(lambda sub: unrolled(sub, owner, depth))
        return op if made == op else made
    if any(type(rule) is o.Recursive and rule.depth == depth for rule in rules.values()):
        return replace(op, **rules_of(owner))
    changes = {name: unrolled(rule, owner, depth + 1) for name, rule in rules.items() if type(rule) is Jaxpr}
    changes["jaxpr"] = unrolled(op.jaxpr, owner, depth)
    return replace(op, **changes) if any(getattr(op, k) is not v for k, v in changes.items()) else op


def _usable(rule: Any, op: CustomCall) -> Jaxpr:
    if type(rule) is o.RuleFailure:
        rule.raise_error()
    if type(rule) is o.Recursive:
        raise ValueError(f"{op.name} of {op.function_name}: its rules are those of an enclosing call, but it stands in "
                         f"none")
    return unrolled(rule, op)


def jvp_program(op: o.CustomJvpCall) -> Jaxpr:
    """The derivative rule of a call as it is now: from operands and tangents to outputs and tangents."""
    program = _usable(op.rule, op)
    inexact = [a.is_inexact for a in op.jaxpr.in_avals[op.num_consts:]]
    for size, name, dims in op.vmaps:
        of_tangents = [d for d, flag in zip(dims[op.num_consts:], inexact) if flag]
        program, _ = vmap(program, BatchAxis(size, name), [*dims, *of_tangents])
    return program


def vjp_programs(op: o.CustomVjpCall) -> tuple[Jaxpr, Jaxpr]:
    """The forward and backward rules of a call as it is now."""
    forward, backward = _usable(op.forward, op), _usable(op.backward, op)
    count, n = len(op.jaxpr.outs), op.num_consts
    inexact = [a.is_inexact for a in op.jaxpr.in_avals[n:]]
    for size, name, dims in op.vmaps:
        axis = BatchAxis(size, name)
        forward, out_dims = vmap(forward, axis, dims, [0] * count + [True] * (len(forward.outs) - count))
        of_arguments = [d for d, flag in zip(dims[n:], inexact) if flag]
        backward = batched_backward(backward, axis, [*dims[:n], *out_dims[count:]], of_arguments)
    return forward, backward
