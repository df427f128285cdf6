"""Functions whose reverse-mode derivative their author gives: custom_vjp."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._calls import NOT_KNOWN, function_name, require_callable
from ._custom_rules import (
    Call,
    Program,
    SymbolicZero,
    WithRules,
    as_type,
    aval_text,
    fits,
    require_values,
    resolve_keywords,
    run_now,
    separate,
    stage_flat,
    stage_primal,
    with_rules,
)
from .ir import ShapedArray, Tracer, bind, current_builder, dtypes, tree
from .ir import ops as o


@dataclass(frozen=True)
class CustomVJPPrimal:
    """An argument of a forward rule with symbolic_zeros=True.

    Attributes:
        value: the argument.
        perturbed: whether its cotangent may be wanted.
    """

    value: Any
    perturbed: bool


def custom_vjp_primal_tree_values(x: Any) -> Any:
    """A tree of CustomVJPPrimals as the tree of their values."""
    return tree.map_tree(lambda p: p.value if isinstance(p, CustomVJPPrimal) else p, x)


class custom_vjp(WithRules):
    """A function with rules of its own for its reverse-mode derivative.

    Args:
        fun: a function of arrays, or trees of arrays.
        nondiff_argnums: positions of arguments to pass to the rules as they are: functions, options, or arrays by
            which nothing is differentiated.
        nondiff_argnames: the same, by name.

    The rules are given with ``defvjp``. The function may close over staged values; a derivative by those is an
    error, since the rules are about the arguments. Forward-mode derivatives are had by transposing the backward rule,
    and are an error where it is not linear in the cotangents. The rules are staged along with the function, unless
    that is called on values; what they raise, they raise when a derivative is taken.

    >>> import glax, glax.numpy as gnp
    >>> @glax.custom_vjp
    ... def clip_gradient(lo, hi, x):
    ...     return x
    >>> clip_gradient.defvjp(lambda lo, hi, x: (x, (lo, hi)),
    ...                      lambda limits, g: (None, None, gnp.clip(g, *limits)))
    >>> float(glax.grad(lambda x: 10. * clip_gradient(-1., 1., x))(3.))
    1.0
    """

    def __init__(self, fun: Callable[..., Any], nondiff_argnums: int | Sequence[int] = (),
                 nondiff_argnames: str | Sequence[str] = ()):
        super().__init__(fun, nondiff_argnums, nondiff_argnames)
        self.symbolic_zeros = False
        self.fwd: Callable[..., Any] | None = None
        self.bwd: Callable[..., Any] | None = None

    def defvjp(self, fwd: Callable[..., Any], bwd: Callable[..., Any], symbolic_zeros: bool = False,
               optimize_remat: bool = False) -> None:
        """Give the rules.

        Args:
            fwd: a function of the same arguments that returns the output and residuals: any tree of arrays.
            bwd: a function (*nondiff_args, residuals, cotangent of the output) that returns a tuple with a cotangent
                for each differentiable argument. None, for an argument or a part of one, stands for zeros; what it
                returns for integers is ignored.
            symbolic_zeros: whether fwd's arguments come as CustomVJPPrimals, which say whether their cotangents may
                be wanted, and bwd may return SymbolicZeros.
            optimize_remat: accepted for compatibility: the function itself, not fwd, is what a program without
                derivatives runs in any case.
        """
        require_callable(f"defvjp of the {self._what}: fwd", fwd)
        require_callable(f"defvjp of the {self._what}: bwd", bwd)
        self.fwd, self.bwd, self.symbolic_zeros = fwd, bwd, symbolic_zeros

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        args = resolve_keywords(self._what, self.fun, args, kwargs)
        if self.fwd is None or self.bwd is None:
            raise AttributeError(f"the {self._what} has no derivative rules: give it some with defvjp before calling "
                                 f"it")
        if current_builder() is None:
            return run_now(self._what, self.fun(*args))
        call = separate(self._what, self._name, self.fun, self._options, args)
        primal = stage_primal(call)
        forward = separate(self._what, self._name, self.fwd, self._options, args)
        ruled = with_rules(self, call, primal, 2, lambda call, primal: self._stage_rules(forward, primal))
        op = o.CustomVjpCall(ruled.jaxpr, *ruled.rules, len(ruled.constants), (), self._name)
        return tree.unflatten(primal.out, bind(op, *ruled.constants, *call.leaves))

    def _stage_rules(self, call: Call, primal: Program) -> list[Program]:
        forward = stage_flat(self._flat_forward(call, primal), call.avals, f"the forward rule of the {call.what}",
                             call.leaves)
        residuals, residual_tree = forward.out
        cotangents = [a for a in primal.jaxpr.out_avals if a.is_inexact]
        residual_avals = forward.jaxpr.out_avals[len(primal.jaxpr.outs):]
        what = f"the backward rule {function_name(self.bwd)} of the {call.what}"

        def flat(*xs: Any) -> tuple[list[Any], None]:
            result = self.bwd(*call.static, tree.unflatten(residual_tree, xs[:len(residuals)]),
                              tree.unflatten(primal.out, _cotangents(primal.jaxpr.out_avals, xs[len(residuals):])))
            return _checked_cotangents(what, call, result), None

        backward = stage_flat(flat, [*residual_avals, *cotangents], what, [*residuals, *[NOT_KNOWN] * len(cotangents)])
        return [forward, backward]

    def _flat_forward(self, call: Call, primal: Program) -> Callable[..., tuple]:
        what = f"the forward rule {function_name(self.fwd)} of the {call.what}"
        perturbed = [a.is_inexact and type(x) is Tracer for x, a in zip(call.leaves, call.avals)]

        def flat(*xs: Any) -> tuple[list[Any], tuple]:
            given = map(CustomVJPPrimal, xs, perturbed) if self.symbolic_zeros else xs
            result = call.flat(*given)
            if not isinstance(result, (tuple, list)) or len(result) != 2:
                raise TypeError(f"{what} must return a pair (output, residuals), got {result!r}")
            outs, out_tree = require_values(f"{what}: its first result", result[0])
            residuals, residual_tree = require_values(f"{what}: its residuals", result[1])
            if out_tree != primal.out:
                raise TypeError(f"{what}: the output it returns must have the tree of the function's output, "
                                f"{primal.out}, got {out_tree}: "
                                f"{tree.explain_mismatch('output', primal.out, out_tree)}")
            outs = [_output(what, path, x, a) for (path, x), a in zip(
                tree.flatten_with_path(result[0])[0], primal.jaxpr.out_avals)]
            builder = current_builder()
            residuals = [builder.lift(x) for x in residuals]
            return [*outs, *residuals], (residuals, residual_tree)

        return flat


def _output(what: str, path: tuple, x: Any, aval: ShapedArray) -> Any:
    if not fits(x, aval):
        raise TypeError(f"{what}: output{tree.keystr(path)} must be {aval.short()}, as the function's, got "
                        f"{aval_text(x)}")
    return as_type(x, aval)


def _cotangents(avals: Sequence[ShapedArray], given: Sequence[Any]) -> list[Any]:
    values = iter(given)
    return [next(values) if a.is_inexact else np.zeros(a.shape, dtypes.float0) for a in avals]


def _checked_cotangents(what: str, call: Call, result: Any) -> list[Any]:
    """The cotangents of the inexact arguments' leaves."""
    if isinstance(result, list):
        result = tuple(result)
    if not isinstance(result, tuple) or len(result) != len(call.args):
        got = f"a tuple of {len(result)}" if isinstance(result, tuple) else repr(result)
        raise TypeError(f"{what} must return a tuple with a cotangent for each of {len(call.args)} differentiable "
                        f"arguments, got {got}")
    paths = [tree.keystr(path) for path, _ in tree.flatten_with_path(call.args)[0]]
    cotangents = []
    for path, aval, ct in zip(paths, call.avals, _spread_over_arguments(what, call, result)):
        if not aval.is_inexact:
            continue
        if ct is None or type(ct) is SymbolicZero:
            ct = o.full(aval.shape, 0, aval.dtype)
        if not fits(ct, aval):
            raise TypeError(f"{what}: the cotangent at output{path} must be {aval.short()}, as the argument, got "
                            f"{aval_text(ct)}")
        cotangents.append(as_type(ct, aval))
    return cotangents


def _spread_over_arguments(what: str, call: Call, result: tuple) -> list[Any]:
    """A cotangent, or None, for each leaf of the arguments."""
    entries, given = tree.flatten(result, _is_none)
    places = {path for path, _ in tree.flatten_with_path(call.args)[0]}
    astray = any(x is not None and path not in places for path, x in tree.flatten_with_path(result, _is_none)[0])
    try:
        chosen = [] if astray else tree.flatten_axes(what, call.tree, tree.unflatten(given, range(len(entries))))
    except ValueError:
        astray = True
    if astray:
        filled = tree.unflatten(given, [0 if x is None else x for x in entries])
        raise TypeError(f"{what} must return cotangents with the tree of the differentiable arguments, {call.tree}, "
                        f"got {tree.flatten(filled)[1]}: {tree.explain_mismatch('output', call.args, filled)}")
    return [entries[i] for i in chosen]


def _is_none(x: Any) -> bool:
    return x is None
