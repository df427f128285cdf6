"""Diagonals of arrays: taken, summed, made into arrays and filled."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from .._called import called
from .._promotion import as_index, canonical_axis
from ..ir import ops as o
from .creation import asarray
from .indexing import get, update

__all__ = ["diag", "diagflat", "diagonal", "fill_diagonal", "trace"]


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The elements of a diagonal in the plane of two axes, along a new last axis. offset is 0 for the main diagonal,
    positive above it and negative below.

    >>> import glax.numpy as xp
    >>> xp.diagonal(xp.array([[1, 2], [3, 4]]), offset=1)
    Array([2], dtype=int32)
    """
    from .shaping import moveaxis
    a, offset = asarray(a), _diagonal_number("diagonal", offset, "offset")
    shape = a.aval.shape
    i, j = (canonical_axis(axis, len(shape), "diagonal", name) for axis, name in ((axis1, "axis1"), (axis2, "axis2")))
    if i == j:
        raise ValueError("diagonal: axis1 and axis2 must differ")
    a = moveaxis(a, (i, j), (-2, -1))
    rows, columns = a.aval.shape[-2:]
    size = builtins.max(0, builtins.min(rows, columns - offset) if offset >= 0 else builtins.min(rows + offset,
                                                                                                 columns))
    steps = np.arange(size, dtype=np.int32)
    return get(a, (Ellipsis, steps - builtins.min(offset, 0), steps + builtins.max(offset, 0)))


def _diagonal_number(name: str, given: Any, argument: str) -> int:
    return given if type(given) is int else as_index(given, called(name), argument)


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: None = None) -> Any:
    """The sum of a diagonal in the plane of two axes. offset is as in ``diagonal``; narrow integers are added up in
    32-bit ones.

    >>> import glax.numpy as xp
    >>> xp.trace(xp.array([[1, 2], [3, 4]]))
    Array(5, dtype=int32)
    """
    from .reductions import sum
    return sum(diagonal(a, offset, axis1, axis2), -1, dtype)


def diag(v: Any, k: int = 0) -> Any:
    """A vector as a diagonal of a matrix that is zero elsewhere; or the diagonal of a matrix. k is 0 for the main
    diagonal, positive above it and negative below.

    >>> import glax.numpy as xp
    >>> xp.diag(xp.array([1, 2]), k=1).tolist(), xp.diag(xp.array([[1, 2], [3, 4]]))
    ([[0, 1, 0], [0, 0, 2], [0, 0, 0]], Array([1, 4], dtype=int32))
    """
    from .creation import zeros
    v = asarray(v)
    shape = v.aval.shape
    k = _diagonal_number("diag", k, "k")
    if len(shape) == 2:
        return diagonal(v, k)
    if len(shape) != 1:
        raise ValueError(f"diag: a vector or a matrix is needed, got shape {shape}")
    n = shape[0] + builtins.abs(k)
    steps = np.arange(shape[0], dtype=np.int32)
    return update(zeros((n, n), v.aval.dtype), (steps - builtins.min(k, 0), steps + builtins.max(k, 0)), v, o.Scatter,
                  None, unique_indices=True)


def diagflat(v: Any, k: int = 0) -> Any:
    """The flattened elements as a diagonal of a matrix. k is 0 for the main diagonal, positive above it and negative
    below.

    >>> import glax.numpy as xp
    >>> xp.diagflat(xp.array([1, 2])).tolist()
    [[1, 0], [0, 2]]
    """
    from .shaping import ravel
    return diag(ravel(v), k)


def fill_diagonal(a: Any, val: Any, wrap: bool = False, *, inplace: bool = True) -> Any:
    """A copy of a with its main diagonal replaced (inplace must be False). ValueError for inplace, NotImplementedError
    for wrap.

    >>> import glax.numpy as xp
    >>> xp.fill_diagonal(xp.ones((2, 2)), 5, inplace=False).tolist()
    [[5.0, 1.0], [1.0, 5.0]]
    """
    if inplace:
        raise ValueError("fill_diagonal: arrays are immutable, so inplace must be False; the changed copy is returned")
    if wrap:
        raise NotImplementedError("fill_diagonal: wrap=True is not supported")
    a = asarray(a)
    shape = a.aval.shape
    if len(shape) < 2 or (len(shape) > 2 and len(set(shape)) > 1):
        raise ValueError(f"fill_diagonal: a matrix, or an array of equal sizes, is needed, got shape {shape}")
    steps = np.arange(builtins.min(shape), dtype=np.int32)
    values = asarray(val)
    if values.aval.shape:
        from .repeating import resize
        values = resize(values, (len(steps),))
    return a.at[(steps,) * len(shape)].set(values)
