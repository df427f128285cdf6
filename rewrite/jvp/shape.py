"""Derivatives of the shape operations: all are linear."""

from __future__ import annotations

from ...ir import Zero, aval_of, bind, jvp_rule
from ...ir import ops as o
from .rule_helpers import linear, linear_in_first, zero_derivative

linear_in_first(o.BroadcastInDim, o.Reshape, o.Transpose, o.Squeeze, o.Slice, o.Rev)
linear(o.Pad, o.Concatenate)
zero_derivative(o.Iota)


@jvp_rule.register(o.Split)
def _jvp_of_split(op: o.Split, primals: list, tangents: list) -> tuple[list, list]:
    outs = bind(op, *primals)
    (t,) = tangents
    return outs, [Zero(aval_of(out)) for out in outs] if type(t) is Zero else bind(op, t)
