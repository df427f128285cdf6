"""Checks of values: conditions that are to hold when a program runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..operation import Operation, abstract_eval, operation
from ..types import Effect, ShapedArray

__all__ = ["Check", "CheckEffect"]

_BOOL = np.dtype(bool)


class JaxRuntimeError(ValueError):
    """A check failed when a program ran."""


class CheckEffect(Effect):
    """Running may fail, or, where checks have been made part of a program, its error is set."""


@operation
class Check(Operation):
    """A condition that must hold, and what to say where it does not. It has no results.

    Operands are the condition, a bool, and the values that the message shows. Where the condition has dimensions they
    are those of vmaps, the values have them first, and it must hold everywhere.

    Attributes:
        message: a format string, for the values.
        names: the names of the last values in the message; those before go by position.
        kind: what is checked: "user", "nan", "index" or "div".
        debug: whether the check is left out where checks are not made part of the program.
        mapped: the sizes of axes that the check was gathered from: for each the first value is an index into it.
    """

    name = "check"
    multiple_results = True
    effects = frozenset([CheckEffect()])
    message: str
    names: tuple[str, ...] = ()
    kind: str = "user"
    debug: bool = False
    mapped: tuple[tuple[int, ...], ...] = ()


@abstract_eval.register(Check)
def _type_of_check(op: Check, condition: ShapedArray, *values: ShapedArray) -> list[ShapedArray]:
    if condition.dtype != _BOOL:
        raise TypeError(f"check needs a condition of dtype bool, got {condition.short()}")
    for position, x in enumerate(values):
        if x.shape[:condition.ndim] != condition.shape:
            raise TypeError(f"check: value {position} must have the leading axes {condition.shape} of the condition, "
                            f"got {x.short()}")
    return []


def check_message(message: str, names: Sequence[str], mapped: Sequence[tuple[int, ...]], values: Sequence[Any]) -> str:
    """The text of a failed check of values."""
    places, shown = values[:len(mapped)], values[len(mapped):]
    where = "".join(f"at mapped index {place_text(int(i), shape)}: " for i, shape in zip(places, mapped))
    count = len(shown) - len(names)
    return where + message.format(*shown[:count], **dict(zip(names, shown[count:])))


def place_text(position: int, shape: tuple[int, ...]) -> str:
    """A position in the flattened array as an index of the array."""
    index = tuple(int(i) for i in np.unravel_index(position, shape))
    return str(index[0]) if len(index) == 1 else str(index)


def first_failure(op: Check, condition: Any, values: Sequence[Any]) -> str:
    """The text for the first place where a condition does not hold."""
    shape = np.shape(condition)
    if not shape:
        return check_message(op.message, op.names, op.mapped, [np.asarray(x)[()] for x in values])
    position = int(np.argmin(np.asarray(condition).reshape(-1)))
    rows = [np.asarray(x).reshape(-1, *np.shape(x)[len(shape):])[position] for x in values]
    return check_message(op.message, op.names, (shape, *op.mapped), [position, *rows])
