"""Samples that tell apart what plain ones do not: ranks of three and four, ties, special values, unsorted axes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

import numpy as np
from sample_values import BF16, C64, F16, F32, F64, I32, U8, Case, distinct, fill, program

from glax.ir import ops as o

NAN, INF = np.nan, np.inf
SPECIAL = (NAN, 1.0, -NAN, 0.0, -INF, -0.0, INF, 1.0, 0.0, -2.0, -0.0)
_CLIP, _FILL = o.GatherScatterMode.CLIP, o.GatherScatterMode.FILL_OR_DROP


def corners() -> Iterator[Case]:
    return chain(_ranks_of_reductions(), _ranks_of_shapes(), _orders(), _special_values(), _contractions(), _promises(),
                 _calls())


def _ranks_of_reductions() -> Iterator[Case]:
    x, y = distinct((2, 3, 2), F64, 1), distinct((2, 1, 3, 2), F64, 1)
    for turn, cls in enumerate((o.ReduceSum, o.ReduceProd, o.ReduceMax, o.ReduceMin)):
        yield cls(((1,), (2,), (0, 2), (1, 2))[turn]), [x], True
        yield cls(((1, 3), (2,), (3,), (0, 2))[turn]), [y], True
    for turn, cls in enumerate((o.ReduceAnd, o.ReduceOr, o.ReduceXor)):
        yield cls(((1, 3), (2,), (0, 2))[turn]), [distinct((2, 1, 3, 2), I32)], False
    for axis, cls in ((2, o.Argmax), (1, o.Argmin), (0, o.Argmax)):
        yield cls(axis, I32), [x.astype(F32)], False
    for axis, cls in ((3, o.Argmin), (2, o.Argmax)):
        yield cls(axis, I32), [y.astype(F32)], False
    for cls in (o.Cumsum, o.Cumprod, o.Cummax, o.Cummin, o.Cumlogsumexp):
        for axis in (0, 1, 2):
            yield cls(axis, axis == 1), [x], True
    yield o.Cumsum(3, True), [y], True
    add = program(lambda x, y: [o.add(x, y)], ((), F64), ((), F64))
    yield o.Reduce(add, (1,)), [x, np.array(.5, F64)], True
    yield o.Reduce(add, (0, 3)), [y, np.array(.5, F64)], True


def _ranks_of_shapes() -> Iterator[Case]:
    x, y = distinct((2, 3, 2), F64), distinct((2, 1, 3, 2), F64)
    yield o.Transpose((2, 0, 3, 1)), [y], True
    yield o.Rev((0, 2)), [x], True
    yield o.Reshape((3, 2, 2)), [x], True
    yield o.Squeeze((1, 3)), [distinct((2, 1, 3, 1), F64)], True
    yield o.Concatenate(2), [x, x[:, :, :1]], True
    yield o.Slice((0, 1, 0), (2, 3, 2), (1, 2, 2)), [x], True
    yield o.Split((1, 2), 2), [y], True
    yield o.Pad(((0, 1, 0), (1, -1, 1), (-1, 0, 2))), [x, np.array(5, F64)], True
    yield o.BroadcastInDim((2, 4, 3, 5), (0, 2)), [distinct((2, 3), F64)], True
    yield o.DynamicSlice((1, 2, 1)), [x, *[np.array(i, I32) for i in (1, 7, 0)]], True
    yield o.DynamicUpdateSlice(), [x, x[:1, :2, :1] + 9, *[np.array(i, I32) for i in (1, -1, 1)]], True
    for shape, old in (((2, 0), (2, 1)), ((0,), (1,)), ((3, 0, 2), (1, 1)), ((0, 3), (1, 3))):
        yield o.BroadcastInDim(shape, tuple(range(len(shape)))[-len(old):]), [distinct(old, F64)], True


def _orders() -> Iterator[Case]:
    """Keys of which the first have ties, in an order that the later ones change."""
    first, second, third = [1, 0, 1, 0, 1], [4, 3, 1, 2, 0], [9, 8, 7, 6, 5]
    for dtype in (F64, F32):
        keys = [fill(k, (5,), dtype) for k in (first, second, third)]
        yield o.Sort(0, True, 2), [keys[0].astype(I32), *keys[1:]], True
        yield o.Sort(0, True, 3), [keys[0].astype(U8), fill([2, 2, 1, 2, 1], (5,), I32), keys[2]], True
        yield o.Sort(0, True, 2), keys, (False, True, True)
    yield o.Sort(0, True, 2), [fill([1j, 1, 1j, 1, 0], (5,), C64), fill(second, (5,), F32)], (False, True)
    shape = (2, 3, 2)
    for dimension in (1, 2):
        yield o.Sort(dimension, True, 1), [distinct(shape, F64)], True
        yield o.Sort(dimension, True, 2), [fill([1, 0], shape, I32), distinct(shape, F64)], True
    for shape in ((2, 3, 4), (2, 1, 2, 3)):
        yield o.TopK(2), [distinct(shape, F64)], True
    yield o.TopK(3), [fill([1, 2, 2, 0, 2], (5,), F32)], False


def _special_values() -> Iterator[Case]:
    """Both zeros, infinities and NaN of both signs: nothing is differentiated there."""
    for dtype in (F32, F64, F16, BF16):
        yield o.Sort(0, True, 1), [fill(SPECIAL, (11,), dtype)], False
    x = fill(SPECIAL, (11,), F32)
    for cls in (o.ReduceSum, o.ReduceProd, o.ReduceMax, o.ReduceMin):
        yield cls((0,)), [fill((-INF, -0.0, 0.0, 1, -2, -INF), (2, 3), F32)], False
        yield cls((1,)), [fill(SPECIAL, (11, 1), F32)], False
        yield cls((0,)), [x], False
    for cls in (o.Argmax, o.Argmin):
        for values in (SPECIAL, (1, -0.0, 0.0, 1), (-INF, -INF), (INF, INF, -INF)):
            yield cls(0, I32), [fill(values, (len(values),), F32)], False
    for cls in (o.Cumsum, o.Cumprod, o.Cummax, o.Cummin, o.Cumlogsumexp):
        for values in ((-INF, -INF, 0, -INF), (INF, INF, 1), (-0.0, 0.0, -0.0), (1, NAN, INF), (1, INF, -INF)):
            yield cls(0, len(values) == 4), [fill(values, (len(values),), F32)], False
    yield o.TopK(7), [x], False
    yield o.Sort(0, True, 2), [x, np.arange(11, 0, -1, dtype=I32), np.arange(11, dtype=I32)], False


def _contractions() -> Iterator[Case]:
    """Dimensions contracted, and of batches, in orders that are not those in which they stand."""
    for left, right, numbers in (
            ((2, 2), (2, 2), (((0, 1), (1, 0)), ((), ()))),
            ((2, 3), (3, 2), (((1, 0), (0, 1)), ((), ()))),
            ((2, 2, 2), (2, 2, 2), (((2, 0, 1), (1, 2, 0)), ((), ()))),
            ((2, 2, 2, 3), (2, 4, 2, 2), (((2, 0), (0, 3)), ((1,), (2,)))),
            ((2, 2, 3), (3, 2, 2), (((2,), (0,)), ((1, 0), (1, 2))))):
        yield o.DotGeneral(numbers, None, None), [distinct(left, F64, 1), distinct(right, F64, 2)], True
    numbers = (((0, 1), (1, 0)), ((), ()))
    for dtype, wanted, precision in ((F32, F64, "high"), (BF16, F32, None), (BF16, F64, "highest"), (C64, None, "high"),
                                     (F64, None, "highest")):
        yield o.DotGeneral(numbers, precision, wanted), [distinct((2, 2), dtype, 1), distinct((2, 2), dtype, 2)], True


def _promises() -> Iterator[Case]:
    """Indices that are sorted and unique, and said to be; of more than one component too."""
    rows = o.GatherDimensionNumbers((1,), (0,), (0,))
    pairs = o.GatherDimensionNumbers((), (0, 1), (0, 1))
    batched = o.GatherDimensionNumbers((), (1,), (1,), (0,), (0,))
    x = distinct((4, 3), F64)
    cases = [(rows, (1, 3), [[0], [2]]), (pairs, (1, 1), [[0, 1], [1, 0], [2, 1]]),
             (batched, (1, 1), [[[0]], [[1]], [[1]], [[1]]])]
    for mode in (_CLIP, _FILL):
        for numbers, sizes, indices in cases:
            op = o.Gather(numbers, sizes, True, numbers is not batched, mode, 0.0 if mode is _FILL else None)
            yield op, [x, np.array(indices, I32)], (True, False)
    for mode in (_CLIP, _FILL):
        for turn, cls in enumerate((o.Scatter, o.ScatterAdd, o.ScatterMul, o.ScatterMin, o.ScatterMax)):
            op = cls(o.ScatterDimensionNumbers((1,), (0,), (0,)), True, True, mode)
            yield op, [x, np.array([[0], [2]], I32), distinct((2, 3), F64) + .25], (True, False, True)
            op = replace(op, dimension_numbers=o.ScatterDimensionNumbers((), (0, 1), (0, 1)))
            if turn < 2:
                indices = np.array([[0, 1], [1, 0], [2, 1]], I32)
                yield op, [x, indices, distinct((3,), F64) + .25], (True, False, True)


def _calls() -> Iterator[Case]:
    """Donated inputs, of which some are not needed for all the results."""
    types = [((3,), F64), ((), F64), ((3,), F64)]
    body = program(lambda x, y, z: [o.sin(x), o.mul(z, y), o.cos(z)], *types)
    for donated in ((0,), (2,), (0, 2)):
        yield o.Jit(body, donated), [distinct((3,), F64), np.array(2, F64), distinct((3,), F64, 1)], True
