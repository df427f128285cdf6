"""Transposes of the linear reductions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...ir import bind, transpose_rule
from ...ir import ops as o


@transpose_rule.register(o.ReduceSum)
def _transpose_of_sum(op: o.ReduceSum, ct: Any, args: Sequence[Any]) -> list[Any]:
    shape = args[0].shape
    return [o.broadcast_in_dim(ct, shape, tuple(d for d in range(len(shape)) if d not in op.axes))]


@transpose_rule.register(o.Cumsum)
def _transpose_of_cumsum(op: o.Cumsum, ct: Any, args: Sequence[Any]) -> list[Any]:
    return [bind(o.Cumsum(op.axis, not op.reverse), ct)]
