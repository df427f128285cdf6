"""Linearisation: the derivative of a program as a linear program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..ir import Jaxpr
from .jvp import jvp
from .partial_eval import Split, partial_eval
from .passes import require_inexact, rewrite_pass
from .programs import cut


class Linearized(NamedTuple):
    """A program and its derivative.

    Attributes:
        primal: from the inputs, to the outputs and then the residuals.
        linear: from the residuals and then the tangents of the nonzero inputs, to tangents of outputs.
        nonzero_outputs: for each output, whether its tangent is an output of ``linear``.
        residual_count: how many residuals there are.
    """

    primal: Jaxpr
    linear: Jaxpr
    nonzero_outputs: list[bool]
    residual_count: int


@rewrite_pass
def linearize(jaxpr: Jaxpr, nonzero: Sequence[bool]) -> Linearized:
    """Split a program's jvp into its value, which needs no tangents, and its derivative, which is linear in them.

    It is ``jvp``, and then ``partial_eval`` with the tangents unknown.

    Args:
        jaxpr: the program.
        nonzero: for each input, whether it has a tangent. Only inputs of inexact (floating or complex) dtypes can.

    Returns:
        A named tuple ``(primal, linear, nonzero_outputs, residual_count)``. ``primal`` gives the outputs and then
        residuals, values that ``linear`` needs; ``linear`` takes the residuals and then the tangents of the nonzero
        inputs, and gives tangents of the outputs flagged in ``nonzero_outputs``; those of the others are zero.

    Raises:
        TypeError: ``jaxpr`` is not a Jaxpr, or ``nonzero`` flags an input that is not inexact.
        ValueError: ``nonzero`` does not have one flag for each input.
        NotImplementedError: an operation has no derivative, or (MissingRule) no rule in ``glax.ir.jvp_rule``.

    >>> import glax
    >>> from glax import rewrite
    >>> program = glax.ir.parse("{ lambda ; a:f32[] b:f32[]. let c:f32[] = sin a d:f32[] = mul c b in (d,) }")
    >>> linearized = rewrite.linearize(program, [True, False])
    >>> linearized.primal
    { lambda ; a:f32[] b:f32[]. let
        c:f32[] = sin a
        d:f32[] = cos a
        e:f32[] = mul c b
      in (e, d, b) }
    >>> linearized.linear
    { lambda ; a:f32[] b:f32[] c:f32[]. let
        d:f32[] = mul c a
        e:f32[] = mul d b
      in (e,) }
    """
    require_inexact("linearize: nonzero", jaxpr, nonzero)
    both, out_nonzero = jvp(jaxpr, nonzero)
    tangent_count = sum(nonzero)
    split = partial_eval(both, [False] * len(jaxpr.in_binders) + [True] * tangent_count)
    return _without_constant_tangents(jaxpr, split, out_nonzero)


def _without_constant_tangents(jaxpr: Jaxpr, split: Split, out_nonzero: Sequence[bool]) -> Linearized:
    """The halves, without the tangents that depend on none of an input: what is linear and constant is zero.

    Only a rule that is not linear gives such a tangent another value; it is dropped then, as the transpose would.
    """
    unknown_tangents = split.unknown_outputs[len(jaxpr.outs):]
    given = iter(unknown_tangents)
    nonzero = [flag and next(given) for flag in out_nonzero]
    known = split.known
    if not all(unknown_tangents):
        outputs, _, residuals = cut(known.outs, len(jaxpr.outs), unknown_tangents.count(False))
        known = Jaxpr(known.in_binders, known.eqns, outputs + residuals, known.effects)
    return Linearized(known, split.unknown, nonzero, split.residual_count)
