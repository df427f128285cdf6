"""Partial evaluation: splitting a program into what can be computed now and what must wait."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..ir import Eqn, Jaxpr, Operation, ShapedArray, Var, assemble, partial_eval_rule
from ..ir import ops as o
from .passes import rewrite_pass


class Split(NamedTuple):
    """A program in two.

    Attributes:
        known: from the known inputs, to the known outputs and then the residuals.
        unknown: from the residuals and then the unknown inputs, to the unknown outputs.
        unknown_outputs: for each output of the whole program, whether it is in ``unknown``.
        residual_count: how many residuals there are.
    """

    known: Jaxpr
    unknown: Jaxpr
    unknown_outputs: list[bool]
    residual_count: int


@rewrite_pass
def partial_eval(jaxpr: Jaxpr, unknown_inputs: Sequence[bool]) -> Split:
    """Split a program by which of its inputs are known.

    Equations that need known values only go into the first program, all others into the second; the values that
    cross are the residuals. Running the first on the known inputs and the second on its residuals and the unknown
    inputs gives what the whole program gives.
    """
    next_index = len(jaxpr.in_binders) + sum(len(eqn.outputs) for eqn in jaxpr.eqns)

    def fresh(aval: ShapedArray) -> Var:
        nonlocal next_index
        next_index += 1
        return Var(next_index - 1, aval)

    unknown: set[int] = {v.index for v, flag in zip(jaxpr.in_binders, unknown_inputs, strict=True) if flag}
    known_eqns: list[Eqn] = []
    unknown_eqns: list[Eqn] = []
    for eqn in jaxpr.eqns:
        flags = [type(a) is Var and a[0] in unknown for a in eqn[1]]
        if True not in flags:
            known_eqns.append(eqn)
            continue
        rule = partial_eval_rule[type(eqn.op)]
        now, later, out_flags = rule(eqn.op, eqn, flags, fresh)
        known_eqns.extend(now)
        unknown_eqns.extend(later)
        unknown.update([v[0] for v, flag in zip(eqn.outputs, out_flags) if flag])
    return _assemble_split(jaxpr, unknown, known_eqns, unknown_eqns, unknown_inputs)


def _assemble_split(jaxpr: Jaxpr, unknown: set[int], known_eqns: list[Eqn], unknown_eqns: list[Eqn],
                    unknown_inputs: Sequence[bool]) -> Split:
    unknown_outputs = [type(a) is Var and a.index in unknown for a in jaxpr.outs]
    later_outs = [a for a, flag in zip(jaxpr.outs, unknown_outputs) if flag]
    later_ins = [v for v, flag in zip(jaxpr.in_binders, unknown_inputs) if flag]
    residuals = _free_variables(unknown_eqns, later_ins)
    now_ins = [v for v, flag in zip(jaxpr.in_binders, unknown_inputs) if not flag]
    now_outs = [a for a, flag in zip(jaxpr.outs, unknown_outputs) if not flag]
    known = assemble(now_ins, known_eqns, now_outs + residuals)
    later = assemble(residuals + later_ins, unknown_eqns, later_outs)
    return Split(known, later, unknown_outputs, len(residuals))


def _free_variables(eqns: Sequence[Eqn], bound: Sequence[Var]) -> list[Var]:
    seen = {v[0] for v in bound}
    free: list[Var] = []
    for _, inputs, outputs, _ in eqns:
        for a in inputs:
            if type(a) is Var and a[0] not in seen:
                seen.add(a[0])
                free.append(a)
        for v in outputs:
            seen.add(v[0])
    return free


Parts = tuple[list[Eqn], list[Eqn], list[bool]]


@partial_eval_rule.register(Operation)
def _all_later(op: Operation, eqn: Eqn, unknown: Sequence[bool], fresh: Callable[[ShapedArray], Var]) -> Parts:
    """An operation with an unknown operand waits, with all its outputs."""
    return [], [eqn], [True] * len(eqn.outputs)


@partial_eval_rule.register(o.Jit)
def _split_the_call(op: o.Jit, eqn: Eqn, unknown: Sequence[bool], fresh: Callable[[ShapedArray], Var]) -> Parts:
    """A call is split into a call of the known part and one of the rest."""
    split = partial_eval(op.jaxpr, unknown)
    residuals = [fresh(aval) for aval in split.known.out_avals[len(split.known.outs) - split.residual_count:]]
    known_outs = [v for v, flag in zip(eqn.outputs, split.unknown_outputs) if not flag]
    unknown_outs = [v for v, flag in zip(eqn.outputs, split.unknown_outputs) if flag]
    known_ins = tuple(a for a, flag in zip(eqn.inputs, unknown) if not flag)
    unknown_ins = tuple(a for a, flag in zip(eqn.inputs, unknown) if flag)
    now = Eqn(replace(op, jaxpr=split.known, donated=()), known_ins, (*known_outs, *residuals), eqn.source)
    later = Eqn(replace(op, jaxpr=split.unknown, donated=()), (*residuals, *unknown_ins), tuple(unknown_outs),
                eqn.source)
    return [now], [later], split.unknown_outputs
