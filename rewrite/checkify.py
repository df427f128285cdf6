"""Making the failure of checks a part of a program's results.

The program is rewritten to carry an error through calls, choices and loops: a flag, a code that says which check was
the first to fail, and the values that its message shows. Nothing stops where a check fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..ir import (
    Builder,
    Eqn,
    Jaxpr,
    Operation,
    Tracer,
    Var,
    assemble,
    aval_of,
    bind,
    building,
    dtypes,
    rewritten,
    splice,
)
from ..ir import ops as o
from ..ir.types import shaped_array
from .check_sites import INT32, Site, Tested, places_of, sites_of, slots_of
from .custom_rules import is_inexact, jvp_program, vjp_programs
from .passes import rewrite_pass
from .programs import cut, program_of, rearranged, with_inputs

_FLAG = shaped_array((), np.dtype(bool))


@rewrite_pass
def checkify(jaxpr: Jaxpr, kinds: frozenset[str]) -> tuple[Jaxpr, tuple[Site, ...], int]:
    """The program that also gives the first error of its checks.

    Args:
        jaxpr: the program.
        kinds: what to check: of "user" (the checks in the program), "nan", "index" and "div".

    Returns:
        A program from the same inputs to a flag, a code, values, and then the outputs; the checks by their code; and
        how many values there are.
    """
    work = _Checking(jaxpr, kinds)
    body = work.program(jaxpr)

    def run(*xs: Any) -> list[Any]:
        zeros = [o.full(a.shape, 0, a.dtype) for a in work.slots]
        return splice(body, [np.bool_(False), np.int32(0), *zeros, *xs])

    program = program_of(run, jaxpr.in_avals)
    return program, tuple(work.codes), len(work.slots)


class _Checking:
    """The rewrite of one program and those within it: the checks found, by code, and the types of what is carried."""

    def __init__(self, jaxpr: Jaxpr, kinds: frozenset[str]):
        self.kinds = kinds
        self.codes: dict[Site, int] = {}
        self._checked: dict[Jaxpr, bool] = {}
        self._made: dict[Jaxpr, Jaxpr] = {}
        self.is_checked(jaxpr)
        self.slots = slots_of(list(self.codes))
        self.state_avals = [_FLAG, INT32, *self.slots]

    def is_checked(self, jaxpr: Jaxpr) -> bool:
        """Whether there are checks in a program, at any depth, also if not of these kinds; those that are get codes."""
        found = self._checked.get(jaxpr)
        if found is None:
            found = False
            for eqn in jaxpr.eqns:
                found = found or isinstance(eqn.op, o.Check)
                for site, _ in sites_of(eqn, self.kinds):
                    self.codes.setdefault(site, len(self.codes))
                    found = True
                for program in _programs_run_by(eqn.op):
                    found = self.is_checked(program) or found
            self._checked[jaxpr] = found
        return found

    def program(self, jaxpr: Jaxpr) -> Jaxpr:
        """From the error so far and the inputs to the error and the outputs."""
        found = self._made.get(jaxpr)
        if found is None:
            found = self._made[jaxpr] = self._make(jaxpr)
        return found

    def _make(self, jaxpr: Jaxpr) -> Jaxpr:
        builder = Builder("checkify")
        with building(builder):
            state: list[Any] = [builder.add_input(a) for a in self.state_avals]
            env: list[Any] = [builder.add_input(v.aval) for v in jaxpr.in_binders]
            for eqn in jaxpr.eqns:
                builder.source = rewritten(eqn.source, "checkify")
                operands = [env[a[0]] if type(a) is Var else Tracer(builder, a, a.aval) for a in eqn.inputs]
                state, outs = self._equation(builder, eqn, state, operands)
                env.extend(outs)
            return builder.close([*state, *(env[a[0]] if type(a) is Var else a for a in jaxpr.outs)])[0]

    def _equation(self, builder: Builder, eqn: Eqn, state: list[Any], operands: list[Any]) -> tuple[list, list]:
        op = eqn.op
        if any(map(self.is_checked, _programs_run_by(op))):
            rule = next(rule for kind, rule in _RULES.items() if isinstance(op, kind))
            results = rule(self, op, state, operands)
            state, outs = cut(results, len(state))
        elif isinstance(op, o.Check):
            outs = []
        else:
            out = builder.emit(op, operands)
            outs = list(out) if op.multiple_results else [out]
        for site, test in sites_of(eqn, self.kinds):
            state = self._updated(state, site, test(operands, outs))
        return state, outs

    def _updated(self, state: list[Any], site: Site, tested: Tested) -> list[Any]:
        """The error, which is that of this check where it failed and none had before."""
        flag, code, *slots = state
        first = o.and_(tested.failed, o.not_(flag))
        for place, x, aval in zip(places_of(site, list(self.slots)), tested.values, site.types):
            x = o.stop_gradient(o.convert_element_type(x, aval.dtype, False))
            slots[place] = o.select_n(first, slots[place], x)
        return [o.or_(flag, tested.failed), o.select_n(first, code, np.int32(self.codes[site])), *slots]


# ---- operations that run programs ------------------------------------------------------------------------------


def _programs_run_by(op: Operation) -> list[Jaxpr]:
    """The programs within an operation whose checks become part of it."""
    if isinstance(op, o.LinearSolve):
        return [op.solve]
    if isinstance(op, (o.CustomJvpCall, o.CustomVjpCall)):
        return [op.jaxpr]
    return list(op.sub_jaxprs()) if isinstance(op, tuple(_RULES)) else []


def _call(work: _Checking, op: Any, state: list[Any], operands: list[Any]) -> list[Any]:
    return bind(replace(op, jaxpr=work.program(op.jaxpr)), *state, *operands)


def _jit(work: _Checking, op: o.Jit, state: list[Any], operands: list[Any]) -> list[Any]:
    return _call(work, replace(op, donated=()), state, operands)


def _plain_call(work: _Checking, op: o.CustomVmapCall, state: list[Any], operands: list[Any]) -> list[Any]:
    """A call whose rule for vectorising it knows of no error."""
    return bind(o.Jit(work.program(op.jaxpr), function_name=op.function_name), *state, *operands)


def _cond(work: _Checking, op: o.Cond, state: list[Any], operands: list[Any]) -> list[Any]:
    index, *rest = operands
    return bind(o.Cond(tuple(map(work.program, op.branches))), index, *state, *rest)


def _behind(program: Jaxpr, state_count: int, count: int) -> Jaxpr:
    """A program with the error behind its first inputs rather than before them."""
    ins = [*range(state_count, state_count + count), *range(state_count),
           *range(state_count + count, len(program.in_binders))]
    return rearranged(program, ins)


def _scan(work: _Checking, op: o.Scan, state: list[Any], operands: list[Any]) -> list[Any]:
    n = op.num_consts
    body = _behind(work.program(op.jaxpr), len(state), n)
    return bind(replace(op, jaxpr=body, num_carry=op.num_carry + len(state)), *operands[:n], *state, *operands[n:])


def _while(work: _Checking, op: o.While, state: list[Any], operands: list[Any]) -> list[Any]:
    first, n = op.cond_consts, len(state)
    of_cond, of_body, carry = cut(operands, first, op.body_consts)
    if work.is_checked(op.cond_jaxpr):
        return _while_with_checked_condition(work, op, state, of_cond, of_body, carry)
    condition = with_inputs(op.cond_jaxpr, [*range(first), *work.state_avals, *range(first, first + len(carry))])
    body = _behind(work.program(op.body_jaxpr), n, op.body_consts)
    return bind(replace(op, cond_jaxpr=condition, body_jaxpr=body), *of_cond, *of_body, *state, *carry)


def _while_with_checked_condition(work: _Checking, op: o.While, state: list[Any], of_cond: list[Any],
                                  of_body: list[Any], carry: list[Any]) -> list[Any]:
    """The condition is part of the step, which hands its answer on: first before the loop, then after each step."""
    n = len(state)
    condition, body = work.program(op.cond_jaxpr), work.program(op.body_jaxpr)
    *state, again = splice(condition, [*state, *of_cond, *carry])

    def step(*xs: Any) -> list[Any]:
        cond_consts, body_consts, _, (*inner,) = cut(xs, len(of_cond), len(of_body), 1)
        error, values = cut(inner, n)
        error, values = cut(splice(body, [*error, *body_consts, *values]), n)
        *error, answer = splice(condition, [*error, *cond_consts, *values])
        return [answer, *error, *values]

    operands = [*of_cond, *of_body, again, *state, *carry]
    stepped = program_of(step, [aval_of(x) for x in operands])
    answer = program_of(lambda again, *rest: [again], [aval_of(x) for x in operands[len(of_cond) + len(of_body):]])
    return bind(o.While(answer, stepped, 0, len(of_cond) + len(of_body)), *operands)[1:]


def _without_tangents(state: Sequence[Any]) -> list[Any]:
    """The error for a custom call, which is not to be differentiated by it."""
    return [o.stop_gradient(x) if dtypes.is_inexact(aval_of(x).dtype) else x for x in state]


def _without_checks(jaxpr: Jaxpr) -> Jaxpr:
    """A program without its checks, at every depth."""
    kept = [eqn for eqn in jaxpr.eqns if not isinstance(eqn.op, o.Check)]
    eqns = [eqn._replace(op=eqn.op.map_jaxprs(_without_checks)) for eqn in kept]
    return assemble(jaxpr.in_binders, eqns, jaxpr.outs)


def _custom_jvp(work: _Checking, op: o.CustomJvpCall, state: list[Any], operands: list[Any]) -> list[Any]:
    """The rule gives outputs and tangents, unchecked; the error is that of the function, and has no tangent."""
    program, n, count = work.program(op.jaxpr), len(state), len(operands)

    def rule(*xs: Any) -> list[Any]:
        error, rest = cut(xs, n)
        error = splice(program, [*error, *rest[:count]])[:n]
        outs, tangents = cut(splice(ruled, rest), len(op.jaxpr.outs))
        return [*error, *outs, *[o.full(a.shape, 0, a.dtype) for a in work.slots if is_inexact(a)], *tangents]

    made: Any = op.rule
    if not isinstance(op.rule, o.RuleFailure):
        ruled = _without_checks(jvp_program(op))
        made = program_of(rule, [*work.state_avals, *ruled.in_avals])
    call = replace(op, jaxpr=program, rule=made, num_consts=op.num_consts + n, vmaps=())
    return bind(call, *_without_tangents(state), *operands)


def _custom_vjp(work: _Checking, op: o.CustomVjpCall, state: list[Any], operands: list[Any]) -> list[Any]:
    program, n, consts = work.program(op.jaxpr), len(state), op.num_consts
    call = replace(op, jaxpr=program, num_consts=consts + n, vmaps=())
    if not isinstance(op.forward, o.RuleFailure) and not isinstance(op.backward, o.RuleFailure):
        forward, backward = map(_without_checks, vjp_programs(op))
        of_error = [a for a in work.slots if is_inexact(a)]
        residuals = len(forward.outs) - len(op.jaxpr.outs)

        def ahead(*xs: Any) -> list[Any]:
            error, rest = cut(xs, n)
            return [*splice(program, [*error, *rest])[:n], *splice(forward, rest)]

        def back(*xs: Any) -> list[Any]:
            _, saved, _, cotangents = cut(xs, n, consts + residuals, len(of_error))
            return splice(backward, [*saved, *cotangents])

        types = backward.in_avals
        call = replace(call, forward=program_of(ahead, [*work.state_avals, *forward.in_avals]), backward=program_of(
            back, [*work.state_avals, *types[:consts + residuals], *of_error, *types[consts + residuals:]]))
    return bind(call, *_without_tangents(state), *operands)


def _linear_solve(work: _Checking, op: o.LinearSolve, state: list[Any], operands: list[Any]) -> list[Any]:
    """The error is among the constants that all programs take, and a further output of the one that solves."""
    n, count = len(state), len(op.solve.outs)
    solve = work.program(op.solve)
    solve = rearranged(solve, range(len(solve.in_binders)), [*range(n, n + count), *range(n)])

    def ignoring(program: Jaxpr | None) -> Jaxpr | None:
        return program and with_inputs(program, [*work.state_avals, *range(len(program.in_binders))])

    call = replace(op, solve=solve, matvec=ignoring(op.matvec), vecmat=ignoring(op.vecmat),
                   transpose_solve=ignoring(op.transpose_solve), num_consts=op.num_consts + n)
    outs = bind(call, *_without_tangents(state), *operands)
    return [*outs[count:], *outs[:count]]


_RULES: dict[type[Operation], Any] = {
    o.Jit: _jit, o.Cond: _cond, o.Scan: _scan, o.While: _while, o.CustomJvpCall: _custom_jvp,
    o.CustomVjpCall: _custom_vjp, o.CustomVmapCall: _plain_call, o.Checkpoint: _call, o.LinearSolve: _linear_solve,
}
