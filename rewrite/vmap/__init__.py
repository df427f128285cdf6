"""Vectorisation: the rewrite, and its rules by family."""

from . import (
    call,
    checks,
    control,
    custom,
    effects,
    elementwise,
    implicit,
    indexing,
    linear,
    random,
    reduction,
    shape,
)
from .batching import BatchAxis, all_batched_first, batched_at, move_axis, one_operand
from .custom import batched_backward
from .transform import vmap

__all__ = [
    "BatchAxis", "all_batched_first", "batched_at", "batched_backward", "call", "checks", "control", "custom",
    "effects", "elementwise", "implicit", "indexing", "linear", "move_axis", "one_operand", "random", "reduction",
    "shape", "vmap",
]
