"""Constants as MLIR attributes."""

from __future__ import annotations

import math

import numpy as np

from ..ir import dtypes

_DECIMAL = frozenset(np.dtype(d) for d in (np.float16, np.float32, np.float64, dtypes.bfloat16))


def constant_text(value: np.ndarray) -> str:
    """The ``dense<...>`` attribute of an array: one element where all are equal, otherwise the bits in hexadecimal.

    >>> import numpy as np
    >>> constant_text(np.float32(0.1)), constant_text(np.array([1, 2], np.int16))
    ('dense<0.10000000149011612>', 'dense<"0x01000200">')
    """
    value = np.asarray(value)
    if value.size == 0:
        return "dense<>"
    if value.dtype == dtypes.float0:
        return "dense<false>"
    flat = value.reshape(-1)
    if value.size == 1 or value.tobytes() == flat[:1].tobytes() * value.size:
        return f"dense<{_element_text(flat[0])}>"
    if dtypes.itemsize_bits(value.dtype) < 8 or dtypes.is_bool(value.dtype):
        return f"dense<{_nested([_element_text(x) for x in flat], value.shape)}>"  # MLIR packs these otherwise
    return f'dense<"0x{value.tobytes().hex().upper()}">'


def _nested(elements: list[str], shape: tuple[int, ...]) -> str:
    if len(shape) == 1:
        return f"[{', '.join(elements)}]"
    step = len(elements) // shape[0]
    rows = [_nested(elements[i * step:(i + 1) * step], shape[1:]) for i in range(shape[0])]
    return f"[{', '.join(rows)}]"


def _element_text(element: np.generic) -> str:
    kind = dtypes.kind(element.dtype)
    if kind == "b":
        return "true" if element else "false"
    if kind in "iu":
        return str(int(element))
    if kind == "c":
        return f"({_element_text(element.real)}, {_element_text(element.imag)})"
    if element.dtype in _DECIMAL and math.isfinite(element):
        return _decimal(float(element))
    return "0x" + element.tobytes()[::-1].hex().upper()


def _decimal(number: float) -> str:
    """The shortest decimal that is read as the same double; MLIR wants a point in it."""
    digits, exponent, power = repr(number).partition("e")
    return f"{digits if '.' in digits else digits + '.0'}{exponent}{power}"
