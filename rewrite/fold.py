"""Constant folding: equations of literals are computed now."""

from __future__ import annotations

import numpy as np

from ..ir import Atom, Eqn, Jaxpr, Literal, Var, assemble, evaluate
from .passes import rewrite_pass

LARGEST_FOLDED = 1024


@rewrite_pass
def fold(jaxpr: Jaxpr, largest: int = LARGEST_FOLDED) -> Jaxpr:
    """A program in which results of equations that have literal inputs only are literals, at every depth.

    Args:
        jaxpr: the program.
        largest: the most elements that a new literal may have, so that programs do not grow large.
    """
    known: dict[int, Atom] = {}
    kept: list[Eqn] = []
    for op, inputs, outputs, source in jaxpr.eqns:
        new_inputs = tuple([known.get(a[0], a) if type(a) is Var else a for a in inputs])
        if next(op.sub_jaxprs(), None) is not None:
            op = op.map_jaxprs(lambda sub: fold(sub, largest))
        foldable = not op.effects and all(type(a) is Literal for a in new_inputs)
        if foldable and all(v.aval.size <= largest for v in outputs):
            with np.errstate(all="ignore"):
                result = evaluate(op, *[a.value for a in new_inputs])
            for v, value in zip(outputs, result if op.multiple_results else (result,)):
                known[v.index] = Literal(value, v.aval)
        else:
            kept.append(Eqn(op, new_inputs, outputs, source))
    outs = [known.get(a[0], a) if type(a) is Var else a for a in jaxpr.outs]
    return assemble(jaxpr.in_binders, kept, outs)
