"""Contractions, by way of matmul, so that BLAS does the work for the dtypes it has."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..ir import dtypes, evaluate
from ..ir.ops import DotGeneral
from .convert import convert
from .small import WIDE

_NOTHING = ((), ())
_MATRICES = (((1,), (0,)), _NOTHING)
_VECTORS = (((0,), (0,)), _NOTHING)


@evaluate.register(DotGeneral)
def _dot_general(op: DotGeneral, lhs: Any, rhs: Any) -> Any:
    result_dtype = op.preferred_element_type or lhs.dtype
    # Wide enough for both ends, so that it is rounded to once.
    dtype = dtypes.wider(lhs.dtype, result_dtype)
    dtype = WIDE.get(dtype, dtype)
    if dtype != lhs.dtype:
        lhs, rhs = convert(lhs, dtype), convert(rhs, dtype)
    result = _contract(op.dimension_numbers, lhs, rhs)
    return result if result.dtype == result_dtype else convert(result, result_dtype)


def _contract(numbers: Any, lhs: Any, rhs: Any) -> Any:
    if numbers == _MATRICES and lhs.ndim == rhs.ndim == 2 or numbers == _VECTORS and lhs.ndim == rhs.ndim == 1:
        return np.matmul(lhs, rhs)
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = numbers
    lhs_free = tuple([d for d in range(lhs.ndim) if d not in lhs_contract and d not in lhs_batch])
    rhs_free = tuple([d for d in range(rhs.ndim) if d not in rhs_contract and d not in rhs_batch])
    batch = tuple([lhs.shape[d] for d in lhs_batch])
    rows, columns = tuple([lhs.shape[d] for d in lhs_free]), tuple([rhs.shape[d] for d in rhs_free])
    summed = prod([lhs.shape[d] for d in lhs_contract])
    left = lhs.transpose(*lhs_batch, *lhs_free, *lhs_contract).reshape(*batch, prod(rows), summed)
    right = rhs.transpose(*rhs_batch, *rhs_contract, *rhs_free).reshape(*batch, summed, prod(columns))
    return np.matmul(left, right).reshape(batch + rows + columns)
