"""What all rewrites have in common: they run without the garbage collector, and are checked where the user asks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar

from ..ir import Jaxpr
from ..ir.check import check
from ..ir.collector import without_collector
from ..ir.config import config
from ..ir.jaxpr import require_jaxpr

Rewrite = TypeVar("Rewrite", bound=Callable[..., Any])


def rewrite_pass(rewrite: Rewrite) -> Rewrite:
    """Decorator of every rewrite: with ``config.check_rewrites`` on, the programs it returns are checked."""
    run = without_collector(rewrite)

    @wraps(rewrite)
    def run_and_check(jaxpr: Jaxpr, *args: Any, **kwargs: Any) -> Any:
        require_jaxpr(rewrite.__name__, jaxpr)
        result = run(jaxpr, *args, **kwargs)
        if config.check_rewrites:
            for item in result if isinstance(result, tuple) else (result,):
                if isinstance(item, Jaxpr):
                    check(item)
        return result
    return run_and_check


def require_one_each(what: str, given: Sequence[Any], items: Sequence[Any]) -> None:
    """Raise unless an argument is a list or a tuple, with an entry for each input, or output, of a program."""
    if not isinstance(given, (list, tuple)):
        raise TypeError(f"{what} must be a list or a tuple, got {given!r:.200} of type {type(given).__name__}")
    if len(given) != len(items):
        raise ValueError(f"{what} must have one entry for each of {len(items)}, got {len(given)}")


def require_inexact(what: str, jaxpr: Jaxpr, flags: Sequence[bool]) -> None:
    """Raise unless there is a flag for each input of a program, set for inexact ones only."""
    require_one_each(what, flags, jaxpr.in_binders)
    for position, (var, flag) in enumerate(zip(jaxpr.in_binders, flags)):
        if flag and not var.aval.is_inexact:
            raise TypeError(f"{what}: input {position} is {var.aval.short()}, and only inexact inputs have tangents")


def for_each(flag: bool | Sequence[bool], items: Sequence[Any]) -> Sequence[bool]:
    """A flag per item, from one for all of them or a list or tuple of one for each."""
    if not isinstance(flag, (bool, list, tuple)):
        raise TypeError(f"expected a bool, or a list or tuple of them, got {flag!r:.200} of type {type(flag).__name__}")
    return [flag] * len(items) if isinstance(flag, bool) else flag
