"""What samplers share: their arguments checked, and large arrays compiled."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import update_wrapper
from typing import Any

import numpy as np

from .._jit import jit
from .._promotion import as_shape, broadcast_shapes, cast, scalar_literal, shape_of, strong, type_of
from .._running import run_program
from ..ir import Jaxpr, aval_of, current_builder, dtypes, stage
from ..ir import ops as o
from ..ir.config import config
from ..rewrite import clean_up

# From this many elements on, a sampler called on values is compiled as one program.
COMPILE_FROM = 1 << 17
_MOST_PROGRAMS = 500


def sampler(*static: str, always: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator of a function (*operands, shape=, ...) -> array.

    Called on values it is compiled where the shape is large, or always. A small one takes NumPy less time: its program
    is kept, and run an operation after another.

    Args:
        static: the names of its keyword arguments, among them shape.
        always: for loops.
    """
    def decorate(f: Callable[..., Any]) -> Callable[..., Any]:
        compiled = jit(f, static_argnames=static)
        programs: dict[tuple, Jaxpr] = {}

        def call(*operands: Any, **named: Any) -> Any:
            if current_builder() is not None:
                return f(*operands, **named)
            if always or math.prod(named.get("shape", ())) >= COMPILE_FROM:
                return compiled(*operands, **named)
            avals = [aval_of(x) for x in operands]
            key = (config.enable_x64, *named.values(), *avals)
            program = programs.get(key)
            if program is None:
                if len(programs) >= _MOST_PROGRAMS:
                    programs.clear()
                staged, _ = stage(lambda *xs: [f(*xs, **named)], avals, f.__name__)
                program = programs[key] = clean_up(staged)
            return run_program(program, operands)[0]

        return update_wrapper(call, f)

    return decorate


def float_dtype(name: str, dtype: Any, complex_too: bool = False) -> np.dtype:
    """The dtype of a result; ValueError where it is not one of floats (or, perhaps, complex numbers)."""
    found = dtypes.canonicalize(float if dtype is None else dtype)
    if dtypes.is_float(found) and dtypes.itemsize_bits(found) >= 8:
        return found
    if complex_too and dtypes.is_complex(found):
        return found
    raise ValueError(f"{name}: dtype must be one of floats{' or complex numbers' if complex_too else ''} of 8 bits or "
                     f"more, got {found.name}")


def int_dtype(name: str, dtype: Any) -> np.dtype:
    """The dtype of a result; TypeError where it is not one of integers."""
    found = dtypes.canonicalize(int if dtype is None else dtype)
    if not dtypes.is_integer(found):
        raise TypeError(f"{name}: dtype must be one of integers, got {found.name}")
    return found


def shape_argument(name: str, shape: Any) -> tuple[int, ...]:
    return as_shape(shape, name)


def broadcasts_to(own: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Whether an array of a shape can be repeated to another."""
    return len(own) <= len(shape) and all(m in (1, n) for m, n in zip(own[::-1], shape[::-1]))


def fit(name: str, argument: str, x: Any, shape: tuple[int, ...]) -> Any:
    """A parameter broadcast to a shape, scalars left alone; ValueError where it does not fit."""
    own = shape_of(x)
    if not own or own == shape:
        return x
    if not broadcasts_to(own, shape):
        raise ValueError(f"{name}: {argument} of shape {own} does not broadcast to shape {shape}")
    return o.broadcast(o.reshape(x, (1,) * (len(shape) - len(own)) + own), shape)


def parameters(name: str, shape: Any, dtype: np.dtype | None, **given: Any) -> tuple[tuple[int, ...], list[Any]]:
    """The shape of the samples, and the parameters in a dtype, broadcast to it where they are not scalars.

    Args:
        name: the sampler's.
        shape: what the caller gave; None stands for the common shape of the parameters.
        dtype: the parameters' dtype; None keeps their own.
        given: the parameters by name.
    """
    for argument, x in given.items():
        kind = dtypes.kind(type_of(f"{name}: {argument}", x).dtype)
        if kind not in "iufb":
            raise TypeError(f"{name}: {argument} must be real, got {aval_of(x).short()}")
    if shape is None:
        found = broadcast_shapes(name, [shape_of(x) for x in given.values()])
    else:
        found = as_shape(shape, name)
    values = [fit(name, argument, x, found) for argument, x in given.items()]
    return found, values if dtype is None else [strong(cast(x, dtype), dtype) for x in values]


def constant(x: float, like: Any) -> Any:
    """A constant of an operand's dtype."""
    return scalar_literal(x, aval_of(like).dtype)


def full(x: Any, shape: tuple[int, ...]) -> Any:
    """A scalar repeated to a shape, or an array of it as it is."""
    return o.broadcast_in_dim(x, shape, ()) if shape and not shape_of(x) else x
