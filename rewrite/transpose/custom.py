"""Transposes of custom linear calls and of checkpoints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...ir import Jaxpr, LinearInput, ShapedArray, Zero, bind, expand_rule, instantiate, splice, transpose_rule
from ...ir import ops as o
from .transform import transpose


@expand_rule.register(o.LinearCall)
def _expand_linear_call(op: o.LinearCall, *avals: ShapedArray) -> Jaxpr:
    """The forward program; where there is none, the transpose of the backward one."""
    if op.forward is not None:
        return op.forward
    cotangent_count = len(op.backward.in_binders) - op.num_residuals
    try:
        return transpose(op.backward, [False] * op.num_residuals + [True] * cotangent_count)[0]
    except TypeError as error:
        raise TypeError(f"the custom_vjp function {op.function_name} has no forward-mode derivative: it would be the "
                        f"transpose of its backward rule, which is not linear in the cotangents: {error}") from None


@transpose_rule.register(o.LinearCall)
def _transpose_of_linear_call(op: o.LinearCall, cts: Sequence[Any], args: Sequence[Any]) -> list[Any]:
    n = op.num_residuals
    if any(type(x) is LinearInput for x in args[:n]):
        raise TypeError(f"cannot transpose linear_call of {op.function_name}: a residual depends on the inputs to "
                        f"transpose by")
    operands = [*args[:n], *map(instantiate, cts)]
    if op.forward is None:
        results = splice(op.backward, operands)
    else:
        results = bind(replace(op, forward=op.backward, backward=op.forward), *operands)
    return [None] * n + [r if type(x) is LinearInput else None for r, x in zip(results, args[n:])]


@transpose_rule.register(o.Checkpoint)
def _transpose_of_checkpoint(op: o.Checkpoint, cts: Sequence[Any], args: Sequence[Any]) -> list[Any]:
    """A call that computes what is not linear again, and then transposes."""
    linear = [type(x) is LinearInput for x in args]
    program, kept = transpose(op.jaxpr, linear, [type(ct) is not Zero for ct in cts], instantiate_outputs=False)
    operands = [x for x in args if type(x) is not LinearInput] + [ct for ct in cts if type(ct) is not Zero]
    results, keep = iter(bind(replace(op, jaxpr=program, differentiated=True), *operands)), iter(kept)
    return [(next(results) if next(keep) else None) if flag else None for flag in linear]


@transpose_rule.register(o.Name)
def _transpose_of_name(op: o.Name, ct: Any, args: Sequence[Any]) -> list[Any]:
    return [ct]
