"""For libraries built on this one."""

from . import core

__all__ = ["core"]
