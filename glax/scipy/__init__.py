"""Functions by the names of SciPy."""

from . import special

__all__ = ["special"]
