"""Static arguments: those that are passed to a function as they are, and are part of what it is staged for."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from .ir import NonHashableStaticError


def as_tuple(what: str, name: str, given: Any, kind: type) -> tuple:
    """An option given as one value or a sequence of values, as a tuple."""
    if given is None:
        return ()
    try:
        values = (given,) if isinstance(given, kind) else tuple(given)
    except TypeError:
        values = (given,)
    for x in values:
        if not isinstance(x, kind) or isinstance(x, bool):
            raise TypeError(f"{what}: {name} must be {kind.__name__}s, got {given!r}")
    return values


def resolve_positions(what: str, name: str, positions: Sequence[int], count: int) -> tuple[int, ...]:
    """Positions among the arguments of a call; those beyond its end are left out, as defaults stand in."""
    return tuple(sorted({i % count if i < 0 else i for i in positions if -count <= i < count}))


def require_positions(what: str, name: str, positions: Sequence[int], count: int) -> None:
    """Raise unless a call has arguments at these positions."""
    beyond = [i for i in positions if not -count <= i < count]
    if beyond:
        raise ValueError(f"{what}: {name} has {beyond[0]}, but the call has {count} positional arguments")


def split_static(what: str, fun: Callable[..., Any], static_argnums: Sequence[int],
                 args: Sequence[Any]) -> tuple[Callable[..., Any], tuple]:
    """A function of the other arguments, with the static ones given; and the other arguments."""
    positions = resolve_positions(what, "static_argnums", static_argnums, len(args))
    if not positions:
        return fun, tuple(args)
    return with_static(fun, positions, args), tuple(x for i, x in enumerate(args) if i not in positions)


def with_static(fun: Callable[..., Any], positions: Sequence[int], args: Sequence[Any]) -> Callable[..., Any]:
    """fun with the arguments at some positions given; it is called with the others."""
    static = {i: args[i] for i in positions}
    count = len(args)

    def call(*dynamic: Any, **kwargs: Any) -> Any:
        rest = iter(dynamic)
        return fun(*[static[i] if i in static else next(rest) for i in range(count)], **kwargs)

    return call


def require_hashable(what: str, where: str, value: Any) -> None:
    try:
        hash(value)
    except TypeError:
        raise NonHashableStaticError(
            f"{what}: the static argument {where} must be hashable, got {value!r} of type {type(value).__name__}. "
            f"Pass arrays as ordinary arguments, and lists as tuples") from None


def infer_names_and_positions(fun: Callable[..., Any], argnums: tuple[int, ...] | None,
                              argnames: tuple[str, ...] | None) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Of static (or donated) arguments both the positions and the names, so that a call may use either."""
    if argnums is None and argnames is None:
        return (), ()
    try:
        parameters = list(inspect.signature(fun).parameters.values())
    except (ValueError, TypeError):
        return argnums or (), argnames or ()
    positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if argnames is None:
        by_name = {p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD}
        chosen = [positional[i] for i in argnums if -len(positional) <= i < len(positional)]
        names = tuple(name for name in chosen if name in by_name)
        return argnums, names
    if argnums is None:
        return tuple(i for i, name in enumerate(positional) if name in argnames), argnames
    return argnums, argnames


def check_positions(what: str, option: str, fun: Callable[..., Any], positions: Sequence[int]) -> None:
    """Positions of options are among the function's, or it takes any number of arguments."""
    try:
        parameters = inspect.signature(fun).parameters.values()
    except (ValueError, TypeError):
        return
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return
    count = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
    beyond = [i for i in positions if not -count <= i < count]
    if beyond:
        raise ValueError(f"{what}: {option} has {beyond[0]}, but the function takes {count} positional arguments")


def check_names(what: str, option: str, fun: Callable[..., Any], names: Sequence[str]) -> None:
    """Names of options are among the function's parameters, or it takes any keyword."""
    try:
        parameters = inspect.signature(fun).parameters
    except (ValueError, TypeError):
        return
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return
    unknown = [n for n in names if n not in parameters]
    if unknown:
        raise ValueError(f"{what}: {option} names {unknown[0]!r}, which is no parameter of the function; it has "
                         f"{', '.join(parameters) or 'none'}")
