"""Compiled functions: jit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, update_wrapper
from operator import is_
from types import MappingProxyType, MethodType
from typing import Any

from ._calls import CALL, function_name, leaf_avals, of_leaves, require_callable, stage_function, type_of_leaf
from ._inspect import shape_of
from ._known_calls import Known, find, remember
from ._nan_checks import run_checked
from ._static import (
    as_tuple,
    check_names,
    check_positions,
    infer_names_and_positions,
    require_hashable,
    resolve_positions,
    with_static,
)
from .ir import Tracer, aval_of, bind, current_builder, tree
from .ir import ops as o
from .ir.config import Config, config, threads_overriding
from .ir.staging import current, threads_staging
from .stages import Lowered, StagedCall, Traced

_NOTHING_KNOWN: Known = MappingProxyType({})
_MOST_ENTRIES = 4096
"""Kinds of calls that a function keeps what was staged for; of a function that meets more all are forgotten."""


class JitFunction:
    """A function that is staged and compiled once for each kind of arguments it is called with.

    The kind of a call is the tree of its arguments, their shapes and dtypes, and the values of its static arguments.
    """

    def __init__(self, fun: Callable[..., Any], static_argnums: Any, static_argnames: Any, donate_argnums: Any,
                 donate_argnames: Any, inline: bool):
        require_callable("jit", fun)
        self._fun = fun
        self._what = f"jit of {function_name(fun)}"
        self._name = function_name(fun)
        self._inline = inline
        self._static_argnums, self._static_argnames = _options(self._what, "static", fun, static_argnums,
                                                               static_argnames)
        self._donate_argnums, self._donate_argnames = _options(self._what, "donate", fun, donate_argnums,
                                                               donate_argnames)
        self._has_static = bool(self._static_argnums or self._static_argnames)
        self._entries: dict[tuple, StagedCall] = {}
        self._splits: dict[int, tuple[tuple, tuple]] = {}
        # By enable_x64. In it what is static, the names of arguments, and the tree of those that are not all arrays and
        # numbers, lead on.
        self._known: dict[bool, Known] = {False: {}, True: {}}
        update_wrapper(self, fun, assigned=("__name__", "__qualname__", "__module__", "__doc__"), updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        settings = config if threads_overriding else Config
        if settings.slow_path or (threads_staging and current.builder is not None):
            return self._call(args, kwargs)
        known, arguments, named, static = self._known[settings.enable_x64], args, kwargs, None
        if self._has_static:
            static, arguments, named = self._split(args, kwargs)
            try:
                known = known.get(static, _NOTHING_KNOWN)
            except TypeError:  # a static argument cannot be hashed, which staging will say
                known = _NOTHING_KNOWN
        # The common call, of arrays and numbers, finds its executable without looking into trees.
        plain, values = known, arguments
        if named:
            plain, values = known.get(tuple(named), _NOTHING_KNOWN), (*arguments, *named.values())
        run, given = find(plain, values)
        if run is not None:
            return run(given)
        leaves, in_tree = tree.flatten((arguments, named))
        run, given = find(known.get((in_tree,), _NOTHING_KNOWN), leaves)
        if run is not None:
            return run(given)
        entry, *_ = self._entry(args, kwargs)
        entry.compile()
        known = self._known[settings.enable_x64]
        if static is not None:
            known = known.setdefault(static, {})
        remember(known.setdefault((in_tree,), {}), leaves, entry)
        if list(named) == sorted(named) and all(map(is_, values, leaves)):  # in order, and no trees
            remember(known.setdefault(tuple(named), {}) if named else known, values, entry)
        return entry.run(leaves)

    def _split(self, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, tuple, dict[str, Any]]:
        """What is static of a call, as a key, and the other arguments."""
        count = len(args)
        positions, others = self._splits.get(count) or self._positions(count)
        static: list[Any] = [count]
        for i in positions:
            x = args[i]
            static.append(type(x))
            static.append(x)
        rest = []
        for i in others:
            rest.append(args[i])
        if kwargs:
            for name in sorted(kwargs.keys() & self._static_argnames):
                static += name, type(kwargs[name]), kwargs[name]
            kwargs = {k: v for k, v in kwargs.items() if k not in self._static_argnames}
        return tuple(static), tuple(rest), kwargs

    def _positions(self, count: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The positions of static arguments and of others in a call with some number of positional arguments."""
        positions = resolve_positions(self._what, "static_argnums", self._static_argnums, count)
        found = self._splits[count] = positions, tuple(i for i in range(count) if i not in positions)
        return found

    def _call(self, args: tuple, kwargs: dict[str, Any]) -> Any:
        """A call within what is being staged, or under settings that change how programs are staged or run."""
        if config.disable_jit:
            return self._fun(*args, **kwargs)
        entry, leaves, _ = self._entry(args, kwargs)
        builder = current_builder()
        if builder is None:
            entry.compile()
            return run_checked(entry, leaves)
        operands = [*entry.captured, *leaves]
        if self._inline:
            return tree.unflatten(entry.out_tree, builder.splice(entry.jaxpr, operands))
        op = o.Jit(entry.jaxpr, entry.donated, False, self._name)
        return tree.unflatten(entry.out_tree, bind(op, *operands))

    def _entry(self, args: tuple, kwargs: dict[str, Any], abstract: bool = False,
               ) -> tuple[StagedCall, list[Any], Any]:
        """The staged function for a call, the call's arrays, and the tree of its arguments but for static ones."""
        fun, static, count = self._fun, (), len(args)
        if self._has_static:
            fun = self._with_static(args, kwargs)
            static, args, kwargs = self._split(args, kwargs)
        leaves, in_tree = tree.flatten((args, kwargs))
        avals = leaf_avals(self._what, (args, kwargs), leaves, CALL, type_of_leaf if abstract else aval_of)
        key = (in_tree, static, config.enable_x64, config.numpy_dtype_promotion, config.default_matmul_precision,
               *[aval.token for aval in avals])
        entry = self._entries.get(key)
        if entry is None:
            staged = stage_function(of_leaves(fun, in_tree), avals, self._what)
            entry = StagedCall(staged, self._donated_leaves(count, args, kwargs), self._name)
            if not any(type(x) is Tracer for x in entry.captured):
                if len(self._entries) >= _MOST_ENTRIES:
                    self.clear_cache()
                self._entries[key] = entry
        return entry, leaves, in_tree

    def _with_static(self, args: tuple, kwargs: dict[str, Any]) -> Callable[..., Any]:
        """The function of a call's other arguments, its static ones given; they must be hashable."""
        positions, _ = self._positions(len(args))
        for i in positions:
            require_hashable(self._what, f"at position {i}", args[i])
        named = {k: kwargs[k] for k in sorted(kwargs.keys() & self._static_argnames)}
        for name, value in named.items():
            require_hashable(self._what, name, value)
        fun = with_static(self._fun, positions, args) if positions else self._fun
        return partial(fun, **named) if named else fun

    def _donated_leaves(self, count: int, args: tuple, kwargs: dict[str, Any]) -> list[int]:
        """Positions among a call's arrays of those that are donated.

        The call had ``count`` positional arguments; static ones have been taken out of args and kwargs.
        """
        if not self._donate_argnums and not self._donate_argnames:
            return []
        donate = resolve_positions(self._what, "donate_argnums", self._donate_argnums, count)
        _, originals = self._positions(count)
        donated, position = [], 0
        for original, x in zip(originals, args):
            leaves = len(tree.flatten(x)[0])
            if original in donate:
                donated.extend(range(position, position + leaves))
            position += leaves
        for name in sorted(kwargs):
            leaves = len(tree.flatten(kwargs[name])[0])
            if name in self._donate_argnames:
                donated.extend(range(position, position + leaves))
            position += leaves
        return donated

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """The StableHLO module for arguments, or ShapeDtypeStructs in their places."""
        return self.trace(*args, **kwargs).lower()

    def trace(self, *args: Any, **kwargs: Any) -> Traced:
        """The program for arguments, or ShapeDtypeStructs in their places."""
        entry, _, in_tree = self._entry(args, kwargs, abstract=True)
        return Traced(entry, in_tree, self._what)

    def eval_shape(self, *args: Any, **kwargs: Any) -> Any:
        """The shapes and dtypes of the output for arguments, or ShapeDtypeStructs in their places."""
        entry, *_ = self._entry(args, kwargs, abstract=True)
        return tree.unflatten(entry.out_tree, [shape_of(a) for a in entry.jaxpr.out_avals])

    def clear_cache(self) -> None:
        """Forget the staged programs of this function."""
        self._entries.clear()
        self._known = {False: {}, True: {}}

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        return MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<jit of {self._fun!r}>"


def _options(what: str, kind: str, fun: Callable[..., Any], argnums: Any, argnames: Any) -> tuple[tuple, tuple]:
    """The positions and names of static or donated arguments, each completed from the other by the signature."""
    positions = None if argnums is None else as_tuple(what, f"{kind}_argnums", argnums, int)
    if positions:
        check_positions(what, f"{kind}_argnums", fun, positions)
    names = None if argnames is None else as_tuple(what, f"{kind}_argnames", argnames, str)
    if names:
        check_names(what, f"{kind}_argnames", fun, names)
    return infer_names_and_positions(fun, positions, names)


class _NoFunction:
    """Stands for the function where jit is to make a decorator."""

    def __repr__(self) -> str:
        return "<no function>"


_NO_FUNCTION = _NoFunction()


def jit(fun: Callable[..., Any] | _NoFunction = _NO_FUNCTION, *, static_argnums: int | Sequence[int] | None = None,
        static_argnames: str | Sequence[str] | None = None, donate_argnums: int | Sequence[int] | None = None,
        donate_argnames: str | Sequence[str] | None = None, inline: bool = False) -> Any:
    """A function that is compiled by XLA the first time it is called with arguments of a kind.

    Args:
        fun: a function of arrays, or trees of arrays; without it, jit returns a decorator.
        static_argnums, static_argnames: arguments, by position or name, that are passed to fun as they are. They must
            be hashable; another value means another compilation.
        donate_argnums, donate_argnames: arguments whose memory the results may use. They are deleted by the call.
        inline: in a function that is being staged, record fun's equations rather than a call.

    Raises:
        TypeError: fun is not a function.
        NonHashableStaticError: a static argument cannot be hashed.

    >>> import glax, glax.numpy as gnp
    >>> glax.jit(lambda x: gnp.sin(x) + 1)(0.)
    Array(1., dtype=float32, weak_type=True)
    """
    if fun is _NO_FUNCTION:
        return lambda f: jit(f, static_argnums=static_argnums, static_argnames=static_argnames,
                             donate_argnums=donate_argnums, donate_argnames=donate_argnames, inline=inline)
    return JitFunction(fun, static_argnums, static_argnames, donate_argnums, donate_argnames, inline)
