"""Lowering of dynamic slices, gather and scatter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...ir import Atom, Eqn, dtypes, lower_rule
from ...ir import ops as o
from ...ir.limits import default_fill
from ...ir.ops import GatherScatterMode
from ...ir.types import ShapedArray, shaped_array
from ..writer import FunctionWriter, function_type, tensor_type
from .elementwise import BOOL, changing_type, compare, convert, select
from .packed import in_whole_bytes, unpacked
from .reduction import Combine, add, combining_region, int_array, maximum, minimum, multiply, reduce_region
from .shape import broadcast_in_dim, numbers

_INT32, _INT64 = np.dtype(np.int32), np.dtype(np.int64)
_INT32_MAX = 2**31 - 1


# ---- indices ---------------------------------------------------------------------------------------------------


def _index_dtype(shape: Sequence[int]) -> np.dtype:
    """The signed dtype in which an array of this shape is indexed."""
    return _INT64 if any(n > _INT32_MAX for n in shape) else _INT32


def _as_index(write: FunctionWriter, name: str, aval: ShapedArray, dtype: np.dtype) -> str:
    """Integers as int32 or int64; those beyond its range become its nearest value, which is out of bounds too."""
    given, most = dtypes.iinfo(aval.dtype), int(np.iinfo(dtype).max)
    kind = tensor_type(aval)
    if int(given.max) > most:
        limit = write.scalar(most, aval.dtype, aval.shape)
        name = write.value(f"stablehlo.minimum {name}, {limit} : {kind}")
        if int(given.min) < 0:
            limit = write.scalar(-most - 1, aval.dtype, aval.shape)
            name = write.value(f"stablehlo.maximum {name}, {limit} : {kind}")
    return convert(write, name, aval, dtype)


def _clamp(write: FunctionWriter, name: str, high: str, aval: ShapedArray) -> str:
    zero = write.scalar(0, aval.dtype)
    types = function_type((shaped_array((), aval.dtype), aval, aval), (aval,))
    return write.value(f"stablehlo.clamp {zero}, {name}, {high} : {types}")


def _starts(write: FunctionWriter, names: Sequence[str], atoms: Sequence[Atom], shape: Sequence[int],
            sizes: Sequence[int]) -> tuple[list[str], list[ShapedArray]]:
    """Start indices moved so that the slice lies within the operand, with their types.

    XLA would do so itself, but it merges a slice of a slice into one without regard for what the inner one moves.
    """
    dtype = _index_dtype(shape)
    index = shaped_array((), dtype)
    starts = []
    for name, atom, n, k in zip(names, atoms, shape, sizes):
        if n == k:
            starts.append(write.scalar(0, dtype))
        else:
            moved = _as_index(write, name, atom.aval, dtype)
            starts.append(_clamp(write, moved, write.scalar(n - k, dtype), index))
    return starts, [index] * len(starts)


@lower_rule.register(o.DynamicSlice)
@in_whole_bytes
def _dynamic_slice(op: o.DynamicSlice, write: FunctionWriter, eqn: Eqn, x: str, *names: str) -> str:
    aval, out = eqn.inputs[0].aval, eqn.outputs[0].aval
    if aval.shape == out.shape:
        return x
    starts, types = _starts(write, names, eqn.inputs[1:], aval.shape, op.slice_sizes)
    return write.value(f"stablehlo.dynamic_slice {', '.join([x, *starts])}, sizes = {numbers(op.slice_sizes)} : "
                       f"{function_type((aval, *types), (out,))}")


@lower_rule.register(o.DynamicUpdateSlice)
@in_whole_bytes
def _dynamic_update_slice(op: o.DynamicUpdateSlice, write: FunctionWriter, eqn: Eqn, x: str, update: str,
                          *names: str) -> str:
    aval, new = eqn.inputs[0].aval, eqn.inputs[1].aval
    if aval.shape == new.shape:
        return update
    starts, types = _starts(write, names, eqn.inputs[2:], aval.shape, new.shape)
    return write.value(f"stablehlo.dynamic_update_slice {', '.join([x, update, *starts])} : "
                       f"{function_type((aval, new, *types), (eqn.outputs[0].aval,))}")


def _index_vectors(write: FunctionWriter, name: str, aval: ShapedArray,
                   shape: Sequence[int]) -> tuple[str, ShapedArray]:
    dtype = _index_dtype(shape)
    return _as_index(write, name, aval, dtype), shaped_array(aval.shape, dtype)


def _last_starts(write: FunctionWriter, indices: ShapedArray, lasts: Sequence[int]) -> str:
    """The last start that is in bounds, for each component of the index vectors."""
    if len(set(lasts)) == 1:
        return write.scalar(lasts[0], indices.dtype, indices.shape)
    name = write.constant(lasts, indices.dtype)
    return broadcast_in_dim(write, name, shaped_array((len(lasts),), indices.dtype), indices.shape, (indices.ndim - 1,))


def _inside(write: FunctionWriter, name: str, indices: ShapedArray, lasts: Sequence[int]) -> str:
    """Which index vectors are in bounds in every component."""
    marks, vectors = shaped_array(indices.shape, BOOL), shaped_array(indices.shape[:-1], BOOL)
    low = compare(write, "GE", name, write.scalar(0, indices.dtype, indices.shape), indices)
    high = compare(write, "LE", name, _last_starts(write, indices, lasts), indices)
    both = write.value(f"stablehlo.and {low}, {high} : {tensor_type(marks)}")
    if len(lasts) == 1:
        return changing_type(write, "reshape", both, marks, vectors)

    def both_of(write: FunctionWriter, x: str, y: str, aval: ShapedArray) -> str:
        return write.value(f"stablehlo.and {x}, {y} : {tensor_type(aval)}")
    names, avals = (both, write.scalar(True, BOOL)), (marks, shaped_array((), BOOL))
    region = combining_region(write, both_of, BOOL)
    return reduce_region(write, names, avals, (vectors,), (indices.ndim - 1,), region)[0]


def _paired(operand_dims: Sequence[int], indices_dims: Sequence[int]) -> tuple[list[int], list[int]]:
    """Batching dimensions in the order of the operand's, as StableHLO wants them."""
    pairs = sorted(zip(operand_dims, indices_dims))
    return [a for a, _ in pairs], [b for _, b in pairs]


def _as_text(flag: bool) -> str:
    return "true" if flag else "false"


def _dimension_text(kind: str, **dims: Sequence[int] | int) -> str:
    items = [f"{name} = {value if isinstance(value, int) else numbers(value)}"
             for name, value in dims.items() if isinstance(value, int) or value]
    return f"#stablehlo.{kind}<{', '.join(items)}>"


# ---- gather ----------------------------------------------------------------------------------------------------


@lower_rule.register(o.Gather)
def _gather(op: o.Gather, write: FunctionWriter, eqn: Eqn, x: str, indices: str) -> str:
    aval, out, dims = eqn.inputs[0].aval, eqn.outputs[0].aval, op.dimension_numbers
    fills = op.mode is GatherScatterMode.FILL_OR_DROP and bool(dims.start_index_map)
    fill = default_fill(aval.dtype) if op.fill_value is None else op.fill_value
    if not aval.size or 0 in out.shape:
        return write.scalar(np.asarray(fill).astype(aval.dtype) if fills else 0, out.dtype, out.shape)
    indices, vectors = _index_vectors(write, indices, eqn.inputs[1].aval, aval.shape)
    lasts = [aval.shape[d] - op.slice_sizes[d] for d in dims.start_index_map]
    inside = _inside(write, indices, vectors, lasts) if fills else None
    if lasts and op.mode is GatherScatterMode.CLIP:
        indices = _clamp(write, indices, _last_starts(write, vectors, lasts), vectors)
    found = _plain_gather(op, write, x, indices, (aval, vectors), out)
    if inside is None:
        return found
    batch = [d for d in range(out.ndim) if d not in dims.offset_dims]
    mask = broadcast_in_dim(write, inside, shaped_array(vectors.shape[:-1], BOOL), out.shape, batch)
    return select(write, mask, found, write.scalar(np.asarray(fill).astype(out.dtype), out.dtype, out.shape), out)


def _plain_gather(op: o.Gather, write: FunctionWriter, x: str, indices: str, avals: Sequence[ShapedArray],
                  out: ShapedArray) -> str:
    dims = op.dimension_numbers
    x, whole = unpacked(write, x, avals[0])
    avals, found = (whole, avals[1]), shaped_array(out.shape, whole.dtype)
    batching, indices_batching = _paired(dims.operand_batching_dims, dims.start_indices_batching_dims)
    numbering = _dimension_text(
        "gather", offset_dims=sorted(dims.offset_dims), collapsed_slice_dims=sorted(dims.collapsed_slice_dims),
        operand_batching_dims=batching, start_indices_batching_dims=indices_batching,
        start_index_map=dims.start_index_map, index_vector_dim=avals[1].ndim - 1)
    # Vectors of indices that are moved into bounds one by one need not stay in order.
    moves = op.mode is GatherScatterMode.CLIP and len(dims.start_index_map) > 1
    is_sorted = _as_text(op.indices_are_sorted and not moves)
    result = write.value(
        f'"stablehlo.gather"({x}, {indices}) <{{dimension_numbers = {numbering}, indices_are_sorted = {is_sorted}, '
        f"slice_sizes = {int_array(op.slice_sizes)}}}> : {function_type(avals, (found,))}")
    return convert(write, result, found, out.dtype)


# ---- scatter ---------------------------------------------------------------------------------------------------


def _replace(write: FunctionWriter, x: str, y: str, aval: ShapedArray) -> str:
    return y


COMBINERS: dict[type, Combine] = {
    o.Scatter: _replace, o.ScatterAdd: add, o.ScatterMul: multiply, o.ScatterMin: minimum, o.ScatterMax: maximum}


@lower_rule.register(o.ScatterBase)
@in_whole_bytes
def _scatter(op: o.ScatterBase, write: FunctionWriter, eqn: Eqn, x: str, indices: str, updates: str) -> str:
    """Windows that are out of bounds anywhere are left out, which is what XLA does."""
    aval, given, new = [a.aval for a in eqn.inputs]
    if not aval.size or not new.size:
        return x
    if aval.shape == ():
        return _scatter_to_scalar(op, write, (x, updates), aval, new)
    indices, vectors = _index_vectors(write, indices, given, aval.shape)
    return _plain_scatter(op, write, (x, indices, updates), (aval, vectors, new))


def _scatter_to_scalar(op: o.ScatterBase, write: FunctionWriter, names: tuple[str, str], aval: ShapedArray,
                       updates: ShapedArray) -> str:
    """By way of an array of one element, since XLA mistakes a scatter to a scalar for a call of its region."""
    one, vectors = shaped_array((1,), aval.dtype), shaped_array((*updates.shape, 1), _INT32)
    at_first = replace(op, dimension_numbers=o.ScatterDimensionNumbers((), (0,), (0,)))
    operands = (changing_type(write, "reshape", names[0], aval, one), write.scalar(0, _INT32, vectors.shape), names[1])
    result = _plain_scatter(at_first, write, operands, (one, vectors, updates))
    return changing_type(write, "reshape", result, one, aval)


def _plain_scatter(op: o.ScatterBase, write: FunctionWriter, names: tuple[str, str, str],
                   avals: tuple[ShapedArray, ShapedArray, ShapedArray]) -> str:
    (x, indices, updates), (aval, vectors, new), dims = names, avals, op.dimension_numbers
    clips = op.mode is GatherScatterMode.CLIP
    is_sorted = _as_text(op.indices_are_sorted and not (clips and len(dims.scatter_dims_to_operand_dims) > 1))
    unique = _as_text(op.unique_indices and not clips)  # indices moved into bounds may meet
    if clips and dims.scatter_dims_to_operand_dims:
        indices = _clamp(write, indices, _last_starts(write, vectors, _last_windows(op, aval, new)), vectors)
    batching, indices_batching = _paired(dims.operand_batching_dims, dims.scatter_indices_batching_dims)
    numbering = _dimension_text(
        "scatter", update_window_dims=sorted(dims.update_window_dims),
        inserted_window_dims=sorted(dims.inserted_window_dims), input_batching_dims=batching,
        scatter_indices_batching_dims=indices_batching, scatter_dims_to_operand_dims=dims.scatter_dims_to_operand_dims,
        index_vector_dim=vectors.ndim - 1)
    region = combining_region(write, COMBINERS[type(op)], aval.dtype)
    return write.value(
        f'"stablehlo.scatter"({x}, {indices}, {updates}) <{{scatter_dimension_numbers = {numbering}, '
        f"indices_are_sorted = {is_sorted}, unique_indices = {unique}}}> ({region}) : "
        f"{function_type((aval, vectors, new), (aval,))}")


def _last_windows(op: o.ScatterBase, x: ShapedArray, updates: ShapedArray) -> list[int]:
    """The last start of a window that is in bounds, for each component of the index vectors."""
    dims = op.dimension_numbers
    dropped = dims.inserted_window_dims + dims.operand_batching_dims
    sizes = iter([updates.shape[d] for d in sorted(dims.update_window_dims)])
    window = [1 if d in dropped else next(sizes) for d in range(x.ndim)]
    return [x.shape[d] - window[d] for d in dims.scatter_dims_to_operand_dims]
