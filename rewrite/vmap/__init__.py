"""Vectorisation: the rewrite, and its rules by family."""

from . import call, elementwise, indexing, linear, reduction, shape
from .batching import BatchAxis, all_batched_first, batched_at, move_axis, one_operand
from .transform import vmap

__all__ = ["BatchAxis", "all_batched_first", "batched_at", "call", "elementwise", "indexing", "linear", "move_axis",
           "one_operand", "reduction", "shape", "vmap"]
