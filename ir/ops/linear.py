"""Contractions."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..operation import Operation, abstract_eval, operation
from ..staging import bind
from ..types import ShapedArray, shaped_array
from .typing import kind_of, require_axes, require_same_dtype

__all__ = ["DotGeneral", "dot_general"]


@operation
class DotGeneral(Operation):
    """Products of elements summed over contracting dimensions, for each index of batch dimensions.

    ``dimension_numbers`` is ((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch)). The result has the batch
    dimensions first, then the free ones of lhs, then those of rhs.
    """

    name = "dot_general"
    dimension_numbers: tuple[tuple[tuple[int, ...], tuple[int, ...]], tuple[tuple[int, ...], tuple[int, ...]]]
    precision: str | None = None
    preferred_element_type: np.dtype | None = None


@abstract_eval.register(DotGeneral)
def _type_of_dot_general(op: DotGeneral, lhs: ShapedArray, rhs: ShapedArray) -> ShapedArray:
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = op.dimension_numbers
    require_same_dtype(op.name, (lhs, rhs))
    require_axes(op.name, lhs_contract + lhs_batch, lhs.ndim, "dimensions of lhs")
    require_axes(op.name, rhs_contract + rhs_batch, rhs.ndim, "dimensions of rhs")
    for what, l_dims, r_dims in (("contracting", lhs_contract, rhs_contract), ("batch", lhs_batch, rhs_batch)):
        l_sizes, r_sizes = tuple(lhs.shape[d] for d in l_dims), tuple(rhs.shape[d] for d in r_dims)
        if l_sizes != r_sizes:
            raise TypeError(f"dot_general: {what} dimensions {l_dims} of {lhs.shape} and {r_dims} of {rhs.shape} must "
                            f"have equal sizes, got {l_sizes} and {r_sizes}")
    free_lhs = tuple(n for d, n in enumerate(lhs.shape) if d not in lhs_contract + lhs_batch)
    free_rhs = tuple(n for d, n in enumerate(rhs.shape) if d not in rhs_contract + rhs_batch)
    shape = tuple(lhs.shape[d] for d in lhs_batch) + free_lhs + free_rhs
    dtype = op.preferred_element_type or lhs.dtype
    if dtype is not lhs.dtype and kind_of(lhs.dtype) != "f" and _element_bits(dtype) < _element_bits(lhs.dtype):
        raise TypeError(f"dot_general: preferred_element_type must not be narrower than the operands' dtype "
                        f"{lhs.dtype.name}, got {dtype.name}")
    return shaped_array(shape, dtype, op.preferred_element_type is None and lhs.weak_type and rhs.weak_type)


def _element_bits(dtype: np.dtype) -> int:
    """The bits by which dtypes are narrower than others: of complex numbers those of a part, of bools one."""
    return 1 if dtypes.is_bool(dtype) else dtypes.itemsize_bits(dtypes.real_part_dtype(dtype))


def dot_general(lhs: Any, rhs: Any, dimension_numbers: Any, precision: str | None = None,
                preferred_element_type: np.dtype | None = None) -> Any:
    """Products of elements of lhs and rhs, summed over contracting dimensions, for each index of batch dimensions.

    Args:
        lhs: an array.
        rhs: an array of the same dtype.
        dimension_numbers: ((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch)), four tuples of dimensions.
        precision: how accurately to multiply; None leaves it to the compiler.
        preferred_element_type: the dtype of the result, by default that of the operands. It must not be narrower than
            that, unless the operands are floating point; of complex numbers a real one keeps the real part.

    >>> from glax.ir import ShapedArray, ops, stage
    >>> avals = [ShapedArray((2, 3), "float32"), ShapedArray((3, 4), "float32")]
    >>> stage(lambda x, y: [ops.dot_general(x, y, (((1,), (0,)), ((), ())))], avals)[0].out_avals
    [ShapedArray(float32[2,4])]
    """
    return bind(DotGeneral(dimension_numbers, precision, preferred_element_type), lhs, rhs)
