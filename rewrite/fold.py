"""Constant folding: equations of literals are computed now."""

from __future__ import annotations

import numpy as np

from ..ir import Atom, Eqn, Jaxpr, Literal, Var, assemble, evaluate
from ..ir import ops as o
from .passes import rewrite_pass

# Loops, which may take any time, and what runs Python.
NEVER_FOLDED = (o.While, o.Scan, o.PureCallback)


@rewrite_pass
def fold(jaxpr: Jaxpr) -> Jaxpr:
    """A program in which results of equations that have literal inputs only are literals, at every depth.

    Where a result has more elements than the inputs together (a scalar repeated, an iota), the equation is the better
    way to write it, and is kept.
    """
    known: dict[int, Atom] = {}
    kept: list[Eqn] = []
    for op, inputs, outputs, source in jaxpr.eqns:
        new_inputs = tuple([known.get(a[0], a) if type(a) is Var else a for a in inputs])
        if next(op.sub_jaxprs(), None) is not None:
            op = op.map_jaxprs(fold)
        foldable = not op.effects and type(op) not in NEVER_FOLDED and all(type(a) is Literal for a in new_inputs)
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
