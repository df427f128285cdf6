"""Memory that small NumPy arguments of a compiled program are copied to, the same at every call.

Making a buffer of an array costs about as much as running a small program; writing to memory that a buffer has already
costs a tenth of that. Runs are synchronous, and results have memory of their own, so what was written has been read
when a run returns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..ir import ShapedArray
from . import jaxlib_adapter as xla

LARGEST = 1 << 16
"""Bytes up to which an argument is copied. A larger one is worth a buffer, which may do without a copy."""

_ALIGNMENT = 64


class Slot(NamedTuple):
    """A buffer, and the host memory that it uses."""

    buffer: xla.Buffer
    host: np.ndarray


class InputMemory:
    """The slots of one argument: one for each run of the program that is under way at the same time.

    Args:
        aval: the argument's type.

    >>> import numpy as np
    >>> from glax.ir import ShapedArray
    >>> from glax.lower import InputMemory
    >>> memory = InputMemory(ShapedArray((2,), "float32"))
    >>> slot = memory.take(np.array([1, 2], np.float32))
    >>> slot.host
    array([1., 2.], dtype=float32)
    >>> memory.free.append(slot)
    """

    __slots__ = ("aval", "free", "usable")

    def __init__(self, aval: ShapedArray) -> None:
        self.aval = aval
        self.free: list[Slot] = []
        self.usable = 0 < aval.size * aval.dtype.itemsize <= LARGEST

    def take(self, values: np.ndarray) -> Slot | None:
        """A slot that holds values, as the argument's dtype, to be put back into ``free`` after the run.

        None where XLA does not read host memory as it is: the argument is large or empty, or of a dtype that is packed.
        """
        if not self.usable:
            return None
        try:
            slot = self.free.pop()
        except IndexError:
            slot = self._new()
            if slot is None:
                return None
        if values.dtype == self.aval.dtype:
            slot[1][...] = values
        else:
            with np.errstate(all="ignore"):
                slot[1][...] = values
        return slot

    def _new(self) -> Slot | None:
        size = self.aval.size * self.aval.dtype.itemsize
        memory = np.empty(size + _ALIGNMENT, np.uint8)
        start = -memory.ctypes.data % _ALIGNMENT
        host = memory[start:start + size].view(self.aval.dtype).reshape(self.aval.shape)
        buffer = xla.put(host, may_alias=True, aval=self.aval)
        try:
            self.usable = xla.address(buffer) == host.ctypes.data
        except BufferError:  # of a dtype that is packed, which has no address of its own
            self.usable = False
        return Slot(buffer, host) if self.usable else None
