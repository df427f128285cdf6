"""Checking every program that a rewrite makes, where the user asks for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from ..ir import Jaxpr
from ..ir.check import check
from ..ir.config import config


def checked(rewrite: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator: with ``config.check_rewrites`` on, the programs that the rewrite returns are checked."""
    @wraps(rewrite)
    def checking(*args: Any, **kwargs: Any) -> Any:
        result = rewrite(*args, **kwargs)
        if config.check_rewrites:
            for item in result if isinstance(result, tuple) else (result,):
                if isinstance(item, Jaxpr):
                    check(item)
        return result
    return checking
