"""Lowering of contractions."""

from __future__ import annotations

from functools import cache

import numpy as np

from ...ir import Eqn, dtypes, lower_rule
from ...ir import ops as o
from ...ir.types import shaped_array
from ..writer import FunctionWriter, function_type
from .elementwise import convert
from .packed import WHOLE
from .shape import numbers

_FLOAT32 = np.dtype(np.float32)

# Pairs of dtypes of operands and result for which XLA has kernels that sum in the wider one.
_MIXED = {(np.dtype(narrow), np.dtype(wide)) for narrow, wide in (
    (dtypes.bfloat16, np.float32), (np.float16, np.float32), (np.int8, np.int32), (np.uint8, np.uint32))}


@cache
def dot_dtypes(operand: np.dtype, result: np.dtype) -> tuple[np.dtype, np.dtype]:
    """The dtypes of operands and result for which XLA is asked: so wide that nothing is rounded before it is summed."""
    if (operand, result) in _MIXED:
        return operand, result
    wide = dtypes.wider(operand, result)
    wide = _FLOAT32 if dtypes.is_float(wide) and wide.itemsize == 1 else WHOLE.get(wide, wide)
    return wide, wide


@lower_rule.register(o.DotGeneral)
def _dot_general(op: o.DotGeneral, write: FunctionWriter, eqn: Eqn, lhs: str, rhs: str) -> str:
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = op.dimension_numbers
    out = eqn.outputs[0].aval
    operand_dtype, result_dtype = dot_dtypes(eqn.inputs[0].aval.dtype, out.dtype)
    names = [convert(write, n, a.aval, operand_dtype) for n, a in zip((lhs, rhs), eqn.inputs)]
    operands = [shaped_array(a.aval.shape, operand_dtype) for a in eqn.inputs]
    result = shaped_array(out.shape, result_dtype)
    batch = f"batching_dims = {numbers(lhs_batch)} x {numbers(rhs_batch)}, " if lhs_batch else ""
    precision = (op.precision or "default").upper()
    made = write.value(
        f"stablehlo.dot_general {names[0]}, {names[1]}, {batch}contracting_dims = {numbers(lhs_contract)} x "
        f"{numbers(rhs_contract)}, precision = [{precision}, {precision}] : {function_type(operands, (result,))}")
    return convert(write, made, result, out.dtype)
