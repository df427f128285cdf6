"""Control flow: the programs within are run by Python's own."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir import evaluate
from ..ir.ops import Cond, Scan, While
from .evaluate import Runner, run_jaxpr_with


@evaluate.register(Cond)
def _cond(op: Cond, index: Any, *values: Any, run: Runner | None = None) -> list[Any]:
    chosen = min(max(int(index), 0), len(op.branches) - 1)
    return run_jaxpr_with(op.branches[chosen], values, run)


@evaluate.register(While)
def _while(op: While, *values: Any, run: Runner | None = None) -> list[Any]:
    first, second = op.cond_consts, op.cond_consts + op.body_consts
    of_cond, of_body, carry = values[:first], values[first:second], list(values[second:])
    while run_jaxpr_with(op.cond_jaxpr, [*of_cond, *carry], run)[0]:
        carry = run_jaxpr_with(op.body_jaxpr, [*of_body, *carry], run)
    return carry


@evaluate.register(Scan)
def _scan(op: Scan, *values: Any, run: Runner | None = None) -> list[Any]:
    start = op.num_consts + op.num_carry
    consts, carry, xs = values[:op.num_consts], list(values[op.num_consts:start]), values[start:]
    ys = [np.empty((op.length, *a.shape), a.dtype) for a in op.jaxpr.out_avals[op.num_carry:]]
    for i in reversed(range(op.length)) if op.reverse else range(op.length):
        # The ellipsis keeps slices of vectors arrays, of 0 dimensions, where NumPy would give scalars.
        outs = run_jaxpr_with(op.jaxpr, [*consts, *carry, *[x[i, ...] for x in xs]], run)
        carry = outs[:op.num_carry]
        for y, row in zip(ys, outs[op.num_carry:]):
            y[i] = row
    return [*carry, *ys]
