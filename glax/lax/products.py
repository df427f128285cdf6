"""Contractions."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

import numpy as np

from .._called import called
from .._promotion import canonical_axes, type_of
from ..ir import IncompatibleShapesError
from ..ir import ops as o
from ..ir.config import config
from ._arguments import entries, pair
from ._names import dtype_of

DotDimensionNumbers = tuple[tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]]


class Precision(Enum):
    """How exactly products of float32 numbers are computed, on devices that offer a choice."""

    DEFAULT = "default"
    HIGH = "high"
    HIGHEST = "highest"

    def __str__(self) -> str:
        return self.name


PrecisionLike = None | str | Precision | tuple[str, str] | tuple[Precision, Precision]
_NAMES = {
    "default": None, "fastest": None, "bfloat16": None, "high": "high", "tensorfloat32": "high", "bfloat16_3x": "high",
    "highest": "highest", "float32": "highest",
}
_ORDER = [None, "high", "highest"]


def precision_name(precision: Any, name: str = "dot") -> str | None:
    """The precision as an operation has it: None, 'high' or 'highest'. ValueError for what is no precision."""
    if precision is None:
        precision = config.default_matmul_precision
        if precision is None:
            return None
    if isinstance(precision, (tuple, list)) and len(precision) == 2:
        return max((precision_name(p, name) for p in precision), key=_ORDER.index)
    text = precision.value if isinstance(precision, Precision) else precision
    if isinstance(text, str) and text in _NAMES:
        return _NAMES[text]
    if isinstance(text, str) and text.count("_") >= 2:  # an algorithm by its dtypes
        return "highest"
    raise ValueError(f"{called(name)}: precision must be None, one of {', '.join(_NAMES)}, a Precision or a pair of "
                     f"these, got {precision!r}")


def dot_general(lhs: Any, rhs: Any, dimension_numbers: DotDimensionNumbers, precision: PrecisionLike = None,
                preferred_element_type: Any = None) -> Any:
    """Products summed over contracting dimensions, for each index of the batch dimensions.

    Args:
        lhs, rhs: arrays of one dtype.
        dimension_numbers: ((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch)).
        precision: a Precision, its name, or a pair of them.
        preferred_element_type: the dtype to sum in, which is that of the result. It must not be narrower than that of
            lhs and rhs, unless these are floating point; of complex numbers a real one keeps the real part.

    Returns:
        An array with the batch dimensions first, then the other ones of lhs, then those of rhs.

    Raises:
        TypeError: dimension_numbers are of another structure, or dtypes or sizes do not fit.
        ValueError: a dimension is out of range or given twice.

    >>> from glax import lax
    >>> x = lax.iota("float32", 3)
    >>> lax.dot_general(x, x, (((0,), (0,)), ((), ())))
    Array(5., dtype=float32)
    """
    l_ndim, r_ndim = len(type_of("dot_general", lhs).shape), len(type_of("dot_general", rhs, 1).shape)
    numbers = tuple([
        (canonical_axes(_dimensions(left), l_ndim, "dot_general", "dimensions of lhs"),
         canonical_axes(_dimensions(right), r_ndim, "dot_general", "dimensions of rhs"))
        for left, right in map(_pair, _pair(dimension_numbers))])
    for what, (left, right) in zip(("contracting", "batch"), numbers):
        if len(left) != len(right):
            raise TypeError(f"dot_general: lhs and rhs must have as many {what} dimensions, got {left} and {right}")
    preferred = None if preferred_element_type is None else dtype_of(preferred_element_type, "dot_general",
                                                                     "preferred_element_type")
    return o.dot_general(lhs, rhs, numbers, precision_name(precision, "dot_general"), _if_other(preferred, lhs))


_NUMBERS = "((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch)), each a sequence of integers"


def _pair(given: Any) -> tuple[Any, Any]:
    return pair(given, "dot_general", "dimension_numbers", _NUMBERS)


def _dimensions(given: Any) -> tuple:
    return entries(given, "dot_general", "dimension_numbers", _NUMBERS)


def _if_other(preferred: np.dtype | None, lhs: Any) -> np.dtype | None:
    return None if preferred == type_of("dot_general", lhs).dtype else preferred


def dot(lhs: Any, rhs: Any, *, dimension_numbers: DotDimensionNumbers | None = None, precision: PrecisionLike = None,
        preferred_element_type: Any = None, **ignored: None) -> Any:
    """The product of vectors and matrices; with dimension_numbers, dot_general.

    >>> from glax import lax
    >>> lax.dot(lax.iota("float32", 3), lax.iota("float32", 3))
    Array(5., dtype=float32)
    """
    if any(value is not None for value in ignored.values()):
        raise TypeError(f"dot: unexpected arguments {', '.join(ignored)}")
    if dimension_numbers is None:
        l_shape, r_shape = type_of("dot", lhs).shape, type_of("dot", rhs, 1).shape
        if not (1 <= len(l_shape) <= 2 and 1 <= len(r_shape) <= 2) or l_shape[-1] != r_shape[0]:
            raise IncompatibleShapesError(f"dot: vectors and matrices with equal inner sizes are needed, got shapes "
                                          f"{l_shape} and {r_shape}")
        dimension_numbers = (((len(l_shape) - 1,), (0,)), ((), ()))
    return dot_general(lhs, rhs, dimension_numbers, precision, preferred_element_type)


def batch_matmul(lhs: Any, rhs: Any, precision: PrecisionLike = None) -> Any:
    """Products of the matrices in the last two dimensions; the other ones are equal. Shapes (..., n, k) and (..., k, m)
    give (..., n, m). ValueError where there are fewer than 2 dimensions, or not equally many.

    >>> import glax.numpy as xp
    >>> from glax import lax
    >>> lax.batch_matmul(xp.ones((5, 2, 3)), xp.ones((5, 3, 4))).shape
    (5, 2, 4)
    """
    l_ndim, r_ndim = len(type_of("batch_matmul", lhs).shape), len(type_of("batch_matmul", rhs, 1).shape)
    if l_ndim < 2 or l_ndim != r_ndim:
        raise ValueError(f"batch_matmul: arrays must have an equal number of at least 2 dimensions, got {l_ndim} and "
                         f"{r_ndim}")
    batch = tuple(range(l_ndim - 2))
    return dot_general(lhs, rhs, (((l_ndim - 1,), (l_ndim - 2,)), (batch, batch)), precision)
