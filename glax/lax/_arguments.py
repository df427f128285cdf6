"""Structured arguments of lax functions: sequences and dimension numbers, or an error that names them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

from .._called import called
from .._promotion import PYTHON_SCALARS, as_index
from .._running import asarray
from ..ir import Tracer, aval_of
from ..ir.staging import current_builder
from ..lower import Array

Numbers = TypeVar("Numbers")


def as_result(x: Any) -> Any:
    """What may be an operand that nothing was done to: NumPy arrays become Arrays of their own, numbers do so, too,
    unless they are to be staged."""
    if type(x) is Array or type(x) is Tracer or (type(x) in PYTHON_SCALARS and current_builder() is not None):
        return x
    return asarray(x)


def mistaken(name: str, argument: str, expected: str, given: Any, kind: type[Exception] = TypeError) -> Exception:
    """The error for an argument of a wrong type, structure or value."""
    name = called(name)
    return kind(f"{name}: {argument} must be {expected}, got {given!r:.200} of type {type(given).__name__}")


def operand(x: Any, name: str, argument: str) -> Any:
    """An argument that is an array or a number; TypeError naming the argument for anything else."""
    try:
        aval_of(x)
    except TypeError:
        raise mistaken(name, argument, "an array or a number", x) from None
    return x


def entries(given: Any, name: str, argument: str, expected: str = "a sequence of integers") -> tuple:
    """The entries of a sequence; TypeError naming the argument where it is none."""
    if isinstance(given, (tuple, list)):
        return tuple(given)
    try:
        return tuple(given)
    except TypeError:
        raise mistaken(name, argument, expected, given) from None


def integers(given: Any, name: str, argument: str) -> tuple[int, ...]:
    """The entries of a sequence of integers; TypeError naming the argument where it is none."""
    return tuple([as_index(n, name, argument) for n in entries(given, name, argument)])


def pair(given: Any, name: str, argument: str, expected: str) -> tuple[Any, Any]:
    """The two entries of a pair; TypeError naming the argument where it is none."""
    found = entries(given, name, argument, expected)
    if len(found) != 2:
        raise mistaken(name, argument, expected, given)
    return found


def dimension_numbers_of(kind: type[Numbers], given: Any, name: str) -> Numbers:
    """Dimension numbers of a kind, with tuples of ints in their fields; TypeError naming what is none."""
    if type(given) is not kind:
        raise mistaken(name, "dimension_numbers", f"a {kind.__name__}", given)
    return kind(*[integers(getattr(given, field.name), name, f"dimension_numbers.{field.name}")
                  for field in fields(given)])
