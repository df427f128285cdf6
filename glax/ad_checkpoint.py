"""Trading computation for memory in reverse-mode differentiation."""

from . import checkpoint_policies
from ._checkpoint import checkpoint, checkpoint_name, print_saved_residuals, remat, saved_residuals

__all__ = ["checkpoint", "checkpoint_name", "checkpoint_policies", "print_saved_residuals", "remat",
           "saved_residuals"]
