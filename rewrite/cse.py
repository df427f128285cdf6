"""Common subexpression elimination: equal equations are computed once."""

from __future__ import annotations

from ..ir import Atom, Eqn, Jaxpr, Operation, Var, assemble
from .passes import rewrite_pass


@rewrite_pass
def cse(jaxpr: Jaxpr) -> Jaxpr:
    """A program in which no two equations apply the same operation to the same inputs, at every depth.

    Equations with effects are kept as they are.
    """
    renamed: dict[int, Atom] = {}
    results: dict[Operation, dict[tuple[Atom, ...], tuple[Var, ...]]] = {}
    kept: list[Eqn] = []
    for eqn in jaxpr.eqns:
        op, inputs, outputs, source = eqn
        if renamed:
            inputs = tuple([renamed.get(a[0], a) if type(a) is Var else a for a in inputs])
            eqn = Eqn(op, inputs, outputs, source)
        if next(op.sub_jaxprs(), None) is not None:
            op = op.map_jaxprs(cse)
            eqn = Eqn(op, inputs, outputs, source)
        if op.effects:
            kept.append(eqn)
            continue
        of_op = results.get(op)
        if of_op is None:
            of_op = results[op] = {}
        distinct = len(of_op)
        earlier = of_op.setdefault(inputs, outputs)
        if len(of_op) > distinct:
            kept.append(eqn)
        else:
            for old, new in zip(outputs, earlier):
                renamed[old[0]] = new
    outs = [renamed.get(a[0], a) if type(a) is Var else a for a in jaxpr.outs]
    return assemble(jaxpr.in_binders, kept, outs)
