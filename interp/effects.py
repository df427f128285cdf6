"""Calls of Python functions: the function is called where the call stands."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir import Jaxpr, evaluate
from ..ir.ops import HostCall


@evaluate.register(HostCall)
def _host_call(op: HostCall, *values: Any) -> list[Any]:
    arrays = [read_only(x) for x in values]
    # The function may go on writing to what it returned.
    if op.threaded:
        return [arrays[0], *map(np.array, op.call(arrays[1:]))]
    return list(map(np.array, op.call(arrays)))


def calls_host(jaxpr: Jaxpr) -> bool:
    """Whether a program, or one within it, calls a Python function.

    >>> from glax.interp import calls_host
    >>> from glax.ir import parse
    >>> calls_host(parse("{ lambda ; a:f32[]. let b:f32[] = sin a in (b,) }"))
    False
    """
    for op, *_ in jaxpr.eqns:
        if isinstance(op, HostCall) or op.field_names and any(map(calls_host, op.sub_jaxprs())):
            return True
    return False


def read_only(x: Any) -> np.ndarray:
    """A view that the function cannot write through."""
    view = np.asarray(x).view()
    view.flags.writeable = False
    return view
