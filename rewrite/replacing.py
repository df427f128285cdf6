"""What the clean-ups that go through a program from its start have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..ir import Atom, Eqn, Jaxpr, Var, assemble

Instead = Callable[[Eqn], Sequence[Atom] | None]


def replace_results(jaxpr: Jaxpr, rewrite: Callable[[Jaxpr], Jaxpr], instead: Instead) -> Jaxpr:
    """The program without the equations whose results are known otherwise.

    Args:
        jaxpr: the program.
        rewrite: what is done to programs within equations.
        instead: a function from an equation, in which earlier results are replaced already, to what stands for its
            results; None to keep it.
    """
    known: dict[int, Atom] = {}
    kept: list[Eqn] = []
    for eqn in jaxpr.eqns:
        op, inputs, outputs, source = eqn
        if known:
            inputs = tuple([known.get(a[0], a) if type(a) is Var else a for a in inputs])
            eqn = Eqn(op, inputs, outputs, source)
        if op.has_sub_jaxprs():
            eqn = Eqn(op.map_jaxprs(rewrite), inputs, outputs, source)
        atoms = instead(eqn)
        if atoms is None:
            kept.append(eqn)
        else:
            for v, atom in zip(outputs, atoms):
                known[v[0]] = atom
    outs = [known.get(a[0], a) if type(a) is Var else a for a in jaxpr.outs]
    return assemble(jaxpr.in_binders, kept, outs)
