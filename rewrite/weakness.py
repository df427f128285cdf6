"""Keeping the weakness of types: a derivative by a Python scalar is as weak as the scalar."""

from __future__ import annotations

from typing import Any

from ..ir import ShapedArray, aval_of
from ..ir.ops import convert_element_type


def with_weakness_of(aval: ShapedArray, x: Any) -> Any:
    """A value of a type's dtype, made weak or strong as the type is."""
    got = aval_of(x)
    return x if got.weak_type == aval.weak_type else convert_element_type(x, got.dtype, aval.weak_type)
