"""Batching of random bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...ir import aval_of, bind, vmap_rule
from ...ir import ops as o
from .batching import BatchAxis, Dim, batched_at, logical_ndim


@vmap_rule.register(o.Threefry2x32)
def _vmap_of_threefry(op: o.Threefry2x32, axis: BatchAxis, args: Sequence[Any],
                      dims: Sequence[Dim]) -> tuple[list[Any], list[Dim]]:
    """Bring operands to one layout, the mapped axis first; scalars that are not mapped stay as they are."""
    rank = max(logical_ndim(x, d) for x, d in zip(args, dims))
    moved = [x if d is None and not aval_of(x).shape else batched_at(x, d, axis, 0) for x, d in zip(args, dims)]
    full = next((aval_of(x).shape for x in moved if aval_of(x).ndim == rank + 1), None)
    # A mapped scalar beside arrays is one word for each of them.
    moved = [o.broadcast_in_dim(x, full, (0,)) if rank and aval_of(x).ndim == 1 else x for x in moved]
    return bind(op, *moved), [0, 0]
