"""The name of the function that a user called, for errors that something within it raises.

Nobody asks but where an error is raised: good calls do not pass here.
"""

from __future__ import annotations

import sys
from types import FrameType


def called(default: str) -> str:
    """The name of the public function that a user's code called, where one of them calls another.

    Args:
        default: the name of the function that found the mistake. It stays where the stack has no other, and where it
            is not one of glax.numpy or glax.lax.
    """
    if not any(default in getattr(sys.modules.get(package), "__all__", ()) for package in ("glax.numpy", "glax.lax")):
        return default  # which says more than a function's name
    name, frame = default, sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("glax."):
        name = _public_name(frame) or name
        frame = frame.f_back
    return name


def _public_name(frame: FrameType) -> str | None:
    """The name under which a frame's function is public, if it is: those made from tables have theirs in ``name``."""
    package = ".".join(frame.f_globals["__name__"].split(".")[:2])
    public = getattr(sys.modules.get(package), "__all__", ())
    for name in (frame.f_code.co_name, frame.f_locals.get("name")):
        if isinstance(name, str) and name in public:
            return name
    return None
