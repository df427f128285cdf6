"""Batching of custom calls, which keep their rules, and of checkpoints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...ir import Jaxpr, bind, splice, stage, vmap_rule
from ...ir import ops as o
from .batching import BatchAxis, Dim, batched_at
from .transform import vmap

Batched = tuple[list, list]


@vmap_rule.register(o.CustomJvpCall, o.CustomVjpCall)
def _vmap_of_custom_call(op: Any, axis: BatchAxis, args: Sequence[Any], dims: Sequence[Dim]) -> Batched:
    """The program is vectorised now, the rules when they are used."""
    program, out_dims = vmap(op.jaxpr, axis, dims)
    call = replace(op, jaxpr=program, vmaps=(*op.vmaps, (axis.size, axis.name, tuple(dims))))
    return bind(call, *args), out_dims


def batched_backward(backward: Jaxpr, axis: BatchAxis, residual_dims: list, argument_dims: list) -> Jaxpr:
    """A backward program vectorised: cotangents come with the axis first; those of shared arguments are summed."""
    cotangent_count = len(backward.in_binders) - len(residual_dims)
    batched, _ = vmap(backward, axis, [*residual_dims, *[0] * cotangent_count], [d or 0 for d in argument_dims])
    if None not in argument_dims:
        return batched

    def summed(*args: Any) -> list[Any]:
        results = splice(batched, args)
        return [o.reduce_sum(x, (0,)) if d is None else x for x, d in zip(results, argument_dims)]

    return stage(summed, batched.in_avals, "vmap of a backward pass")[0]


@vmap_rule.register(o.LinearCall)
def _vmap_of_linear_call(op: o.LinearCall, axis: BatchAxis, args: Sequence[Any], dims: Sequence[Dim]) -> Batched:
    n = op.num_residuals
    backward = batched_backward(op.backward, axis, list(dims[:n]), list(dims[n:]))
    forward = None if op.forward is None else vmap(op.forward, axis, dims)[0]
    outs = bind(replace(op, forward=forward, backward=backward), *args)
    return outs, [0] * len(outs)


@vmap_rule.register(o.CustomVmapCall)
def _vmap_of_custom_vmap(op: o.CustomVmapCall, axis: BatchAxis, args: Sequence[Any], dims: Sequence[Dim]) -> Batched:
    mapped = [d is not None for d in dims]
    outs, out_mapped = op.rule(axis.size, mapped, [x if d is None else batched_at(x, d, axis, 0)
                                                   for x, d in zip(args, dims)])
    return list(outs), [0 if flag else None for flag in out_mapped]


@vmap_rule.register(o.Checkpoint)
def _vmap_of_checkpoint(op: o.Checkpoint, axis: BatchAxis, args: Sequence[Any], dims: Sequence[Dim]) -> Batched:
    program, out_dims = vmap(op.jaxpr, axis, dims, [True] * len(op.jaxpr.outs))
    return bind(replace(op, jaxpr=program), *args), out_dims


@vmap_rule.register(o.Name)
def _vmap_of_name(op: o.Name, axis: BatchAxis, args: Sequence[Any], dims: Sequence[Dim]) -> tuple[Any, Dim]:
    return bind(op, *args), dims[0]
