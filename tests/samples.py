"""Sample operands for every operation.

``samples()`` gives cases of small arrays of well-conditioned data, and those of corner_samples. Laws that hold of every
operation (interp = XLA, vmap = a stack of calls, jvp = finite differences) are tested on all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain, count
from typing import Any

import numpy as np
from corner_samples import corners
from sample_values import (
    BF16,
    BOOL,
    C64,
    C128,
    F8,
    F16,
    F32,
    F64,
    I4,
    I8,
    I16,
    I32,
    I64,
    U8,
    U32,
    Case,
    Sample,
    distinct,
    fill,
    program,
)

from glax.ir import Operation, ShapedArray, dtypes
from glax.ir import ops as o
from glax.ir.functions import PythonFunction

# Operations of a family take turns at the less usual dtypes, so that there are not too many cases.
DTYPES_OF = {"b": [BOOL], "i": [I32], "u": [U8], "f": [F32, F64], "c": [C64]}
LESS_USUAL = {"b": [None], "i": [I8, None, None, I16, None, I64], "u": [None],
              "f": [BF16, None, None, None, F16, None, None, None], "c": [None, None, None, None, None, None, C128]}


@cache
def samples() -> list[Sample]:
    """All cases, in a fixed order."""
    made, numbers = [], {}
    families = (_unary(), _binary(), _other_elementwise(), _shape(), _reductions(), _indexing(), _linear(),
                _random(), _calls(), _custom(), _implicit(), _checks(), _control(), _effects(), corners())
    for op, operands, differentiable in chain(*families):
        operands = tuple(_frozen(x) for x in operands)
        if isinstance(differentiable, bool):
            differentiable = (differentiable,) * len(operands)
        smooth = tuple(bool(d) and dtypes.is_inexact(x.dtype) for d, x in zip(differentiable, operands))
        text = ",".join(f"{dtypes.short_name(x.dtype)}[{'x'.join(map(str, x.shape))}]" for x in operands)
        number = next(numbers.setdefault((op.name, text), count()))
        made.append(Sample(op, operands, smooth, f"{op.name}({text})" + (f"-{number}" if number else "")))
    return made


def _frozen(x: Any) -> np.ndarray:
    x = np.array(x)
    x.flags.writeable = False
    return x


def _kinds(accepts: str, turn: int = 0, differentiable: bool = True) -> Iterator[np.dtype]:
    """Dtypes of the kinds; float64, for precise derivatives, where there are any."""
    for kind in accepts:
        yield from DTYPES_OF[kind] if differentiable else DTYPES_OF[kind][:1]
        unusual = LESS_USUAL[kind][turn % len(LESS_USUAL[kind])]
        if unusual is not None:
            yield unusual


# ---- elementwise -----------------------------------------------------------------------------------------------

_MIDDLE = (-0.75, 0.375, 1.25, -1.5, 0.625)
_ABOVE_ZERO = (0.5, 1.25, 2.0, 3.25, 0.875)
_ABOVE_ONE = (1.5, 2.25, 3.0)
_WITHIN_ONE = (-0.625, 0.25, 0.5, -0.125)
_VALUES_OF = {
    "log": _ABOVE_ZERO, "sqrt": _ABOVE_ZERO, "rsqrt": _ABOVE_ZERO, "lgamma": _ABOVE_ZERO, "digamma": _ABOVE_ZERO,
    "cbrt": _ABOVE_ZERO, "acosh": _ABOVE_ONE, "asin": _WITHIN_ONE, "acos": _WITHIN_ONE, "atanh": _WITHIN_ONE,
    "erf_inv": _WITHIN_ONE, "log1p": _WITHIN_ONE,
}  # fmt: skip
_INTEGERS = (3, 0, -2, 5, 1, -7)
_NATURALS = (3, 0, 2, 5, 1, 200)
_COMPLEX = (0.5 + 0.25j, 0.75 - 0.5j, 1.25 + 0.5j, 0.25 - 0.75j)
_NOT_DIFFERENTIABLE = {"is_finite", "stop_gradient", "nextafter", "eq", "ne", "lt", "le", "gt", "ge"}


def _values(dtype: np.dtype, real: Iterable[float]) -> Iterable[complex]:
    return {"b": (True, False, True), "i": _INTEGERS, "u": _NATURALS, "f": real, "c": _COMPLEX}[dtypes.kind(dtype)]


def _subclasses(base: type) -> list[type[Operation]]:
    """The operations of a family that have no parameters and its usual typing."""
    return [c for c in vars(o).values() if isinstance(c, type) and issubclass(c, base) and "name" in c.__dict__
            and not c.__dataclass_fields__ and c not in _TREATED_ALONE]


_TREATED_ALONE = {o.Pow, o.Complex, o.Polygamma, o.ShiftLeft, o.ShiftRightArithmetic, o.ShiftRightLogical}


def _unary() -> Iterator[Case]:
    for turn, cls in enumerate(_subclasses(o.Unary)):
        smooth = cls.name not in _NOT_DIFFERENTIABLE
        values = _VALUES_OF.get(cls.name, _MIDDLE)
        for dtype in _kinds(cls.accepts, turn, smooth):
            yield cls(), [fill(_values(dtype, values), (3,), dtype)], smooth
        if turn % 3 == 1:
            main = DTYPES_OF[min(cls.accepts, key="fiucb".index)][0]
            shape = ((), (2, 3), (0, 2))[turn // 3 % 3]
            yield cls(), [fill(_values(main, values), shape, main)], smooth


_SHAPES_OF_PAIRS = [((2, 3), ()), ((), (2, 3)), ((), ()), ((0,), (0,)), ((0, 2), ())]


def _binary() -> Iterator[Case]:
    for turn, cls in enumerate(_subclasses(o.Binary)):
        smooth = cls.name not in _NOT_DIFFERENTIABLE
        taken = cls.accepts if smooth else ("fb", "fi", "fu")[turn % 3]
        for dtype in _kinds(taken if set(taken) <= set(cls.accepts) else cls.accepts, turn, smooth):
            yield cls(), _pair(dtype, (4,), (4,)), smooth
        main = F32 if "f" in cls.accepts else I32
        yield cls(), _pair(main, *_SHAPES_OF_PAIRS[turn % 5]), smooth
    for cls in (o.Add, o.Mul):
        yield cls(), [fill([-3, 7, 2, -8], (4,), I4), fill([2, 1, -3, -8], (4,), I4)], False


def _pair(dtype: np.dtype, left: tuple[int, ...], right: tuple[int, ...]) -> list[np.ndarray]:
    """Operands that are nowhere equal, the second nowhere zero."""
    kind = dtypes.kind(dtype)
    ys = {"b": (True, True, False), "i": (2, -3, 4, 3), "u": (2, 3, 4, 9), "f": (1.5, 2.5, -0.5, 0.625),
          "c": (1 + 0.5j, 2.25 - 0.25j, 0.25 + 1j)}[kind]  # fmt: skip
    return [fill(_values(dtype, _MIDDLE), left, dtype), fill(ys, right, dtype)]


def _other_elementwise() -> Iterator[Case]:
    yield from _shifts()
    yield from _powers()
    for dtype in (F32, F64):
        parts = [fill(_MIDDLE, (3,), dtype), fill(_ABOVE_ZERO, (3,), dtype)]
        yield o.Complex(), parts, True
        yield o.Complex(), [parts[0], parts[1][0]], True
    for dtype in (F32, F64):
        yield o.Polygamma(), [fill([1, 2, 0], (3,), dtype), fill(_ABOVE_ZERO, (3,), dtype)], (False, True)
    for method in (0, 1):
        for dtype in (F32, (F64, BF16)[method]):
            yield o.Round(method), [fill([-1.75, 0.25, 2.75, 7.0, -0.25], (5,), dtype)], True
    yield o.Round(0), [fill([0.5, -0.5, 1.5, 2.5], (4,), F32)], False
    for bits in ((5, 10), (4, 3)):
        yield o.ReducePrecision(*bits), [fill([1.1, -3.3, 100.7, 0.0], (4,), F32)], False
    yield o.ReducePrecision(5, 2), [fill([1.125, -3.5], (2,), BF16)], False
    yield o.ReducePrecision(8, 7), [fill([1.1, -3.3], (2,), F64)], False
    yield from _conversions()
    yield from _choices()


def _shifts() -> Iterator[Case]:
    for cls in (o.ShiftLeft, o.ShiftRightArithmetic, o.ShiftRightLogical):
        for dtype in (I32, U8):
            yield cls(), [fill([-5 if dtype.kind == "i" else 250, 3, 7, 100], (4,), dtype),
                          fill([1, 2, 0, 3], (4,), dtype)], False
        yield cls(), [fill([9, 1], (2,), I32), np.array(2, I32)], False


def _powers() -> Iterator[Case]:
    for dtype in (F32, F64, BF16, C64):
        xs = _ABOVE_ZERO if dtype != C64 else _COMPLEX
        yield o.Pow(), [fill(xs, (3,), dtype), fill([1.5, -2.0, 0.5], (3,), dtype)], True
    yield o.Pow(), [fill(_ABOVE_ZERO, (2, 3), F32), np.array(2.5, F32)], True
    for dtype in (F32, C64):
        xs = _MIDDLE if dtype != C64 else _COMPLEX
        yield o.Pow(), [fill(xs, (3,), dtype), fill([2, -1, 3], (3,), I32)], (True, False)
    for y in (0, 1, 2, 5, -1):
        yield o.IntegerPow(y), [fill(_MIDDLE, (3,), F32)], True
    for y in (2, -3):
        for dtype in (F64, C64):
            yield o.IntegerPow(y), [fill(_values(dtype, _MIDDLE), (3,), dtype)], True
    for dtype in (I32, I8, U8):
        yield o.IntegerPow(3), [fill(_values(dtype, ()), (4,), dtype)], False


def _conversions() -> Iterator[Case]:
    for source in (BOOL, I32, F32):
        for target in (BOOL, I32, F32, C64):
            if source != target:
                xs = fill(_values(source, (2.5, -1.0, 0.0, 3.75)), (4,), source)
                yield o.ConvertElementType(target, False), [xs], dtypes.is_inexact(target)
    for source, target in ((F32, F64), (F64, F32), (BF16, F32), (F32, F8), (F8, F32), (F16, I32), (I32, I4), (I4, I32),
                           (I32, I64), (I64, I32), (U32, I8), (C64, C128)):
        yield o.ConvertElementType(target, False), [fill([2, 3, 0, 5], (2, 2), source)], target in (F64, C128)
    yield o.ConvertElementType(F32, True), [np.array(7, I32)], False
    for source, target, shape in (
            (F32, I32, (3,)), (I32, U32, ()), (F32, U8, (2,)), (F32, np.dtype("u2"), ()), (U8, I32, (2, 4)),
            (BF16, I16, (2,)), (I16, F16, (0,)), (U32, U8, (0, 2))):  # fmt: skip
        yield o.BitcastConvertType(target), [fill([2, 1, 3], shape, source)], False


def _choices() -> Iterator[Case]:
    for dtype in (F32, I32, C64):
        cases = _pair(dtype, (4,), (4,))
        yield o.SelectN(), [fill([1, 0, 0, 1], (4,), BOOL), *cases], (False, True, True)
    cases = _pair(F32, (2, 3), (2, 3))
    yield o.SelectN(), [np.array(True), *cases], (False, True, True)
    yield o.SelectN(), [fill([0, 1], (2, 3), I32), *cases], (False, True, True)
    yield o.SelectN(), [fill([2, 0, 1], (2, 3), I32), *cases, cases[0] + 2], (False, True, True, True)
    yield o.SelectN(), [np.array(1, I32), *cases, cases[0] + 2], (False, True, True, True)
    yield o.SelectN(), [np.array(False), np.array(2, F32), np.array(3, F32)], (False, True, True)
    yield o.SelectN(), [fill([0], (2,), I32), fill([1, 2], (2,), F32)], (False, True)
    for dtype in (F32, BF16, I32):
        x = fill([-2, 0.5, 3] if dtype.kind != "u" else [0, 2, 5], (3,), dtype)
        yield o.Clamp(), [fill([-1 if dtype.kind != "u" else 1], (), dtype), x, fill([2], (), dtype)], True
        yield o.Clamp(), [np.zeros_like(x), x, fill([2, 1, 2], (3,), dtype)], True
    for dtype in (F32, F64):
        yield o.Logaddexp(), [fill([1, -2, 3], (3,), dtype), fill([1, 0.5, -30], (3,), dtype)], True
    yield o.Logaddexp(), [fill([1, -2, 3], (3,), BF16), np.array(0.5, BF16)], True
    yield o.Clamp(), [np.array(-1, F32), np.array(0.5, F32), np.array(2, F32)], True
    yield o.Clamp(), [np.array(-1, F32), np.zeros((0, 2), F32), np.ones((0, 2), F32)], True
    yield o.Clamp(), [fill([-2, -1], (2,), F32), np.array(0.5, F32), np.array(2, F32)], True


# ---- shape -----------------------------------------------------------------------------------------------------


def _shape() -> Iterator[Case]:
    for dtype in (F32, I4):
        x = distinct((2, 3), dtype) if dtype != I4 else fill([1, -2, 7, -8, 0], (2, 3), I4)
        yield o.BroadcastInDim((4, 2, 3), (1, 2)), [x], True
        yield o.Reshape((3, 2)), [x], True
        yield o.Transpose((1, 0)), [x], True
        yield o.Concatenate(0), [x, x[:1]], True
        yield o.Slice((0, 1), (2, 3), None), [x], True
        yield o.Rev((0, 1)), [x], True
        yield o.Pad(((1, 0, 0), (0, 2, 1))), [x, x[0, 0]], True
    yield from _shape_corners()
    for dtype in (U8, BF16, C64):
        yield o.Iota(dtype, (2, 3), 1), [], True
    yield o.Iota(I32, (4,), 0), [], True
    yield o.Iota(F32, (0, 2), 0), [], True
    yield o.Iota(I8, (3, 1, 2), 0), [], True


def _shape_corners() -> Iterator[Case]:
    x, s = distinct((2, 3), F32), np.array(5, F32)
    for shape, dims in (((2, 3), ()), ((), ()), ((0, 2), ())):
        yield o.BroadcastInDim(shape, dims), [s], True
    yield o.BroadcastInDim((2, 4, 3), (0, 2)), [x], True
    yield o.BroadcastInDim((2, 4), (0, 1)), [distinct((2, 1), F32)], True
    yield o.BroadcastInDim((1, 3), (1,)), [distinct((3,), F32)], True
    yield o.Reshape((1, 1)), [s], True
    yield o.Reshape(()), [distinct((1, 1), F32)], True
    yield o.Reshape((3, 0)), [np.zeros((0, 2), F32)], True
    yield o.Transpose(()), [s], True
    yield o.Transpose((2, 0, 1)), [distinct((2, 3, 1), F32)], True
    yield o.Squeeze((0, 2)), [distinct((1, 3, 1), F32)], True
    yield o.Squeeze((1,)), [distinct((2, 1), I32)], True
    yield o.Squeeze((0,)), [distinct((1,), F64)], True
    yield o.Concatenate(1), [x, np.zeros((2, 0), F32), x[:, :1]], True
    yield o.Concatenate(0), [x[0]], True
    for config in (((0, 0, 0), (0, 0, 0)), ((-1, 2, 0), (1, -1, 0)), ((0, 0, 2), (-1, -1, 1)), ((2, -3, 3), (0, -3, 0)),
                   ((-2, 0, 0), (0, 0, 0))):
        yield o.Pad(config), [x, s], True
    yield o.Pad(()), [s, s], True
    yield o.Pad(((1, 1, 1),)), [np.zeros((0,), F32), s], True
    yield o.Slice((0, 1), (2, 3), (1, 2)), [x], True
    yield o.Slice((1, 1), (1, 2), (3, 1)), [x], True
    yield o.Slice((), (), None), [s], True
    yield o.Rev((1,)), [x], True
    yield o.Rev(()), [s], True
    for dtype in (F32, I32):
        yield o.Split((1, 0, 2), 1), [distinct((2, 3), dtype)], True
    yield o.Split((2,), 0), [x], True


# ---- reductions ------------------------------------------------------------------------------------------------


def _reductions() -> Iterator[Case]:
    x = distinct((2, 3), F32)
    for turn, cls in enumerate((o.ReduceSum, o.ReduceProd, o.ReduceMax, o.ReduceMin, o.ReduceAnd, o.ReduceOr,
                               o.ReduceXor)):
        for dtype in _kinds(cls.accepts, turn, turn < 2):
            yield cls((1,)), [distinct((2, 3), dtype, 1)], True
        dtype = F32 if "f" in cls.accepts else I32
        yield (cls((0,)), [np.zeros((0, 2), dtype)], True) if turn % 2 else (
            cls((0, 2)), [distinct((2, 2, 2), dtype, 1)], True)
    for axes in ((0,), (0, 1), ()):
        yield o.ReduceSum(axes), [x], True
    yield o.ReduceSum(()), [np.array(2, F32)], True
    yield o.ReduceMax((1,)), [np.zeros((0, 2), F32)], True
    yield o.ReduceProd((0,)), [fill([2, 0, 3], (3,), F32)], True
    for cls in (o.Argmax, o.Argmin):
        for dtype in _kinds("biuf" if cls is o.Argmax else "if", 0, False):
            yield cls(1, I32), [distinct((2, 3), dtype)], False
        yield cls(0, U8), [fill([2, 5, 5, 2], (4,), F32)], False
    yield o.Argmax(0, I64), [x], False
    yield o.Argmin(1, I32), [np.zeros((0, 2), F32)], False
    yield from _general_reductions()
    for turn, cls in enumerate((o.Cumsum, o.Cumprod, o.Cummax, o.Cummin, o.Cumlogsumexp)):
        for dtype in _kinds(cls.accepts.replace("b", "").replace("u", ""), turn, turn < 2):
            yield cls(0, False), [distinct((4,), dtype, 1)], True
        dtype = F64 if cls is o.Cumlogsumexp else F32
        yield cls(turn % 2, True), [distinct((2, 3), dtype, 1)], True
    yield o.Cumsum(1, False), [distinct((2, 3), F32)], True
    yield o.Cumsum(0, False), [np.zeros((0,), F32)], True
    yield o.Cummax(1, True), [np.zeros((2, 0), F32)], True
    yield from _orders()


def _larger_with_index(x: Any, i: Any, y: Any, j: Any) -> list[Any]:
    first = o.gt(x, y)
    return [o.select_n(first, y, x), o.select_n(first, j, i)]


def _general_reductions() -> Iterator[Case]:
    for dtype in (F32, I32):
        add = program(lambda x, y: [o.add(x, y)], ((), dtype), ((), dtype))
        for dims in ((0,), (1,), (0, 1), ()) if dtype == F32 else ((0, 1),):
            yield o.Reduce(add, dims), [distinct((2, 3), dtype), np.array(0, dtype)], True
    largest = program(lambda x, y: [o.max_(x, y)], ((), F32), ((), F32))
    yield o.Reduce(largest, (0,)), [distinct((5,), F32), np.array(-np.inf, F32)], (True, False)
    yield o.Reduce(largest, (0,)), [np.zeros((0, 2), F32), np.array(-8, F32)], True
    for dtype in (F32, F64):
        scalars = (((), dtype), ((), I32), ((), dtype), ((), I32))
        yield (o.Reduce(program(_larger_with_index, *scalars), (1,)),
               [distinct((2, 3), dtype), fill([0, 1, 2], (2, 3), I32), np.array(-9, dtype), np.array(-1, I32)], True)
    times = program(lambda x, y: [o.mul(x, y)], ((), F64), ((), F64))
    yield o.Reduce(times, (0,)), [distinct((3, 2), F64, 1), np.array(2, F64)], True
    yield o.Reduce(times, (0, 1)), [distinct((3, 2), F64, 1), np.array(.5, F64)], True


def _orders() -> Iterator[Case]:
    for dtype in _kinds("biufc", 0, False):
        yield o.Sort(0, True, 1), [distinct((5,), dtype)], True
    yield o.Sort(1, True, 1), [distinct((2, 3), F32)], True
    yield o.Sort(0, False, 1), [distinct((2, 3), I32)], True
    yield o.Sort(0, True, 1), [distinct((5,), F32), np.arange(5, dtype=I32)], True
    yield o.Sort(0, True, 1), [fill([1, 0, 1, 0, 1], (5,), I32), distinct((5,), F32)], True
    yield o.Sort(0, True, 2), [fill([1, 0, 1, 0, 1], (5,), U8), distinct((5,), F32), distinct((5,), F64)], True
    yield o.Sort(0, True, 1), [np.zeros((0,), F32)], True
    for dtype in (I32, U8, F32):
        yield o.TopK(2), [distinct((4,), dtype)], True
    yield o.TopK(3), [distinct((2, 4), F32)], True
    yield o.TopK(2), [fill([1, 3, 3, 0], (4,), I32)], True
    yield o.TopK(0), [distinct((2, 2), F32)], True


# ---- indexing --------------------------------------------------------------------------------------------------

_CLIP, _FILL, _PROMISE = (o.GatherScatterMode.CLIP, o.GatherScatterMode.FILL_OR_DROP,
                          o.GatherScatterMode.PROMISE_IN_BOUNDS)  # fmt: skip


def _indexing() -> Iterator[Case]:
    for dtype in (F32, BF16):
        x = distinct((3, 4), dtype)
        yield o.DynamicSlice((2, 2)), [x, np.array(1, I32), np.array(2, I32)], True
        yield o.DynamicUpdateSlice(), [x, x[:2, :2], np.array(0, I32), np.array(1, I32)], True
    x = distinct((3, 4), F32)
    yield o.DynamicSlice((2, 3)), [x, np.array(-5, I32), np.array(9, I32)], True
    yield o.DynamicSlice((1, 0)), [x, np.array(200, U8), np.array(0, U8)], True
    yield o.DynamicSlice(()), [np.array(2, F32)], True
    yield o.DynamicUpdateSlice(), [x, x[:2, :3], np.array(7, I32), np.array(-1, I32)], True
    yield o.DynamicUpdateSlice(), [np.array(2, F32), np.array(3, F32)], True
    yield from _gathers()
    yield from _scatters()


_GATHERS = [
    # operand, indices, (offset_dims, collapsed, start_index_map, operand batching, indices batching), slice sizes
    ((5,), [[1], [3], [1]], ((), (0,), (0,)), (1,)),
    ((5,), [[4], [-1], [7]], ((), (0,), (0,)), (1,)),
    ((5,), [2], ((0,), (), (0,)), (2,)),
    ((5,), [[1], [4], [-2]], ((1,), (), (0,)), (2,)),
    ((3, 4), [[2], [0]], ((1,), (0,), (0,)), (1, 4)),
    ((3, 4), [[1], [3]], ((0,), (1,), (1,)), (3, 1)),
    ((3, 4), [[2, 1], [0, 3], [1, 9]], ((), (0, 1), (0, 1)), (1, 1)),
    ((3, 4), [[[1, 2]], [[0, 0]]], ((0, 2), (), (1, 0)), (2, 2)),
    ((2, 3), [[1], [2]], ((), (1,), (1,), (0,), (0,)), (1, 1)),
    ((3, 2, 2), [[[1], [0], [2]], [[0], [5], [2]]], ((1,), (0,), (0,), (2,), (0,)), (1, 2, 1)),
    ((2, 2), np.zeros((3, 0)), ((1, 2), (), ()), (2, 2)),
    ((4,), np.zeros((0, 1)), ((), (0,), (0,)), (1,)),
]


def _gathers() -> Iterator[Case]:
    for turn, (operand, indices, numbers, sizes) in enumerate(_GATHERS):
        for mode, filled in ((_CLIP, None), (_FILL, 0.5))[::1 if turn < 4 else (-1) ** turn * 2]:
            op = o.Gather(o.GatherDimensionNumbers(*numbers), sizes, False, False, mode, filled)
            yield op, [distinct(operand, F32), np.array(indices, I32)], (True, False)
    one = o.GatherDimensionNumbers((), (0,), (0,))
    for dtype, mode, filled in ((F64, _FILL, 1), (F64, _PROMISE, None), (I32, _FILL, None), (I32, _FILL, 1),
                                (U8, _FILL, None), (BOOL, _FILL, None), (BF16, _FILL, None), (C64, _FILL, None)):
        indices = [[1], [-1], [3]] if mode is _FILL else [[1], [0], [3]]
        op = o.Gather(one, (1,), False, False, mode, filled)
        yield op, [distinct((4,), dtype), np.array(indices, I32)], (filled is not None or mode is _PROMISE, False)
    for index_dtype in (U8, I64, I8):
        op = o.Gather(one, (1,), True, True, _CLIP, None)
        yield op, [distinct((4,), F32), np.array([[0], [100]], index_dtype)], (True, False)


_SCATTERS = [
    # operand, indices, updates, (window dims, inserted, mapped, operand batching, indices batching), unique
    ((5,), [[1], [3], [0]], (3,), ((), (0,), (0,)), True),
    ((5,), [[1], [1], [4]], (3,), ((), (0,), (0,)), False),
    ((5,), [[4], [-1], [7]], (3,), ((), (0,), (0,)), False),
    ((5,), [2], (2,), ((0,), (), (0,)), True),
    ((5,), [[0], [4]], (2, 2), ((1,), (), (0,)), False),
    ((3, 4), [[2], [0]], (2, 4), ((1,), (0,), (0,)), True),
    ((3, 4), [[1], [3]], (3, 2), ((0,), (1,), (1,)), True),
    ((3, 4), [[2, 1], [0, 3]], (2,), ((), (0, 1), (0, 1)), True),
    ((2, 3), [[1], [2]], (2,), ((), (1,), (1,), (0,), (0,)), True),
    ((2, 2), np.zeros((1, 0)), (1, 2, 2), ((1, 2), (), ()), True),
    ((4,), np.zeros((0, 1)), (0,), ((), (0,), (0,)), True),
]


def _scatters() -> Iterator[Case]:
    for cls in (o.Scatter, o.ScatterAdd, o.ScatterMul, o.ScatterMin, o.ScatterMax):
        usual = cls in (o.Scatter, o.ScatterAdd)
        for operand, indices, updates, numbers, unique in _SCATTERS[::1 if usual else 3]:
            op = cls(o.ScatterDimensionNumbers(*numbers), False, unique, _FILL)
            given = [distinct(operand, F32), np.array(indices, I32), distinct(updates, F32) + np.float32(0.25)]
            smooth = unique or cls is o.ScatterAdd
            yield op, given, (smooth, False, smooth)
        one = o.ScatterDimensionNumbers((), (0,), (0,))
        for dtype in (BF16,) if usual else (I32,):
            op = cls(one, False, False, _CLIP)
            given = [distinct((4,), dtype), np.array([[0], [9], [2]], I32), fill([2, 7, 3], (3,), dtype)]
            yield op, given, (True, False, True)
        yield (cls(one, True, True, _PROMISE), [distinct((4,), I32), np.array([[0], [2]], I32), fill([2], (2,), I32)],
               False)


# ---- linear, calls ---------------------------------------------------------------------------------------------

_DOTS = [
    ((2, 3), (3, 4), (((1,), (0,)), ((), ()))),
    ((3,), (3,), (((0,), (0,)), ((), ()))),
    ((3, 2), (4, 3), (((0,), (1,)), ((), ()))),
    ((2, 3, 2), (2, 2, 4), (((2,), (1,)), ((0,), (0,)))),
    ((2, 3), (2, 3), (((0, 1), (0, 1)), ((), ()))),
    ((2, 3), (4, 2), (((), ()), ((0,), (1,)))),
    ((), (3,), (((), ()), ((), ()))),
    ((2, 0), (0, 3), (((1,), (0,)), ((), ()))),
    ((2, 3, 4), (4, 2, 3), (((1,), (2,)), ((2, 0), (0, 1)))),
]


def _linear() -> Iterator[Case]:
    for left, right, numbers in _DOTS:
        yield o.DotGeneral(numbers, None, None), [distinct(left, F32), distinct(right, F32)], True
    for dtype in (BF16, C64, I8):
        yield o.DotGeneral(_DOTS[0][2], None, None), [distinct((2, 3), dtype), distinct((3, 4), dtype)], True
    for dtype, wanted in ((I8, I32), (BF16, F32), (F32, F64)):
        yield (o.DotGeneral(_DOTS[0][2], "highest", wanted), [distinct((2, 3), dtype), distinct((3, 4), dtype)],
               dtype == F32)


def _random() -> Iterator[Case]:
    words, word = np.array([0, 1, 0xFFFFFFFF, 7, 1 << 31, 9], U32), np.array(0x85A308D3, U32)
    yield o.Threefry2x32(), [word, word, word, np.array(3, U32)], False
    yield o.Threefry2x32(), [word, word, np.array(0, U32), words], False
    yield o.Threefry2x32(), [words, words[::-1], words, np.array(5, U32)], False
    yield o.Threefry2x32(), [np.zeros((0, 2), U32), word, word, word], False


def _calls() -> Iterator[Case]:
    for dtype in (F32, F64):
        body = program(lambda x, y: [o.mul(o.sin(x), y), x], ((3,), dtype), ((), dtype))
        yield o.Jit(body), [fill(_MIDDLE, (3,), dtype), np.array(2, dtype)], True
        outer = program(lambda x, y, body=body: [o.add(*o.jit_call(body, [x, y]))], ((3,), dtype), ((), dtype))
        yield o.Jit(outer, function_name="outer"), [fill(_MIDDLE, (3,), dtype), np.array(2, dtype)], True
    yield o.Jit(program(lambda x: [x, x], ((), I32))), [np.array(3, I32)], False


# ---- custom calls, checkpoints ---------------------------------------------------------------------------------


def _custom() -> Iterator[Case]:
    given = [fill(_MIDDLE, (3,), F64), np.array(2, F64)]
    types = ((3,), F64), ((), F64)
    body = program(lambda x, y: [o.mul(o.sin(x), y), x], *types)
    rule = program(lambda x, y, s, t: [
        *o.jit_call(body, [x, y]), o.add(o.mul(o.mul(o.cos(x), s), y), o.mul(o.sin(x), t)), s], *types, *types)
    yield o.CustomJvpCall(body, rule), given, True
    yield o.CustomJvpCall(body, o.RuleFailure("there is no rule")), given, False
    forward = program(lambda x, y: [*o.jit_call(body, [x, y]), o.mul(o.cos(x), y), o.sin(x)], *types)
    backward = program(lambda r, s, g, h: [o.add(o.mul(r, g), h), o.reduce_sum(o.mul(s, g), (0,))],
                        *[((3,), F64)] * 4)
    yield o.CustomVjpCall(body, forward, backward), given, True
    scale = program(lambda y, x: [o.mul(x, y)], ((), F64), ((3,), F64))
    for ahead in (scale, None):
        yield o.LinearCall(ahead, scale, 1), given[::-1], True
    yield o.CustomVmapCall(body, PythonFunction.of(_batched_body)), given, True
    dot = program(lambda x, y: [o.named(o.dot_general(o.sin(x), x, _DOTS[1][2]), "dot"), o.mul(x, y)], *types)
    for policy in (None, PythonFunction.of(_keep_names)):
        yield o.Checkpoint(dot, policy), given, True
    yield o.Name("a"), given[:1], True


def _keep_names(op: Operation, *avals: ShapedArray, **params: Any) -> bool:
    return isinstance(op, o.Name)


def _batched_body(size: int, mapped: list[bool], args: list[Any]) -> tuple[list[Any], list[bool]]:
    x, y = args
    if mapped[1]:
        y = o.broadcast_in_dim(y, (size, 3), (0,))
    product = o.mul(o.sin(x) if mapped[0] or not mapped[1] else o.broadcast_in_dim(o.sin(x), (size, 3), (1,)), y)
    return [product, x], [mapped[0] or mapped[1], mapped[0]]


def _implicit() -> Iterator[Case]:
    avals = (((2, 2), F64), ((2,), F64))
    product = program(lambda m, x: [o.dot_general(m, x, (((1,), (0,)), ((), ())))], *avals)
    back = program(lambda m, x: [o.dot_general(m, x, (((0,), (0,)), ((), ())))], *avals)
    given = [np.array([[2, .5], [-1, 3]]), np.array([1, -.5])]
    both = o.LinearSolve(product, _solver(back=False), back, _solver(back=True), 1)
    yield both, given, True
    yield o.LinearSolve(product, _solver(back=False), None, None, 1), given, False


def _solver(back: bool) -> Any:
    """Cramer's rule for a matrix of two rows, or for its transpose."""
    def solve(m: Any, b: Any) -> list[Any]:
        (p, q), (r, s) = [[o.reshape(o.slice_(m, (i, j), (i + 1, j + 1)), ()) for j in (0, 1)] for i in (0, 1)]
        if back:
            q, r = r, q
        u, v = [o.reshape(o.slice_(b, (i,), (i + 1,)), ()) for i in (0, 1)]
        scale = o.sub(o.mul(p, s), o.mul(q, r))
        xs = [o.sub(o.mul(s, u), o.mul(q, v)), o.sub(o.mul(p, v), o.mul(r, u))]
        return [o.concatenate([o.reshape(o.div(x, scale), (1,)) for x in xs], 0)]

    return program(solve, ((2, 2), F64), ((2,), F64))


def _checks() -> Iterator[Case]:
    yield o.Check("{} or {x}", ("x",), debug=True), [np.array(True), np.array(2, F32), np.array(3, I32)], False
    yield o.Check("mapped", (), "nan", True, ((2,),)), [np.array([True, True]), np.array([0, 1], I32)], False


# ---- control flow ----------------------------------------------------------------------------------------------


def _control() -> Iterator[Case]:
    x, y = fill(_MIDDLE, (3,), F64), np.array(2, F64)
    avals = (((3,), F64), ((), F64))
    branches = (program(lambda x, y: [o.mul(o.sin(x), y), y], *avals), program(lambda x, y: [x, o.cos(y)], *avals),
                program(lambda x, y: [o.broadcast(y, (3,)), o.reduce_sum(x, (0,))], *avals))
    for last, index in ((1, 0), (2, 0), (2, 1), (3, -4), (3, 9)):
        yield o.Cond(branches[:last]), [np.array(index, I32), x, y], (False, True, True)
    step = program(lambda c, i, s, x: [o.add(i, np.int32(1)), o.mul(o.sin(o.add(s, x)), c), o.mul(s, x)],
                    ((), F64), ((), I32), ((), F64), ((), F64))
    for length, reverse, unroll in ((3, False, 1), (3, True, 2), (1, False, 1), (0, False, 1)):
        given = [y, np.array(4, I32), np.array(.5, F64), fill(_MIDDLE, (length,), F64)]
        yield o.Scan(step, length, reverse, 1, 2, unroll), given, (True, False, True, True)
    packed = program(lambda s, x: [o.add(s, x), s], ((3,), I4), ((3,), I4))
    yield o.Scan(packed, 2, False, 0, 1, 1), [fill([1, -2], (3,), I4), fill([1, -2, 3], (2, 3), I4)], False
    again = program(lambda n, i, x: [o.lt(i, n)], ((), I32), ((), I32), ((3,), F64))
    double = program(lambda y, i, x: [o.add(i, np.int32(1)), o.mul(x, y)], ((), F64), ((), I32), ((3,), F64))
    for n in (0, 3):
        yield o.While(again, double, 1, 1), [np.array(n, I32), y, np.array(1, I32), x], False


# ---- calls of Python functions -----------------------------------------------------------------------------------


def _sine_on_host(x: np.ndarray) -> list[np.ndarray]:
    return [np.sin(x)]


def _effects() -> Iterator[Case]:
    x = fill(_MIDDLE, (3,), F32)
    sine, results = PythonFunction.of(_sine_on_host), (ShapedArray((3,), F32),)
    yield o.DebugPrint("{} and {y}", ("y",)), [x, np.array(2, I32)], False
    yield o.DebugCallback(sine, ordered=True), [x], False
    yield o.IoCallback(sine, results), [x], False
    for method in ("sequential", "broadcast_all", "expand_dims"):
        yield o.PureCallback(sine, results, method), [x], False
