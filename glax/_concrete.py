"""Python's questions to staged values, answered where the arguments are concrete.

When a derivative is taken at concrete arguments, ``if x > 0`` can be answered: by evaluating, when it is asked, the
part of the program so far that the answer needs. Nothing is computed where nobody asks, and what was computed is
kept until the staging ends. The program staged is then that of the path taken, and a Python function that was called
for an answer is not called again when it runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from . import _tracer_conversions
from ._running import asarray, run_operation
from .ir import Builder, Eqn, Literal, Tracer
from .ir.functions import PythonFunction
from .ir.ops.effects import ResultCall
from .ir.staging import current_builder, not_staging, require_open
from .lower import Array


def answer(tracer: Tracer) -> np.ndarray | None:
    """The contents of a tracer, None where they depend on an argument that is not concrete."""
    require_open(tracer, current_builder())
    try:
        with not_staging():
            return asarray(_value(tracer)).value()
    except _NotKnown:
        return None


class _NotKnown(Exception):
    """A value depends on an argument that is not concrete."""


def _value(tracer: Tracer) -> Any:
    """The value of a tracer, which may be that of a tracer of an enclosing program."""
    while type(tracer) is Tracer:
        builder = tracer.builder
        if type(tracer.atom) is Literal:
            return tracer.atom.value
        if builder.known is None:
            raise _NotKnown
        if tracer.atom.index not in builder.answers:
            _evaluate_slice(builder, tracer.atom.index)
        tracer = builder.answers[tracer.atom.index]
    return tracer


def _evaluate_slice(builder: Builder, wanted: int) -> None:
    """Evaluate the equations that a variable needs, and no others."""
    answers = builder.answers
    if not answers:
        answers.update(zip((v.index for v in builder.inputs), builder.known))
    answers.update((v.index, value) for v, value in builder.captured if v.index not in answers)
    for position in _slice_of(builder, wanted):
        eqn = builder.eqns[position]
        operands = [a.value if type(a) is Literal else _concrete(answers, a.index) for a in eqn.inputs]
        out = run_operation(eqn.op, operands)
        answers.update(zip((v.index for v in eqn.outputs), out if eqn.op.multiple_results else (out,)))
        if isinstance(eqn.op, ResultCall):
            builder.eqns[position] = eqn._replace(op=_with_answer(eqn.op, out))


def _with_answer(op: ResultCall, results: Sequence[Array]) -> ResultCall:
    """A call that gives what its function has given, which is not called a second time when the program runs."""
    values = [x.value() for x in results]

    def given(*_: Any) -> list[Any]:
        return values

    given.__qualname__ = given.__name__ = op.function.label
    return replace(op, function=PythonFunction.of(given))


def _concrete(answers: dict[int, Any], index: int) -> Any:
    value = answers[index]
    if type(value) is Tracer:
        value = answers[index] = _value(value)
    return value


def _slice_of(builder: Builder, wanted: int) -> list[int]:
    """The positions of the equations not yet evaluated that a variable depends on, in order.

    Equations are found by their outputs' numbers, which increase, so that a question costs no pass over the program.
    """
    needed: set[int] = set()
    pending = [wanted]
    while pending:
        index = pending.pop()
        if index not in builder.answers:
            position = _defining(builder.eqns, index)
            if position not in needed:
                needed.add(position)
                pending.extend(a.index for a in builder.eqns[position].inputs if type(a) is not Literal)
    return sorted(needed)


def _defining(eqns: list[Eqn], index: int) -> int:
    """The position of the equation that binds a variable."""
    low, high = 0, len(eqns)
    while low < high:
        # Equations without outputs, in the middle, are passed over to the nearest one that has some.
        middle = probe = (low + high) // 2
        while probe >= low and not eqns[probe].outputs:
            probe -= 1
        if probe < low:
            low = middle + 1
        elif eqns[probe].outputs[-1].index < index:
            low = middle + 1
        else:
            high = probe
    return low


_tracer_conversions.answer = answer
