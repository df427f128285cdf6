"""Running operations and programs on values.

On the CPU an operation on a small array takes NumPy less time than XLA needs to start, so it runs by its NumPy
meaning; where that is slower it runs as a compiled program of one operation. Calls of jitted programs are compiled.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from .interp import run_jaxpr_with
from .ir import (
    ClosedJaxpr,
    Jaxpr,
    Literal,
    Operation,
    ShapedArray,
    Tracer,
    abstract_eval,
    aval_of,
    evaluate,
    install_runner,
    literal_of,
    register_value_type,
    shaped_array,
    stage,
)
from .ir import ops as o
from .ir.staging import bind, not_staging, require_open
from .lower import Array, compile_program, from_numpy, from_numpy_owned
from .lower.jaxlib_adapter import FAST_OPTIONS

register_value_type(Array, lambda x: x.aval)


class _Quiet(threading.local):
    """A context in which NumPy gives no floating-point warnings: entering it is cheaper than np.errstate."""

    def __init__(self) -> None:
        self.context = contextvars.copy_context()
        self.context.run(np.seterr, all="ignore")


_quiet = _Quiet()


def quietly(f: Callable[..., Any], *args: Any) -> Any:
    """f(*args) without floating-point warnings."""
    try:
        return _quiet.context.run(f, *args)
    except RuntimeError as error:
        if "is already entered" not in str(error):
            raise
        return f(*args)


# From this many elements on, XLA is faster than NumPy (see benchmarks/eager_threshold.py).
COMPILE_FROM = 32_768

# Operations for which NumPy's form is slow or long: XLA from this many elements on.
COMPILE_SOONER: dict[type[Operation], int] = {}

# Operations that NumPy does by BLAS, or for free as views: XLA gains nothing.
NEVER_COMPILED: frozenset[type[Operation]] = frozenset({
    o.Reshape, o.Transpose, o.Slice, o.Squeeze, o.Rev, o.Split, o.StopGradient, o.OptimizationBarrier})


def asarray(x: Any) -> Array:
    """The Array of a value: itself, or a copy of a NumPy array, of a scalar, or of what has ``__array__``."""
    if type(x) is Array:
        return x
    if type(x) is Tracer:
        raise_leaked(x)
    literal = x if type(x) is Literal else literal_of(x)
    if literal is not None:
        return from_numpy_owned(literal.value, literal.aval)
    aval_of(x)
    return from_numpy(x)


def raise_leaked(tracer: Tracer) -> None:
    require_open(tracer, None)


def run_operation(op: Operation, operands: Sequence[Any]) -> Any:
    """Run one operation on values: an Array, or a list of them where the operation has multiple results."""
    arrays = [x if type(x) is Array else asarray(x) for x in operands]
    avals = [x.aval for x in arrays]
    kind = type(op)
    out_aval = abstract_eval[kind](op, *avals)
    if kind is o.Jit:
        return run_compiled_call(op, arrays)
    multiple = op.multiple_results
    if _worth_compiling(kind, avals, out_aval if multiple else (out_aval,)):
        results = _compiled_operation(op, tuple(avals))(arrays)
        return results if multiple else results[0]
    values = [x._value if x._value is not None else x.value() for x in arrays]
    out = quietly(evaluate[kind], op, *values)
    if multiple:
        return list(map(from_numpy_owned, out, out_aval))
    return from_numpy_owned(out, out_aval)


def _worth_compiling(kind: type[Operation], in_avals: Sequence[ShapedArray], out_avals: Sequence[ShapedArray]) -> bool:
    limit = COMPILE_SOONER.get(kind, COMPILE_FROM)
    return any(_size(a) >= limit for a in (*in_avals, *out_avals)) and kind not in NEVER_COMPILED


_SIZES: dict[tuple[int, ...], int] = {}


def _size(aval: ShapedArray) -> int:
    shape = aval.shape
    found = _SIZES.get(shape)
    if found is None:
        if len(_SIZES) > 50_000:
            _SIZES.clear()
        found = _SIZES[shape] = aval.size
    return found


@lru_cache(maxsize=4096)
def _compiled_operation(op: Operation, avals: tuple[ShapedArray, ...]):
    def apply(*operands: Any) -> list[Any]:
        out = bind(op, *operands)
        return out if op.multiple_results else [out]

    return compile_program(stage(apply, avals, op.name)[0], name=op.name, options=FAST_OPTIONS)


def run_compiled_call(op: o.Jit, arrays: Sequence[Array]) -> list[Array]:
    return compile_program(op.jaxpr, op.donated, op.function_name)(arrays)


install_runner(run_operation)


def run_program(program: Jaxpr | ClosedJaxpr, args: Sequence[Any]) -> list[Array]:
    """Run a program's equations one after another on values; jitted calls in it are compiled.

    Args:
        program: the program.
        args: a value for each input that is not bound to a constant.
    """
    consts = program.consts if isinstance(program, ClosedJaxpr) else ()
    jaxpr = program.jaxpr if isinstance(program, ClosedJaxpr) else program
    arrays = [x if type(x) is Array else asarray(x) for x in (*consts, *args)]
    values = [x._value if x._value is not None else x.value() for x in arrays]
    with not_staging():
        results = quietly(run_jaxpr_with, jaxpr, values, _run_values)
    return [from_numpy_owned(x, v.aval) for x, v in zip(results, jaxpr.outs)]


def _run_values(op: Operation, values: list[Any]) -> Any:
    """Run an operation of a program: compiled where that is worth it, else as usual."""
    kind = type(op)
    if kind is not o.Jit and (kind in NEVER_COMPILED or all(x.size < COMPILE_FROM for x in values)):
        return NotImplemented
    arrays = [from_numpy_owned(x, shaped_array(x.shape, x.dtype)) for x in values]
    if kind is o.Jit:
        return [x.value() for x in run_compiled_call(op, arrays)]
    results = _compiled_operation(op, tuple([x.aval for x in arrays]))(arrays)
    return [x.value() for x in results] if op.multiple_results else results[0].value()
