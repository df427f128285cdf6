"""What may still change: callbacks with effects, checkify."""

from .._callbacks import io_callback

__all__ = ["io_callback"]
