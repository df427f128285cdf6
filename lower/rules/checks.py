"""Checks have no place in a compiled program, unless they have been made part of its data."""

from __future__ import annotations

from ...ir import Eqn, lower_rule
from ...ir import ops as o
from ..writer import FunctionWriter


@lower_rule.register(o.Check)
def _check(op: o.Check, write: FunctionWriter, eqn: Eqn, *names: str) -> list[str]:
    if op.debug:
        return []
    where = f", at {eqn.source}," if eqn.source is not None else ""
    raise ValueError(
        f"the check {op.message!r}{where} stands in a program to be compiled, which cannot raise while it runs. Make "
        f"the error a result with checkify: error, out = checkify.checkify(f)(x), which may be compiled; then "
        f"error.throw(). A check with debug=True is left out instead")
