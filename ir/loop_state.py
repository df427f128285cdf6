"""Loops whose programs hand on a state: values that come before the inputs, and before the results, of each.

A rewrite that gives every program a state, such as an error so far, gives it to loops by these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .jaxpr import Jaxpr
from .ops import Scan, While
from .staging import aval_of, bind, splice, stage


def scan_with_state(op: Scan, body: Jaxpr, state: Sequence[Any], operands: Sequence[Any]) -> list[Any]:
    """The state and the results of a scan.

    Args:
        op: the scan as it was.
        body: its program with a state.
        state: the state before the first step.
        operands: those of the scan.
    """
    n = op.num_consts
    moved = _with_state_behind(body, n, len(state))
    return bind(replace(op, jaxpr=moved, num_carry=op.num_carry + len(state)), *operands[:n], *state, *operands[n:])


def while_with_state(op: While, condition: Jaxpr | None, body: Jaxpr, state: Sequence[Any],
                     operands: Sequence[Any]) -> list[Any]:
    """The state and the results of a while loop.

    A condition can hand on nothing. So one with a state becomes part of the step, which hands its answer on: first
    before the loop, then after each step.

    Args:
        op: the loop as it was.
        condition: its condition with a state; None where that one has to do with none.
        body: its body with a state.
        state: the state before the first step.
        operands: those of the loop.
    """
    first, second, count = op.cond_consts, op.cond_consts + op.body_consts, len(state)
    of_cond, of_body, carry = operands[:first], operands[first:second], operands[second:]
    if condition is None:
        plain, _ = stage(lambda *xs: splice(op.cond_jaxpr, [*xs[:first], *xs[first + count:]]),
                         [aval_of(x) for x in (*of_cond, *state, *carry)], "a loop")
        moved = _with_state_behind(body, op.body_consts, count)
        return bind(replace(op, cond_jaxpr=plain, body_jaxpr=moved), *of_cond, *of_body, *state, *carry)
    *state, again = splice(condition, [*state, *of_cond, *carry])

    def step(*xs: Any) -> list[Any]:
        cond_consts, body_consts, (_, *inner) = xs[:first], xs[first:second], xs[second:]
        inner = splice(body, [*inner[:count], *body_consts, *inner[count:]])
        *handed_on, answer = splice(condition, [*inner[:count], *cond_consts, *inner[count:]])
        return [answer, *handed_on, *inner[count:]]

    given = [*of_cond, *of_body, again, *state, *carry]
    avals = [aval_of(x) for x in given]
    stepped, _ = stage(step, avals, "a loop")
    answer, _ = stage(lambda again, *rest: [again], avals[second:], "a loop")
    return bind(While(answer, stepped, 0, second), *given)[1:]


def _with_state_behind(body: Jaxpr, consts: int, count: int) -> Jaxpr:
    """A program with its state behind its constants, where a loop has its carry, rather than before them."""
    avals, end = body.in_avals, consts + count
    return stage(lambda *xs: splice(body, [*xs[consts:end], *xs[:consts], *xs[end:]]),
                 [*avals[count:end], *avals[:count], *avals[end:]], "a loop")[0]
