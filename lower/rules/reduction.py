"""Lowering of reductions, cumulative reductions, sort and top_k."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from ...ir import Eqn, dtypes, lower_rule
from ...ir import ops as o
from ...ir.limits import greatest, least
from ...ir.types import ShapedArray, shaped_array
from ..writer import FunctionWriter, function_type, tensor_type
from .elementwise import BOOL, changing_type, compare, convert, extreme, select
from .packed import in_whole_bytes
from .shape import iota, numbers, slice_text

_INT32 = np.dtype(np.int32)
Combine = Callable[[FunctionWriter, str, str, ShapedArray], str]


def int_array(items: Sequence[int]) -> str:
    """Integers as an attribute of StableHLO's generic form: array<i64: 0, 1>."""
    return f"array<i64: {', '.join(map(str, items))}>" if items else "array<i64>"


# ---- how two values are combined -------------------------------------------------------------------------------


def _mnemonic(name: str, of_bools: str | None = None) -> Combine:
    def combine(write: FunctionWriter, x: str, y: str, aval: ShapedArray) -> str:
        mnemonic = of_bools if of_bools and aval.dtype == BOOL else name
        return write.value(f"stablehlo.{mnemonic} {x}, {y} : {tensor_type(aval)}")
    return combine


def maximum(write: FunctionWriter, x: str, y: str, aval: ShapedArray) -> str:
    return extreme(write, True, x, y, aval)


def minimum(write: FunctionWriter, x: str, y: str, aval: ShapedArray) -> str:
    return extreme(write, False, x, y, aval)


def _log_add_exp(write: FunctionWriter, x: str, y: str, aval: ShapedArray) -> str:
    """max + log1p(exp(-|x - y|)), but x + y where the difference is NaN, as of equal infinities."""
    kind = tensor_type(aval)
    difference = write.value(f"stablehlo.subtract {x}, {y} : {kind}")
    size = write.value(f"stablehlo.abs {difference} : {kind}")
    decay = write.value(f"stablehlo.exponential {write.value(f'stablehlo.negate {size} : {kind}')} : {kind}")
    extra = write.value(f"stablehlo.log_plus_one {decay} : {kind}")
    total = write.value(f"stablehlo.add {maximum(write, x, y, aval)}, {extra} : {kind}")
    plain = write.value(f"stablehlo.add {x}, {y} : {kind}")
    return select(write, compare(write, "NE", difference, difference, aval), plain, total, aval)


add, multiply = _mnemonic("add", "or"), _mnemonic("multiply", "and")

# The combining function, and the value it starts from by dtype.
REDUCTIONS: dict[type, tuple[Combine, Callable[[np.dtype], object]]] = {
    o.ReduceSum: (add, lambda dtype: 0), o.ReduceProd: (multiply, lambda dtype: 1),
    o.ReduceMax: (maximum, least), o.ReduceMin: (minimum, greatest),
    o.ReduceAnd: (_mnemonic("and"), lambda dtype: True if dtype == BOOL else _all_bits(dtype)),
    o.ReduceOr: (_mnemonic("or"), lambda dtype: 0), o.ReduceXor: (_mnemonic("xor"), lambda dtype: 0),
}
CUMULATIVE: dict[type, Combine] = {
    o.Cumsum: add, o.Cumprod: multiply, o.Cummax: maximum, o.Cummin: minimum, o.Cumlogsumexp: _log_add_exp}


def _all_bits(dtype: np.dtype) -> int:
    return -1 if dtypes.kind(dtype) == "i" else int(dtypes.iinfo(dtype).max)


def combining_region(write: FunctionWriter, combine: Combine, dtype: np.dtype) -> str:
    """The region of a reduction or scatter that combines two scalars."""
    scalar = shaped_array((), dtype)
    return write.region((scalar, scalar), (scalar,), lambda x, y: [combine(write, x, y, scalar)])


def reduce_region(write: FunctionWriter, names: Sequence[str], avals: Sequence[ShapedArray],
                  outs: Sequence[ShapedArray], dims: Sequence[int], region: str) -> list[str]:
    """Write a reduction by a region, of operands followed by their initial values."""
    return write.values(f'"stablehlo.reduce"({", ".join(names)}) <{{dimensions = {int_array(dims)}}}> ({region}) : '
                        f"{function_type(avals, outs)}", len(outs))


# ---- over axes -------------------------------------------------------------------------------------------------


@lower_rule.register(o.AxesReduction)
def _reduction(op: o.AxesReduction, write: FunctionWriter, eqn: Eqn, x: str) -> str:
    if not op.axes:
        return x
    aval, axes = eqn.inputs[0].aval, op.axes
    columns = _in_columns(op, aval)
    if columns is not None:
        x = _reduced(op, write, changing_type(write, "reshape", x, aval, columns), columns, (columns.ndim - 2,))
        aval = shaped_array((*columns.shape[:-2], columns.shape[-1]), aval.dtype)
        axes = (*[d for d in axes if d < aval.ndim - 1], aval.ndim - 1)
        # Otherwise XLA would make the two reductions one again.
        x = write.value(f"stablehlo.optimization_barrier {x} : {tensor_type(aval)}")
    return _reduced(op, write, x, aval, axes)


def _reduced(op: o.AxesReduction, write: FunctionWriter, x: str, aval: ShapedArray, axes: Sequence[int]) -> str:
    combine, start = REDUCTIONS[type(op)]
    init = write.scalar(start(aval.dtype), aval.dtype)
    out = shaped_array(tuple([n for d, n in enumerate(aval.shape) if d not in axes]), aval.dtype)
    region = combining_region(write, combine, aval.dtype)
    return reduce_region(write, (x, init), (aval, shaped_array((), aval.dtype)), (out,), axes, region)[0]


_MOST_COLUMNS, _LEAST_COLUMNS = 32, 8
_LEAST_ROW, _LEAST_SIZE = 32, 4096


def _in_columns(op: o.AxesReduction, aval: ShapedArray) -> ShapedArray | None:
    """The type to give a large array whose last dimensions are reduced, for XLA to use vector instructions.

    It uses them where columns are left, so the last dimensions become rows and columns, of which the rows are reduced
    first, a few times sooner. None where the array is small, or has no such number of columns.
    """
    first = aval.ndim
    while first and first - 1 in op.axes:
        first -= 1
    size = math.prod(aval.shape[first:])
    rounds = type(op) in (o.ReduceSum, o.ReduceProd) and aval.dtype.itemsize < 4
    if aval.size < _LEAST_SIZE or size < _LEAST_ROW or rounds:
        return None
    most = min(_MOST_COLUMNS, size // 2)
    columns = next((n for n in range(most, _LEAST_COLUMNS - 1, -1) if size % n == 0), None)
    return None if columns is None else shaped_array((*aval.shape[:first], size // columns, columns), aval.dtype)


@lower_rule.register(o.ArgReduction)
@in_whole_bytes
def _arg_reduction(op: o.ArgReduction, write: FunctionWriter, eqn: Eqn, x: str) -> str:
    aval, largest = eqn.inputs[0].aval, type(op) is o.Argmax
    indices = shaped_array(aval.shape, op.index_dtype)
    value, index = shaped_array((), aval.dtype), shaped_array((), op.index_dtype)
    names = [x, iota(write, indices, op.axis), write.scalar((least if largest else greatest)(aval.dtype), aval.dtype),
             write.scalar(0, op.index_dtype)]
    outs = [shaped_array(eqn.outputs[0].aval.shape, a.dtype) for a in (aval, indices)]

    def earlier_extreme(x: str, i: str, y: str, j: str) -> list[str]:
        """NaN is extreme; of equals the lower index is taken."""
        def either(mnemonic: str, p: str, q: str) -> str:
            return write.value(f"stablehlo.{mnemonic} {p}, {q} : tensor<i1>")
        wins = compare(write, "GT" if largest else "LT", x, y, value)
        if dtypes.is_float(aval.dtype):
            wins = either("or", wins, compare(write, "NE", x, x, value))
        tie = either("and", compare(write, "EQ", x, y, value), compare(write, "LT", i, j, index))
        return [select(write, wins, x, y, value), select(write, either("or", wins, tie), i, j, index)]

    region = write.region((value, index, value, index), (value, index), earlier_extreme)
    return reduce_region(write, names, (aval, indices, value, index), outs, (op.axis,), region)[1]


@lower_rule.register(o.Reduce)
def _general_reduce(op: o.Reduce, write: FunctionWriter, eqn: Eqn, *names: str) -> list[str]:
    avals, outs, dims = [a.aval for a in eqn.inputs], [v.aval for v in eqn.outputs], op.dimensions
    if not dims:  # XLA would leave the operands as they are, without combining them with the initial values
        n, names, dims = len(outs), list(names), (0,)
        for i, aval in enumerate(avals[:n]):
            avals[i] = shaped_array((1, *aval.shape), aval.dtype)
            names[i] = changing_type(write, "reshape", names[i], aval, avals[i])
    return reduce_region(write, names, avals, outs, dims, write.region_of(op.jaxpr))


# ---- cumulative ------------------------------------------------------------------------------------------------


@lower_rule.register(o.Cumulative)
@in_whole_bytes
def _cumulative(op: o.Cumulative, write: FunctionWriter, eqn: Eqn, x: str) -> str:
    """A loop along the axis, which XLA's CPU compiler makes of native code: it compiles sooner, and runs faster, than
    reduce_window or a tree of partial results."""
    aval = eqn.inputs[0].aval
    length = aval.shape[op.axis]
    if length < 2 or not aval.size:
        return x
    dtype = _accumulator(aval.dtype)
    return _running(write, CUMULATIVE[type(op)], x, aval, dtype, op.axis, op.reverse)


@cache
def _accumulator(dtype: np.dtype) -> np.dtype:
    """Small floats accumulate in float32, so that they are rounded once."""
    return np.dtype(np.float32) if dtypes.is_float(dtype) and dtype.itemsize <= 2 else dtype


def _running(write: FunctionWriter, combine: Combine, x: str, aval: ShapedArray, dtype: np.dtype, axis: int,
             reverse: bool) -> str:
    length, index = aval.shape[axis], shaped_array((), _INT32)
    row = shaped_array((*aval.shape[:axis], 1, *aval.shape[axis + 1:]), aval.dtype)
    sums = shaped_array(row.shape, dtype)
    first, last, step = (length - 1, 0, -1) if reverse else (0, length - 1, 1)
    starts, limits = [0] * aval.ndim, list(aval.shape)
    starts[axis], limits[axis] = first, first + 1
    start = convert(write, slice_text(write, x, aval, starts, limits, [1] * aval.ndim, row), row, dtype)
    count, last_name = write.scalar(first, _INT32), write.scalar(last, _INT32)
    zero, step_name = write.scalar(0, _INT32), write.scalar(step, _INT32)
    types = ", ".join(map(tensor_type, (index, sums, aval)))

    def at(position: str) -> str:
        return ", ".join([position if d == axis else zero for d in range(aval.ndim)])

    def body(i: str, total: str, results: str) -> list[str]:
        position = write.value(f"stablehlo.add {i}, {step_name} : tensor<i32>")
        index_types = [index] * aval.ndim
        new = write.value(f"stablehlo.dynamic_slice {results}, {at(position)}, sizes = {numbers(row.shape)} : "
                          f"{function_type([aval, *index_types], (row,))}")
        total = combine(write, total, convert(write, new, row, dtype), sums)
        done = write.value(
            f"stablehlo.dynamic_update_slice {results}, {convert(write, total, sums, aval.dtype)}, {at(position)} : "
            f"{function_type([aval, row, *index_types], (aval,))}")
        return [position, total, done]

    carried = (index, sums, aval)
    goes_on = write.region(carried, (shaped_array((), BOOL),), lambda i, total, results: [
        compare(write, "NE", i, last_name, index)])
    loop = write.region(carried, carried, body)
    return write.values(f'"stablehlo.while"({count}, {start}, {x}) ({goes_on}, {loop}) : ({types}) -> ({types})',
                        3)[2]


# ---- order -----------------------------------------------------------------------------------------------------


def sort(write: FunctionWriter, names: Sequence[str], avals: Sequence[ShapedArray], dimension: int, stable: bool,
         region: str) -> list[str]:
    """Write a sort by the comparison that a region makes."""
    options = f"dimension = {dimension} : i64, is_stable = {'true' if stable else 'false'}"
    return write.values(f'"stablehlo.sort"({", ".join(names)}) <{{{options}}}> ({region}) : '
                        f"{function_type(avals, avals)}", len(avals))


@lower_rule.register(o.Sort)
@in_whole_bytes
def _sort(op: o.Sort, write: FunctionWriter, eqn: Eqn, *names: str) -> list[str]:
    avals = [a.aval for a in eqn.inputs]
    if len(names) == 1 and dtypes.is_float(avals[0].dtype) and avals[0].dtype.itemsize > 1:
        return [_sort_as_integers(op, write, names[0], avals[0])]
    scalars = [shaped_array((), a.dtype) for a in avals for _ in range(2)]

    def comes_first(*arguments: str) -> list[str]:
        keys = []
        for k in range(op.num_keys):
            lefts, rights = (_ordered_parts(write, name, scalars[2 * k]) for name in arguments[2 * k:2 * k + 2])
            keys += [(left, right, aval) for (left, aval), (right, _) in zip(lefts, rights)]
        return [_lexicographic(write, keys)]

    region = write.region(scalars, (shaped_array((), BOOL),), comes_first)
    return sort(write, names, avals, op.dimension, op.is_stable, region)


def _sort_as_integers(op: o.Sort, write: FunctionWriter, x: str, aval: ShapedArray) -> str:
    """One array of floats by integers in the same order, which XLA sorts several times faster.

    Zeros of either sign are equal, so that -0.0 may as well come first: nothing is sorted along with them.
    """
    bits = shaped_array(aval.shape, np.dtype(f"i{aval.dtype.itemsize}"))
    nan = write.scalar(np.nan, aval.dtype, aval.shape)
    one_nan = select(write, compare(write, "NE", x, x, aval), nan, x, aval)
    keys = _magnitude_flipped(write, changing_type(write, "bitcast_convert", one_nan, aval, bits), bits)
    scalar = shaped_array((), bits.dtype)
    region = write.region((scalar, scalar), (shaped_array((), BOOL),), lambda left, right: [
        compare(write, "LT", left, right, scalar)])
    keys, = sort(write, [keys], [bits], op.dimension, False, region)
    return changing_type(write, "bitcast_convert", _magnitude_flipped(write, keys, bits), bits, aval)


def _magnitude_flipped(write: FunctionWriter, x: str, aval: ShapedArray) -> str:
    """All bits but the sign inverted in negative integers; doing so twice changes nothing."""
    kind = tensor_type(aval)
    width = write.scalar(dtypes.itemsize_bits(aval.dtype) - 1, aval.dtype, aval.shape)
    signs = write.value(f"stablehlo.shift_right_arithmetic {x}, {width} : {kind}")
    flips = write.value(f"stablehlo.shift_right_logical {signs}, {write.scalar(1, aval.dtype, aval.shape)} : {kind}")
    return write.value(f"stablehlo.xor {x}, {flips} : {kind}")


def _ordered_parts(write: FunctionWriter, name: str, aval: ShapedArray) -> list[tuple[str, ShapedArray]]:
    """The values by which a key is compared: floats with one zero and one NaN, for the total order."""
    if dtypes.is_complex(aval.dtype):
        part = shaped_array((), dtypes.real_part_dtype(aval.dtype))
        parts = [changing_type(write, half, name, aval, part) for half in ("real", "imag")]
        return [pair for half in parts for pair in _ordered_parts(write, half, part)]
    if not dtypes.is_float(aval.dtype):
        return [(name, aval)]
    if aval.dtype.itemsize == 1:
        wide = shaped_array((), np.dtype(np.float32))
        return _ordered_parts(write, convert(write, name, aval, wide.dtype), wide)
    zero, nan = write.scalar(0, aval.dtype), write.scalar(np.nan, aval.dtype)
    one_zero = select(write, compare(write, "EQ", name, zero, aval), zero, name, aval)
    return [(select(write, compare(write, "NE", name, name, aval), nan, one_zero, aval), aval)]


def _lexicographic(write: FunctionWriter, keys: Sequence[tuple[str, str, ShapedArray]]) -> str:
    """Whether the left of the first pair of keys that differ is less."""
    result = None
    for left, right, aval in reversed(keys):
        less = compare(write, "LT", left, right, aval, total=True)
        if result is not None:
            same = compare(write, "EQ", left, right, aval, total=True)
            later = write.value(f"stablehlo.and {same}, {result} : tensor<i1>")
            less = write.value(f"stablehlo.or {less}, {later} : tensor<i1>")
        result = less
    return result


@lower_rule.register(o.TopK)
@in_whole_bytes
def _top_k(op: o.TopK, write: FunctionWriter, eqn: Eqn, x: str) -> list[str]:
    aval, outs = eqn.inputs[0].aval, [v.aval for v in eqn.outputs]
    if 0 in outs[0].shape:
        return [write.scalar(0, out.dtype, out.shape) for out in outs]
    if aval.dtype in _TOP_K_DTYPES:
        kinds = ", ".join(map(tensor_type, outs))
        return write.values(f"chlo.top_k({x}, k = {op.k}) : {tensor_type(aval)} -> ({kinds})", 2)
    return _top_k_by_sorting(op, write, aval, outs, x)


_TOP_K_DTYPES = frozenset(np.dtype(d) for d in (np.float32, np.float64, np.float16, np.int32, dtypes.bfloat16))


def _top_k_by_sorting(op: o.TopK, write: FunctionWriter, aval: ShapedArray, outs: Sequence[ShapedArray],
                      x: str) -> list[str]:
    indices = shaped_array(aval.shape, _INT32)
    value, index = shaped_array((), aval.dtype), shaped_array((), _INT32)
    region = write.region((value, value, index, index), (shaped_array((), BOOL),), lambda left, right, i, j: [
        compare(write, "GT", left, right, value, total=True)])
    dimension = aval.ndim - 1
    ordered = sort(write, [x, iota(write, indices, dimension)], [aval, indices], dimension, True, region)
    ones, starts = [1] * aval.ndim, [0] * aval.ndim
    return [slice_text(write, name, a, starts, out.shape, ones, out)
            for name, a, out in zip(ordered, (aval, indices), outs)]
