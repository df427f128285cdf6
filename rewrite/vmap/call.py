"""Batching of calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...ir import bind, vmap_rule
from ...ir import ops as o
from .batching import BatchAxis, Dim
from .transform import vmap


@vmap_rule.register(o.Jit)
def _vmap_of_jit(op: o.Jit, axis: BatchAxis, args: Sequence[Any], dims: Sequence[Dim]) -> tuple[list, list]:
    program, out_dims = vmap(op.jaxpr, axis, dims, [True] * len(op.jaxpr.outs))
    call = replace(op, jaxpr=program, donated=(), function_name=f"vmap({op.function_name})")
    return bind(call, *args), out_dims
