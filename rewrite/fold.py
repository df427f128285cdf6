"""Constant folding: equations of literals are computed now."""

from __future__ import annotations

import numpy as np

from ..ir import Atom, Eqn, Jaxpr, Literal, Operation, Var, assemble, evaluate
from ..ir import ops as o
from .passes import rewrite_pass

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
    known: dict[int, Atom] = {}
    kept: list[Eqn] = []
    for op, inputs, outputs, source in jaxpr.eqns:
        new_inputs = tuple([known.get(a[0], a) if type(a) is Var else a for a in inputs])
        if op.has_sub_jaxprs():
            op = op.map_jaxprs(fold)
        foldable = not op.effects and all(type(a) is Literal for a in new_inputs) and _is_short(op)
        room = max(1, sum(a.aval.size for a in new_inputs))
        if foldable and sum(v.aval.size for v in outputs) <= room:
            with np.errstate(all="ignore"):
                result = evaluate(op, *[a.value for a in new_inputs])
            for v, value in zip(outputs, result if op.multiple_results else (result,)):
                known[v.index] = Literal(value, v.aval)
        else:
            kept.append(Eqn(op, new_inputs, outputs, source))
    outs = [known.get(a[0], a) if type(a) is Var else a for a in jaxpr.outs]
    return assemble(jaxpr.in_binders, kept, outs)


def _is_short(op: Operation) -> bool:
    """Whether there is no loop and no Python in an operation, at any depth."""
    return type(op) not in NEVER_FOLDED and all(_is_short(eqn.op) for sub in op.sub_jaxprs() for eqn in sub.eqns)
