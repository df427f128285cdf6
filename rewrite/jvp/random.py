"""Derivatives of random bits: there are none."""

from __future__ import annotations

from ...ir import ops as o
from .rule_helpers import zero_derivative

zero_derivative(o.Threefry2x32)
