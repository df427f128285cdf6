"""Common subexpression elimination: equal equations are computed once."""

from __future__ import annotations

from ..ir import Atom, Eqn, Jaxpr, Operation, Var
from .passes import rewrite_pass
from .replacing import replace_results


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
    results: dict[Operation, dict[tuple[Atom, ...], tuple[Var, ...]]] = {}

    def earlier(eqn: Eqn) -> tuple[Var, ...] | None:
        op, inputs, outputs, _ = eqn
        if op.effects:
            return None
        of_op = results.get(op)
        if of_op is None:
            of_op = results[op] = {}
        distinct = len(of_op)
        found = of_op.setdefault(inputs, outputs)
        return None if len(of_op) > distinct else found

    return replace_results(jaxpr, cse, earlier)
