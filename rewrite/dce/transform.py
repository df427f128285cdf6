"""Dead code elimination: equations whose results nobody uses are dropped."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir import Atom, Eqn, Jaxpr, Operation, Var, assemble, dce_rule
from ..passes import for_each, require_one_each, rewrite_pass


@rewrite_pass
def dce(jaxpr: Jaxpr, used_outputs: Sequence[bool] | None = None,
        keep_inputs: bool | Sequence[bool] = True) -> tuple[Jaxpr, list[bool]]:
    """A program without the equations that its used outputs do not need, at every depth.

    Equations with effects are kept, whether or not their results are used.

    Args:
        jaxpr: the program.
        used_outputs: for each output whether to keep it; all by default.
        keep_inputs: whether to keep inputs that are not used; a flag for all inputs, or one for each.

    Returns:
        A pair of the program, with the used outputs only, and a list that says for each input whether it still has it.

    Raises:
        TypeError: ``jaxpr`` is not a Jaxpr.
        ValueError: ``used_outputs`` does not have one flag for each output.

    >>> import glax
    >>> from glax import rewrite
    >>> program = glax.ir.parse("{ lambda ; a:f32[] b:f32[]. let c:f32[] = sin a d:f32[] = cos b in (c, d) }")
    >>> rewrite.dce(program, [False, True])
    ({ lambda ; a:f32[] b:f32[]. let c:f32[] = cos b in (c,) }, [True, True])
    >>> rewrite.dce(program, [False, True], keep_inputs=False)
    ({ lambda ; a:f32[]. let b:f32[] = cos a in (b,) }, [False, True])
    """
    flags = [True] * len(jaxpr.outs) if used_outputs is None else used_outputs
    require_one_each("dce: used_outputs", flags, jaxpr.outs)
    outs = [a for a, used in zip(jaxpr.outs, flags, strict=True) if used]
    kept, live = live_equations(jaxpr.eqns, outs)
    has_input = [flag or v.index in live for v, flag in zip(jaxpr.in_binders, for_each(keep_inputs, jaxpr.in_binders))]
    return assemble([v for v, has in zip(jaxpr.in_binders, has_input) if has], kept, outs), has_input


def live_equations(eqns: Sequence[Eqn], outs: Sequence[Atom]) -> tuple[list[Eqn], set[int]]:
    """The equations that outputs need, without what is dead inside them, and the numbers of the variables used."""
    live = {a[0] for a in outs if type(a) is Var}
    kept: list[Eqn] = []
    for eqn in reversed(eqns):
        used = [v[0] in live for v in eqn[2]]
        if True in used or eqn.op.effects:
            new = dce_rule[type(eqn.op)](eqn.op, eqn, used)
            kept.append(new)
            live.update([a[0] for a in new[1] if type(a) is Var])
    kept.reverse()
    return kept, live


@dce_rule.register(Operation)
def _keep_whole(op: Operation, eqn: Eqn, used: Sequence[bool]) -> Eqn:
    return eqn
