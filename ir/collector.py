"""Pausing Python's cyclic garbage collector while a program is built.

Building a program makes a few objects per equation and drops next to none, so that collections in between find
nothing; they would scan the growing program again and again, and cost more than the work at 100,000 equations.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

_lock = threading.Lock()
_depth = 0
_was_enabled = False


@contextmanager
def collector_paused() -> Iterator[None]:
    """No garbage collection within, in any thread, and as it was before afterwards."""
    global _depth, _was_enabled
    with _lock:
        if _depth == 0:
            _was_enabled = gc.isenabled()
            gc.disable()
        _depth += 1
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            if _depth == 0 and _was_enabled:
                gc.enable()


def without_collector(f: Function) -> Function:
    """Decorator: the function runs with the collector paused."""
    @wraps(f)
    def run(*args: Any, **kwargs: Any) -> Any:
        if _depth:
            return f(*args, **kwargs)
        with collector_paused():
            return f(*args, **kwargs)
    return run
