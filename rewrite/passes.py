"""What all rewrites have in common: they run without the garbage collector, and are checked where the user asks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar

from ..ir import Jaxpr
from ..ir.check import check
from ..ir.collector import without_collector
from ..ir.config import config

Rewrite = TypeVar("Rewrite", bound=Callable[..., Any])


def rewrite_pass(rewrite: Rewrite) -> Rewrite:
    """Decorator of every rewrite: with ``config.check_rewrites`` on, the programs it returns are checked."""
    run = without_collector(rewrite)

    @wraps(rewrite)
    def run_and_check(*args: Any, **kwargs: Any) -> Any:
        result = run(*args, **kwargs)
        if config.check_rewrites:
            for item in result if isinstance(result, tuple) else (result,):
                if isinstance(item, Jaxpr):
                    check(item)
        return result
    return run_and_check


def for_each(flag: bool | Sequence[bool], items: Sequence[Any]) -> Sequence[bool]:
    """A flag per item, from one for all of them or one for each."""
    return [flag] * len(items) if isinstance(flag, bool) else flag
