"""Pausing Python's cyclic garbage collector while a program is built.

Building a program makes a few objects per equation and drops next to none, so that collections in between find
nothing; they would scan the growing program again and again, and cost more than the work at 100,000 equations.
Nor is a large program scanned at once when it is done: it joins the collector's oldest generation as it is, which
takes no time. As that puts off the collector's own full collections, one is made here when enough has joined.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

MANY = 50_000
"""How many new objects are not scanned: of fewer, the scan costs nothing that is felt."""

MANY_OLD = 1_000_000
"""How many objects join the oldest generation, at least, before all of it is collected."""


def without_collector(f: Function) -> Function:
    """Decorator: no garbage is collected while the function runs; afterwards the collector is as it was before.

    It is paused by its threshold, so that gc.disable() and gc.enable() stay the user's, in this thread and in others.
    """
    @wraps(f)
    def run(*args: Any, **kwargs: Any) -> Any:
        thresholds = gc.get_threshold()
        if not thresholds[0] or not gc.isenabled():
            return f(*args, **kwargs)
        try:
            gc.set_threshold(0)
            return f(*args, **kwargs)
        finally:
            if gc.get_count()[0] > MANY:
                _oldest.join()
            if not gc.get_threshold()[0]:
                gc.set_threshold(*thresholds)
    return run


class OldestGeneration:
    """The collector's oldest generation, and how many objects joined it unscanned since a full collection."""

    def __init__(self) -> None:
        self.joined = 0
        self.room = MANY_OLD

    def join(self) -> None:
        """Move every object there, unless the user keeps objects frozen: those would be moved as well."""
        if gc.get_freeze_count():
            return
        self.joined += gc.get_count()[0]
        gc.freeze()
        gc.unfreeze()
        if self.joined > self.room:
            gc.collect()
            # In proportion to what is alive, so that the cost for an object does not grow with their number.
            self.room = max(MANY_OLD, 4 * len(gc.get_objects()))
            self.joined = 0


_oldest = OldestGeneration()
