"""Derivatives of solutions: A x = b, so A dx = db - dA x."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...ir import Zero, add_tangents, bind, instantiate, jvp_rule
from ...ir import ops as o
from ..dce import dce
from .transform import jvp, splice_moving, split_outputs


def solve_only(op: o.LinearSolve) -> o.LinearSolve:
    """The operation without outputs beyond the solution."""
    count = len(op.matvec.outs)
    extra = len(op.solve.outs) - count
    return replace(op, solve=dce(op.solve, [True] * count + [False] * extra)[0]) if extra else op


@jvp_rule.register(o.LinearSolve)
def _jvp_of_linear_solve(op: o.LinearSolve, primals: list, tangents: list) -> tuple[list, list]:
    n, count = op.num_consts, len(op.matvec.outs)
    outs = bind(op, *primals)
    moved = _change_of_product(op, primals[:n], outs[:count], tangents[:n])
    given = [add_tangents(t, d if type(d) is Zero else o.neg(d)) for t, d in zip(tangents[n:], moved)]
    no_derivative = [Zero(x.aval) for x in outs[count:]]
    if all(type(t) is Zero for t in given):
        return outs, [*given, *no_derivative]
    return outs, [*bind(solve_only(op), *primals[:n], *map(instantiate, given)), *no_derivative]


def _change_of_product(op: o.LinearSolve, consts: Sequence[Any], x: Sequence[Any], tangents: Sequence[Any]) -> list:
    """dA x, the derivative of the product by the constants."""
    all_tangents = [*tangents, *[Zero(v.aval) for v in x]]
    program, out_nonzero = jvp(op.matvec, [type(t) is not Zero for t in all_tangents])
    count = len(op.matvec.outs)
    derivative, _ = dce(program, [False] * count + [True] * sum(out_nonzero))
    results = splice_moving(derivative, [*consts, *x], all_tangents)
    return split_outputs(op, [None] * count + results, op.matvec, out_nonzero)[1]
