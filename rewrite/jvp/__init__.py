"""Forward-mode differentiation: the rewrite, and its rules by family."""

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
from .rule_helpers import derivative, linear_in_first, zero_derivative
from .rule_helpers import linear as linear_operation
from .transform import jvp

__all__ = [
    "call", "checks", "control", "custom", "derivative", "effects", "elementwise", "implicit", "indexing", "jvp",
    "linear", "linear_in_first", "linear_operation", "random", "reduction", "shape", "zero_derivative",
]
