"""Lowering of the elementwise operations."""

from __future__ import annotations

from ...ir import Eqn, lower_rule
from ...ir import ops as o
from ..writer import FunctionWriter, tensor_type

PLAIN = {o.Sin: "stablehlo.sine", o.Cos: "stablehlo.cosine", o.Neg: "stablehlo.negate", o.Add: "stablehlo.add",
         o.Mul: "stablehlo.multiply"}


def _plain(op: o.Elementwise, write: FunctionWriter, eqn: Eqn, *operands: str) -> str:
    """An operation that StableHLO has as it is: scalars are repeated, then one line."""
    out = eqn.outputs[0].aval
    names = [write.broadcast(x, a.aval, out.shape) for x, a in zip(operands, eqn.inputs)]
    return write.value(f"{PLAIN[type(op)]} {', '.join(names)} : {tensor_type(out)}")


for _op_type in PLAIN:
    lower_rule.register(_op_type)(_plain)
