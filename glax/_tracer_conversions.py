"""What happens where Python asks a staged value for its contents: an error that says what to write instead.

``answer`` may be set to a function from a tracer to its NumPy value, or None where that is not known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from .ir import (
    ConcretizationTypeError,
    Literal,
    Tracer,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerError,
    TracerIntegerConversionError,
)

answer: Callable[[Tracer], np.ndarray | None] | None = None


def known_value(tracer: Tracer) -> np.ndarray | None:
    """The contents of a tracer where they are known: it is a constant, or ``answer`` finds them."""
    if type(tracer.atom) is Literal:
        return tracer.atom.value
    return None if answer is None else answer(tracer)


def origin(tracer: Tracer) -> str:
    """How the value of a tracer came about, for messages."""
    for eqn in tracer.builder.eqns:
        if tracer.atom in eqn.outputs:
            where = f" at {eqn.source}" if eqn.source is not None else ""
            return f"it is the result of the operation {eqn.op.name!r}{where}"
    if tracer.atom in tracer.builder.inputs:
        return f"it is argument {tracer.builder.inputs.index(tracer.atom)} of what is being staged"
    return "it is a value that the staged function takes from outside"


def culprit(tracer: Tracer) -> str:
    """What is being staged that keeps a value's contents unknown: it may enclose the staging that asks for them."""
    builder = tracer.builder
    while builder.known is not None and builder.parent is not None:
        builder = builder.parent
    return builder.what


def _user_line() -> str:
    import sys

    from .ir.staging import is_library_file
    frame = sys._getframe(1)
    while frame is not None and is_library_file(frame.f_code.co_filename):
        frame = frame.f_back
    return "" if frame is None else f" at {frame.f_code.co_filename}:{frame.f_lineno} ({frame.f_code.co_name})"


def fail(error: type[TracerError], tracer: Tracer, used_as: str, instead: str) -> NoReturn:
    """Raise: what was asked of which value, on which line, while staging what, and what to write instead."""
    why = culprit(tracer)
    within = f" within {why}" if why != tracer.builder.what else ""
    raise error(f"a staged value of type {tracer.aval.short()} was used as {used_as}{_user_line()}, while staging "
                f"{tracer.builder.what}{within}, so its contents are not known: {origin(tracer)}. {instead}")


def concretized(tracer: Tracer, used_as: str) -> np.ndarray:
    """The contents of a tracer, or ConcretizationTypeError."""
    value = known_value(tracer)
    if value is None:
        fail(ConcretizationTypeError, tracer, used_as,
             "It decides the shape of a result or the program itself, so it must be a concrete value: pass it as a "
             "static argument (static_argnums), or compute it with NumPy outside.")
    return value


def _to_bool(tracer: Tracer) -> bool:
    value = known_value(tracer)
    if value is None:
        fail(TracerBoolConversionError, tracer, "a Python bool (in if, while, and, or, not, assert)",
             "Use lax.cond or numpy.where to choose between values, lax.while_loop to loop, logical_and and logical_or "
             "for 'and' and 'or', or make the argument static with static_argnums.")
    if value.size != 1:
        raise ValueError(f"the truth value of an array of shape {value.shape} is ambiguous: use x.any() or x.all()")
    return bool(value.item())


def _to_index(tracer: Tracer) -> int:
    value = known_value(tracer)
    if value is None:
        fail(TracerIntegerConversionError, tracer, "a Python index or size",
             "Use lax.dynamic_slice or numpy.take for positions that are computed, lax.fori_loop instead of range, or "
             "make the argument static with static_argnums.")
    if value.ndim or value.dtype.kind not in "iu":
        raise TypeError(f"only a 0-dimensional integer array can be an index, got dtype {value.dtype} and shape "
                        f"{value.shape}")
    return int(value)


def _to_number(kind: type) -> Callable[[Tracer], Any]:
    instead = (f"Keep it an array: functions of this package, and x.astype({kind.__name__}), take it as it is. Or "
               f"make the argument static with static_argnums.")

    def convert(tracer: Tracer) -> Any:
        value = known_value(tracer)
        if value is None:
            fail(ConcretizationTypeError, tracer, f"a Python {kind.__name__}", instead)
        if value.ndim:
            raise TypeError(f"only a 0-dimensional array converts to a Python scalar, got one of shape {value.shape}")
        return kind(value.item())

    return convert


def _to_numpy(tracer: Tracer, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
    # Only constants: elsewhere NumPy would go on with values that derivatives no longer see.
    value = tracer.atom.value if type(tracer.atom) is Literal else None
    if value is None:
        raise TracerArrayConversionError(
            f"a staged value of type {tracer.aval.short()} was used as a NumPy array{_user_line()}, while staging "
            f"{tracer.builder.what}: NumPy would go on with plain numbers, of which no program and no derivative "
            "knows. Use the functions of this package's numpy module in place of NumPy's, or use NumPy outside.")
    return np.array(value, dtype)


def _item(tracer: Tracer, *args: Any) -> Any:
    value = known_value(tracer)
    if value is None:
        fail(ConcretizationTypeError, tracer, "a Python scalar (item())",
             "Keep it an array, or return it and take item() outside.")
    return value.item(*args)


def _tolist(tracer: Tracer) -> Any:
    value = known_value(tracer)
    if value is None:
        fail(ConcretizationTypeError, tracer, "a Python list (tolist())",
             "Keep it an array, or return it and take tolist() outside.")
    return value.tolist()


def _hash(tracer: Tracer) -> NoReturn:
    raise TypeError(f"a staged value of type {tracer.aval.short()} cannot be hashed{_user_line()}, while staging "
                    f"{tracer.builder.what}: it is no key of dicts and sets, and no static argument")


CONVERSIONS: dict[str, Callable[..., Any]] = {
    "__bool__": _to_bool, "__index__": _to_index, "__int__": _to_number(int), "__float__": _to_number(float),
    "__complex__": _to_number(complex), "__array__": _to_numpy, "__hash__": _hash, "item": _item, "tolist": _tolist,
}


def install() -> None:
    """Put the conversions on Tracer."""
    for name, method in CONVERSIONS.items():
        setattr(Tracer, name, method)
