"""Calls of Python functions on the host, and the effects they have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..functions import PythonFunction
from ..operation import Operation, abstract_eval, operation
from ..types import Effect, ShapedArray, shaped_array

__all__ = [
    "DebugCallback", "DebugEffect", "DebugPrint", "HostCall", "IOEffect", "IoCallback", "OrderedDebugEffect",
    "OrderedIOEffect", "PureCallback", "ResultCall",
]

TOKEN = shaped_array((), np.dtype(np.int32))


class DebugEffect(Effect):
    """Something is shown or recorded."""


class OrderedDebugEffect(DebugEffect):
    """Something is shown or recorded, in the order of the program."""


class IOEffect(Effect):
    """The world outside is read or changed."""


class OrderedIOEffect(IOEffect):
    """The world outside is read or changed, in the order of the program."""


class HostCall(Operation):
    """Base of the calls of Python functions on the host.

    A ``threaded`` call takes and gives, before all else, an int32 scalar that hands on the order of calls: lowering
    makes programs so (see lower/ordering.py), for XLA keeps no other order between calls.
    """

    __slots__ = ()
    multiple_results = True
    threaded: bool

    def result_types(self) -> tuple[ShapedArray, ...]:
        return ()

    def call(self, values: Sequence[np.ndarray]) -> Sequence[Any]:
        """Call the function: one result for each of the result types."""
        raise TypeError(f"{self.name} does not say what it calls")


@abstract_eval.register(HostCall)
def _type_of_host_call(op: HostCall, *avals: ShapedArray) -> list[ShapedArray]:
    if op.threaded:
        if not avals or (avals[0].shape, avals[0].dtype) != (TOKEN.shape, TOKEN.dtype):
            raise TypeError(f"{op.name}: a threaded call takes an int32 scalar first")
        return [TOKEN, *op.result_types()]
    return list(op.result_types())


@operation
class DebugPrint(HostCall):
    """Print operands by a format string: the last ones are those that ``names`` name, the others positional."""

    name = "debug_print"
    fmt: str
    names: tuple[str, ...] = ()
    ordered: bool = False
    threaded: bool = False

    @property
    def effects(self) -> frozenset[Effect]:
        return _ORDERED_DEBUG if self.ordered else _DEBUG

    def call(self, values: Sequence[np.ndarray]) -> Sequence[Any]:
        count = len(values) - len(self.names)
        print(self.fmt.format(*values[:count], **dict(zip(self.names, values[count:]))), flush=True)
        return ()


@operation
class DebugCallback(HostCall):
    """Call a function for what it shows or records; what it returns is dropped."""

    name = "debug_callback"
    function: PythonFunction
    ordered: bool = False
    threaded: bool = False

    @property
    def effects(self) -> frozenset[Effect]:
        return _ORDERED_DEBUG if self.ordered else _DEBUG

    def call(self, values: Sequence[np.ndarray]) -> Sequence[Any]:
        self.function(*values)
        return ()


class ResultCall(HostCall):
    """Base of the calls whose results are used: function gives a list of arrays of the types in results."""

    __slots__ = ()
    function: PythonFunction
    results: tuple[ShapedArray, ...]

    def result_types(self) -> tuple[ShapedArray, ...]:
        return self.results

    def call(self, values: Sequence[np.ndarray]) -> Sequence[Any]:
        return checked_results(self, self.function(*values))


@operation
class IoCallback(ResultCall):
    """Call a function that reads or changes the world outside."""

    name = "io_callback"
    function: PythonFunction
    results: tuple[ShapedArray, ...]
    ordered: bool = False
    threaded: bool = False

    @property
    def effects(self) -> frozenset[Effect]:
        return _ORDERED_IO if self.ordered else _IO


@operation
class PureCallback(ResultCall):
    """Call a function whose results depend on its operands only: it may be called less often, or not at all.

    ``vmap_method`` says what vmap does: "sequential" calls it once for each index, "expand_dims" and "broadcast_all"
    once for all, with a leading axis (of size 1, or repeated, for operands that are not mapped).
    """

    name = "pure_callback"
    function: PythonFunction
    results: tuple[ShapedArray, ...]
    vmap_method: str | None = None
    threaded: bool = False


_DEBUG, _ORDERED_DEBUG = frozenset({DebugEffect()}), frozenset({OrderedDebugEffect()})
_IO, _ORDERED_IO = frozenset({IOEffect()}), frozenset({OrderedIOEffect()})


def checked_results(op: ResultCall, results: Sequence[Any]) -> list[np.ndarray]:
    """The results as arrays; TypeError or ValueError where one is not of the type that was promised."""
    what = f"{op.name} of {op.function.label.split('#')[0]}"
    if len(results) != len(op.results):
        raise ValueError(f"{what}: the function returned {len(results)} arrays, but {len(op.results)} were promised")
    arrays = []
    for position, (x, aval) in enumerate(zip(results, op.results)):
        array = np.asarray(x)
        if array.dtype != aval.dtype and type(x) not in (bool, int, float, complex):
            raise TypeError(f"{what}: output {position} must be {aval.short()} as promised, the function returned "
                            f"dtype {array.dtype} and shape {array.shape}; convert it there, as by astype")
        if array.shape != aval.shape:
            raise ValueError(f"{what}: output {position} must be {aval.short()} as promised, the function returned "
                             f"shape {array.shape}")
        arrays.append(np.ascontiguousarray(array, aval.dtype).reshape(aval.shape))
    return arrays
