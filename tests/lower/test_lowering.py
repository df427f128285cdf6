"""Lowering: what XLA computes is what the interpreter computes, for every operation."""

from math import inf, nan
from time import perf_counter

import ml_dtypes
import numpy as np
import pytest
from agreement import Case, case, disagreements, run_xla
from samples import samples

from glax.ir import OPERATIONS, ShapedArray, bind, dtypes, expand_rule, lower_rule, operation, stage
from glax.ir import ops as o
from glax.ir.operation import Operation, abstract_eval
from glax.ir.ops import GatherScatterMode as Mode
from glax.lower import jaxlib_adapter as xla
from glax.lower.lowering import lower

CHUNK = 60
CASES = [Case(s.op, s.operands, s.id) for s in samples()]
CHUNKS = [CASES[i:i + CHUNK] for i in range(0, len(CASES), CHUNK)]
INDEX_DTYPES = [np.dtype(f"{k}{n}") for k in "iu" for n in (1, 2, 4, 8)]
F32, I32 = np.dtype(np.float32), np.dtype(np.int32)


def check(cases, tier=xla.CompileTier.FAST):
    bad = [line for i in range(0, len(cases), CHUNK) for line in disagreements(cases[i:i + CHUNK], tier)]
    assert not bad, "\n".join(bad)


def staged(f, *avals):
    jaxpr, captured = stage(f, [ShapedArray(*a) for a in avals])
    assert not captured
    return jaxpr


def test_every_operation_has_a_rule():
    assert OPERATIONS
    for op_type in OPERATIONS.values():
        assert callable(lower_rule[op_type])


@pytest.mark.parametrize("chunk", CHUNKS, ids=lambda chunk: f"{chunk[0].id}...")
def test_xla_agrees_with_the_interpreter(chunk):
    check(chunk)


def test_integer_corners():
    cases = []
    for dtype in (np.int8, np.int32, np.int64, np.uint8, np.uint32, ml_dtypes.int4, ml_dtypes.uint4):
        info = dtypes.iinfo(dtype)
        values = sorted({int(info.min), int(info.max), 0, 1, 3})
        x, y = (np.array(v.ravel(), dtype) for v in np.meshgrid(values, values))
        cases += [case(op(), x, y) for op in (o.Div, o.Rem, o.Mul, o.Max)]
        shifts = np.array([0, 1, 3, 4, 7][:len(values)], dtype)
        counts = np.array(np.meshgrid(shifts, values)[0].ravel(), dtype)
        cases += [case(op(), x, c) for op in (o.ShiftLeft, o.ShiftRightArithmetic, o.ShiftRightLogical)
                  for c in (counts, y)]
        cases += [case(op(), x) for op in (o.Abs, o.Sign, o.Neg, o.PopulationCount, o.Clz, o.Square, o.Not)]
    check(cases)


def test_float_corners():
    cases = []
    values = [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, inf, -inf, nan, 3e4, 1e-7]
    for dtype in (np.float16, dtypes.bfloat16, np.float32, np.float64):
        x, y = (v.ravel().astype(dtype) for v in np.meshgrid(values, values))
        cases += [case(op(), x, y) for op in (o.Max, o.Min, o.Rem, o.Atan2, o.Nextafter, o.Lt, o.Eq, o.Ne, o.Pow)]
        cases += [case(o.Round(method), x) for method in (0, 1)]
        cases += [case(o.ReducePrecision(e, m), x) for e, m in ((5, 2), (8, 7), (5, 10))]
        low, high = np.array(-1, dtype), np.array(2, dtype)
        cases += [case(o.Clamp(), low, x, high), case(o.Clamp(), high, x, low), case(o.Sign(), x)]
        cases += [case(o.Exp2(), np.array([-3, 0, 10, 0.5], dtype)), case(o.Logistic(), x)]
    check(cases)


def test_largest_of_complex_numbers_goes_by_parts_and_nan_wins():
    values = [0, 1, 1j, -1j, 1 + 1j, complex(nan, 1), complex(5, nan)]
    x, y = (v.ravel().astype(np.complex64) for v in np.meshgrid(values, values))
    check([case(op(), x, y) for op in (o.Max, o.Min)] + [case(op((0,)), x[:20]) for op in (o.ReduceMax, o.ReduceMin)])


ARRAY_DTYPES = [d for d in dtypes.DTYPES if d.name not in ("float6_e2m3fn", "float6_e3m2fn", "float8_e8m0fnu")]


def test_conversions_between_all_dtypes():
    cases = []
    for old in ARRAY_DTYPES:
        values = {"b": [1, 0], "i": [0, 1, -2], "u": [0, 1, 3], "f": [0, 1.5, -2.5, 6, nan, 1e9, -1e9, 0.25],
                  "c": [0, 1.5 + 1j, -2.5, 1j]}[dtypes.kind(old)]
        with np.errstate(all="ignore"):
            x = np.array(values).astype(old)
        cases += [case(o.ConvertElementType(new, False), x) for new in ARRAY_DTYPES
                  if not (dtypes.itemsize_bits(old) < 8 and dtypes.itemsize_bits(new) < 8)]
    check(cases)


def test_bitcasts_change_the_width():
    for old, shape in ((np.float32, (3,)), (np.uint8, (2, 4)), (np.float64, (2,)), (np.int16, (3, 2))):
        x = np.arange(np.prod(shape)).reshape(shape).astype(old)
        check([case(o.BitcastConvertType(np.dtype(new)), x) for new in (np.uint8, np.int16, np.float32, dtypes.bfloat16)
               if np.dtype(new).itemsize <= x.itemsize or x.shape[-1] == np.dtype(new).itemsize // x.itemsize])
    with pytest.raises(NotImplementedError, match="int4"):
        lower(staged(lambda x: [o.bitcast_convert_type(x, np.int8)], ((2,), ml_dtypes.int4)))


def test_reductions_of_nothing_and_of_every_dtype():
    cases = []
    for op_type in (o.ReduceSum, o.ReduceProd, o.ReduceMax, o.ReduceMin, o.ReduceAnd, o.ReduceOr, o.ReduceXor):
        for dtype in ARRAY_DTYPES:
            if dtypes.kind(dtype) in op_type.accepts and dtype.itemsize <= 4:
                x = (np.arange(6) % 2).reshape(2, 3).astype(dtype)
                cases += [case(op_type((0,)), x[:0]), case(op_type((0, 1)), x[:, :0]), case(op_type((1,)), x),
                          case(op_type(()), x)]
    check(cases)


def test_arguments_of_extremes():
    cases = []
    for op_type in (o.Argmax, o.Argmin):
        for values in ([1, nan, 5, nan], [-inf, -inf], [inf, inf], [0.0, -0.0], [-0.0, 0.0, 0.0], [2, 7, 7, 2]):
            for dtype in (np.float32, dtypes.bfloat16):
                cases.append(case(op_type(0, np.dtype(np.int32)), np.array(values).astype(dtype)))
        cases += [case(op_type(0, np.dtype(np.uint8)), np.array([1, 0, 1, 0], dtype))
                  for dtype in (bool, np.uint32, np.int8, ml_dtypes.int4, ml_dtypes.uint2)]
    check(cases)


def test_general_reductions_may_call_programs_and_reduce_nothing():
    inner = staged(lambda a, b: [o.gt(a, b)], ((), F32), ((), F32))

    def pick(x, i, y, j):
        first, = o.jit_call(inner, [x, y], "is_greater")
        return [o.select_n(first, y, x), o.select_n(first, j, i)]
    larger = staged(pick, *[((), dtype) for dtype in (F32, I32, F32, I32)])
    x, i = np.float32([[1, 5, 2], [7, 0, 7]]), np.arange(6, dtype=np.int32).reshape(2, 3)
    check([case(o.Reduce(larger, dims), x, i, np.float32(-9), np.int32(-1)) for dims in ((0,), (1,), (0, 1), ())])


@pytest.mark.parametrize("op_type", [o.Cumsum, o.Cumprod, o.Cummax, o.Cummin, o.Cumlogsumexp])
def test_cumulative_reductions(op_type):
    cases = []
    for dtype in (np.float32, np.float16, dtypes.bfloat16, np.int8, ml_dtypes.uint4, bool, np.complex64):
        dtype = np.dtype(dtype)
        if dtypes.kind(dtype) not in op_type.accepts:
            continue
        for shape, axis in (((7,), 0), ((1,), 0), ((0,), 0), ((2, 3, 2), 1), ((3, 0), 0), ((0, 3), 1)):
            x = ((np.arange(np.prod(shape)) % 3 - 1) ** 2).reshape(shape).astype(dtype)
            cases += [case(op_type(axis, reverse), x) for reverse in (False, True)]
    cases.append(case(op_type(0, False), np.float32([-inf, 1, inf, nan, 2])))
    check(cases)


def test_long_cumulative_sums_compile_soon():
    for n in (1000, 100_000):
        x = np.ones((n,), np.float32)
        jaxpr = staged(lambda x: [o.cumsum(x)], (x.shape, F32))
        start = perf_counter()
        found, = run_xla(jaxpr, [x], xla.CompileTier.DEFAULT)
        assert perf_counter() - start < 1  # 20 ms on an idle machine
        assert (found == np.arange(1, n + 1)).all()


def test_sorts_put_nan_last_and_take_both_zeros_for_equal():
    values = [nan, 0.0, 1.0, -0.0, -inf, -nan, 0.0, inf, -0.0, 1.0]
    cases = []
    for dtype in (np.float32, np.float16, dtypes.bfloat16, np.float64, ml_dtypes.float8_e5m2):
        x, place = np.array(values).astype(dtype), np.arange(len(values))
        cases += [case(o.Sort(0, True, 1), x, place), case(o.Sort(0, True, 2), place % 2 == 0, x, place)]
        cases += [case(o.TopK(k), x) for k in (0, 1, 4, 10)]
    pairs = np.array([1 + 1j, complex(nan, 0), 1 - 1j, complex(0, nan), 0, -0.0], np.complex64)
    cases.append(case(o.Sort(0, True, 1), pairs, np.arange(6)))
    for dtype in (bool, np.uint8, np.int64, ml_dtypes.int4, ml_dtypes.uint2):
        x = np.array([1, 0, 1, 1, 0, 0], dtype)
        cases += [case(o.Sort(0, True, 1), x, np.arange(6)), case(o.TopK(4), x), case(o.TopK(2), x.reshape(2, 3)),
                  case(o.TopK(1), np.zeros((0, 2), dtype)), case(o.Sort(1, True, 1), np.zeros((2, 0), dtype))]
    check(cases)


@pytest.mark.parametrize("tier", list(xla.CompileTier))
def test_nested_dynamic_slices_are_clamped_one_by_one(tier):
    def program(x, i, j):
        return [o.dynamic_slice(o.dynamic_slice(x, [i], [4]), [j], [2])]
    jaxpr = staged(program, ((8,), I32), ((), I32), ((), I32))
    x = np.arange(8, dtype=np.int32)
    for i in (-3, 0, 2, 9):
        for j in (-1, 1, 3, 7):
            first = min(max(i, 0), 4)
            second = first + min(max(j, 0), 2)
            found, = run_xla(jaxpr, [x, np.int32(i), np.int32(j)], tier)
            assert found.tolist() == x[second:second + 2].tolist(), (i, j)


@pytest.mark.parametrize("dtype", INDEX_DTYPES, ids=str)
def test_indices_of_every_dtype_are_clamped(dtype):
    info, cases = np.iinfo(dtype), []
    for n in (5, 300):  # more than a byte can index
        x = np.arange(n * 3, dtype=np.float32).reshape(n, 3)
        for start in (0, 2, 4, info.max, info.max // 2, info.min):
            cases += [case(o.DynamicSlice((2, 2)), x, np.array(start, dtype), np.array(1, np.int8)),
                      case(o.DynamicUpdateSlice(), x, x[:2, :1], np.array(start, dtype), np.array(9, np.uint64))]
    check(cases)


ROWS_GATHERED = [  # of a matrix of 3 columns
    (o.GatherDimensionNumbers((1,), (0,), (0,)), (1, 2), 1),
    (o.GatherDimensionNumbers((1, 2), (), (0,)), (2, 3), 1),
    (o.GatherDimensionNumbers((), (0, 1), (1, 0)), (1, 1), 2),
]
ROWS_SCATTERED = [
    (o.ScatterDimensionNumbers((1,), (0,), (0,)), (2,), 1),
    (o.ScatterDimensionNumbers((1, 2), (), (0,)), (2, 3), 1),
    (o.ScatterDimensionNumbers((1, 2), (), (0, 1)), (2, 2), 2),
]
SCATTERS = (o.Scatter, o.ScatterAdd, o.ScatterMul, o.ScatterMin, o.ScatterMax)


@pytest.mark.parametrize("dtype", INDEX_DTYPES, ids=str)
def test_indices_out_of_bounds_in_every_mode(dtype):
    info, cases = np.iinfo(dtype), []
    one = np.array([[0], [3], [4], [5], [info.max], [info.min], [info.max // 2]], dtype)
    for n in (5, 300):
        x = np.arange(n * 3, dtype=np.float32).reshape(n, 3)
        for mode in (Mode.CLIP, Mode.FILL_OR_DROP):
            for numbers, sizes, width in ROWS_GATHERED:
                indices = one if width == 1 else np.concatenate([one, one[::-1]], 1)
                cases += [case(o.Gather(numbers, sizes, False, False, mode, fill), x, indices) for fill in (None, 7)]
            for numbers, window, width in ROWS_SCATTERED:
                indices = one if width == 1 else np.concatenate([one, one[::-1] // 4], 1)
                updates = np.arange(1, 1 + len(one) * np.prod(window), dtype=np.float32).reshape(len(one), *window)
                cases += [case(op(numbers, False, False, mode), x, indices, updates) for op in SCATTERS[:2]]
    check(cases)


def test_gather_and_scatter_of_every_dtype_and_of_nothing():
    take, put = o.GatherDimensionNumbers((), (0,), (0,)), o.ScatterDimensionNumbers((), (0,), (0,))
    nothing, whole = np.zeros((3, 0), np.int32), np.zeros((0,), np.int32)
    indices, cases = np.array([[0], [5], [3], [-1], [0]], np.int32), []
    for dtype in ARRAY_DTYPES:
        x, updates = np.array([1, 0, 1, 1], bool).astype(dtype), np.array([0, 1, 0, 1, 1], bool).astype(dtype)
        for mode in (Mode.CLIP, Mode.FILL_OR_DROP):
            cases += [case(o.Gather(take, (1,), False, False, mode, fill), x, indices) for fill in (None, 1)]
            cases += [case(o.Gather(take, (0,), False, False, mode, None), x[:0], indices),
                      case(o.Gather(o.GatherDimensionNumbers((), (), ()), (), False, False, mode, None), x[0], nothing),
                      case(o.Gather(o.GatherDimensionNumbers((0,), (), ()), (2,), False, False, mode, None), x, whole)]
            for op in SCATTERS:
                cases += [case(op(put, False, False, mode), x, indices, updates),
                          case(op(put, False, False, mode), x[:0], indices, updates),
                          case(op(put, False, False, mode), x, indices[:0], updates[:0])]
        to_scalar = o.ScatterDimensionNumbers((), (), ())
        cases.append(case(o.ScatterMax(to_scalar, False, False, Mode.CLIP), x[0], nothing, updates[:3]))
    check(cases)


def test_moving_elements_of_packed_dtypes():
    cases = []
    for dtype in (ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.int2, ml_dtypes.uint2, ml_dtypes.float4_e2m1fn):
        x = (np.arange(12) % 3 % 2).reshape(3, 4).astype(dtype)
        cases += [case(o.Pad(((1, 0, 2), (-1, 2, 1))), x, x[0, 1]), case(o.Transpose((1, 0)), x),
                  case(o.Slice((0, 1), (3, 4), (2, 2)), x), case(o.Rev((0, 1)), x), case(o.Split((1, 3), 1), x),
                  case(o.Concatenate(0), x, x[:1]), case(o.Reshape((2, 6)), x), case(o.Iota(x.dtype, (9, 2), 0)),
                  case(o.BroadcastInDim((2, 3, 4), (1, 2)), x), case(o.Squeeze((0,)), x[:1]),
                  case(o.DynamicSlice((2, 2)), x, np.int32(7), np.int32(1))]
    check(cases)


def test_contractions_of_all_dtypes():
    numbers, cases = (((1,), (0,)), ((), ())), []
    for dtype in ARRAY_DTYPES:
        left, right = ((np.arange(k) % 3 % 2).reshape(-1, 3).astype(dtype) for k in (6, 9))
        for wanted in (None, np.float32, np.int32, dtypes.bfloat16):
            if dtypes.is_complex(dtype) and wanted is not None:
                continue
            wanted = wanted and np.dtype(wanted)
            narrower = wanted and dtypes.itemsize_bits(wanted) < dtypes.itemsize_bits(dtype)
            if narrower and not dtypes.is_float(dtype):  # which the typing rule refuses
                continue
            cases.append(case(o.DotGeneral(numbers, "highest" if wanted is None else None, wanted), left, right))
    check(cases)


# ---- programs --------------------------------------------------------------------------------------------------


def test_text_of_a_chain():
    program = staged(lambda x, y: [o.add(o.mul(o.sin(x), np.float32(2)), y)], ((3,), F32), ((), F32))
    assert lower(program, "chain", donated=[0]).text == """\
module @chain {
  func.func public @main(%arg0: tensor<3xf32> {jax.buffer_donor = true}, %arg1: tensor<f32>) -> (tensor<3xf32>) {
    %0 = stablehlo.sine %arg0 : tensor<3xf32>
    %1 = stablehlo.constant dense<2.0> : tensor<f32>
    %2 = stablehlo.constant dense<2.0> : tensor<3xf32>
    %3 = stablehlo.multiply %0, %2 : tensor<3xf32>
    %4 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %5 = stablehlo.add %3, %4 : tensor<3xf32>
    return %5 : tensor<3xf32>
  }
}
"""


def test_text_of_calls_and_regions():
    total = staged(lambda x: [o.reduce_sum(x, (0,))], ((3,), I32))
    program = staged(lambda x: o.jit_call(total, [x], "total<of it>") + o.jit_call(total, [x], "again"), ((3,), I32))
    assert lower(program, "2 calls").text == """\
module @program_2_calls {
  func.func public @main(%arg0: tensor<3xi32>) -> (tensor<i32>, tensor<i32>) {
    %0 = func.call @total_of_it_(%arg0) : (tensor<3xi32>) -> tensor<i32>
    %1 = func.call @total_of_it_(%arg0) : (tensor<3xi32>) -> tensor<i32>
    return %0, %1 : tensor<i32>, tensor<i32>
  }
  func.func private @total_of_it_(%arg0: tensor<3xi32>) -> (tensor<i32>) {
    %0 = stablehlo.constant dense<0> : tensor<i32>
    %4 = "stablehlo.reduce"(%arg0, %0) <{dimensions = array<i64: 0>}> ({
    ^bb0(%1: tensor<i32>, %2: tensor<i32>):
      %3 = stablehlo.add %1, %2 : tensor<i32>
      stablehlo.return %3 : tensor<i32>
    }) : (tensor<3xi32>, tensor<i32>) -> tensor<i32>
    return %4 : tensor<i32>
  }
}
"""


def test_inlined_calls_leave_no_function():
    inner = staged(lambda x: [o.sin(x)], ((3,), F32))
    text = lower(staged(lambda x: o.jit_call(inner, [x], inline=True), ((3,), F32))).text
    assert text.count("func.func") == 1 and "call" not in text


def test_functions_of_one_name_and_called_main():
    def calls(x):
        bodies = [staged(lambda x, n=n: [o.add(x, np.float32(n))], ((3,), F32)) for n in range(4)]
        for body, name in zip(bodies, ("main", "f", "f", "f_1"), strict=True):
            x, = o.jit_call(body, [x], name)
        return [x]
    jaxpr = staged(calls, ((3,), F32))
    found, = run_xla(jaxpr, [np.zeros(3, np.float32)])
    assert found.tolist() == [6, 6, 6]


def test_programs_without_inputs_results_or_equations():
    assert run_xla(staged(lambda: []), []) == []
    assert run_xla(staged(lambda x: [], ((2,), F32)), [np.zeros(2, np.float32)]) == []
    one, two = run_xla(staged(lambda x: [x, np.float32(2)], ((2,), F32)), [np.float32([3, 4])])
    assert one.tolist() == [3, 4] and two == 2


def test_an_operation_given_by_a_program_is_lowered_as_a_call_of_it():
    try:
        @operation
        class Double(Operation):
            name = "double_for_this_test"

        abstract_eval.register(Double)(lambda op, x: x)
        expand_rule.register(Double)(lambda op, x: staged(lambda y: [o.add(y, y)], (x.shape, x.dtype)))
        jaxpr = staged(lambda x: [o.neg(bind(Double(), x))], ((2,), F32))
        assert "@double_for_this_test(" in lower(jaxpr).text
        assert run_xla(jaxpr, [np.float32([1, 2])])[0].tolist() == [-2, -4]
    finally:
        OPERATIONS.pop("double_for_this_test", None)


def test_integer_division_of_constants_by_zero():
    def divided(dtype):
        five, zero, minus_one = np.asarray(5, dtype), np.asarray(0, dtype), np.asarray(-1).astype(dtype)
        return staged(lambda: [o.div(five, zero), o.rem(five, zero), o.div(zero, zero), o.div(five, minus_one)])

    assert [int(x) for x in run_xla(divided(np.int32), [])] == [-1, 5, -1, -5]
    assert [int(x) for x in run_xla(divided(np.uint8), [])] == [255, 5, 255, 0]


def test_sums_and_products_of_bools_do_not_wrap():
    values = [np.array([False, True, True]), np.array([False, False, True])]
    total, product = run_xla(staged(lambda x, y: [o.add(x, y), o.mul(x, y)], ((3,), bool), ((3,), bool)), values)
    assert total.tolist() == [False, True, True] and product.tolist() == [False, False, True]
