"""Common subexpression elimination: equal equations are computed once."""

from __future__ import annotations

from ..ir import Atom, Eqn, Jaxpr, Operation, Var, assemble
from .passes import rewrite_pass


@rewrite_pass
def cse(jaxpr: Jaxpr) -> Jaxpr:
    """A program in which no two equations apply the same operation to the same inputs, at every depth.

    Of equations that do, the first is kept, and its results stand for those of the others. Equations with effects are
    kept as they are. Results that nobody uses any more are left for ``dce``.

    Args:
        jaxpr: the program.

    Returns:
        The program, of the same inputs and outputs.

    Raises:
        TypeError: ``jaxpr`` is not a Jaxpr.

    >>> import glax
    >>> from glax import rewrite
    >>> program = glax.ir.parse("{ lambda ; a:f32[]. let b:f32[] = sin a c:f32[] = sin a d:f32[] = mul b c in (d,) }")
    >>> rewrite.cse(program)
    { lambda ; a:f32[]. let
        b:f32[] = sin a
        c:f32[] = mul b b
      in (c,) }
    """
    renamed: dict[int, Atom] = {}
    results: dict[Operation, dict[tuple[Atom, ...], tuple[Var, ...]]] = {}
    kept: list[Eqn] = []
    for eqn in jaxpr.eqns:
        op, inputs, outputs, source = eqn
        if renamed:
            inputs = tuple([renamed.get(a[0], a) if type(a) is Var else a for a in inputs])
            eqn = Eqn(op, inputs, outputs, source)
        if op.has_sub_jaxprs():
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
