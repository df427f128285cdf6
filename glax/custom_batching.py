"""Vectorisation rules of one's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ._calls import as_arrays, function_name, leaf_avals, require_callable, stage_function
from ._custom_rules import WithRules, as_type, fits, require_values, resolve_keywords, run_now
from .ir import PythonFunction, ShapedArray, aval_of, bind, current_builder, tree
from .ir import ops as o
from .ir.tree import PyTreeDef
from .ir.types import shaped_array

__all__ = ["custom_vmap", "sequential_vmap"]


class custom_vmap(WithRules):
    """A function with a rule of its own for vmap.

    Args:
        fun: a function of arrays, or trees of arrays.

    The rule, given with ``def_vmap``, is a Python function that is called when vmap is. It cannot close over staged
    values; pass those as arguments. Derivatives of the function are those of its program; forward-mode ones are
    vectorised by the derivative of the rule.

    >>> import glax, glax.numpy as gnp
    >>> @glax.custom_batching.custom_vmap
    ... def f(x):
    ...     return x + 1.
    >>> @f.def_vmap
    ... def rule(axis_size, in_batched, x):
    ...     return x + 100., True
    >>> glax.vmap(f)(gnp.arange(2.))
    Array([100., 101.], dtype=float32)
    """

    def __init__(self, fun: Callable[..., Any]):
        super().__init__(fun)
        self.vmap_rule: Callable[..., Any] | None = None
        self._flat_rules: dict[tuple, Callable[..., Any]] = {}

    def def_vmap(self, vmap_rule: Callable[..., Any]) -> Callable[..., Any]:
        """Give the rule: a function (axis_size, in_batched, *args) -> (output, out_batched).

        Args:
            vmap_rule: in_batched is a list, with a tree of bools for each argument: whether it is mapped. Mapped
                arguments have the axis first, as must the outputs for which out_batched, a tree of bools, says so.

        Returns:
            The rule, so that this is a decorator.
        """
        require_callable(f"def_vmap of the {self._what}", vmap_rule)
        self.vmap_rule = vmap_rule
        return vmap_rule

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        args = resolve_keywords(self._what, self.fun, args, kwargs)
        if self.vmap_rule is None:
            raise AttributeError(f"the {self._what} has no rule: give it one with def_vmap before calling it")
        if current_builder() is None:
            return run_now(self._what, self.fun(*as_arrays(args)))
        leaves, in_tree = tree.flatten(args)
        avals = leaf_avals(self._what, args, leaves, "args")
        staged = stage_function(lambda *xs: self.fun(*tree.unflatten(in_tree, xs)), avals, self._what)
        rule = self._flat_rule(self.vmap_rule, in_tree, staged.out_tree, staged.out_avals, len(staged.captured))
        op = o.CustomVmapCall(staged.jaxpr, rule, self._name)
        return tree.unflatten(staged.out_tree, bind(op, *staged.captured, *leaves))

    def _flat_rule(self, rule: Callable[..., Any], in_tree: PyTreeDef, out_tree: PyTreeDef,
                   out_avals: Sequence[ShapedArray], captured_count: int) -> PythonFunction:
        what = f"the rule {function_name(rule)} of the {self._what}"

        def flat(size: int, mapped: Sequence[bool], args: Sequence[Any]) -> tuple[list[Any], list[bool]]:
            if any(mapped[:captured_count]):
                raise TypeError(f"{what} is about its arguments, but the function closes over a mapped value; pass "
                                f"the value as an argument")
            in_batched = list(tree.unflatten(in_tree, mapped[captured_count:]))
            result = rule(size, in_batched, *tree.unflatten(in_tree, args[captured_count:]))
            if not isinstance(result, (tuple, list)) or len(result) != 2:
                raise TypeError(f"{what} must return a pair (output, out_batched), got {result!r}")
            return _checked(what, result, out_tree, out_avals, size)

        key = id(rule), in_tree, out_tree, tuple(out_avals), captured_count  # what is kept under it keeps the rule
        flat.__module__, flat.__qualname__ = rule.__module__, getattr(rule, "__qualname__", type(rule).__qualname__)
        return PythonFunction.of(self._flat_rules.setdefault(key, flat))


def _checked(what: str, result: Sequence[Any], out_tree: PyTreeDef, avals: Sequence[ShapedArray],
             size: int) -> tuple[list[Any], list[bool]]:
    """The flat outputs of a rule, of the types they must have, and which are mapped."""
    outs, got = require_values(f"{what}: its first result", result[0])
    if got != out_tree:
        raise TypeError(f"{what}: the output it returns must have the tree of the function's output, {out_tree}, got "
                        f"{got}: {tree.explain_mismatch('output', out_tree, got)}")
    mapped = [bool(flag) for flag in tree.flatten_axes(f"{what}: out_batched", out_tree, result[1])]
    checked = []
    for x, flag, aval in zip(outs, mapped, avals):
        wanted = shaped_array((size, *aval.shape), aval.dtype, aval.weak_type) if flag else aval
        if not fits(x, wanted):
            raise TypeError(f"{what}: an output must be {wanted.short()}{' (mapped)' if flag else ''}, got "
                            f"{aval_of(x).short()}")
        checked.append(as_type(x, wanted))
    return checked, mapped


def sequential_vmap(fun: Callable[..., Any]) -> custom_vmap:
    """A function that vmap calls for one index after another, rather than for all at once.

    >>> import glax, glax.numpy as gnp
    >>> glax.vmap(glax.custom_batching.sequential_vmap(lambda x: x * 2.))(gnp.arange(3.))
    Array([0., 2., 4.], dtype=float32)
    """
    wrapped = custom_vmap(fun)

    def one_by_one(axis_size: int, in_batched: list[Any], *args: Any) -> tuple[Any, Any]:
        leaves, in_tree = tree.flatten(args)
        mapped = tree.flatten(in_batched)[0]

        def call(rows: Sequence[Any]) -> Any:
            given = iter(rows)
            return fun(*tree.unflatten(in_tree, [next(given) if flag else x for x, flag in zip(leaves, mapped)]))

        out = _mapped(call, [x for x, flag in zip(leaves, mapped) if flag], axis_size)
        return out, tree.map_tree(lambda _: True, out)

    wrapped.def_vmap(one_by_one)
    return wrapped


def _mapped(f: Callable[[Sequence[Any]], Any], stacked: Sequence[Any], size: int) -> Any:
    """f of each row: a loop where there is one, else a call for each row."""
    from . import lax
    loop = getattr(lax, "map", None)
    if loop is not None:
        return loop(f, list(stacked))
    rows = [tree.flatten(f([_row(x, i) for x in stacked])) for i in range(size)]
    columns = zip(*(leaves for leaves, _ in rows))
    return tree.unflatten(rows[0][1], [_stack(column) for column in columns])


def _row(x: Any, i: int) -> Any:
    aval = aval_of(x)
    starts, limits = (i, *[0] * (aval.ndim - 1)), (i + 1, *aval.shape[1:])
    return o.reshape(o.slice_(x, starts, limits, (1,) * aval.ndim), aval.shape[1:])


def _stack(rows: Sequence[Any]) -> Any:
    return o.concatenate([o.reshape(x, (1, *aval_of(x).shape)) for x in rows], 0)
