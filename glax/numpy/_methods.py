"""Operators, installed on Array and on Tracer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._promotion import PYTHON_SCALARS
from ..ir import Tracer
from ..lower import Array
from . import arithmetic, ufuncs

_OPERANDS = frozenset((Array, Tracer, np.ndarray, *PYTHON_SCALARS))
_CONTAINERS = (list, tuple, set, dict)


def _is_operand(x: Any, symbol: str, owner: Any) -> bool:
    """Whether x takes part in an operator here. Containers never do; other foreign types may have their own method."""
    if isinstance(x, (np.generic, np.ndarray, *PYTHON_SCALARS)):
        return True
    if isinstance(x, _CONTAINERS):
        raise TypeError(f"unsupported operand type(s) for {symbol}: {type(owner).__name__!r} and {type(x).__name__!r}; "
                        f"make an array of the {type(x).__name__} with glax.numpy.array")
    return False


def _binary(symbol: str, function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def method(self, other):
        if type(other) in _OPERANDS or _is_operand(other, symbol, self):
            return function(self, other)
        return NotImplemented

    return method


def _reflected(symbol: str, function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def method(self, other):
        if type(other) in _OPERANDS or _is_operand(other, symbol, self):
            return function(other, self)
        return NotImplemented

    return method


_ARITHMETIC = {
    "add": ("+", ufuncs.add), "sub": ("-", ufuncs.subtract), "mul": ("*", ufuncs.multiply),
    "truediv": ("/", ufuncs.divide), "floordiv": ("//", arithmetic.floor_divide), "mod": ("%", arithmetic.remainder),
    "divmod": ("divmod()", arithmetic.divmod), "pow": ("**", arithmetic.power),
    "and": ("&", ufuncs.bitwise_and), "or": ("|", ufuncs.bitwise_or), "xor": ("^", ufuncs.bitwise_xor),
    "lshift": ("<<", ufuncs.left_shift), "rshift": (">>", ufuncs.right_shift),
}
_COMPARISONS = {
    "eq": ("==", ufuncs.equal), "ne": ("!=", ufuncs.not_equal), "lt": ("<", ufuncs.less),
    "le": ("<=", ufuncs.less_equal), "gt": (">", ufuncs.greater), "ge": (">=", ufuncs.greater_equal),
}
_UNARY = {
    "__neg__": ufuncs.negative, "__pos__": arithmetic.positive, "__abs__": arithmetic.abs, "__invert__": ufuncs.invert,
}


def _operators() -> dict[str, Callable[..., Any]]:
    table: dict[str, Callable[..., Any]] = {}
    for name, (symbol, function) in _ARITHMETIC.items():
        table[f"__{name}__"] = _binary(symbol, function)
        table[f"__r{name}__"] = _reflected(symbol, function)
    for name, (symbol, function) in _COMPARISONS.items():
        table[f"__{name}__"] = _binary(symbol, function)
    for name, function in _UNARY.items():
        table[name] = _unary(function)
    for name, method in table.items():
        method.__name__ = name
    return table


def _unary(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def method(self):
        return function(self)

    return method


def install(table: dict[str, Any]) -> None:
    """Put methods and properties on both kinds of array."""
    for kind in (Array, Tracer):
        for name, method in table.items():
            setattr(kind, name, method)


install(_operators())
