"""Batching of calls of Python functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...ir import bind, vmap_rule
from ...ir import ops as o
from ...ir.types import shaped_array
from .batching import BatchAxis, Dim, batched_at, insert_axis, move_axis
from .sequential import one_call_after_another

vmap_rule.register(o.HostCall)(one_call_after_another)


@vmap_rule.register(o.PureCallback)
def _by_its_method(op: o.PureCallback, axis: BatchAxis, args: Sequence[Any],
                   dims: Sequence[Dim]) -> tuple[list, list]:
    if op.vmap_method == "sequential":
        return one_call_after_another(op, axis, args, dims)
    if op.vmap_method == "broadcast_all":
        moved = [batched_at(x, d, axis, 0) for x, d in zip(args, dims)]
    elif op.vmap_method == "expand_dims":
        moved = [insert_axis(x, 1, 0) if d is None else move_axis(x, d, 0) for x, d in zip(args, dims)]
    else:
        raise TypeError(f"pure_callback of {op.function.label} does not say what vmap does: pass vmap_method="
                        f"'sequential', 'expand_dims' or 'broadcast_all'")
    results = tuple(shaped_array((axis.size, *a.shape), a.dtype, a.weak_type) for a in op.results)
    outs = bind(replace(op, results=results), *moved)
    return outs, [0] * len(outs)
