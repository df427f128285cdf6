"""Custom calls and checkpoints: the program within is run where the call stands."""

from __future__ import annotations

from typing import Any

from ..ir import evaluate
from ..ir import ops as o
from .evaluate import Runner, run_jaxpr_with


@evaluate.register(o.CustomJvpCall, o.CustomVjpCall, o.CustomVmapCall, o.Checkpoint)
def _call(op: Any, *values: Any, run: Runner | None = None) -> list[Any]:
    return run_jaxpr_with(op.jaxpr, values, run)


@evaluate.register(o.Name)
def _name(op: o.Name, x: Any) -> Any:
    return x
