"""What XLA answers at the edges, as numbers."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from glax.interp import evaluate_jaxpr
from glax.ir import ShapedArray, bind, stage
from glax.ir import ops as o

nan, inf = float("nan"), float("inf")
F32, F16, I32, I8, U8, BOOL, C64 = "float32", "float16", "int32", "int8", "uint8", "bool", "complex64"
BF16, F8, I4, U4 = ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.int4, ml_dtypes.uint4
LOW, HIGH = -(2**31), 2**31 - 1


def run(op, *operands):
    operands = [np.asarray(x) for x in operands]
    avals = [ShapedArray(x.shape, x.dtype) for x in operands]
    jaxpr, _ = stage(lambda *xs: bind(op, *xs) if op.multiple_results else [bind(op, *xs)], avals)
    results = evaluate_jaxpr(jaxpr, *operands)
    return results if op.multiple_results else results[0]


def same(got, want):
    """Equal, with NaN where NaN is wanted and real zeros of the wanted sign."""
    got = np.asarray(got)
    want = np.asarray(want)
    if got.dtype.kind == "c":
        return np.allclose(got, want, rtol=2e-6, atol=1e-7, equal_nan=True)
    if got.dtype.kind in "iub":
        return got.tolist() == want.tolist()
    got, want = got.astype(np.float64), want.astype(np.float64)
    return got.shape == want.shape and np.allclose(got, want, rtol=2e-6, atol=0, equal_nan=True) and bool(
        np.all((np.signbit(got) == np.signbit(want)) | np.isnan(want)))


UNARY = [
    (o.Sign(), F32, [nan, -0.0, 0.0, -3, inf], [nan, -0.0, 0.0, -1, 1]),
    (o.Sign(), C64, [0, 3 + 4j, -2], [0, 0.6 + 0.8j, -1]),
    (o.Round(0), F32, [0.5, -0.5, 1.5, 2.5, -2.5, 0.49999997, -0.2, 8388609, nan, inf],
     [1, -1, 2, 3, -3, 0, -0.0, 8388609, nan, inf]),
    (o.Round(1), F32, [0.5, -0.5, 1.5, 2.5, -2.5], [0, -0.0, 2, 2, -2]),
    (o.Floor(), F32, [-0.5, -0.0, 0.5], [-1, -0.0, 0]),
    (o.Ceil(), F32, [-0.5, 0.5], [-0.0, 1]),
    (o.Clz(), I32, [0, 1, -1, 255], [32, 31, 0, 24]),
    (o.Clz(), U8, [0, 1, 255], [8, 7, 0]),
    (o.Clz(), "int64", [0, 1, -1, 2**40, 2**53 - 1], [64, 63, 0, 23, 11]),
    (o.Clz(), I4, [0, 1, -1, 4], [4, 3, 0, 1]),
    (o.PopulationCount(), I32, [0, -1, 255, LOW], [0, 32, 8, 1]),
    (o.PopulationCount(), I4, [-1, 3], [4, 2]),
    (o.Neg(), I8, [-128, 5], [-128, -5]),
    (o.Abs(), I8, [-128, -5], [-128, 5]),
    (o.Abs(), C64, [3 + 4j], [5]),
    (o.Not(), BOOL, [True, False], [False, True]),
    (o.Not(), U8, [0, 5], [255, 250]),
    (o.Erf(), F32, [0, 0.5, inf, nan, -0.0], [0, 0.520499885, 1, nan, -0.0]),
    (o.ErfInv(), F32, [1, -1, 0, 2, nan, 0.5], [inf, -inf, 0, nan, nan, 0.47693628]),
    (o.Lgamma(), F32, [0, -0.0, -1, -1.5, inf, -inf, nan, 0.5],
     [inf, inf, inf, 0.86004704, inf, inf, nan, 0.57236487]),
    (o.Digamma(), F32, [0, -0.0, -1, -1.5, inf, -inf, nan], [nan, nan, nan, 0.70315665, inf, nan, nan]),
    (o.Logistic(), F32, [-100, 0, 100, nan], [0, 0.5, 1, nan]),
    (o.Rsqrt(), F32, [0, -0.0, -1, inf, 4], [inf, -inf, nan, 0, 0.5]),
    (o.Cbrt(), F32, [-8, -0.0, inf], [-2, -0.0, inf]),
    (o.Log(), F32, [0, -1, -0.0], [-inf, nan, -inf]),
    (o.Log1p(), F32, [-1, -2], [-inf, nan]),
    (o.Sqrt(), F32, [-0.0, -1], [-0.0, nan]),
    (o.Exp2(), C64, [1 + 1j, 0], [1.5384778 + 1.2779225j, 1]),
    (o.Acosh(), C64, [-2, 2, 0.5 + 1j], [1.316958 + 3.1415927j, 1.316958, 0.9261331 + 1.2213573j]),
    (o.Atanh(), C64, [2, 0.5 + 1j], [0.54930615 + 1.5707964j, 0.23887786 + 0.84757567j]),
    (o.IntegerPow(7), I8, [3, -3, 2], [-117, 117, -128]),
    (o.IntegerPow(-2), F32, [0, 2, -0.0], [inf, 0.25, inf]),
    (o.IntegerPow(-3), F32, [0, 2, -0.0], [inf, 0.125, -inf]),
    (o.IntegerPow(0), F32, [0, nan], [1, 1]),
    (o.ReducePrecision(5, 10), F32, [1.1, 70000, 1e-8, nan, inf, 65519, 65520, 6e-5, -1e-30],
     [1.09960938, inf, 0, nan, inf, 65504, inf, 0, -0.0]),
    (o.ReducePrecision(8, 0), F32, [1.1, 1.5, 3, nan], [1, 2, 2, nan]),
    (o.ReducePrecision(3, 2), F32, [1.1, 17, 15, 16, 0.25, 0.2], [1, inf, inf, inf, 0.25, 0]),
    (o.ReducePrecision(5, 3), BF16, [1.1, 70000], [1.125, inf]),
    (o.IsFinite(), F32, [1, inf, nan], [True, False, False]),
    (o.Cummax(0, False), F32, [1, nan, 3], [1, nan, nan]),
    (o.Cumsum(0, True), I8, [100, 100, 1], [-55, 101, 1]),
    (o.Cumprod(0, False), U8, [16, 15, 2], [16, 240, 224]),
    (o.Cumlogsumexp(0, False), F32, [-inf, -inf, 1, 2, inf, nan], [-inf, -inf, 1, 2.31326175, inf, nan]),
    (o.Cumlogsumexp(0, True), F32, [-inf, 1, 2], [2.31326175, 2.31326175, 2]),
    (o.ReduceSum((0,)), I8, [100, 100], -56),
    (o.ReduceSum((0,)), F16, [2048] + [1] * 16, 2064),
    (o.ReduceSum((0,)), BF16, [256] + [1] * 16, 272),
    (o.ReduceSum((0,)), I4, [7, 7], -2),
    (o.ReduceProd((0,)), U8, [16, 17], 16),
    (o.ReduceMax((0,)), F32, [1, nan, 3], nan),
    (o.ReduceMin((0,)), I4, [3, -8], -8),
    (o.ReduceXor((0,)), U8, [5, 3], 6),
    (o.Argmax(0, np.dtype(I32)), F32, [1, nan, 3, nan], 1),
    (o.Argmin(0, np.dtype(I32)), F32, [1, nan, 0], 1),
    (o.Argmax(0, np.dtype(I32)), F32, [0.0, -0.0], 0),
    (o.Argmax(0, np.dtype(I32)), BF16, [1, nan, 3], 1),
    (o.Argmax(0, np.dtype(I32)), BOOL, [0, 1, 1], 1),
]  # fmt: skip


@pytest.mark.parametrize(("op", "dtype", "x", "want"), UNARY, ids=lambda v: getattr(v, "name", None))
def test_one_operand(op, dtype, x, want):
    assert same(run(op, np.array(x, dtype)), want)


BINARY = [
    (o.Div(), I32, [7, -7, 5, -5, LOW, 0], [-2, 2, 0, 0, -1, 0], [-3, -3, -1, -1, LOW, -1]),
    (o.Div(), U8, [7, 0, 9], [0, 0, 2], [255, 255, 4]),
    (o.Div(), I8, [-128, -7], [-1, 0], [-128, -1]),
    (o.Div(), F32, [1, -1, 0], [0, 0, 0], [inf, -inf, nan]),
    (o.Rem(), I32, [7, -7, 5, -5, LOW, 0], [-2, 2, 0, 0, -1, 0], [1, -1, 5, -5, 0, 0]),
    (o.Rem(), U8, [7, 9], [0, 4], [7, 1]),
    (o.Rem(), F32, [5, -5, 5, inf, 3, -0.0], [3, 3, 0, 2, inf, 2], [2, -2, nan, nan, 3, -0.0]),
    (o.ShiftLeft(), I32, [-5, 7, -5, 7], [1, 32, 40, -1], [-10, 0, 0, 0]),
    (o.ShiftLeft(), U8, [200, 200, 200], [1, 8, 255], [144, 0, 0]),
    (o.ShiftLeft(), I4, [-8, 7, -3], [1, 4, -1], [0, 0, 0]),
    (o.ShiftRightArithmetic(), I32, [-5, 7, -5, 7, -5], [1, 32, 40, -1, -1], [-3, 0, -1, 0, -1]),
    (o.ShiftRightArithmetic(), U8, [200, 200, 200], [1, 8, 255], [228, 255, 255]),
    (o.ShiftRightArithmetic(), I4, [-8, 7, -3], [1, 4, -1], [-4, 0, -1]),
    (o.ShiftRightLogical(), I32, [-5, 7, -5, 7], [1, 32, 40, -1], [2147483645, 0, 0, 0]),
    (o.ShiftRightLogical(), I8, [-128, 100, -3], [1, 9, -1], [64, 0, 0]),
    (o.ShiftRightLogical(), I4, [-8, 7, -3], [1, 4, -1], [4, 0, 0]),
    (o.Add(), U8, [250], [10], [4]),
    (o.Add(), BOOL, [1, 1, 0], [1, 0, 0], [True, True, False]),
    (o.Mul(), BOOL, [1, 1, 0], [1, 0, 0], [True, False, False]),
    (o.Add(), I4, [7, -8], [1, -1], [-8, 7]),
    (o.Max(), F32, [nan, 1, 2], [1, nan, 3], [nan, nan, 3]),
    (o.Min(), BF16, [nan, 1, 2], [1, nan, 3], [nan, nan, 2]),
    (o.Max(), C64, [1 + 2j, 1 + 3j, 2], [1 + 3j, 1 + 2j, 1 + 9j], [1 + 3j, 1 + 3j, 2]),
    (o.Min(), C64, [1 + 2j, 1 + 3j, 2], [1 + 3j, 1 + 2j, 1 + 9j], [1 + 2j, 1 + 2j, 1 + 9j]),
    (o.Pow(), F32, [0, 0, -8, 2, -2, nan, 1, inf, -0.0], [0, -1, 1 / 3, nan, 3, 0, nan, 0, -1],
     [1, inf, nan, nan, -8, 1, 1, 1, -inf]),
    (o.Nextafter(), F32, [0, 1, nan, -0.0, inf], [1, 1, 0, 0.0, 0], [1.4012985e-45, 1, nan, 0, 3.4028235e38]),
    (o.Atan2(), F32, [0, -0.0, 0], [-1, -1, -0.0], [3.1415927, -3.1415927, 3.1415927]),
    (o.Atan2(), C64, [1 + 1j, 2], [2 - 1j, -1], [0.29400131 + 0.64123726j, 2.0344439]),
    (o.Polygamma(), F32, [0, 1, 2, 1, 1, 1.5, -1, 1], [2, 2, 2, 0, -1, 2, 2, -1.5],
     [0.42278434, 0.64493406, -0.40411381, inf, inf, nan, nan, 9.379247]),
    (o.Eq(), F32, [nan, 0.0], [nan, -0.0], [False, True]),
]  # fmt: skip


@pytest.mark.parametrize(("op", "dtype", "x", "y", "want"), BINARY, ids=lambda v: getattr(v, "name", None))
def test_two_operands(op, dtype, x, y, want):
    assert same(run(op, np.array(x, dtype), np.array(y, dtype)), want)


def test_complex_of_special_parts():
    got = run(o.Complex(), np.array([inf, 1], F32), np.array([nan, -0.0], F32))
    assert same(got.real, [inf, 1])
    assert same(got.imag, [nan, -0.0])


def test_pow_with_integer_exponents():
    got = run(o.Pow(), np.array([0, -2, 2, nan, -0.0], F32), np.array([0, 3, -2, 0, -1], I32))
    assert same(got, [1, -8, 0.25, 1, -inf])


def test_complex_logistic_does_not_overflow():
    assert same(run(o.Logistic(), np.array([1 + 1j, 100 + 3j], C64)), np.array([0.78204155 + 0.20194823j, 1]))


EXTREME = [1.9, -1.9, nan, inf, -inf, 3e20, -3e20, 300, -300]
CONVERSIONS = [
    (F32, I32, EXTREME, [1, -1, 0, HIGH, LOW, HIGH, LOW, 300, -300]),
    (F32, I8, EXTREME, [1, -1, 0, 127, -128, 127, -128, 127, -128]),
    (F32, U8, EXTREME, [1, 0, 0, 255, 0, 255, 0, 255, 0]),
    ("float64", "int64", EXTREME, [1, -1, 0, 2**63 - 1, -(2**63), 2**63 - 1, -(2**63), 300, -300]),
    (F32, "uint64", EXTREME, [1, 0, 0, 2**64 - 1, 0, 2**64 - 1, 0, 300, 0]),
    (BF16, I8, EXTREME, [1, -1, 0, 127, -128, 127, -128, 127, -128]),
    (F16, I32, [1.9, nan, inf, -inf], [1, 0, HIGH, LOW]),
    (F32, I4, EXTREME, [1, -1, 0, 7, -8, 7, -8, 7, -8]),
    (F32, U4, EXTREME, [1, 0, 0, 15, 0, 15, 0, 15, 0]),
    (F32, BOOL, [0, -0.0, nan, 0.5], [False, False, True, True]),
    (I32, I4, [7, 8, -9, 100], [7, -8, 7, 4]),
    (I32, U4, [7, 8, -9, 100], [7, 8, 7, 4]),
    (I4, U4, [-1, 7], [15, 7]),
    (I32, F8, [7, 449, 1000, -1000, 17], [7, 448, nan, nan, 16]),
    (F32, F8, [448, 449, 465, inf, -0.0, nan, 1e-9], [448, 448, nan, nan, -0.0, nan, 0]),
    (F32, ml_dtypes.float8_e5m2, [57344, 61440, 70000], [57344, inf, inf]),
    ("float64", BF16, [1 + 2**-8 + 2**-40], [1]),
    (I32, BF16, [257, 2**24 + 2**16 + 1], [256, 2**24]),
    (C64, F32, [1.5 + 2j], [1.5]),
    (C64, BOOL, [1j, 1], [False, True]),
]


@pytest.mark.parametrize(("old", "new", "x", "want"), CONVERSIONS)
def test_conversion(old, new, x, want):
    got = run(o.ConvertElementType(np.dtype(new), False), np.array(x, np.float64 if old is I4 else old).astype(old))
    assert got.dtype == new
    assert same(got, np.array(want, object) if got.dtype.kind in "iuV" and got.dtype.name.startswith(("i", "u"))
                else want)


@pytest.mark.parametrize(("dtype", "low", "high"), [
    (F32, -inf, inf), (BF16, -inf, inf), (F8, -448, 448), (I32, LOW, HIGH), (U8, 0, 255), (BOOL, False, True),
    (I4, -8, 7), (C64, complex(-inf, 0), complex(inf, 0))])
def test_extremes_of_nothing(dtype, low, high):
    assert same(run(o.ReduceMax((0,)), np.zeros(0, dtype)), low)
    assert same(run(o.ReduceMin((0,)), np.zeros(0, dtype)), high)


@pytest.mark.parametrize(("dtype", "want"), [(BOOL, True), (U8, 255), (I32, -1)])
def test_and_of_nothing(dtype, want):
    assert same(run(o.ReduceAnd((0,)), np.zeros(0, dtype)), want)


def test_sort_puts_nan_last_and_keeps_the_order_of_equals():
    keys = np.array([nan, 0.0, -0.0, 1, -inf, inf, -nan, 0.0], F32)
    for dtype in (F32, F16, BF16):
        values, order = run(o.Sort(0, True, 1), keys.astype(dtype), np.arange(8))
        assert same(values, [-inf, 0.0, -0.0, 0.0, 1, inf, nan, nan])
        assert order.tolist() == [4, 1, 2, 7, 3, 5, 0, 6]


def test_sort_by_several_keys():
    first, second, rest = run(o.Sort(0, True, 2), np.array([1, 0, 1], BOOL), np.array([200, 3, 100], U8), np.arange(3))
    assert (first.tolist(), second.tolist(), rest.tolist()) == ([False, True, True], [3, 100, 200], [1, 2, 0])


def test_complex_numbers_sort_by_parts():
    x = np.array([1 + 2j, 1 + 1j, nan, complex(0, nan), 0, complex(nan, 1)], C64)
    assert run(o.Sort(0, True, 1), x, np.arange(6))[1].tolist() == [4, 3, 1, 0, 2, 5]


def test_top_k_is_in_total_order():
    values, order = run(o.TopK(8), np.array([1, nan, 3, 3, inf, nan, -0.0, 0.0], F32))
    assert same(values, [nan, nan, inf, 3, 3, 1, 0.0, -0.0])
    assert order.tolist() == [1, 5, 4, 2, 3, 0, 7, 6]
    assert run(o.TopK(4), np.array([1, -nan, 3, inf], F32))[1].tolist() == [3, 2, 0, 1]
    assert run(o.TopK(3), np.array([0, 1, 1], BOOL))[1].tolist() == [1, 2, 0]
    assert run(o.TopK(2), np.array([-8, 7, 7], I4))[1].tolist() == [1, 2]


def test_clamp():
    got = run(o.Clamp(), np.array([0, nan, 0, 2], F32), np.array([nan, 1, 5, 5], F32), np.array([1, 2, nan, 1], F32))
    assert same(got, [nan, nan, nan, 1])


def test_selectors_out_of_range_count_as_the_nearest():
    cases = [np.full(4, k, I32) for k in (1, 2, 3)]
    assert run(o.SelectN(), np.array([-1, 0, 2, 9], I32), *cases).tolist() == [1, 1, 3, 3]


def test_iota_wraps_around():
    assert run(o.Iota(np.dtype(I8), (130,), 0))[126:].tolist() == [126, 127, -128, -127]


def test_bitcast_takes_and_adds_a_last_dimension():
    assert run(o.BitcastConvertType(np.dtype(U8)), np.array(1.5, F32)).tolist() == [0, 0, 192, 63]
    assert run(o.BitcastConvertType(np.dtype(F32)), np.array([0, 0, 192, 63], U8)) == np.float32(1.5)
    assert run(o.BitcastConvertType(np.dtype(U4)), np.array([-1, 3]).astype(I4)).tolist() == [15, 3]


# ---- indexing --------------------------------------------------------------------------------------------------

FIVE = np.arange(5, dtype=F32)
CLIP, FILL, PROMISE = o.GatherScatterMode.CLIP, o.GatherScatterMode.FILL_OR_DROP, o.GatherScatterMode.PROMISE_IN_BOUNDS
ONE_BY_ONE = o.GatherDimensionNumbers((), (0,), (0,))
WINDOWS = o.GatherDimensionNumbers((1,), (), (0,))
PUT_ONE = o.ScatterDimensionNumbers((), (0,), (0,))
PUT_WINDOWS = o.ScatterDimensionNumbers((1,), (), (0,))


@pytest.mark.parametrize(("start", "dtype", "want"), [
    (-1, I32, [0, 1]), (10, I32, [3, 4]), (255, U8, [3, 4]), (2**63, "uint64", [3, 4]), (-128, I8, [0, 1])])
def test_dynamic_slices_are_moved_within_bounds(start, dtype, want):
    assert run(o.DynamicSlice((2,)), FIVE, np.array(start, dtype)).tolist() == want
    put = run(o.DynamicUpdateSlice(), FIVE, np.array([8, 9], F32), np.array(start, dtype))
    assert put[want[0]:want[0] + 2].tolist() == [8, 9]


@pytest.mark.parametrize(("dtype", "fill"), [
    (F32, nan), (I32, LOW), (U8, 255), (BOOL, True), (C64, complex(nan, 0)), (BF16, nan), (F8, nan), (I4, -8)])
def test_gather_fills_by_dtype(dtype, fill):
    op = o.Gather(ONE_BY_ONE, (1,), False, False, FILL, None)
    assert same(run(op, np.ones(3, dtype), np.array([[-1], [0], [3]], I32)), [fill, 1, fill])


def test_gather_modes():
    for mode, fill, want in ((CLIP, None, [0, 0, 4]), (PROMISE, None, [0, 0, 4]), (FILL, 9, [9, 0, 9])):
        op = o.Gather(ONE_BY_ONE, (1,), False, False, mode, fill)
        assert run(op, FIVE, np.array([[-1], [0], [7]], I32)).tolist() == want
    for mode, want in ((CLIP, [[0, 1], [3, 4], [3, 4]]), (FILL, [[nan, nan], [nan, nan], [3, 4]])):
        op = o.Gather(WINDOWS, (2,), False, False, mode, None)
        assert same(run(op, FIVE, np.array([[-1], [4], [3]], I32)), want)


def test_scatter_modes():
    for mode, want in ((CLIP, [10, 1, 30, 3, 20]), (PROMISE, [0, 1, 30, 3, 4]), (FILL, [0, 1, 30, 3, 4])):
        op = o.Scatter(PUT_ONE, False, False, mode)
        assert run(op, FIVE, np.array([[-1], [7], [2]], I32), np.array([10, 20, 30], F32)).tolist() == want
    for mode, want in ((CLIP, [10, 11, 2, 20, 21]), (FILL, [0, 1, 2, 3, 4])):
        op = o.Scatter(PUT_WINDOWS, False, False, mode)
        assert run(op, FIVE, np.array([[-1], [4]], I32), np.array([[10, 11], [20, 21]], F32)).tolist() == want


def test_scatters_meet_one_after_another():
    at = np.array([[1], [1]], I32)
    for kind, want in ((o.Scatter, 20), (o.ScatterAdd, 31), (o.ScatterMul, 200), (o.ScatterMin, 1),
                       (o.ScatterMax, 20)):
        got = run(kind(PUT_ONE, False, False, FILL), FIVE, at, np.array([10, 20], F32))
        assert got.tolist() == [0, want, 2, 3, 4]
    sevens, ones = np.array([7, 7]).astype(I4), np.array([1, 1]).astype(I4)
    wrapped = run(o.ScatterAdd(PUT_ONE, False, False, FILL), sevens, at, ones)
    assert wrapped.tolist() == [7, -7]


def test_scatter_at_a_scalar():
    op = o.ScatterAdd(o.ScatterDimensionNumbers((), (), ()), False, False, FILL)
    assert run(op, np.array(1, F32), np.zeros((3, 0), I32), np.array([1, 2, 3], F32)) == 7


# ---- contractions ----------------------------------------------------------------------------------------------

DOT = (((0,), (0,)), ((), ()))


@pytest.mark.parametrize(("dtype", "preferred", "x", "y", "want"), [
    (I8, None, [100, 100], [2, 2], -112), (I8, I32, [100, 100], [2, 2], 400), (BOOL, None, [1, 0], [1, 1], True),
    (U8, I32, [200, 200], [2, 2], 800), (F32, BF16, [1.5, 2], [1, 3], 7.5), (I32, F32, [1, 2], [1, 3], 7),
    (BF16, None, [256, 1, 1], [1, 1, 1], 258), (BF16, F32, [256, 0.5], [1, 1], 256.5), (I4, None, [7, 7], [1, 1], -2),
    (I4, I32, [7, 7], [1, 1], 14), (F8, F32, [448, 448], [1, 1], 896)])
def test_dot_accumulates_wide_enough(dtype, preferred, x, y, want):
    op = o.DotGeneral(DOT, None, None if preferred is None else np.dtype(preferred))
    got = run(op, np.array(x).astype(dtype), np.array(y).astype(dtype))
    assert got.dtype == (preferred or dtype)
    assert same(got.astype(np.float64), want)
