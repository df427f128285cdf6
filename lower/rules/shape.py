"""Lowering of the operations that move, repeat or join elements, and of iota."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...ir import Eqn, dtypes, lower_rule
from ...ir import ops as o
from ...ir.types import ShapedArray, shaped_array
from ..writer import FunctionWriter, function_type, tensor_type
from .elementwise import changing_type, convert
from .packed import in_whole_bytes

_INT32 = np.dtype(np.int32)


def numbers(items: Sequence[int]) -> str:
    """Integers as StableHLO's short form writes them: [0, 1]."""
    return f"[{', '.join(map(str, items))}]"


def slice_text(write: FunctionWriter, name: str, x: ShapedArray, starts: Sequence[int], limits: Sequence[int],
               strides: Sequence[int], out: ShapedArray) -> str:
    """Write a slice with fixed bounds."""
    bounds = ", ".join([f"{lo}:{hi}" if step == 1 else f"{lo}:{hi}:{step}"
                        for lo, hi, step in zip(starts, limits, strides)])
    return write.value(f"stablehlo.slice {name} [{bounds}] : {function_type((x,), (out,))}")


def broadcast_in_dim(write: FunctionWriter, name: str, x: ShapedArray, shape: tuple[int, ...],
                     dims: Sequence[int]) -> str:
    """Write a broadcast that places x's dimensions at ``dims`` of a shape."""
    if x.shape == shape:
        return name
    out = shaped_array(shape, x.dtype)
    return write.value(f"stablehlo.broadcast_in_dim {name}, dims = {numbers(dims)} : {function_type((x,), (out,))}")


@lower_rule.register(o.BroadcastInDim)
@in_whole_bytes
def _broadcast_in_dim(op: o.BroadcastInDim, write: FunctionWriter, eqn: Eqn, x: str) -> str:
    aval = eqn.inputs[0].aval
    if aval.shape == ():
        return write.broadcast(x, aval, op.shape)
    return broadcast_in_dim(write, x, aval, op.shape, op.broadcast_dimensions)


@lower_rule.register(o.Reshape, o.Squeeze)
@in_whole_bytes
def _reshape(op: o.Reshape | o.Squeeze, write: FunctionWriter, eqn: Eqn, x: str) -> str:
    return changing_type(write, "reshape", x, eqn.inputs[0].aval, eqn.outputs[0].aval)


@lower_rule.register(o.Transpose)
@in_whole_bytes
def _transpose(op: o.Transpose, write: FunctionWriter, eqn: Eqn, x: str) -> str:
    types = function_type((eqn.inputs[0].aval,), (eqn.outputs[0].aval,))
    return write.value(f"stablehlo.transpose {x}, dims = {numbers(op.permutation)} : {types}")


@lower_rule.register(o.Concatenate)
@in_whole_bytes
def _concatenate(op: o.Concatenate, write: FunctionWriter, eqn: Eqn, *xs: str) -> str:
    types = function_type([a.aval for a in eqn.inputs], (eqn.outputs[0].aval,))
    return write.value(f"stablehlo.concatenate {', '.join(xs)}, dim = {op.dimension} : {types}")


@lower_rule.register(o.Pad)
@in_whole_bytes
def _pad(op: o.Pad, write: FunctionWriter, eqn: Eqn, x: str, value: str) -> str:
    low, high, interior = (numbers([entry[k] for entry in op.padding_config]) for k in range(3))
    types = function_type([a.aval for a in eqn.inputs], (eqn.outputs[0].aval,))
    return write.value(f"stablehlo.pad {x}, {value}, low = {low}, high = {high}, interior = {interior} : {types}")


@lower_rule.register(o.Slice)
@in_whole_bytes
def _slice(op: o.Slice, write: FunctionWriter, eqn: Eqn, x: str) -> str:
    strides = op.strides or (1,) * len(op.start_indices)
    return slice_text(write, x, eqn.inputs[0].aval, op.start_indices, op.limit_indices, strides, eqn.outputs[0].aval)


@lower_rule.register(o.Rev)
@in_whole_bytes
def _rev(op: o.Rev, write: FunctionWriter, eqn: Eqn, x: str) -> str:
    return write.value(f"stablehlo.reverse {x}, dims = {numbers(op.dimensions)} : {tensor_type(eqn.inputs[0].aval)}")


@lower_rule.register(o.Iota)
def _iota(op: o.Iota, write: FunctionWriter, eqn: Eqn) -> str:
    return iota(write, shaped_array(op.shape, op.dtype), op.dimension)


def iota(write: FunctionWriter, aval: ShapedArray, dimension: int) -> str:
    """Write an iota; dtypes narrower than 32 bits, in which StableHLO may not count far, are converted from int32."""
    counted = aval if dtypes.kind(aval.dtype) != "b" and aval.dtype.itemsize >= 4 else shaped_array(aval.shape, _INT32)
    counts = write.value(f"stablehlo.iota dim = {dimension} : {tensor_type(counted)}")
    return convert(write, counts, counted, aval.dtype)


@lower_rule.register(o.Split)
@in_whole_bytes
def _split(op: o.Split, write: FunctionWriter, eqn: Eqn, x: str) -> list[str]:
    aval, start, pieces = eqn.inputs[0].aval, 0, []
    for size, out in zip(op.sizes, eqn.outputs):
        starts, limits = [0] * aval.ndim, list(aval.shape)
        starts[op.axis], limits[op.axis] = start, start + size
        pieces.append(slice_text(write, x, aval, starts, limits, [1] * aval.ndim, out.aval))
        start += size
    return pieces
