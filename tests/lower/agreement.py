"""Runs many operations as one XLA program, and compares each result with the reference interpreter's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from glax.interp import evaluate_jaxpr
from glax.ir import Eqn, Jaxpr, Operation, Var, abstract_eval, dtypes, shaped_array
from glax.lower import jaxlib_adapter as xla
from glax.lower.lowering import lower

TOLERANCE_BY_SIZE = {1: 0.3, 2: 1e-2, 4: 1e-5, 8: 1e-12}


class Case(NamedTuple):
    op: Operation
    operands: Sequence[np.ndarray]
    id: str = ""


def case(op: Operation, *operands: object) -> Case:
    operands = [np.asarray(x) for x in operands]
    return Case(op, operands, f"{op} on {', '.join(f'{x.dtype.name}{list(x.shape)}' for x in operands)}")


def program_of(cases: Sequence[Case]) -> tuple[Jaxpr, list[int]]:
    """One program that applies each operation to operands of its own, and how many results each has."""
    binders, eqns, outs = [], [], []
    for op, operands, _ in cases:
        inputs = tuple(Var(len(binders) + i, shaped_array(x.shape, x.dtype)) for i, x in enumerate(operands))
        binders += inputs
        eqns.append((op, inputs))
    made, count = [], len(binders)
    for op, inputs in eqns:
        found = abstract_eval[type(op)](op, *[v.aval for v in inputs])
        outputs = tuple(Var(count + i, a) for i, a in enumerate(found if op.multiple_results else [found]))
        count += len(outputs)
        made.append(Eqn(op, inputs, outputs))
        outs.append(outputs)
    return Jaxpr(binders, made, [v for group in outs for v in group]), [len(group) for group in outs]


def run_xla(jaxpr: Jaxpr, operands: Sequence[np.ndarray],
            tier: xla.CompileTier = xla.CompileTier.FAST) -> list[np.ndarray]:
    module = lower(jaxpr)
    executable = xla.compile(module.text, xla.CompileOptions(tier), module.host_callbacks)
    buffers = xla.runner(executable, xla.result_handlers(jaxpr.out_avals))([xla.put(x) for x in operands])
    return [xla.host(b, a.shape, a.dtype) for b, a in zip(buffers, jaxpr.out_avals, strict=True)]


def agree(got: np.ndarray, wanted: np.ndarray) -> bool:
    if got.dtype != wanted.dtype or got.shape != wanted.shape:
        return False
    if not dtypes.is_inexact(got.dtype):
        return bool((got == wanted).all())
    tolerance = TOLERANCE_BY_SIZE[dtypes.real_part_dtype(got.dtype).itemsize]
    wide = np.complex128 if dtypes.is_complex(got.dtype) else np.float64
    return np.allclose(got.astype(wide), wanted.astype(wide), rtol=tolerance, atol=tolerance, equal_nan=True)


def disagreements(cases: Sequence[Case], tier: xla.CompileTier = xla.CompileTier.FAST) -> list[str]:
    """What XLA and the interpreter do not agree on, by case; cases are tried apart where they cannot run together."""
    try:
        jaxpr, counts = program_of(cases)
        results = iter(run_xla(jaxpr, [x for c in cases for x in c.operands], tier))
    except Exception as error:
        if len(cases) == 1:
            return [f"{cases[0].id}: {type(error).__name__}: {error}"]
        half = len(cases) // 2
        return disagreements(cases[:half], tier) + disagreements(cases[half:], tier)
    bad = []
    for one, count in zip(cases, counts, strict=True):
        got = [next(results) for _ in range(count)]
        wanted = evaluate_jaxpr(program_of([one])[0], *one.operands)
        if not all(map(agree, got, wanted)):
            bad.append(f"{one.id}: operands {list(one.operands)}: XLA gives {got}, the interpreter {wanted}")
    return bad
