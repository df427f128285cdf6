"""Transposition: the rewrite, and its rules by family."""

from . import call, control, custom, elementwise, implicit, indexing, linear, reduction, shape
from .elementwise import linear_operand
from .transform import transpose

__all__ = [
    "call", "control", "custom", "elementwise", "implicit", "indexing", "linear", "linear_operand", "reduction",
    "shape", "transpose",
]
