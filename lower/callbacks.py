"""Python functions that compiled programs call.

XLA reports only the text of what a function raised. The exception itself is kept here, under a number that the text
carries, so that it can be raised again where the program was run.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.ops import HostCall

_MARK = "glax callback error number "
_numbers = itertools.count()
_raised: dict[int, BaseException] = {}
_MOST_KEPT = 256  # of errors that XLA never reported, such as the second of two callbacks of a program


def host_function(op: HostCall) -> Callable[..., tuple]:
    """What XLA calls for an operation: arrays to a tuple of arrays."""
    def run(*arrays: np.ndarray) -> tuple:
        try:
            given = [_read_only(x) for x in arrays]
            if op.threaded:
                return (np.asarray(given[0]), *op.call(given[1:]))
            return tuple(op.call(given))
        except BaseException as error:
            number = next(_numbers)
            _raised[number] = error
            _raised.pop(number - _MOST_KEPT, None)
            raise RuntimeError(f"{_MARK}{number}: {error!r}") from error

    return run


def _read_only(x: Any) -> np.ndarray:
    # The memory is XLA's, which uses it again after the call.
    copied = np.array(x, copy=True)
    copied.flags.writeable = False
    return copied


def original_error(text: str) -> BaseException | None:
    """The exception that a Python function raised, by the text of XLA's error; None where there was none."""
    found = re.search(re.escape(_MARK) + r"(\d+)", text)
    return _raised.pop(int(found.group(1)), None) if found else None
