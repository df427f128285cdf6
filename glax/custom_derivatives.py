"""Derivative rules of one's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from ._calls import (
    Staged,
    apply_program,
    as_arrays,
    function_name,
    leaf_avals,
    require_callable,
    stage_function,
)
from ._custom_jvp import custom_jvp
from ._custom_rules import SymbolicZero, as_type, fits, require_values, zero_from_primal
from ._custom_vjp import CustomVJPPrimal, custom_vjp, custom_vjp_primal_tree_values
from .ir import bind, current_builder, tree
from .ir import ops as o
from .ir.jaxpr import Jaxpr
from .ir.staging import avals_of
from .ir.tree import PyTreeDef
from .tree_util import Partial

__all__ = [
    "CustomVJPPrimal", "SymbolicZero", "closure_convert", "custom_gradient", "custom_jvp", "custom_vjp",
    "custom_vjp_primal_tree_values", "linear_call", "zero_from_primal",
]


class _Applied:
    """A staged function of captured values and arguments, compared by content: the static part of a Partial."""

    def __init__(self, what: str, staged: Staged, in_tree: PyTreeDef):
        self.what, self.jaxpr, self.out_tree, self.in_tree = what, staged.jaxpr, staged.out_tree, in_tree

    def __call__(self, captured: Sequence[Any], *args: Any) -> Any:
        leaves, in_tree = tree.flatten(args)
        if in_tree != self.in_tree:
            raise TypeError(f"{self.what} was staged for arguments of the tree {self.in_tree}, got {in_tree}: "
                            f"{tree.explain_mismatch('args', self.in_tree, in_tree)}")
        wanted = self.jaxpr.in_avals[len(captured):]
        for position, (x, aval) in enumerate(zip(leaves, wanted)):
            if not fits(x, aval):
                raise TypeError(f"{self.what} was staged for {aval.short()} at array {position} of the arguments, got "
                                f"{avals_of([x])[0].short()}")
        given = [as_type(x, aval) for x, aval in zip(leaves, wanted)]
        return tree.unflatten(self.out_tree, apply_program(self.jaxpr, [*captured, *given]))

    def _key(self) -> tuple[Jaxpr, PyTreeDef, PyTreeDef]:
        return self.jaxpr, self.out_tree, self.in_tree

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Applied) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


def _staged_at(what: str, fun: Callable[..., Any], args: Sequence[Any]) -> tuple[_Applied, list[Any]]:
    leaves, in_tree = tree.flatten(tuple(args))
    avals = leaf_avals(what, args, leaves, "args")
    staged = stage_function(lambda *xs: fun(*tree.unflatten(in_tree, xs)), avals, what)
    return _Applied(what, staged, in_tree), staged.captured


def custom_gradient(fun: Callable[..., Any]) -> Callable[..., Any]:
    """A function with a reverse-mode rule that it returns along with its output.

    Args:
        fun: a function that returns its output and a function from a cotangent of it to the cotangents of the
            arguments: a tuple, or for one argument also the cotangent itself.

    Returns:
        A function that returns the output alone.

    >>> import glax
    >>> from glax.custom_derivatives import custom_gradient
    >>> f = custom_gradient(lambda x: (x ** 2, lambda g: (g * x,)))
    >>> float(glax.grad(f)(3.))
    3.0
    """
    require_callable("custom_gradient", fun)

    @wraps(fun)
    def with_gradient(*args: Any, **kwargs: Any) -> Any:
        return wrapped(args, kwargs)

    def output(args: tuple, kwargs: dict[str, Any]) -> Any:
        return fun(*args, **kwargs)[0]

    def forward(args: tuple, kwargs: dict[str, Any]) -> tuple[Any, Any]:
        out, rule = fun(*args, **kwargs)
        pull, captured = _staged_at(f"the gradient of {function_name(fun)}", rule, (out,))
        return out, Partial(pull, captured)

    def backward(pull: Any, cotangent: Any) -> tuple[Any, Any]:
        result = pull(cotangent)
        return result if isinstance(result, tuple) else (result,), None

    output.__name__ = function_name(fun)
    wrapped = custom_vjp(output)
    wrapped.defvjp(forward, backward)
    return with_gradient


def closure_convert(fun: Callable[..., Any], *example_args: Any) -> tuple[Callable[..., Any], list[Any]]:
    """A function with what it closes over made explicit, so that a custom rule may differentiate by it.

    Args:
        fun: a function of arrays, or trees of arrays, that closes over staged values.
        example_args: arguments of the types it will be called with.

    Returns:
        A function of the same arguments followed by the values, and the list of the values: the floating-point ones
        that fun closes over.

    >>> import glax
    >>> from glax.custom_derivatives import closure_convert
    >>> def f(a):
    ...     g, values = closure_convert(lambda x: a * x, 1.)
    ...     return g(2., *values)
    >>> float(glax.grad(f)(3.))
    2.0
    """
    require_callable("closure_convert", fun)
    applied, captured = _staged_at(f"closure_convert of {function_name(fun)}", fun, example_args)
    hoisted = [a.is_inexact for a in avals_of(captured)]
    values = [x for x, flag in zip(captured, hoisted) if flag]
    count = len(example_args)

    def converted(*args: Any) -> Any:
        if len(args) != count + len(values):
            raise TypeError(f"{applied.what}: expected {count} arguments and {len(values)} values, got {len(args)}")
        given = iter(args[count:])
        return applied([next(given) if flag else x for x, flag in zip(captured, hoisted)], *args[:count])

    return converted, values


def linear_call(fun: Callable[..., Any], fun_transpose: Callable[..., Any], residual_args: Any,
                linear_args: Any) -> Any:
    """Apply a linear function whose transpose is given.

    Args:
        fun: a function (residual_args, linear_args) -> output, linear in linear_args.
        fun_transpose: a function (residual_args, cotangent of the output) -> cotangent of linear_args.
        residual_args, linear_args: trees of arrays.

    Returns:
        fun(residual_args, linear_args). Reverse-mode derivatives by linear_args use fun_transpose.

    >>> import glax
    >>> from glax.custom_derivatives import linear_call
    >>> divided = lambda n, x: linear_call(lambda n, x: x / n, lambda n, ct: ct / n, n, x)
    >>> float(glax.grad(lambda x: divided(4., x))(1.))
    0.25
    """
    if current_builder() is None:
        return fun(as_arrays(residual_args), as_arrays(linear_args))
    what = f"linear_call of {function_name(fun)}"
    residuals, residual_tree = tree.flatten(residual_args)
    linear, linear_tree = tree.flatten(linear_args)
    residual_avals = leaf_avals(what, residual_args, residuals, "residual_args")
    linear_avals = leaf_avals(what, linear_args, linear, "linear_args")
    count = len(residuals)

    def forward(*xs: Any) -> Any:
        return fun(tree.unflatten(residual_tree, xs[:count]), tree.unflatten(linear_tree, xs[count:]))

    staged = stage_function(forward, [*residual_avals, *linear_avals], what)

    def backward(*xs: Any) -> list[Any]:
        result = fun_transpose(tree.unflatten(residual_tree, xs[:count]), tree.unflatten(staged.out_tree, xs[count:]))
        leaves, got = require_values(f"{what}: its transpose", result)
        if got != linear_tree:
            raise TypeError(f"{what}: its transpose must return the tree of linear_args, {linear_tree}, got {got}: "
                            f"{tree.explain_mismatch('output', linear_tree, got)}")
        for x, aval in zip(leaves, linear_avals):
            if not fits(x, aval):
                raise TypeError(f"{what}: its transpose must return {aval.short()}, as the linear argument, got "
                                f"{avals_of([x])[0].short()}")
        return [as_type(x, aval) for x, aval in zip(leaves, linear_avals)]

    transposed = stage_function(backward, [*residual_avals, *staged.out_avals], f"the transpose in {what}")
    return tree.unflatten(staged.out_tree, _bind_linear(what, staged, transposed, residuals, linear))


def _bind_linear(what: str, staged: Staged, transposed: Staged, residuals: list[Any], linear: list[Any]) -> list[Any]:
    """Record the call, the values that both functions close over put before the residuals."""
    from ._custom_rules import Constants
    constants = Constants([*staged.captured, *transposed.captured])
    programs = [constants.program(s.jaxpr, s.captured) for s in (staged, transposed)]
    before = [*constants.values, *residuals]
    return bind(o.LinearCall(*programs, len(before), what.removeprefix("linear_call of ")), *before, *linear)
