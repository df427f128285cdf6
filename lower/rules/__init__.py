"""How each operation is written in StableHLO, by family."""

from . import elementwise

__all__ = ["elementwise"]
