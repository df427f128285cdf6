"""How each operation is written in StableHLO, by family."""

from . import call, checks, control, custom, effects, elementwise, indexing, linear, reduction, shape

__all__ = [
    "call", "checks", "control", "custom", "effects", "elementwise", "indexing", "linear", "reduction", "shape",
]
