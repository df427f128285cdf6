"""Programs as values, and back to functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core import eval_jaxpr
from ..ir import ClosedJaxpr, Effect, Jaxpr, Literal, Var
from ..ir import Eqn as JaxprEqn
from ..ir import check as check_jaxpr

__all__ = ["ClosedJaxpr", "Effect", "Jaxpr", "JaxprEqn", "Literal", "Var", "check_jaxpr", "jaxpr_as_fun"]


def jaxpr_as_fun(closed_jaxpr: ClosedJaxpr) -> Callable[..., list[Any]]:
    """The function of a program: it can be called, compiled and transformed as any other.

    Args:
        closed_jaxpr: what make_jaxpr gives, or a ClosedJaxpr of a program that a rewrite made.

    Returns:
        A function from values of the program's inputs to the list of its results.

    Raises:
        TypeError: it is no ClosedJaxpr.

    >>> import glax, glax.numpy as gnp
    >>> closed = glax.make_jaxpr(gnp.sin)(gnp.ones(3))
    >>> f = glax.extend.core.jaxpr_as_fun(closed)
    >>> glax.jit(f)(gnp.zeros(3))
    [Array([0., 0., 0.], dtype=float32)]
    """
    if type(closed_jaxpr) is not ClosedJaxpr:
        raise TypeError(f"jaxpr_as_fun takes a ClosedJaxpr, got an object of type {type(closed_jaxpr).__name__}")

    def run(*args: Any) -> list[Any]:
        return eval_jaxpr(closed_jaxpr.jaxpr, closed_jaxpr.consts, *args)

    return run
