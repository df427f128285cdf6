"""Batching of checks: the condition must hold in every row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...ir import bind, vmap_rule
from ...ir import ops as o
from .batching import BatchAxis, Dim, all_batched_first


@vmap_rule.register(o.Check)
def _check_every_row(op: o.Check, axis: BatchAxis, args: Sequence[Any], dims: Sequence[Dim]) -> tuple[list, list]:
    mapped = any(d is not None for d in dims)
    bind(op, *(all_batched_first(axis, args, dims) if mapped else args))
    return [], []
