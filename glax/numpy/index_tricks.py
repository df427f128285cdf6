"""Grids and positions by notation."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._called import called
from .._promotion import as_index, shape_of
from ..ir import dtypes
from ..ir import ops as o
from .creation import asarray, linspace
from .shaping import concatenate, stack


def ix_(*args: Any) -> tuple[Any, ...]:
    """Vectors of positions, shaped so that indexing with all picks their rows, columns and so on.

    >>> import glax.numpy as xp
    >>> xp.ones((3, 4))[xp.ix_(xp.array([0, 2]), xp.array([1]))].shape
    (2, 1)
    """
    from .sorting import nonzero
    vectors = []
    for x in args:
        x = asarray(x)
        if len(x.aval.shape) != 1:
            raise ValueError(f"ix_: vectors are needed, got shape {x.aval.shape}")
        vectors.append(nonzero(x)[0] if dtypes.is_bool(x.aval.dtype) else x)
    n = len(vectors)
    return tuple(o.reshape(x, tuple(x.aval.size if k == d else 1 for k in range(n))) for d, x in enumerate(vectors))


def diag_indices(n: int, ndim: int = 2) -> tuple[Any, ...]:
    """The positions of the main diagonal of an array of n in each dimension.

    >>> import glax.numpy as xp
    >>> xp.diag_indices(2)
    (Array([0, 1], dtype=int32), Array([0, 1], dtype=int32))
    """
    n, ndim = as_index(n, "diag_indices", "n"), as_index(ndim, "diag_indices", "ndim")
    if n < 0 or ndim < 0:
        raise ValueError(f"diag_indices: n and ndim must not be negative, got {n} and {ndim}")
    return _positions((np.arange(n),)) * ndim


def diag_indices_from(arr: Any) -> tuple[Any, ...]:
    """The positions of the main diagonal of an array. ValueError where its sizes differ.

    >>> import glax.numpy as xp
    >>> xp.diag_indices_from(xp.zeros((2, 2)))
    (Array([0, 1], dtype=int32), Array([0, 1], dtype=int32))
    """
    shape = shape_of(asarray(arr))
    if len(shape) < 2 or len(set(shape)) != 1:
        raise ValueError(f"diag_indices_from: equal sizes in at least 2 dimensions are needed, got {shape}")
    return diag_indices(shape[0], len(shape))


def _positions(found: tuple[np.ndarray, ...]) -> tuple[Any, ...]:
    return tuple(asarray(i.astype(dtypes.python_scalar_dtype(int))) for i in found)


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Any, Any]:
    """The positions at and below a diagonal of an n by m matrix. A row and a column of each, as int32 vectors; k is 0
    for the main diagonal and positive above it.

    >>> import glax.numpy as xp
    >>> xp.tril_indices(2)
    (Array([0, 1, 1], dtype=int32), Array([0, 0, 1], dtype=int32))
    """
    return _positions(np.tril_indices(*_triangle("tril_indices", n, k, m)))


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Any, Any]:
    """The positions at and above a diagonal of an n by m matrix. A row and a column of each, as int32 vectors; k is 0
    for the main diagonal and positive above it.

    >>> import glax.numpy as xp
    >>> xp.triu_indices(2)
    (Array([0, 0, 1], dtype=int32), Array([0, 1, 1], dtype=int32))
    """
    return _positions(np.triu_indices(*_triangle("triu_indices", n, k, m)))


def _triangle(name: str, n: Any, k: Any, m: Any) -> tuple[int, int, int]:
    """The numbers of rows, of the diagonal and of columns."""
    rows, diagonal, columns = (as_index(x, called(name), what) for x, what in (
        (n, "n"), (k, "k"), (n if m is None else m, "m")))
    if rows < 0 or columns < 0:
        raise ValueError(f"{name}: n and m must not be negative, got {rows} and {columns}")
    return rows, diagonal, columns


def _matrix_shape(name: str, arr: Any) -> tuple[int, int]:
    shape = shape_of(asarray(arr))
    if len(shape) != 2:
        raise ValueError(f"{name}: a matrix is needed, got shape {shape}")
    return shape


def tril_indices_from(arr: Any, k: int = 0) -> tuple[Any, Any]:
    """The positions at and below a diagonal of a matrix.

    >>> import glax.numpy as xp
    >>> xp.tril_indices_from(xp.zeros((2, 2)), k=-1)
    (Array([1], dtype=int32), Array([0], dtype=int32))
    """
    n, m = _matrix_shape("tril_indices_from", arr)
    return tril_indices(n, k, m)


def triu_indices_from(arr: Any, k: int = 0) -> tuple[Any, Any]:
    """The positions at and above a diagonal of a matrix.

    >>> import glax.numpy as xp
    >>> xp.triu_indices_from(xp.zeros((2, 2)), k=1)
    (Array([0], dtype=int32), Array([1], dtype=int32))
    """
    n, m = _matrix_shape("triu_indices_from", arr)
    return triu_indices(n, k, m)


def mask_indices(n: int, mask_func: Any, k: Any = 0, *, size: int | None = None) -> tuple[Any, Any]:
    """The positions that a function such as triu leaves nonzero in an n by n matrix of ones. k is handed to the
    function. While staged, size is needed: how many to return.

    >>> import glax.numpy as xp
    >>> xp.mask_indices(2, xp.triu)
    (Array([0, 0, 1], dtype=int32), Array([0, 1, 1], dtype=int32))
    """
    from .creation import ones
    from .sorting import nonzero
    return nonzero(mask_func(ones((n, n)), k), size=size)


def _axis_of(s: slice) -> np.ndarray | Any:
    start = 0 if s.start is None else s.start
    if isinstance(s.step, complex):
        return linspace(start, s.stop, int(abs(s.step)))
    step = 1 if s.step is None else s.step
    value = np.arange(start, s.stop, step)
    return asarray(value.astype(dtypes.canonicalize(value.dtype)))


class _Grid:
    """``mgrid[0:3, 0:1:5j]``: grids of coordinates; a step with j is a number of points, the end included."""

    def __init__(self, name: str, sparse: bool):
        self.name = name
        self.sparse = sparse

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return _axis_of(key)
        axes = [_axis_of(s) for s in key]
        n = len(axes)
        from .._promotion import promote
        axes = [asarray(x) for x in promote(self.name, *axes)]
        if self.sparse:
            return [o.reshape(x, tuple(x.aval.size if k == d else 1 for k in range(n))) for d, x in enumerate(axes)]
        shape = tuple(x.aval.size for x in axes)
        return stack([o.broadcast_in_dim(x, shape, (d,)) for d, x in enumerate(axes)])

    def __repr__(self) -> str:
        return f"<{self.name}>"


class _Joined:
    """``r_[0:3, 5]``: slices, numbers and arrays joined along the first (r_) or last (c_) axis."""

    def __init__(self, name: str, axis: int, ndmin: int, trans1d: int):
        self.name = name
        self.defaults = axis, ndmin, trans1d

    def __getitem__(self, key: Any) -> Any:
        items = list(key) if isinstance(key, tuple) else [key]
        axis, ndmin, trans1d = self.defaults
        if items and isinstance(items[0], str):
            text = items.pop(0)
            if text in ("r", "c"):
                raise NotImplementedError(f"{self.name}: matrices (directive {text!r}) are not supported")
            try:
                numbers = [int(part) for part in text.split(",")]
            except ValueError:
                raise ValueError(f"{self.name}: unknown directive {text!r}") from None
            axis, ndmin, trans1d = (numbers + list(self.defaults)[len(numbers):])[:3]
        parts = []
        for item in items:
            is_slice = isinstance(item, slice)
            x = _axis_of(item) if is_slice else asarray(item)
            own = len(x.aval.shape)
            missing = ndmin - max(own, 1) if own < ndmin else 0
            if own == 0:
                x = o.reshape(x, (1,) * max(ndmin, 1))
            elif missing:
                lead = missing if trans1d == -1 else min(trans1d, missing)
                x = o.reshape(x, (1,) * lead + x.aval.shape + (1,) * (missing - lead))
            parts.append(x)
        return concatenate(parts, axis)

    def __repr__(self) -> str:
        return f"<{self.name}>"


mgrid, ogrid = _Grid("mgrid", False), _Grid("ogrid", True)
r_, c_ = _Joined("r_", 0, 1, -1), _Joined("c_", -1, 2, 0)
