"""Batching of solutions: every row of b has its x."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...ir import Jaxpr, bind, vmap_rule
from ...ir import ops as o
from .batching import BatchAxis, Dim, all_batched_first
from .transform import vmap


@vmap_rule.register(o.LinearSolve)
def _vmap_of_linear_solve(op: o.LinearSolve, axis: BatchAxis, args: Sequence[Any],
                          dims: Sequence[Dim]) -> tuple[list, list]:
    """Constants keep their axes; b and x have theirs first."""
    n = op.num_consts

    def batched(program: Jaxpr | None) -> Jaxpr | None:
        if program is None:
            return None
        return vmap(program, axis, [*dims[:n], *[0] * (len(program.in_binders) - n)])[0]

    call = replace(op, matvec=batched(op.matvec), solve=batched(op.solve), vecmat=batched(op.vecmat),
                   transpose_solve=batched(op.transpose_solve))
    outs = bind(call, *args[:n], *all_batched_first(axis, args[n:], dims[n:]))
    return outs, [0] * len(outs)
