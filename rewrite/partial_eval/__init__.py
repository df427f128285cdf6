"""Partial evaluation: the rewrite, and its rules by family."""

from . import call, control, custom
from .transform import Split, partial_eval

__all__ = ["Split", "call", "control", "custom", "partial_eval"]
