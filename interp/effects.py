"""Calls of Python functions: the function is called where the call stands."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir import evaluate
from ..ir.ops import HostCall


@evaluate.register(HostCall)
def _host_call(op: HostCall, *values: Any) -> list[Any]:
    arrays = [read_only(x) for x in values]
    if op.threaded:
        return [arrays[0], *op.call(arrays[1:])]
    return list(op.call(arrays))


def read_only(x: Any) -> np.ndarray:
    """A view that the function cannot write through."""
    view = np.asarray(x).view()
    view.flags.writeable = False
    return view
