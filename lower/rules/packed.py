"""Dtypes of less than a byte, which XLA packs: elementwise it computes with them, but it moves them wrongly."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from ...ir import Eqn, Operation, Var, dtypes
from ...ir.types import ShapedArray, shaped_array
from ..writer import FunctionWriter
from .elementwise import convert

# The dtype of whole bytes that holds all values of a packed one.
WHOLE: dict[np.dtype, np.dtype] = {
    d: np.dtype({"i": np.int8, "u": np.uint8, "f": np.float32}[dtypes.kind(d)])
    for d in dtypes.DTYPES if dtypes.itemsize_bits(d) < 8}


def unpacked(write: FunctionWriter, name: str, aval: ShapedArray) -> tuple[str, ShapedArray]:
    """A value and its type, converted to whole bytes if it is packed."""
    whole = WHOLE.get(aval.dtype)
    return (name, aval) if whole is None else (convert(write, name, aval, whole), shaped_array(aval.shape, whole))


def in_whole_bytes(rule: Callable[..., Any]) -> Callable[..., Any]:
    """The rule of an operation that only moves or compares elements, made to do so in whole bytes for packed dtypes."""
    @wraps(rule)
    def wrapped(op: Operation, write: FunctionWriter, eqn: Eqn, *names: str) -> Any:
        for atom in eqn[1]:
            if atom.aval.dtype in WHOLE:
                return _unpacked_rule(rule, op, write, eqn, names)
        return rule(op, write, eqn, *names)
    return wrapped


def _unpacked_rule(rule: Callable[..., Any], op: Operation, write: FunctionWriter, eqn: Eqn,
                   names: tuple[str, ...]) -> Any:
    pairs = [unpacked(write, name, atom.aval) for name, atom in zip(names, eqn.inputs)]
    outs = [v.aval for v in eqn.outputs]
    whole_outs = [shaped_array(a.shape, WHOLE.get(a.dtype, a.dtype)) for a in outs]
    inputs, outputs = ([Var(i, aval) for i, aval in enumerate(avals)] for avals in ([a for _, a in pairs], whole_outs))
    results = rule(op, write, Eqn(op, tuple(inputs), tuple(outputs)), *[name for name, _ in pairs])
    if not op.multiple_results:
        return convert(write, results, whole_outs[0], outs[0].dtype)
    return [convert(write, name, whole, out.dtype) for name, whole, out in zip(results, whole_outs, outs)]
