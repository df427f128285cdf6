"""Norms of vectors and matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._promotion import promote_inexact
from ..ir import dtypes
from .arithmetic import absolute
from .creation import asarray
from .reductions import max as maximum_of
from .reductions import min as minimum_of
from .reductions import sum as sum_of
from .ufuncs import sqrt

__all__ = ["matrix_norm", "norm", "vector_norm"]


def _squares(x: Any) -> Any:
    return x.real ** 2 + x.imag ** 2 if dtypes.is_complex(x.dtype) else x * x


def vector_norm(x: Any, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """The norm of vectors along axes.

    Args:
        x: an array.
        axis: an axis, or several that are one vector together; all if None.
        keepdims: whether the axes stay, with size 1.
        ord: a number p for (sum |x|**p)**(1/p); 0 counts the elements that are not zero; np.inf and -np.inf give the
            largest and the smallest.

    >>> import glax.numpy as gnp
    >>> gnp.linalg.vector_norm(gnp.array([3., 4.]))
    Array(5., dtype=float32)
    """
    x, = promote_inexact("norm", x)
    x = asarray(x)
    if ord is None or ord == 2:
        return sqrt(sum_of(_squares(x), axis=axis, keepdims=keepdims))
    size = absolute(x)
    if ord == np.inf:
        return maximum_of(size, axis=axis, keepdims=keepdims)
    if ord == -np.inf:
        return minimum_of(size, axis=axis, keepdims=keepdims)
    if ord == 0:
        return sum_of((size != 0).astype(size.dtype), axis=axis, keepdims=keepdims)
    if ord == 1:
        return sum_of(size, axis=axis, keepdims=keepdims)
    if not isinstance(ord, (int, float)):
        raise ValueError(f"norm: ord of vectors must be a number, got {ord!r}")
    return sum_of(size ** ord, axis=axis, keepdims=keepdims) ** (1. / ord)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """The norm of matrices in the last two axes; see norm."""
    return norm(x, ord=ord, keepdims=keepdims, axis=(-2, -1))


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """The norm of a vector or a matrix, as numpy.linalg.norm.

    Args:
        x: an array.
        ord: for vectors see vector_norm. For matrices "fro" (the default), 1 and -1 (the largest and smallest sum of
            a column), np.inf and -np.inf (of a row).
        axis: an axis of vectors, or a pair of axes of matrices. If None, all axes: as one vector where ord is None too.
        keepdims: whether the axes stay, with size 1.

    Raises:
        NotImplementedError: ord is 2, -2 or "nuc" of matrices, which take singular values.

    >>> import glax.numpy as gnp
    >>> gnp.linalg.norm(gnp.ones((2, 2)), 1)
    Array(2., dtype=float32)
    """
    x, = promote_inexact("norm", x)
    x = asarray(x)
    if axis is None and ord is None:
        return vector_norm(x, keepdims=keepdims)
    axes = tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    if len(axes) == 1:
        return vector_norm(x, axis=axes[0], keepdims=keepdims, ord=ord)
    if len(axes) != 2:
        raise ValueError(f"norm: axis must be one axis or two, got {axes} for an array of shape {x.shape}")
    row, column = (d % x.ndim for d in axes)
    if ord is None or ord in ("f", "fro"):
        return sqrt(sum_of(_squares(x), axis=(row, column), keepdims=keepdims))
    if ord in (1, -1, np.inf, -np.inf):
        along = row if ord in (1, -1) else column
        sums = sum_of(absolute(x), axis=along, keepdims=True)
        extreme = maximum_of if ord in (1, np.inf) else minimum_of
        result = extreme(sums, axis=(row, column), keepdims=True)
        return result if keepdims else result.reshape([n for d, n in enumerate(x.shape) if d not in (row, column)])
    if ord in (2, -2, "nuc"):
        raise NotImplementedError(f"norm: ord {ord!r} of matrices takes singular values, which are not offered; 'fro', "
                                  f"1, -1, inf and -inf are")
    raise ValueError(f"norm: ord of matrices must be 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, got {ord!r}")


def __dir__() -> list[str]:
    return __all__
