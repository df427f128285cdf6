"""How each operation is written in StableHLO, by family."""

from . import call, elementwise, indexing, linear, reduction, shape

__all__ = ["call", "elementwise", "indexing", "linear", "reduction", "shape"]
