"""Constant folding: equations of literals are computed now."""

from __future__ import annotations

import numpy as np

from ..ir import Eqn, Jaxpr, Literal, Operation, evaluate
from ..ir import ops as o
from .passes import rewrite_pass
from .replacing import replace_results

# Loops, which may take any time, and what runs Python.
NEVER_FOLDED = (o.While, o.Scan, o.PureCallback)


@rewrite_pass
def fold(jaxpr: Jaxpr) -> Jaxpr:
    """A program in which results of equations that have literal inputs only are literals, at every depth.

    Where a result has more elements than the inputs together (a scalar repeated, an iota), the equation is the better
    way to write it, and is kept. So are loops, which may take any time, callbacks, and what has effects.

    Args:
        jaxpr: the program.

    Returns:
        The program, of the same inputs and outputs.

    Raises:
        TypeError: ``jaxpr`` is not a Jaxpr.

    >>> import glax
    >>> from glax import rewrite
    >>> program = glax.ir.parse("{ lambda ; a:f32[]. let b:f32[] = cos 0.0:f32[] c:f32[] = add a b in (c,) }")
    >>> rewrite.fold(program)
    { lambda ; a:f32[]. let b:f32[] = add a 1.0:f32[] in (b,) }
    """
    return replace_results(jaxpr, fold, _computed)


def _computed(eqn: Eqn) -> list[Literal] | None:
    """The results of an equation of literals that is to be folded."""
    op, inputs, outputs, _ = eqn
    if op.effects or not all([type(a) is Literal for a in inputs]) or not _is_short(op):
        return None
    if sum(v.aval.size for v in outputs) > max(1, sum(a.aval.size for a in inputs)):
        return None
    with np.errstate(all="ignore"):
        result = evaluate(op, *[a.value for a in inputs])
    return [Literal(value, v.aval) for v, value in zip(outputs, result if op.multiple_results else (result,))]


def _is_short(op: Operation) -> bool:
    """Whether there is no loop and no Python in an operation, at any depth."""
    return type(op) not in NEVER_FOLDED and all(_is_short(eqn.op) for sub in op.sub_jaxprs() for eqn in sub.eqns)
