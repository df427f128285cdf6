"""Transposes of calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...ir import LinearInput, Zero, bind, transpose_rule
from ...ir import ops as o
from .transform import transpose


@transpose_rule.register(o.Jit)
def _transpose_of_jit(op: o.Jit, cts: Sequence[Any], args: Sequence[Any]) -> list[Any]:
    linear = [type(x) is LinearInput for x in args]
    program, kept = transpose(op.jaxpr, linear, [type(ct) is not Zero for ct in cts], instantiate_outputs=False)
    call = replace(op, jaxpr=program, donated=(), function_name=f"transpose({op.function_name})")
    operands = [x for x in args if type(x) is not LinearInput] + [ct for ct in cts if type(ct) is not Zero]
    results, keep = iter(bind(call, *operands)), iter(kept)
    return [(next(results) if next(keep) else None) if flag else None for flag in linear]
