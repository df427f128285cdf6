"""Operations that move, repeat or join elements, and iota."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir import dtypes, evaluate
from ..ir import ops as o


@evaluate.register(o.BroadcastInDim)
def _broadcast_in_dim(op: o.BroadcastInDim, x: Any) -> np.ndarray:
    out = np.empty(op.shape, x.dtype)  # faster than np.broadcast_to, whatever the size
    dims = op.broadcast_dimensions
    if dims and dims[0] != len(op.shape) - len(dims):
        spread = [1] * len(op.shape)
        for d, n in zip(dims, x.shape):
            spread[d] = n
        x = x.reshape(spread)
    out[...] = x
    return out


@evaluate.register(o.Pad)
def _pad(op: o.Pad, x: Any, value: Any) -> np.ndarray:
    into, source, shape = [], [], []
    for n, (low, high, interior) in zip(x.shape, op.padding_config):
        step = interior + 1
        size = low + high + n + max(n - 1, 0) * interior
        first = max(0, -(low // step))  # the first element that is not cut off
        last = min(n, -((low - size) // step))
        last = max(first, last)
        start = low + first * step
        source.append(slice(first, last))
        into.append(slice(start, start + (last - first) * step, step) if last > first else slice(0, 0))
        shape.append(size)
    out = np.empty(shape, x.dtype)
    out[...] = value
    out[tuple(into)] = x[tuple(source)]
    return out


@evaluate.register(o.Slice)
def _slice(op: o.Slice, x: Any) -> Any:
    strides = op.strides or (None,) * len(op.start_indices)
    return x[tuple([slice(*s) for s in zip(op.start_indices, op.limit_indices, strides)])]


@evaluate.register(o.Rev)
def _rev(op: o.Rev, x: Any) -> Any:
    return x[tuple([slice(None, None, -1 if d in op.dimensions else 1) for d in range(x.ndim)])]


@evaluate.register(o.Iota)
def _iota(op: o.Iota) -> np.ndarray:
    """Counts beyond the range of an integer dtype wrap around."""
    n = op.shape[op.dimension]
    counts = np.arange(n).astype(op.dtype) if dtypes.kind(op.dtype) != "b" else np.arange(n) != 0
    out = np.empty(op.shape, op.dtype)
    out[...] = counts.reshape((n,) + (1,) * (len(op.shape) - 1 - op.dimension))
    return out


@evaluate.register(o.Split)
def _split(op: o.Split, x: Any) -> list[Any]:
    before = (slice(None),) * op.axis
    pieces, start = [], 0
    for size in op.sizes:
        pieces.append(x[(*before, slice(start, start + size))])
        start += size
    return pieces


evaluate.register(o.Reshape)(lambda op, x: x.reshape(op.new_sizes))
evaluate.register(o.Transpose)(lambda op, x: x.transpose(op.permutation))
evaluate.register(o.Squeeze)(lambda op, x: x.squeeze(op.dimensions))
evaluate.register(o.Concatenate)(lambda op, *xs: np.concatenate(xs, op.dimension))
