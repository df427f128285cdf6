"""The clean-ups, one after another."""

from __future__ import annotations

from collections.abc import Callable

from ..ir import Jaxpr
from ..ir.jaxpr import require_jaxpr
from .cse import cse
from .dce import dce
from .fold import fold
from .inline import inline
from .simplify import simplify

PASSES: tuple[Callable[[Jaxpr], Jaxpr], ...] = (inline, fold, simplify, cse, lambda jaxpr: dce(jaxpr)[0])


def clean_up(jaxpr: Jaxpr, passes: tuple[Callable[[Jaxpr], Jaxpr], ...] = PASSES) -> Jaxpr:
    """A program that computes the same with fewer equations: inline, fold, simplify, cse, dce, each once.

    Args:
        jaxpr: the program.
        passes: functions from program to program, applied in turn, in place of these five.

    Returns:
        The program, of the same inputs and outputs.

    Raises:
        TypeError: ``jaxpr`` is not a Jaxpr.

    >>> import glax
    >>> from glax import rewrite
    >>> program = glax.ir.parse("{ lambda ; a:f32[]. let b:f32[] = cos 0.0:f32[] c:f32[] = mul a b in (c,) }")
    >>> rewrite.clean_up(program)
    { lambda ; a:f32[]. let in (a,) }
    >>> rewrite.clean_up(program, (rewrite.fold,))
    { lambda ; a:f32[]. let b:f32[] = mul a 1.0:f32[] in (b,) }
    """
    require_jaxpr("clean_up", jaxpr)
    for one in passes:
        jaxpr = one(jaxpr)
    return jaxpr
