"""Lowering of custom calls and of checkpoints."""

from __future__ import annotations

from typing import Any

from ...ir import Eqn, lower_rule
from ...ir import ops as o
from ..writer import FunctionWriter, tensor_type


@lower_rule.register(o.CustomJvpCall, o.CustomVjpCall, o.CustomVmapCall)
def _custom_call(op: Any, write: FunctionWriter, eqn: Eqn, *names: str) -> list[str]:
    return write.call(op.jaxpr, names, op.function_name)


@lower_rule.register(o.Checkpoint)
def _checkpoint(op: o.Checkpoint, write: FunctionWriter, eqn: Eqn, *names: str) -> list[str]:
    """A call; one that computes values again starts from operands that the compiler cannot see through."""
    operands = list(names)
    if op.differentiated and op.prevent_cse and operands:
        types = ", ".join(tensor_type(a.aval) for a in eqn.inputs)
        operands = write.values(f"stablehlo.optimization_barrier {', '.join(names)} : {types}", len(names))
    return write.call(op.jaxpr, operands, "checkpoint")


@lower_rule.register(o.Name)
def _name(op: o.Name, write: FunctionWriter, eqn: Eqn, x: str) -> str:
    return x
