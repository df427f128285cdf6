"""How each operation is written in StableHLO, by family."""

from . import call, control, elementwise, indexing, linear, reduction, shape

__all__ = ["call", "control", "elementwise", "indexing", "linear", "reduction", "shape"]
