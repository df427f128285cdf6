"""Derivatives of calls."""

from __future__ import annotations

from dataclasses import replace

from ...ir import Zero, bind, jvp_rule
from ...ir import ops as o
from .transform import jvp, split_outputs


@jvp_rule.register(o.Jit)
def _jvp_of_jit(op: o.Jit, primals: list, tangents: list) -> tuple[list, list]:
    program, out_nonzero = jvp(op.jaxpr, [type(t) is not Zero for t in tangents])
    call = replace(op, jaxpr=program, donated=(), function_name=f"jvp({op.function_name})")
    results = bind(call, *primals, *(t for t in tangents if type(t) is not Zero))
    return split_outputs(op, results, op.jaxpr, out_nonzero)
