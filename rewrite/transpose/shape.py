"""Transposes of the shape operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ir import LinearInput, Zero, aval_of, bind, instantiate, transpose_rule
from ...ir import ops as o


@transpose_rule.register(o.BroadcastInDim)
def _transpose_of_broadcast(op: o.BroadcastInDim, ct: Any, args: Sequence[Any]) -> list[Any]:
    """Sum over the new dimensions, and over those that were repeated."""
    (x,) = args
    new = tuple(d for d in range(len(op.shape)) if d not in op.broadcast_dimensions)
    summed = o.reduce_sum(ct, new)
    repeated = tuple(d for d, n in enumerate(x.shape) if n == 1 and aval_of(summed).shape[d] != 1)
    return [o.reshape(o.reduce_sum(summed, repeated), x.shape)]


@transpose_rule.register(o.Reshape, o.Squeeze)
def _transpose_of_reshape(op: o.Reshape | o.Squeeze, ct: Any, args: Sequence[Any]) -> list[Any]:
    return [o.reshape(ct, args[0].shape)]


@transpose_rule.register(o.Transpose)
def _transpose_of_transpose(op: o.Transpose, ct: Any, args: Sequence[Any]) -> list[Any]:
    return [o.transpose(ct, tuple(int(d) for d in np.argsort(op.permutation)))]


@transpose_rule.register(o.Rev)
def _transpose_of_rev(op: o.Rev, ct: Any, args: Sequence[Any]) -> list[Any]:
    return [bind(op, ct)]


@transpose_rule.register(o.Slice)
def _transpose_of_slice(op: o.Slice, ct: Any, args: Sequence[Any]) -> list[Any]:
    """Zeros before, between and after the elements that were taken."""
    (x,) = args
    strides = op.strides or (1,) * len(x.shape)
    config = []
    for n, lo, step, taken in zip(x.shape, op.start_indices, strides, aval_of(ct).shape):
        last = lo + max(taken - 1, 0) * step + (taken > 0)
        config.append((lo, n - last, step - 1))
    return [o.pad(ct, o.number(0, ct), tuple(config))]


@transpose_rule.register(o.Concatenate)
def _transpose_of_concatenate(op: o.Concatenate, ct: Any, args: Sequence[Any]) -> list[Any]:
    results: list[Any] = []
    start = 0
    shape = aval_of(ct).shape
    for x in args:
        stop = start + x.shape[op.dimension]
        if type(x) is LinearInput:
            lo, hi = [0] * len(shape), list(shape)
            lo[op.dimension], hi[op.dimension] = start, stop
            results.append(o.slice_(ct, tuple(lo), tuple(hi)))
        else:
            results.append(None)
        start = stop
    return results


@transpose_rule.register(o.Pad)
def _transpose_of_pad(op: o.Pad, ct: Any, args: Sequence[Any]) -> list[Any]:
    """The operand's elements out of the cotangent; the padding value has the sum of all others."""
    x, value = args
    undone = o.pad(ct, o.number(0, ct), tuple((-lo, -hi, 0) for lo, hi, _ in op.padding_config))
    strides = tuple(interior + 1 for _, _, interior in op.padding_config)
    of_x = o.slice_(undone, (0,) * len(strides), aval_of(undone).shape, strides)
    of_value = None
    if type(value) is LinearInput:
        everything = tuple(range(aval_of(ct).ndim))
        of_value = o.sub(o.reduce_sum(ct, everything), o.reduce_sum(of_x, everything))
    return [of_x if type(x) is LinearInput else None, of_value]


@transpose_rule.register(o.Split)
def _transpose_of_split(op: o.Split, cts: Sequence[Any], args: Sequence[Any]) -> list[Any]:
    if all(type(ct) is Zero for ct in cts):
        return [None]
    return [o.concatenate([instantiate(ct) for ct in cts], op.axis)]
