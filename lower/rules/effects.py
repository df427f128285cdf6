"""Lowering of calls of Python functions on the host."""

from __future__ import annotations

from ...ir import Eqn, lower_rule
from ...ir import ops as o
from ..callbacks import host_function
from ..writer import FunctionWriter, function_type


@lower_rule.register(o.HostCall)
def _host_call(op: o.HostCall, write: FunctionWriter, eqn: Eqn, *names: str) -> list[str]:
    callbacks = write.module.host_callbacks
    index = len(callbacks)
    callbacks.append(host_function(op))
    types = function_type([a.aval for a in eqn.inputs], [v.aval for v in eqn.outputs])
    kept = "true" if op.effects else "false"
    return write.values(
        f"stablehlo.custom_call @xla_ffi_python_cpu_callback({', '.join(names)}) {{api_version = 4 : i32, "
        f"has_side_effect = {kept}, backend_config = {{index = {index} : ui64}}}} : {types}", len(eqn.outputs))
