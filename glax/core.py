"""Programs from the outside: their types, and running one as a function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._calls import apply_program
from .ir import Atom, Jaxpr, ShapedArray, Tracer, aval_of
from .ir.jaxpr import require_jaxpr

__all__ = ["Atom", "ShapedArray", "Tracer", "eval_jaxpr"]


def eval_jaxpr(jaxpr: Jaxpr, consts: Sequence[Any], *args: Any) -> list[Any]:
    """The results of a program, for values or within a function that is being transformed.

    Args:
        jaxpr: the program, as written or as any rewrite made it.
        consts: values for its leading inputs: ``closed.consts`` for ``closed.jaxpr``.
        args: values for its other inputs, of their shapes and dtypes.

    Returns:
        A list with a value for each result.

    Raises:
        TypeError: an argument is missing, or of another shape or dtype than its input.

    >>> import glax
    >>> from glax import rewrite
    >>> program = glax.make_jaxpr(lambda x: x * x)(3.).jaxpr
    >>> both, _ = rewrite.jvp(program, [True])
    >>> [float(y) for y in glax.core.eval_jaxpr(both, [], 3., 1.)]
    [9.0, 6.0]
    >>> float(glax.grad(lambda x: glax.core.eval_jaxpr(program, [], x)[0])(3.))
    6.0
    """
    require_jaxpr("eval_jaxpr", jaxpr)
    values = [*consts, *args]
    if len(values) != len(jaxpr.in_binders):
        raise TypeError(f"eval_jaxpr: a program of {len(jaxpr.in_binders)} inputs was given {len(consts)} consts and "
                        f"{len(args)} arguments")
    for position, (x, (_, aval)) in enumerate(zip(values, jaxpr.in_binders)):
        got = aval_of(x)
        if (got.shape, got.dtype) != (aval.shape, aval.dtype):
            raise TypeError(f"eval_jaxpr: input {position} of the program is {aval.short()}, got {got.short()}")
    return apply_program(jaxpr, values)
