"""Reverse-mode differentiation: linearise, then transpose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..ir import Jaxpr
from .linearize import linearize
from .passes import require_inexact, rewrite_pass
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
    """The program of a function's value, and that of its vector-Jacobian product (reverse mode).

    It is ``linearize``, and then ``transpose`` of the linear program.

    Args:
        jaxpr: the program.
        nonzero: for each input, whether its cotangent is wanted. Only inputs of inexact (floating or complex) dtypes
            can have one.

    Returns:
        A named tuple ``(forward, backward, nonzero_outputs, residual_count)``. ``forward`` gives the outputs and then
        residuals, values that ``backward`` needs; ``backward`` takes the residuals and then cotangents of the outputs
        flagged in ``nonzero_outputs`` (the others do not depend on the nonzero inputs), and gives cotangents of the
        nonzero inputs, zeros where there is none.

    Raises:
        TypeError: ``jaxpr`` is not a Jaxpr, or ``nonzero`` flags an input that is not inexact.
        ValueError: ``nonzero`` does not have one flag for each input.
        NotImplementedError: an operation has no derivative, or (MissingRule) no rule in ``glax.ir.jvp_rule``.

    >>> import glax
    >>> from glax import rewrite
    >>> program = glax.ir.parse("{ lambda ; a:f32[] b:f32[]. let c:f32[] = sin a d:f32[] = mul c b in (d,) }")
    >>> pullback = rewrite.vjp(program, [True, False])
    >>> pullback.forward
    { lambda ; a:f32[] b:f32[]. let
        c:f32[] = sin a
        d:f32[] = cos a
        e:f32[] = mul c b
      in (e, d, b) }
    >>> pullback.backward
    { lambda ; a:f32[] b:f32[] c:f32[]. let
        d:f32[] = mul c b
        e:f32[] = mul d a
      in (e,) }
    """
    require_inexact("vjp: nonzero", jaxpr, nonzero)
    primal, linear, nonzero_outputs, residual_count = linearize(jaxpr, nonzero)
    wanted = [False] * residual_count + [True] * (len(linear.in_binders) - residual_count)
    backward, _ = transpose(linear, wanted)
    return Pullback(primal, backward, nonzero_outputs, residual_count)
