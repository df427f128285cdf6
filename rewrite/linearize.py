"""Linearisation: the derivative of a program as a linear program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..ir import Jaxpr
from .jvp import jvp
from .partial_eval import partial_eval
from .passes import rewrite_pass


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

    Args:
        jaxpr: the program.
        nonzero: for each input, whether it has a tangent.
    """
    both, out_nonzero = jvp(jaxpr, nonzero)
    tangent_count = sum(nonzero)
    split = partial_eval(both, [False] * len(jaxpr.in_binders) + [True] * tangent_count)
    return _with_known_tangents(jaxpr, split, out_nonzero)


def _with_known_tangents(jaxpr: Jaxpr, split, out_nonzero: Sequence[bool]) -> Linearized:
    """Every tangent output belongs to the linear program, also where it turned out not to depend on a tangent."""
    primal_count = len(jaxpr.outs)
    known_tangents = [flag for flag in split.unknown_outputs[primal_count:]]
    if all(known_tangents):
        return Linearized(split.known, split.unknown, list(out_nonzero), split.residual_count)
    keep = [not (flag and not unknown) for flag, unknown in _paired(out_nonzero, known_tangents)]
    still_nonzero = [flag and kept for flag, kept in zip(out_nonzero, keep)]
    extra = sum(out_nonzero) - sum(still_nonzero)
    outs = split.known.outs
    known = Jaxpr(split.known.in_binders, split.known.eqns, outs[:primal_count] + outs[primal_count + extra:],
                  split.known.effects)
    return Linearized(known, split.unknown, still_nonzero, split.residual_count)


def _paired(out_nonzero: Sequence[bool], unknown_tangents: Sequence[bool]) -> list[tuple[bool, bool]]:
    """For each output, whether it has a tangent, and whether that depends on a tangent of an input."""
    given = iter(unknown_tangents)
    return [(flag, next(given) if flag else True) for flag in out_nonzero]
