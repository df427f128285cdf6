"""Transposes of solutions: solutions with the transposed product."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...ir import LinearInput, bind, instantiate, transpose_rule
from ...ir import ops as o
from ..dce import dce


@transpose_rule.register(o.LinearSolve)
def _transpose_of_linear_solve(op: o.LinearSolve, cts: Sequence[Any], args: Sequence[Any]) -> list[Any]:
    n, count = op.num_consts, len(op.matvec.outs)
    if any(type(x) is LinearInput for x in args[:n]):
        raise TypeError(f"cannot transpose linear_solve with {op.function_name}: it is not linear in what its product "
                        f"closes over")
    if op.vecmat is None or op.transpose_solve is None:
        raise TypeError(f"custom_linear_solve with {op.function_name} cannot be differentiated in reverse: it needs "
                        f"transpose_solve, or symmetric=True")
    solve, _ = dce(op.solve, [True] * count + [False] * (len(op.solve.outs) - count))
    back = o.LinearSolve(op.vecmat, op.transpose_solve, op.matvec, solve, n, f"transpose({op.function_name})")
    results = bind(back, *args[:n], *map(instantiate, cts[:count]))
    return [None] * n + [r if type(x) is LinearInput else None for r, x in zip(results, args[n:])]
