"""Calls: the program within is run where the call stands."""

from __future__ import annotations

from typing import Any

from ..ir import evaluate
from ..ir.ops import Jit
from .evaluate import Runner, run_jaxpr_with


@evaluate.register(Jit)
def _jit(op: Jit, *values: Any, run: Runner | None = None) -> list[Any]:
    return run_jaxpr_with(op.jaxpr, values, run)
