"""Keeping the weakness of types: what a rewrite makes of a result is as weak as it was."""

from __future__ import annotations

from typing import Any

from ..ir import ShapedArray, Tracer, aval_of
from ..ir.ops import convert_element_type


def with_weakness_of(aval: ShapedArray, x: Any) -> Any:
    """A value of a type's dtype, made weak or strong as the type is."""
    got = x.aval if type(x) is Tracer else aval_of(x)
    return x if got.weak_type == aval.weak_type else convert_element_type(x, got.dtype, aval.weak_type)
