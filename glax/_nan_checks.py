"""debug_nans and debug_infs: where a result is NaN, or infinite, an error that says which equation made it so.

The check looks at results only. Where one is bad the program is run again in the interpreter, an equation at a time,
and what is bad in the result is followed back to the equation that made it of good values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .interp import evaluate_jaxpr, step_jaxpr
from .ir import Eqn, Jaxpr, Operation, Var, dtypes, program_of_operation, tree
from .ir import ops as o
from .ir.config import Override, config
from .ir.staging import not_staging
from .lower import Array

_CONTEXT = 2
_LONGEST_LINE = 110


def debug_nans(new_val: bool = True) -> Override:
    """A context manager (and decorator) under which a NaN in a result raises FloatingPointError in this thread.

    The results of every operation on values, and of every call of a jitted function, are looked at. The error names
    the equation that made the first NaN out of values that were none: its operation, the line of your program that it
    came from, the rewrites (jvp, transpose, vmap) that it came through, its operands, and the equations around it. To
    find it, the program runs again in the interpreter; so arguments that a jitted function was to reuse the memory of
    are kept.

    ``glax.interp.step_jaxpr`` is what does so, and is yours to use: it runs any program an equation at a time, giving
    each equation with the values of its operands and results.

    Args:
        new_val: whether to check.

    Raises:
        FloatingPointError: from within, where a result is NaN.

    >>> import glax, glax.numpy as gnp
    >>> with glax.debug_nans():
    ...     glax.jit(lambda x: gnp.log(x) - gnp.log(x))(0.)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    FloatingPointError: NaN in a result of jit of <lambda>: made by sub at ...
    >>> for eqn, inputs, outputs in glax.interp.step_jaxpr(glax.make_jaxpr(gnp.log)(0.).jaxpr, np.float32(0)):
    ...     print(eqn.op.name, *inputs, "->", *outputs)
    log 0.0 -> -inf
    """
    return config.override(debug_nans=new_val)


def debug_infs(new_val: bool = True) -> Override:
    """A context manager (and decorator) under which an infinity in a result raises FloatingPointError in this thread.

    As debug_nans, of infinities.

    Args:
        new_val: whether to check.

    >>> import glax, glax.numpy as gnp
    >>> with glax.debug_infs():
    ...     1 / gnp.zeros(3)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    FloatingPointError: infinity in a result of div: ...
    """
    return config.override(debug_infs=new_val)


class _Fault(NamedTuple):
    """What to look for in values."""

    name: str
    in_array: Callable[[np.ndarray], np.ndarray]

    def of(self, x: Any) -> bool:
        x = np.asarray(x)
        return dtypes.is_inexact(x.dtype) and bool(self.in_array(x).any())


_NAN, _INF = _Fault("NaN", np.isnan), _Fault("infinity", np.isinf)


def _faults() -> list[_Fault]:
    return [fault for fault, wanted in ((_NAN, config.debug_nans), (_INF, config.debug_infs)) if wanted]


def _value(x: Any) -> np.ndarray:
    return x.value() if type(x) is Array else np.asarray(x)


def require_good_operation_results(op: Operation, operands: Sequence[Any], out: Any) -> None:
    """Raise where a result of an operation on values is bad and is to be checked."""
    results = list(map(_value, out)) if op.multiple_results else [_value(out)]
    for fault in _faults():
        if any(map(fault.of, results)):
            with not_staging():
                values = list(map(_value, operands))
                _raise(fault, op.name, program_of_operation(op, [x.aval for x in operands]), values)


def require_good_program_results(jaxpr: Jaxpr, values: Sequence[Any], results: Sequence[Any],
                                 what: str = "a program") -> None:
    """Raise where a result of a program is bad and is to be checked."""
    for fault in _faults():
        if any(map(fault.of, results)):
            _raise(fault, what, jaxpr, list(map(_value, values)))


def run_checked(entry: Any, leaves: Sequence[Any]) -> Any:
    """Run a jitted function, and raise where a result is bad and is to be checked."""
    if not _faults():
        return entry.run(leaves)
    values = [np.array(_value(x)) if entry.donated else x for x in (*entry.captured, *leaves)]
    result = entry.run(leaves)
    results = list(map(_value, tree.flatten(result)[0]))
    require_good_program_results(entry.jaxpr, _as_typed(entry.jaxpr, values), results, f"jit of {entry.name}")
    return result


def _as_typed(jaxpr: Jaxpr, values: Sequence[Any]) -> list[np.ndarray]:
    return [np.asarray(_value(x), v.aval.dtype) for x, v in zip(values, jaxpr.in_binders)]


# ---- finding the equation --------------------------------------------------------------------------------------


class _Found(NamedTuple):
    """The equation that made a bad value, the program it stands in, and how that was reached."""

    eqn: Eqn
    inputs: list[Any]
    outputs: list[Any]
    jaxpr: Jaxpr
    way: tuple[str, ...]


def _raise(fault: _Fault, what: str, jaxpr: Jaxpr, values: Sequence[np.ndarray]) -> None:
    start = f"{fault.name} in a result of {what}"
    if jaxpr.effects:
        raise FloatingPointError(f"{start}. Which equation made it is not looked for, as the program has effects, "
                                 f"which would happen again")
    found = _find(fault, jaxpr, _as_typed(jaxpr, values), ())
    if found is None:
        raise FloatingPointError(f"{start}, but in none where NumPy computes it, nor in what it is computed from")
    raise FloatingPointError(f"{start}: {_described(fault, found)}")


def _find(fault: _Fault, jaxpr: Jaxpr, values: Sequence[Any], way: tuple[str, ...]) -> _Found | None:
    """The equation that made what is bad in a program's results of values that are not."""
    steps = {}
    stepping = step_jaxpr(jaxpr, *values)
    for eqn, inputs, outputs in stepping:
        for v, x in zip(eqn.outputs, outputs):
            if fault.of(x):
                steps[v.index] = eqn, inputs, outputs
    wanted = next((a.index for a in jaxpr.outs if type(a) is Var and a.index in steps), None)
    if wanted is None:
        return None
    while True:
        eqn, inputs, outputs = steps[wanted]
        earlier = next((a.index for a in eqn.inputs if type(a) is Var and a.index in steps), None)
        if earlier is None:
            return _find_within(fault, eqn, inputs, way) or _Found(eqn, inputs, outputs, jaxpr, way)
        wanted = earlier


def _find_within(fault: _Fault, eqn: Eqn, inputs: list[Any], way: tuple[str, ...]) -> _Found | None:
    """The equation of a program within an operation, for those that run programs."""
    op = eqn.op
    way = (*way, f"{op.name} at {eqn.source}" if eqn.source is not None else op.name)
    if isinstance(op, o.Cond):
        index = min(max(int(inputs[0]), 0), len(op.branches) - 1)
        return _find(fault, op.branches[index], inputs[1:], (*way, f"branch {index}"))
    if isinstance(op, o.While):
        return _find_in_while(fault, op, inputs, way)
    if isinstance(op, o.Scan):
        return _find_in_scan(fault, op, inputs, way)
    program = op.solve if isinstance(op, o.LinearSolve) else getattr(op, "jaxpr", None)
    fits = isinstance(program, Jaxpr) and [x.shape for x in map(np.asarray, inputs)] == [
        a.shape for a in program.in_avals]
    return _find(fault, program, inputs, way) if fits else None


def _find_in_while(fault: _Fault, op: o.While, inputs: list[Any], way: tuple[str, ...]) -> _Found | None:
    first, second = op.cond_consts, op.cond_consts + op.body_consts
    carry, step = inputs[second:], 0
    while evaluate_jaxpr(op.cond_jaxpr, *inputs[:first], *carry)[0]:
        operands = [*inputs[first:second], *carry]
        carry = evaluate_jaxpr(op.body_jaxpr, *operands)
        if any(map(fault.of, carry)):
            return _find(fault, op.body_jaxpr, operands, (*way, f"step {step}"))
        step += 1
    return None


def _find_in_scan(fault: _Fault, op: o.Scan, inputs: list[Any], way: tuple[str, ...]) -> _Found | None:
    start = op.num_consts + op.num_carry
    carry = inputs[op.num_consts:start]
    for i in reversed(range(op.length)) if op.reverse else range(op.length):
        operands = [*inputs[:op.num_consts], *carry, *[x[i, ...] for x in inputs[start:]]]
        outs = evaluate_jaxpr(op.jaxpr, *operands)
        if any(map(fault.of, outs)):
            return _find(fault, op.jaxpr, operands, (*way, f"step {i}"))
        carry = outs[:op.num_carry]
    return None


# ---- describing it ---------------------------------------------------------------------------------------------


def _described(fault: _Fault, found: _Found) -> str:
    eqn = found.eqn
    where = f" at {eqn.source}" if eqn.source is not None else ""
    lines = [f"made by {eqn.op.name}{where}"]
    if found.way:
        lines.append("    within " + ", ".join(found.way))
    lines += [f"    operand {k}: {_shown(a.aval, x)}" for k, (a, x) in enumerate(zip(eqn.inputs, found.inputs))]
    for v, x in zip(eqn.outputs, found.outputs):
        bad = int(fault.in_array(np.asarray(x)).sum()) if fault.of(x) else 0
        lines.append(f"    result: {_shown(v.aval, x)}" + (f", {fault.name} in {bad} of {np.size(x)}" if bad else ""))
    return "\n".join([*lines, "    in the program", *_surroundings(found)])


def _shown(aval: Any, x: Any) -> str:
    text = np.array2string(np.asarray(x), threshold=8, edgeitems=2, precision=6, separator=", ")
    return f"{aval.short()} {' '.join(text.split())}"


def _surroundings(found: _Found) -> list[str]:
    """The lines of the equations around the one found."""
    eqns = list(found.jaxpr.eqns)
    at = next(i for i, eqn in enumerate(eqns) if eqn is found.eqn)
    lines = [] if at <= _CONTEXT else ["        ..."]
    for i in range(max(0, at - _CONTEXT), min(len(eqns), at + _CONTEXT + 1)):
        lines.append(f"      {'>' if i == at else ' '} {_one_line(eqns[i])}")
    return lines if at + _CONTEXT + 1 >= len(eqns) else [*lines, "        ..."]


def _one_line(eqn: Eqn) -> str:
    text = " ".join(str(Jaxpr((), [eqn], ())).split()).removeprefix("{ lambda ; . let ").removesuffix(" in () }")
    return text if len(text) <= _LONGEST_LINE else f"{text[:_LONGEST_LINE]} ..."
