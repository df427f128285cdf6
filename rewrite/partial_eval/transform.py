"""Partial evaluation: splitting a program into what can be computed now and what must wait."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...ir import Atom, Eqn, Jaxpr, Operation, ShapedArray, Var, assemble, partial_eval_rule
from ..dce import live_equations
from ..passes import for_each, require_one_each, rewrite_pass
from ..programs import chosen, next_index, others

Parts = tuple[list[Eqn], list[Eqn], list[bool]]
Fresh = Callable[[ShapedArray], Var]


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

    @property
    def residuals(self) -> tuple[Atom, ...]:
        """What ``known`` computes for ``unknown``: variables of ``known``."""
        return self.known.outs[len(self.known.outs) - self.residual_count:]


@rewrite_pass
def partial_eval(jaxpr: Jaxpr, unknown_inputs: Sequence[bool], force_unknown: bool | Sequence[bool] = False) -> Split:
    """Split a program by which of its inputs are known.

    Equations that need known values only go into the first program, all others into the second; the values that
    cross are the residuals. Running the first on the known inputs and the second on its residuals and the unknown
    inputs gives what the whole program gives.

    Args:
        jaxpr: the program.
        unknown_inputs: for each input, whether it is unknown.
        force_unknown: whether an output is to be in the second program even where it could be known; one flag for all
            outputs, or one for each.

    Returns:
        A named tuple ``(known, unknown, unknown_outputs, residual_count)``. ``known`` takes the known inputs, and gives
        the known outputs and then the residuals; ``unknown`` takes the residuals and then the unknown inputs, and gives
        the outputs flagged in ``unknown_outputs``.

    Raises:
        TypeError: ``jaxpr`` is not a Jaxpr.
        ValueError: ``unknown_inputs`` does not have one flag for each input.

    >>> import glax
    >>> from glax import rewrite
    >>> program = glax.ir.parse("{ lambda ; a:f32[] b:f32[]. let c:f32[] = sin a d:f32[] = mul c b in (c, d) }")
    >>> split = rewrite.partial_eval(program, [False, True])
    >>> split.known
    { lambda ; a:f32[]. let b:f32[] = sin a in (b, b) }
    >>> split.unknown
    { lambda ; a:f32[] b:f32[]. let c:f32[] = mul a b in (c,) }
    >>> split.unknown_outputs
    [False, True]
    """
    require_one_each("partial_eval: unknown_inputs", unknown_inputs, jaxpr.in_binders)
    index = next_index(jaxpr)

    def fresh(aval: ShapedArray) -> Var:
        nonlocal index
        index += 1
        return Var(index - 1, aval)

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
    wait = [force or (type(a) is Var and a[0] in unknown) for a, force in zip(
        jaxpr.outs, for_each(force_unknown, jaxpr.outs))]
    later_ins, now_ins = chosen(jaxpr.in_binders, unknown_inputs), others(jaxpr.in_binders, unknown_inputs)
    unknown_outs, known_outs = chosen(jaxpr.outs, wait), others(jaxpr.outs, wait)
    needed, _ = live_equations(unknown_eqns, unknown_outs)
    residuals = _free_variables(needed, later_ins, unknown_outs)
    if needed != unknown_eqns:
        known_eqns, _ = live_equations(known_eqns, known_outs + residuals)
    return Split(assemble(now_ins, known_eqns, known_outs + residuals),
                 assemble(residuals + later_ins, needed, unknown_outs), wait, len(residuals))


def _free_variables(eqns: Sequence[Eqn], bound: Sequence[Var], outs: Sequence[Atom]) -> list[Var]:
    seen = {v[0] for v in bound}
    free: list[Var] = []

    def meet(atoms: Sequence[Atom]) -> None:
        for a in atoms:
            if type(a) is Var and a[0] not in seen:
                seen.add(a[0])
                free.append(a)

    for _, inputs, outputs, _ in eqns:
        meet(inputs)
        seen.update([v[0] for v in outputs])
    meet(outs)
    return free


@partial_eval_rule.register(Operation)
def _all_later(op: Operation, eqn: Eqn, unknown: Sequence[bool], fresh: Fresh) -> Parts:
    """An operation with an unknown operand waits, with all its outputs."""
    return [], [eqn], [True] * len(eqn.outputs)
