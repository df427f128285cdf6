"""Derivatives of contractions."""

from __future__ import annotations

from ...ir import bind
from ...ir import ops as o
from .rule_helpers import derivative

derivative(o.DotGeneral, lambda op, t, z, x, y: bind(op, t, y), lambda op, t, z, x, y: bind(op, x, t))
