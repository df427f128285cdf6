"""Transposes of contractions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ir import LinearInput, aval_of, transpose_rule
from ...ir import ops as o


@transpose_rule.register(o.DotGeneral)
def _transpose_of_dot_general(op: o.DotGeneral, ct: Any, args: Sequence[Any]) -> list[Any]:
    lhs, rhs = args
    (l_contract, r_contract), (l_batch, r_batch) = op.dimension_numbers
    if type(lhs) is LinearInput and type(rhs) is LinearInput:
        raise TypeError("cannot transpose dot_general: both operands depend on the inputs to transpose by")
    if type(lhs) is LinearInput:
        return [_cotangent_of_lhs(op, ct, lhs, rhs, l_contract, r_contract, l_batch, r_batch, first=True), None]
    return [None, _cotangent_of_lhs(op, ct, rhs, lhs, r_contract, l_contract, r_batch, l_batch, first=False)]


def _cotangent_of_lhs(op: o.DotGeneral, ct: Any, x: Any, y: Any, x_contract: tuple, y_contract: tuple, x_batch: tuple,
                      y_batch: tuple, first: bool) -> Any:
    """Contract the cotangent with the other operand y over y's free dimensions, and put x's dimensions in order."""
    batch_count = len(x_batch)
    x_free = [d for d in range(len(x.shape)) if d not in x_contract + x_batch]
    y_shape = aval_of(y).shape
    y_free = tuple(d for d in range(len(y_shape)) if d not in y_contract + y_batch)
    ct_batch = tuple(range(batch_count))
    free_start = batch_count + (len(x_free) if first else 0)
    ct_y_free = tuple(range(free_start, free_start + len(y_free)))
    if op.preferred_element_type is not None and aval_of(y).dtype != aval_of(ct).dtype:
        y = o.convert_element_type(y, aval_of(ct).dtype)
    result = o.dot_general(ct, y, ((ct_y_free, y_free), (ct_batch, y_batch)), op.precision, None)
    # The result's dimensions are: batch, x's free ones, then y's contracted ones in the order they stand in y.
    y_contract_sorted = np.argsort(y_contract)
    order = list(x_batch) + x_free + [x_contract[i] for i in y_contract_sorted]
    result = o.transpose(result, tuple(int(d) for d in np.argsort(order)))
    if aval_of(result).dtype != x.dtype:
        result = o.convert_element_type(result, x.dtype)
    return result
