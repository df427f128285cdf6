"""Making arrays."""

from __future__ import annotations

from typing import Any

from .._promotion import strong, type_of
from .._running import asarray as array_of_value
from ..ir import Tracer
from ..ir.staging import current_builder
from ..lower import Array


def asarray(a: Any, dtype: Any = None) -> Any:
    if type(a) is Tracer or type(a) is Array:
        return a
    return array_of_value(a)
