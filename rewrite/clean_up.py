"""The clean-ups, one after another."""

from __future__ import annotations

from collections.abc import Callable

from ..ir import Jaxpr
from .cse import cse
from .dce import dce
from .fold import fold
from .inline import inline
from .simplify import simplify

PASSES: tuple[Callable[[Jaxpr], Jaxpr], ...] = (inline, fold, simplify, cse, lambda jaxpr: dce(jaxpr)[0])


def clean_up(jaxpr: Jaxpr, passes: tuple[Callable[[Jaxpr], Jaxpr], ...] = PASSES) -> Jaxpr:
    """A program that computes the same with fewer equations: inline, fold, simplify, cse, dce.

    Args:
        jaxpr: the program.
        passes: functions from program to program, applied in turn.
    """
    for one in passes:
        jaxpr = one(jaxpr)
    return jaxpr
