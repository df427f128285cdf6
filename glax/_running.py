"""Running operations and programs on values.

On the CPU an operation on a small array takes NumPy less time than XLA needs to start, so it runs by its NumPy
meaning; where that is slower it runs as a compiled program of one operation. Calls of jitted programs are compiled.
"""

from __future__ import annotations

import contextvars
import threading
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ._nan_checks import require_good_operation_results, require_good_program_results
from .interp import calls_host, run_jaxpr_with
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
    program_of_operation,
    register_value_type,
    shaped_array,
)
from .ir import ops as o
from .ir.config import Config, config, threads_overriding
from .ir.operation import require_operand_count
from .ir.ops import HostCall
from .ir.staging import require_open
from .lower import Array, CompiledProgram, compile_program, from_numpy, from_numpy_owned
from .lower.jaxlib_adapter import DEFAULT_OPTIONS, OPERATION_OPTIONS

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


# From this many elements on, an operation is compiled: where XLA is faster than NumPy (benchmarks/eager_threshold.py).
COMPILE_FROM = 262_144
COMPILE_SOONER: dict[type[Operation], int] = {
    o.SelectN: 4096, o.Erf: 1024, o.Erfc: 1024, o.ErfInv: 1024, o.Lgamma: 1024, o.Digamma: 1024, o.Polygamma: 1024,
    o.Reduce: 256, o.ScatterMin: 1024, o.ScatterMax: 1024, o.ScatterMul: 1024, o.Cumlogsumexp: 1024,
    o.Acosh: 16_384, o.Atanh: 16_384, o.Logistic: 65_536, o.Sign: 65_536,
}

# Operations that NumPy does for free, as views.
VIEWS = frozenset({
    o.Reshape, o.Transpose, o.Slice, o.Squeeze, o.Rev, o.Split, o.StopGradient, o.OptimizationBarrier})

# Operations for which NumPy's loops stay ahead of XLA's at any size, by up to ten times.
FASTER_BY_NUMPY = frozenset({
    o.Sin, o.Cos, o.Tan, o.Asin, o.Acos, o.Atan, o.Atan2, o.Sinh, o.Cosh, o.Exp2, o.Expm1, o.Cbrt, o.Cumsum})

NEVER_COMPILED: frozenset[type[Operation]] = VIEWS | FASTER_BY_NUMPY

FASTER_BY_NUMPY_OF: dict[type[Operation], frozenset[str]] = {
    o.DotGeneral: frozenset("fdFD"), **dict.fromkeys((o.ReduceMax, o.ReduceMin), frozenset("fdbhilqBHILQ"))}
"""The same for some dtypes only: NumPy has BLAS do the products, and vector instructions find extremes."""

# Operations that are programs: XLA has all of one at once, where NumPy would take it step by step.
ALWAYS_COMPILED: set[type[Operation]] = {o.Jit, o.Cond, o.While, o.Scan}


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
    key: list[Any] = [op]
    arrays, values, on_host = [], [], True
    for x in operands:
        if type(x) is not Array:
            x = asarray(x)
        arrays.append(x)
        key.append(x.aval.token)
        value = x._value
        values.append(value)
        if value is None:
            on_host = False
    plan = _PLANS.get(tuple(key))
    if plan is None:
        plan = _make_plan(op, tuple(key), [x.aval for x in arrays])
    if plan.run is not None:
        results = plan.run(arrays)
        out = results if op.multiple_results else results[0]
    else:
        values = quietly(plan.rule, op, *(values if on_host else [x.value() for x in arrays]))
        out = (list(map(from_numpy_owned, values, plan.out_avals)) if op.multiple_results
               else from_numpy_owned(values, plan.out_avals))
    if (config if threads_overriding else Config).slow_path:
        require_good_operation_results(op, arrays, out)
    return out


class _Plan(NamedTuple):
    """How an operation runs on operands of some types: by its rule on NumPy values, or by a function of Arrays."""

    rule: Callable[..., Any] | None
    run: Callable[[list[Array]], list[Array]] | None
    out_avals: Any


_PLANS: dict[tuple, _Plan] = {}
_MOST_PLANS = 20_000
_plans_calling_python: deque[tuple] = deque()
_MOST_PLANS_CALLING_PYTHON = 16


def _make_plan(op: Operation, key: tuple, in_avals: list[ShapedArray]) -> _Plan:
    kind = type(op)
    try:
        out_avals = abstract_eval[kind](op, *in_avals)
    except TypeError:
        require_operand_count(op, len(in_avals))
        raise
    if issubclass(kind, HostCall):
        plan = _Plan(None, partial(_call_host, op, out_avals), out_avals)
    elif worth_compiling(kind, in_avals, out_avals if op.multiple_results else [out_avals]):
        plan = _Plan(None, _compiled_operation(op, tuple(in_avals)).run, out_avals)
    else:
        plan = _Plan(evaluate[kind], None, out_avals)
    if issubclass(kind, HostCall):
        return plan  # not kept, for it would keep the Python function
    if op.field_names and any(map(calls_host, op.sub_jaxprs())):
        _plans_calling_python.append(key)  # whose Python functions are kept alive for a while only
        if len(_plans_calling_python) > _MOST_PLANS_CALLING_PYTHON:
            _PLANS.pop(_plans_calling_python.popleft(), None)
    if len(_PLANS) >= _MOST_PLANS:
        _PLANS.clear()
    _PLANS[key] = plan
    return plan


def _call_host(op: HostCall, out_avals: list[ShapedArray], arrays: list[Array]) -> list[Array]:
    """Call a Python function, in the user's context and with the user's floating-point warnings."""
    return list(map(from_numpy_owned, evaluate[type(op)](op, *[x.value() for x in arrays]), out_avals))


def worth_compiling(kind: type[Operation], in_avals: Sequence[Any], out_avals: Sequence[Any]) -> bool:
    """Whether an operation on operands of some types runs as a compiled program rather than by NumPy."""
    if kind in ALWAYS_COMPILED:
        return True
    if kind in NEVER_COMPILED or kind in FASTER_BY_NUMPY_OF and in_avals[0].dtype.char in FASTER_BY_NUMPY_OF[kind]:
        return False
    limit = COMPILE_SOONER.get(kind, COMPILE_FROM)
    return any(a.size >= limit for a in (*in_avals, *out_avals))


def _compiled_operation(op: Operation, avals: tuple[ShapedArray, ...]) -> CompiledProgram:
    if type(op) is o.Jit:
        return compile_program(op.jaxpr, op.donated, op.function_name)
    options = DEFAULT_OPTIONS if type(op) in ALWAYS_COMPILED else OPERATION_OPTIONS
    return compile_program(program_of_operation(op, avals), name=op.name, options=options)


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
    if calls_host(jaxpr):
        results = run_jaxpr_with(jaxpr, values, _run_around_host)
    else:
        results = quietly(run_jaxpr_with, jaxpr, values, _run_values)
    if config.slow_path:
        require_good_program_results(jaxpr, values, results)
    return [from_numpy_owned(x, v.aval) for x, v in zip(results, jaxpr.outs)]


def _run_values(op: Operation, values: list[Any]) -> Any:
    """Run an operation of a program: compiled where that is worth it, else as usual."""
    kind = type(op)
    if not worth_compiling(kind, values, ()):
        return NotImplemented
    arrays = [from_numpy_owned(x, shaped_array(x.shape, x.dtype)) for x in values]
    out = run_operation(op, arrays)
    return [x.value() for x in out] if op.multiple_results else out.value()


def _run_around_host(op: Operation, values: list[Any]) -> Any:
    """As _run_values, where Python functions are called, in the user's context: the other operations are quiet."""
    out = _run_values(op, values)
    if out is not NotImplemented or isinstance(op, HostCall) or op.has_sub_jaxprs():
        return out
    return quietly(evaluate[type(op)], op, *values)
