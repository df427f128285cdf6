"""Finding what was compiled for a call by the types of its arguments alone, since every call waits for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from .lower import Array
from .stages import StagedCall

Known = dict[Any, Any]
"""Each argument's type leads from one dictionary to the next, and None leads to the Runner."""


class Runner(NamedTuple):
    """What runs a call: a function of the buffers of its arguments, or of the arguments."""

    run: Callable[[Sequence[Any]], Any]
    takes_buffers: bool


SCALARS = frozenset({bool, int, float, complex, np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16,
                     np.uint32, np.uint64, np.float16, np.float32, np.float64, np.complex64, np.complex128,
                     ml_dtypes.bfloat16})
"""Types of numbers, each of one type as an argument; of an int that holds up to a size."""

_MOST_BITS = 31


def find(known: Known, arguments: Sequence[Any]) -> tuple[Callable[[Sequence[Any]], Any] | None, Sequence[Any]]:
    """What runs a call with arguments of these types, None where it is not known, and what to give to it."""
    buffers: list[Any] = []
    try:
        for x in arguments:
            kind = type(x)
            if kind is Array:
                known = known[x.aval.token]
                buffer = x._buffer
                buffers.append(x.buffer() if buffer is None else buffer)
            elif kind is np.ndarray:
                known = known[x.shape, x.dtype]
            elif kind in SCALARS and not (kind is int and x.bit_length() > _MOST_BITS):
                known = known[kind]
            else:
                return None, arguments
        run, takes_buffers = known[None]
    except KeyError:
        return None, arguments
    return run, buffers if takes_buffers else arguments


def remember(known: Known, arguments: Sequence[Any], entry: StagedCall) -> None:
    """Let find find an entry for arguments of the types of these, which it was made and compiled for."""
    binders = entry.jaxpr.in_binders[len(entry.captured):]
    if len(arguments) != len(binders):
        return
    takes_buffers = not entry.donated
    for x, v in zip(arguments, binders):
        kind = type(x)
        if kind is Array and x.aval is v.aval:
            known = known.setdefault(x.aval.token, {})
            continue
        takes_buffers = False
        if kind is np.ndarray:
            known = known.setdefault((x.shape, x.dtype), {})
        elif kind in SCALARS:
            known = known.setdefault(kind, {})
        else:
            return
    known[None] = Runner(entry.run_buffers if takes_buffers else entry.run, takes_buffers)
