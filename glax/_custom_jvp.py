"""Functions whose forward-mode derivative their author gives: custom_jvp."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
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
from .ir import ShapedArray, Tracer, add_tangents, bind, current_builder, dtypes, tree
from .ir import ops as o


class custom_jvp(WithRules):
    """A function with a rule of its own for its forward-mode derivative, from which the reverse mode follows too.

    Args:
        fun: a function of arrays, or trees of arrays.
        nondiff_argnums: positions of arguments to pass to the rule as they are: functions, options, or arrays by
            which nothing is differentiated.
        nondiff_argnames: the same, by name.

    The rule is given with ``defjvp`` (or, an argument at a time, ``defjvps``). The function may close over staged
    values; a derivative by those is an error, since the rule is about the arguments. The rule is staged along with
    the function, unless that is called on values; what it raises, it raises when a derivative is taken.

    >>> import glax, glax.numpy as gnp
    >>> @glax.custom_jvp
    ... def log1pexp(x):
    ...     return gnp.log(1. + gnp.exp(x))
    >>> @log1pexp.defjvp
    ... def log1pexp_jvp(primals, tangents):
    ...     (x,), (t,) = primals, tangents
    ...     return log1pexp(x), (1 - 1 / (1 + gnp.exp(x))) * t
    >>> float(glax.grad(log1pexp)(100.))
    1.0
    """

    def __init__(self, fun: Callable[..., Any], nondiff_argnums: int | Sequence[int] = (),
                 nondiff_argnames: str | Sequence[str] = ()):
        super().__init__(fun, nondiff_argnums, nondiff_argnames)
        self.symbolic_zeros = False
        self.jvp: Callable[..., Any] | None = None

    def defjvp(self, jvp: Callable[..., Any], symbolic_zeros: bool = False) -> Callable[..., Any]:
        """Give the rule: a function (*nondiff_args, primals, tangents) -> (output, tangent of the output).

        Args:
            jvp: the rule; it is linear in tangents. Primals and tangents are tuples with an entry per differentiable
                argument; the tangent of an integer is of dtype float0.
            symbolic_zeros: whether tangents known to be zero are SymbolicZeros rather than arrays of zeros: those of
                integers, and of arguments that are no staged values. The rule may return some too.

        Returns:
            The rule, so that this is a decorator.
        """
        require_callable(f"defjvp of the {self._what}", jvp)
        self.jvp = jvp
        self.symbolic_zeros = symbolic_zeros
        return jvp

    def defjvps(self, *jvps: Callable[..., Any] | None) -> None:
        """Give the rule an argument at a time: functions (tangent, output, *primals) -> tangent of the output.

        Args:
            jvps: one for each argument, None where the derivative is zero. They add up.

        >>> import glax
        >>> f = glax.custom_jvp(lambda x, y: x * y)
        >>> f.defjvps(lambda t, ans, x, y: t * y, None)
        >>> [float(g) for g in glax.grad(f, argnums=(0, 1))(2., 3.)]
        [3.0, 0.0]
        """
        if self._options.positions:
            raise TypeError(f"{self._what}: defjvps does not work with nondiff_argnums; use defjvp")

        def jvp(primals: tuple, tangents: tuple) -> tuple[Any, Any]:
            if len(jvps) != len(primals):
                raise TypeError(f"{self._what}: defjvps was given {len(jvps)} rules for {len(primals)} arguments")
            out = self(*primals)
            parts = [rule(t, out, *primals) for rule, t in zip(jvps, tangents) if rule is not None]
            if not parts:
                return out, tree.map_tree(SymbolicZero, out)
            return out, reduce(lambda a, b: tree.map_tree(_sum, a, b), parts)

        self.defjvp(jvp)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        args = resolve_keywords(self._what, self.fun, args, kwargs)
        if self.jvp is None:
            raise AttributeError(f"the {self._what} has no derivative rule: give it one with defjvp before calling it")
        if current_builder() is None:
            return run_now(self._what, self.fun(*args))
        call = separate(self._what, self._name, self.fun, self._options, args)
        primal = stage_primal(call)
        ruled = with_rules(self, call, primal, 1, self._stage_rule)
        op = o.CustomJvpCall(ruled.jaxpr, ruled.rules[0], len(ruled.constants), (), self._name)
        return tree.unflatten(primal.out, bind(op, *ruled.constants, *call.leaves))

    def _stage_rule(self, call: Call, primal: Program) -> list[Program]:
        count = len(call.avals)
        moving = [a for a in call.avals if a.is_inexact]
        symbolic = [self.symbolic_zeros and not (a.is_inexact and type(x) is Tracer)
                    for x, a in zip(call.leaves, call.avals)]

        def flat(*xs: Any) -> tuple[list[Any], None]:
            tangents = _tangents(call.avals, symbolic, xs[count:])
            primals = tree.unflatten(call.tree, xs[:count])
            result = self.jvp(*call.static, primals, tree.unflatten(call.tree, tangents))
            return _checked_result(f"the rule {function_name(self.jvp)} of the {call.what}", primal, result), None

        known = [*call.leaves, *[NOT_KNOWN] * len(moving)]
        return [stage_flat(flat, [*call.avals, *moving], f"the derivative rule of the {call.what}", known)]


def _sum(a: Any, b: Any) -> Any:
    return b if type(a) is SymbolicZero else a if type(b) is SymbolicZero else add_tangents(a, b)


def _tangents(avals: Sequence[ShapedArray], symbolic: Sequence[bool], given: Sequence[Any]) -> list[Any]:
    """A tangent for each argument, of which the inexact ones are given."""
    values = iter(given)
    tangents = []
    for aval, zero in zip(avals, symbolic):
        t = next(values) if aval.is_inexact else np.zeros(aval.shape, dtypes.float0)
        tangents.append(SymbolicZero(aval.to_tangent()) if zero else t)
    return tangents


def _checked_result(what: str, primal: Program, result: Any) -> list[Any]:
    """The flat outputs of a rule and the tangents of the inexact ones."""
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        raise TypeError(f"{what} must return a pair (output, tangent of the output), got {result!r}")
    outs, out_tree = require_values(f"{what}: its first result", result[0])
    tangents, tangent_tree = tree.flatten(result[1])
    for part, got in (("the output", out_tree), ("the tangent", tangent_tree)):
        if got != primal.out:
            raise TypeError(f"{what}: {part} it returns must have the tree of the function's output, {primal.out}, got "
                            f"{got}: {tree.explain_mismatch(part.removeprefix('the '), primal.out, got)}")
    paths = [tree.keystr(path) for path, _ in tree.flatten_with_path(result[0])[0]]
    results, moving = [], []
    for path, aval, x, t in zip(paths, primal.jaxpr.out_avals, outs, tangents):
        if not fits(x, aval):
            raise TypeError(f"{what}: output{path} must be {aval.short()}, as the function's, got {aval_text(x)}")
        results.append(as_type(x, aval))
        if not aval.is_inexact:
            continue
        if type(t) is SymbolicZero:
            t = o.full(aval.shape, 0, aval.dtype)
        if not fits(t, aval):
            raise TypeError(f"{what}: tangent{path} must be {aval.short()}, as the output, got {aval_text(t)}")
        moving.append(as_type(t, aval))
    return results + moving
