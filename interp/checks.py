"""Checks: one that fails raises."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir import evaluate
from ..ir.ops import Check
from ..ir.ops.checks import JaxRuntimeError, first_failure


@evaluate.register(Check)
def _check(op: Check, condition: Any, *values: Any) -> list[Any]:
    if not op.debug and not np.all(condition):
        raise JaxRuntimeError(first_failure(op, condition, values))
    return []
