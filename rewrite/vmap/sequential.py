"""Batching by one call after another, for operations whose effects must happen once an index and in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...ir import Operation, bind, stage
from ...ir import ops as o
from .batching import BatchAxis, Dim, move_axis
from .transform import unbatched_aval


def one_call_after_another(op: Operation, axis: BatchAxis, args: Sequence[Any],
                           dims: Sequence[Dim]) -> tuple[list, list]:
    """An operation with multiple results, applied for each index in turn by a scan."""
    mapped = [d is not None for d in dims]
    consts = [x for x, flag in zip(args, mapped) if not flag]
    xs = [move_axis(x, d, 0) for x, d in zip(args, dims) if d is not None]

    def step(*values: Any) -> list[Any]:
        given, rows = iter(values[:len(consts)]), iter(values[len(consts):])
        return bind(op, *[next(rows) if flag else next(given) for flag in mapped])

    avals = [x.aval for x in consts] + [unbatched_aval(x, 0) for x in xs]
    outs = o.scan(stage(step, avals, f"vmap of {op.name}")[0], axis.size, consts, [], xs)
    return outs, [0] * len(outs)
