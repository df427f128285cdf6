"""Derivatives of calls of Python functions: what is shown has none, and what is computed has none that is known."""

from __future__ import annotations

from typing import NoReturn

from ...ir import bind, jvp_rule
from ...ir import ops as o


@jvp_rule.register(o.DebugPrint, o.DebugCallback)
def _show_the_primals(op: o.HostCall, primals: list, tangents: list) -> tuple[list, list]:
    bind(op, *primals)
    return [], []


@jvp_rule.register(o.ResultCall)
def _not_known(op: o.ResultCall, primals: list, tangents: list) -> NoReturn:
    raise TypeError(f"{op.name} of {op.function.label} has no derivative: what the Python function does is not known. "
                    f"Give one with custom_jvp or custom_vjp, or pass stop_gradient of its arguments")
