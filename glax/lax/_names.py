"""Errors of operations as those of the functions that apply them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from .._called import called
from .._promotion import type_of
from ..ir import dtypes
from ..ir.operation import OPERATIONS

_FIRST_WORD = re.compile(r"(\w*)(.*)", re.DOTALL)


def named_error(error: Exception, name: str, *operands: Any) -> Exception:
    """An operation's error as that of the function which applies it.

    Args:
        error: what the operation raised. Where its words begin with the operation's name, the function's replaces it.
        name: the function's name.
        operands: what the function was given.

    Raises:
        TypeError: one of the operands is not an array.
    """
    for position, x in enumerate(operands):
        type_of(name, x, position)
    word, rest = _FIRST_WORD.match(str(error)).groups()
    return type(error)(name + rest) if word in OPERATIONS and word != name else error


def dtype_of(dtype: Any, name: str, argument: str = "dtype") -> np.dtype:
    """The dtype that values of a dtype have; TypeError naming the function and the argument for what is no dtype."""
    try:
        return dtypes.canonicalize(dtype)
    except TypeError as error:
        raise TypeError(f"{called(name)}: {argument} must be bool or a dtype of numbers, got {dtype!r} of type "
                        f"{type(dtype).__name__}") from error
