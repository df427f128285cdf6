"""What may still change: callbacks with effects, checkify, safe_where."""

from .._callbacks import io_callback
from .._safe_where import safe_where
from . import checkify

__all__ = ["checkify", "io_callback", "safe_where"]
