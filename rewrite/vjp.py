"""Reverse-mode differentiation: linearise, then transpose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..ir import Jaxpr
from .linearize import linearize
from .passes import rewrite_pass
from .transpose import transpose


class Pullback(NamedTuple):
    """A program and its reverse.

    Attributes:
        forward: from the inputs, to the outputs and then the residuals.
        backward: from the residuals and then the cotangents of the nonzero outputs, to cotangents of the nonzero
            inputs.
        nonzero_outputs: for each output, whether ``backward`` takes a cotangent of it.
        residual_count: how many residuals there are.
    """

    forward: Jaxpr
    backward: Jaxpr
    nonzero_outputs: list[bool]
    residual_count: int


@rewrite_pass
def vjp(jaxpr: Jaxpr, nonzero: Sequence[bool]) -> Pullback:
    """The program of a function's value, and that of its vector-Jacobian product.

    Args:
        jaxpr: the program.
        nonzero: for each input, whether its cotangent is wanted; only those of inexact inputs can be.
    """
    primal, linear, nonzero_outputs, residual_count = linearize(jaxpr, nonzero)
    wanted = [False] * residual_count + [True] * (len(linear.in_binders) - residual_count)
    backward, _ = transpose(linear, wanted)
    return Pullback(primal, backward, nonzero_outputs, residual_count)
