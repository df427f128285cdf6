"""Derivatives of control flow: the tangents go along with the values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...ir import Jaxpr, Zero, bind, instantiate, jvp_rule
from ...ir import ops as o
from ..programs import any_of, beside, chosen, either, put_back, rearranged, with_inputs
from .transform import jvp, split_outputs


def nonzeros(tangents: Sequence) -> list[bool]:
    return [type(t) is not Zero for t in tangents]


@jvp_rule.register(o.Cond)
def _jvp_of_cond(op: o.Cond, primals: list, tangents: list) -> tuple[list, list]:
    """An output has a tangent where it has one in any branch."""
    nonzero = nonzeros(tangents[1:])
    found = [jvp(branch, nonzero) for branch in op.branches]
    out_nonzero = any_of([flags for _, flags in found])
    branches = [program if flags == out_nonzero else jvp(branch, nonzero, out_nonzero)[0]
                for branch, (program, flags) in zip(op.branches, found)]
    results = bind(o.Cond(tuple(branches)), *primals, *chosen(tangents[1:], nonzero))
    return split_outputs(op, results, op.branches[0], out_nonzero)


def jvp_of_loop_body(jaxpr: Jaxpr, nonzero: list[bool], first: int,
                     count: int) -> tuple[Jaxpr, list[bool], list[bool]]:
    """The derivative of a program that maps a carry, at these positions, to the next, and what has tangents in it.

    A part of the carry has a tangent where it starts with one or is given one by a step.
    """
    carry = nonzero[first:first + count]
    while True:
        nonzero = [*nonzero[:first], *carry, *nonzero[first + count:]]
        program, out_nonzero = jvp(jaxpr, nonzero, carry + [False] * (len(jaxpr.outs) - count))
        if out_nonzero[:count] == carry:
            return program, nonzero, out_nonzero
        carry = either(carry, out_nonzero[:count])


@jvp_rule.register(o.Scan)
def _jvp_of_scan(op: o.Scan, primals: list, tangents: list) -> tuple[list, list]:
    start, n = op.num_consts, op.num_carry
    program, nonzero, out_nonzero = jvp_of_loop_body(op.jaxpr, nonzeros(tangents), start, n)
    ins = beside((start, n, len(primals) - start - n), nonzero)
    outs = beside((n, len(out_nonzero) - n), out_nonzero)
    operands = [*primals, *map(instantiate, chosen(tangents, nonzero))]
    derivative = replace(op, jaxpr=rearranged(program, ins, outs), num_consts=start + sum(nonzero[:start]),
                         num_carry=n + sum(nonzero[start:start + n]))
    results = put_back(bind(derivative, *[operands[i] for i in ins]), outs)
    return split_outputs(op, results, op.jaxpr, out_nonzero)


@jvp_rule.register(o.While)
def _jvp_of_while(op: o.While, primals: list, tangents: list) -> tuple[list, list]:
    first, start = op.cond_consts, op.body_consts
    n = len(primals) - first - start
    program, nonzero, out_nonzero = jvp_of_loop_body(op.body_jaxpr, nonzeros(tangents[first:]), start, n)
    ins, outs = beside((start, n), nonzero), beside((n,), out_nonzero)
    moving = chosen(op.body_jaxpr.in_avals[start:], nonzero[start:])
    condition = with_inputs(op.cond_jaxpr, [*range(first + n), *moving])
    operands = [*primals[first:], *map(instantiate, chosen(tangents[first:], nonzero))]
    derivative = o.While(condition, rearranged(program, ins, outs), first, start + sum(nonzero[:start]))
    results = put_back(bind(derivative, *primals[:first], *[operands[i] for i in ins]), outs)
    return split_outputs(op, results, op.body_jaxpr, out_nonzero)
