"""Dead code elimination: the rewrite, and its rules by family."""

from . import call, control, custom, reduction
from .transform import dce

__all__ = ["call", "control", "custom", "dce", "reduction"]
