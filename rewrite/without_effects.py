"""A program that is run a second time, for its results only: what it did beyond computing them is not done again."""

from __future__ import annotations

from ..ir import Eqn, Jaxpr, Var, assemble
from ..ir.errors import GlaxError


class EffectNeededTwice(GlaxError, NotImplementedError):
    """A program would have to be run again to know a value that only an effect gives."""


def without_effects(jaxpr: Jaxpr, what: str) -> Jaxpr:
    """The program without its effects, at every depth.

    Args:
        jaxpr: the program.
        what: what would run it again, for errors.

    Raises:
        EffectNeededTwice: a result depends on what a function of the host returned.
    """
    live = {a[0] for a in jaxpr.outs if type(a) is Var}
    kept: list[Eqn] = []
    for eqn in reversed(jaxpr.eqns):
        if eqn.op.effects:
            if not any(v[0] in live for v in eqn.outputs):
                continue
            if not eqn.op.has_sub_jaxprs():
                where = f", at {eqn.source}" if eqn.source else ""
                raise EffectNeededTwice(f"{what} would have to run {eqn.op.name}{where} a second time, since what it "
                                        f"returned is needed again")
            eqn = eqn._replace(op=eqn.op.map_jaxprs(lambda sub: without_effects(sub, what)))
        kept.append(eqn)
        live.update([a[0] for a in eqn.inputs if type(a) is Var])
    kept.reverse()
    return assemble(jaxpr.in_binders, kept, jaxpr.outs)
