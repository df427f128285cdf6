"""Constants as MLIR attributes."""

from __future__ import annotations

import numpy as np

from ..ir import dtypes


def constant_text(value: np.ndarray) -> str:
    """The ``dense<...>`` attribute of an array: its bits in hexadecimal, a splat where all elements are equal.

    >>> import numpy as np
    >>> constant_text(np.float32(1))
    'dense<0x3F800000>'
    """
    value = np.asarray(value)
    if value.size == 0:
        return "dense<>"
    if dtypes.is_bool(value.dtype):
        return _bool_text(value)
    first = value.reshape(-1)[:1]
    if value.size == 1 or value.tobytes() == first.tobytes() * value.size:
        return f"dense<{_element_text(first)}>"
    return f'dense<"0x{np.ascontiguousarray(value).tobytes().hex().upper()}">'


def _bool_text(value: np.ndarray) -> str:
    if value.all() or not value.any():
        return "dense<true>" if value.all() else "dense<false>"
    return "dense<" + str(value.tolist()).replace("True", "true").replace("False", "false") + ">"


def _element_text(element: np.ndarray) -> str:
    if dtypes.is_complex(element.dtype):
        parts = element.view(np.float32 if element.dtype == np.complex64 else np.float64)
        return f"({_element_text(parts[:1])}, {_element_text(parts[1:])})"
    if dtypes.is_integer(element.dtype):
        return str(int(element[0]))
    return "0x" + element.tobytes()[::-1].hex().upper()
