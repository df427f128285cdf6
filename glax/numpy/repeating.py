"""Elements repeated: tile, repeat and resize."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._promotion import as_index, as_shape, canonical_axis, concrete
from ..ir import ops as o
from ..lax import shape as lax_shape
from ..lax._arguments import mistaken
from .creation import asarray
from .indexing import take
from .shaping import broadcast_to, lax_slice, ravel, shaped

__all__ = ["repeat", "resize", "tile"]


def tile(A: Any, reps: int | Sequence[int]) -> Any:
    """An array repeated a number of times along each axis.

    >>> import glax.numpy as xp
    >>> xp.tile(xp.arange(2), 2)
    Array([0, 1, 0, 1], dtype=int32)
    """
    A, dims = shaped("tile", A)
    reps = as_shape(reps, "tile", "reps")
    reps = (1,) * (len(dims) - len(reps)) + reps
    return lax_shape.tile(o.reshape(A, (1,) * (len(reps) - len(dims)) + dims), reps)


def repeat(a: Any, repeats: Any, axis: int | None = None, *, total_repeat_length: int | None = None,
           out_sharding: Any = None) -> Any:
    """Each element repeated along an axis.

    Args:
        a: an array, flattened where axis is None.
        repeats: how often: an int, or one for each element.
        total_repeat_length: the size of the result, needed where repeats is staged; the last element fills the rest.

    >>> import glax.numpy as xp
    >>> xp.repeat(xp.arange(2), 2)
    Array([0, 0, 1, 1], dtype=int32)
    """
    a, dims = shaped("repeat", a)
    if axis is None:
        a, axis = ravel(a), 0
        dims = a.aval.shape
    elif not dims:
        a, dims = o.reshape(a, (1,)), (1,)
    axis = canonical_axis(axis, len(dims), "repeat")
    n = dims[axis]
    if total_repeat_length is not None:
        from .reductions import cumsum
        from .sorting import searchsorted
        total_repeat_length = as_index(total_repeat_length, "repeat", "total_repeat_length")
        ends = cumsum(broadcast_to(ravel(asarray(repeats)), (n,)))
        places = searchsorted(ends, asarray(np.arange(total_repeat_length, dtype=np.int32)), side="right")
        return take(a, places, axis=axis, mode="clip")
    counts = concrete(asarray(repeats), "repeat", "repeats").reshape(-1)
    if counts.size and counts.dtype.kind not in "biu":
        raise mistaken("repeat", "repeats", "an integer, or integers", repeats)
    if (counts < 0).any():
        raise mistaken("repeat", "repeats", "a number, or numbers, of times from 0 on", repeats, ValueError)
    if counts.size == 1:
        k = as_index(counts[0], "repeat", "repeats")
        spread = o.broadcast_in_dim(a, (*dims[:axis + 1], k, *dims[axis + 1:]), tuple(
            d + (d > axis) for d in range(len(dims))))
        return o.reshape(spread, (*dims[:axis], n * k, *dims[axis + 1:]))
    if counts.size != n:
        raise ValueError(f"repeat: repeats must be one number or {n}, got {counts.size}")
    times = counts.astype(np.int64)
    return take(a, np.repeat(np.arange(n, dtype=np.int32), times), axis=axis, mode="promise_in_bounds")


def resize(a: Any, new_shape: Any) -> Any:
    """The elements, repeated in order or cut off as needed, in a new shape.

    >>> import glax.numpy as xp
    >>> xp.resize(xp.array([1, 2, 3]), (2, 2)).tolist()
    [[1, 2], [3, 1]]
    """
    new = as_shape(new_shape, "resize", "new_shape")
    flat = ravel(a)
    wanted, have = int(np.prod(new)), flat.aval.shape[0]
    if have == 0 or wanted == 0:
        from .creation import zeros
        return zeros(new, flat.aval.dtype)
    return o.reshape(lax_slice(tile(flat, -(-wanted // have)), 0, wanted, 0), new)
