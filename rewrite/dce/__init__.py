"""Dead code elimination: the rewrite, and its rules by family."""

from . import call, control, custom, reduction
from .transform import dce, live_equations

__all__ = ["call", "control", "custom", "dce", "live_equations", "reduction"]
