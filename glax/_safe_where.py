"""Functions whose derivatives are those of the values that where takes: safe_where."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from . import rewrite
from ._calls import CALL, apply_program, function_name, leaf_avals, of_leaves, require_callable, stage_function
from .ir import tree


def safe_where(fun: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the same values whose derivatives are not spoiled by what ``where`` does not take.

    The derivative of ``where(x == 0, 1., sin(x) / x)`` at 0 is NaN: that of the quotient there is NaN, and NaN times
    zero is NaN. With safe_where, all that is computed for one case only is given a harmless constant, such as 1, at
    the elements that do not take it, so that these have a derivative of exactly 0 through that case. Derivatives of
    higher order are so too.

    This is so for what is elementwise on the way to ``where`` (and ``select``, ``select_n``): a sum on the way, say,
    is left as it is, and only what comes after it is guarded. What the condition itself is computed from cannot be
    guarded with it: in ``n = sqrt(sum(x * x)); where(n == 0, 0., x / n)`` the division is, and the square root not.

    Args:
        fun: a function of arrays, or trees of arrays.

    Returns:
        A function of the same arguments.

    >>> import glax, glax.numpy as gnp
    >>> from glax.experimental import safe_where
    >>> sinc = safe_where(lambda x: gnp.where(x == 0, 1., gnp.sin(x) / x))
    >>> float(sinc(0.)), float(glax.grad(sinc)(0.))
    (1.0, 0.0)
    """
    require_callable("safe_where", fun)
    what = f"safe_where of {function_name(fun)}"

    def guarded(*args: Any, **kwargs: Any) -> Any:
        leaves, in_tree = tree.flatten((args, kwargs))
        avals = leaf_avals(what, (args, kwargs), leaves, CALL)
        staged = stage_function(of_leaves(fun, in_tree), avals, what, known=leaves)
        program = rewrite.safe_where(staged.jaxpr)
        return tree.unflatten(staged.out_tree, apply_program(program, [*staged.captured, *leaves]))

    return update_wrapper(guarded, fun)
