"""Dtypes: names, kinds, limits and the promotion lattice."""

import enum

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glax.ir import dtypes
from glax.ir.config import config, enable_x64
from glax.ir.dtypes import TypePromotionError, from_short_name, result_type

PROMOTING = ["bool", "u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "bf16", "f16", "f32", "f64", "c64", "c128"]
NARROW = [name for name in PROMOTING if "64" not in name and name != "c128"] + ["c64"]
pairs = st.tuples(st.sampled_from(PROMOTING).map(from_short_name), st.booleans())
narrow_pairs = st.tuples(st.sampled_from(NARROW).map(from_short_name), st.booleans())


def pair(text):
    return from_short_name(text.rstrip("*")), text.endswith("*")


def shown(result):
    return dtypes.short_name(result[0]) + "*" * result[1]


# ---- names -------------------------------------------------------------------------------------------------------


def test_short_names():
    known = {"bool": bool, "i4": "int4", "u2": "uint2", "i32": "int32", "u8": "uint8", "f16": "float16"}
    known |= {"bf16": "bfloat16", "f8_e4m3fn": "float8_e4m3fn", "f8_e4m3b11fnuz": "float8_e4m3b11fnuz"}
    known |= {"f4_e2m1fn": "float4_e2m1fn", "c64": "complex64", "c128": "complex128", "float0": dtypes.float0}
    for short, dtype in known.items():
        assert dtypes.short_name(dtype) == short


@pytest.mark.parametrize("dtype", [*dtypes.DTYPES, dtypes.float0], ids=str)
def test_short_names_round_trip(dtype):
    assert from_short_name(dtypes.short_name(dtype)) is dtypes.check_array_dtype(dtype)


def test_unknown_short_name():
    with pytest.raises(ValueError, match="no dtype is named 'f33'; the names are bool, "):
        from_short_name("f33")


@pytest.mark.parametrize("dtype", [object, str, "U3", "M8[s]", "m8", np.longdouble, np.void, [("x", "f4")]])
def test_unsupported_dtypes(dtype):
    with pytest.raises(TypeError, match="jit: arrays of dtype .* are not supported; expected bool or a number dtype"):
        dtypes.check_array_dtype(dtype, "jit")


@pytest.mark.parametrize("dtype", ["nonsense", None, 3, object()])
def test_not_a_dtype(dtype):
    with pytest.raises(TypeError, match="where: expected a dtype, got"):
        dtypes.check_array_dtype(dtype, "where")


def test_byte_order_becomes_native():
    assert dtypes.check_array_dtype(">f4") is np.dtype("float32")


# ---- canonical dtypes --------------------------------------------------------------------------------------------


def test_canonicalize():
    narrow = {"i64": "i32", "u64": "u32", "f64": "f32", "c128": "c64"}
    for dtype in dtypes.DTYPES:
        name = dtypes.short_name(dtype)
        with enable_x64(False):
            assert dtypes.short_name(dtypes.canonicalize(dtype)) == narrow.get(name, name)
        with enable_x64(True):
            assert dtypes.canonicalize(dtype) is dtype


@pytest.mark.parametrize(("x64", "names"), [(False, "bool i32 f32 c64"), (True, "bool i64 f64 c128")])
def test_python_scalars(x64, names):
    with enable_x64(x64):
        got = [dtypes.python_scalar_dtype(t) for t in (bool, int, float, complex)]
        assert got == [dtypes.canonicalize(t) for t in (bool, int, float, complex)]
        assert " ".join(map(dtypes.short_name, got)) == names
        assert dtypes.default_dtype("bfloat16") == got[2]
    with pytest.raises(TypeError, match="expected bool, int, float or complex, got <class 'str'>"):
        dtypes.python_scalar_dtype(str)


class Colour(enum.IntEnum):
    RED = 7


def test_coerce_scalar():
    with enable_x64(False):
        for value, name in [(True, "bool"), (3, "i32*"), (2.5, "f32*"), (1j, "c64*"), (Colour.RED, "i32*")]:
            got, weak = dtypes.coerce_scalar(value)
            assert shown((got.dtype, weak)) == name and got == value
        for value, name in [(np.float64(2), "f32"), (np.int8(1), "i8"), (np.arange(3), "i32"), (np.bool_(1), "bool")]:
            got, weak = dtypes.coerce_scalar(value)
            assert shown((got.dtype, weak)) == name and np.array_equal(got, value)


@pytest.mark.filterwarnings("error")
def test_coerce_scalar_at_the_limits():
    with enable_x64(False):
        assert dtypes.coerce_scalar(2**31 - 1)[0] == 2**31 - 1
        assert dtypes.coerce_scalar(1e300)[0] == np.inf
        assert dtypes.coerce_scalar(-1e300 + 1j)[0].real == -np.inf
        assert np.isnan(dtypes.coerce_scalar(float("nan"))[0])
        assert dtypes.coerce_scalar(np.float64(1e300))[0] == np.inf
        for value in (2**31, -(2**31) - 1, 10**400):
            with pytest.raises(OverflowError, match=f"Python int {value} too large to convert to int32; glax.enable_x"):
                dtypes.coerce_scalar(value)
    with enable_x64(True):
        assert dtypes.coerce_scalar(2**40)[0] == 2**40
        with pytest.raises(OverflowError, match="too large to convert to int64$"):
            dtypes.coerce_scalar(2**63)


@pytest.mark.parametrize("value", ["a", None, object(), [1]])
def test_coerce_scalar_errors(value):
    with pytest.raises(TypeError, match="expected a scalar or a NumPy array, got .* of type"):
        dtypes.coerce_scalar(value)
    with pytest.raises(TypeError, match="arrays of dtype object are not supported"):
        dtypes.coerce_scalar(np.array([value], dtype=object))


# ---- kinds and limits --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", dtypes.DTYPES, ids=str)
def test_kinds_partition(dtype):
    kinds = [dtypes.is_bool, dtypes.is_integer, dtypes.is_float, dtypes.is_complex]
    assert sum(f(dtype) for f in kinds) == 1
    assert dtypes.is_inexact(dtype) == (dtypes.is_float(dtype) or dtypes.is_complex(dtype))
    for abstract, f in zip([np.bool_, np.integer, np.floating, np.complexfloating], kinds, strict=True):
        assert dtypes.issubdtype(dtype, abstract) == f(dtype) == f(dtype.type)
    assert dtypes.issubdtype(dtype, np.inexact) == dtypes.is_inexact(dtype)
    assert dtypes.issubdtype(dtype, dtype) and dtypes.issubdtype(dtype, np.generic)
    assert dtypes.tangent_dtype(dtype) == (dtype if dtypes.is_inexact(dtype) else dtypes.float0)
    assert dtypes.scalar_type_of(dtype) in (bool, int, float, complex)


def test_issubdtype():
    assert dtypes.issubdtype("int4", np.signedinteger) and dtypes.issubdtype("uint2", np.unsignedinteger)
    assert not dtypes.issubdtype("int4", np.unsignedinteger) and not dtypes.issubdtype("bfloat16", np.float32)
    assert not dtypes.issubdtype(bool, np.integer) and not dtypes.issubdtype(dtypes.float0, np.inexact)


def test_limits():
    assert (int(dtypes.iinfo("int2").min), int(dtypes.iinfo("uint4").max)) == (-2, 15)
    assert dtypes.finfo("complex64").eps == np.finfo("float32").eps
    assert float(dtypes.finfo(np.ones(2, ml_dtypes.bfloat16)).eps) == 2**-7
    assert float(dtypes.finfo("float8_e4m3fn").max) == 448
    assert [dtypes.itemsize_bits(x) for x in ("bool", "int4", "float6_e2m3fn", "bfloat16", "c16")] == [8, 4, 6, 16, 128]
    with pytest.raises(ValueError, match="finfo: expected a floating or complex dtype, got int32"):
        dtypes.finfo("int32")
    with pytest.raises(ValueError, match="iinfo: expected an integer dtype, got float32"):
        dtypes.iinfo("float32")
    with pytest.raises(ValueError, match="float0 has no size"):
        dtypes.itemsize_bits(dtypes.float0)


def test_scalar_type_of():
    assert [dtypes.scalar_type_of(x) for x in (True, 3, 2.5, 1j, np.uint8(3), "int4", np.ones(2, "f2"))] == [
        bool, int, float, complex, int, int, float]  # fmt: skip
    with pytest.raises(TypeError, match="float0"):
        dtypes.scalar_type_of(dtypes.float0)


@pytest.mark.parametrize(
    ("name", "inexact", "cplx", "real"),
    [("bool", "f32", "c64", "bool"), ("i4", "f32", "c64", "i4"), ("i64", "f64", "c128", "i64"),
     ("bf16", "bf16", "c64", "bf16"), ("f64", "f64", "c128", "f64"), ("c64", "c64", "c64", "f32"),
     ("c128", "c128", "c128", "f64")],
)  # fmt: skip
def test_related(name, inexact, cplx, real):
    dtype = from_short_name(name)
    got = [f(dtype) for f in (dtypes.to_inexact, dtypes.to_complex, dtypes.real_part_dtype)]
    assert [*map(dtypes.short_name, got)] == [inexact, cplx, real]


# ---- promotion ---------------------------------------------------------------------------------------------------

# operands, result with 32-bit dtypes, result with 64-bit ones; a star marks a weak dtype
FACTS = """
    bool i32          i32   i32
    bool f32*         f32*  f64*
    bool bool*        bool  bool
    i32  i32*         i32   i32
    i8   i32*         i8    i8
    i8   f32*         f32*  f64*
    u8   i8           i16   i16
    u32  i32          i32   i64
    u8   f16          f16   f16
    i32  bf16         bf16  bf16
    bf16 f16          f32   f32
    bf16 f32*         bf16  bf16
    f16  c64*         c64   c64
    i32  c64*         c64*  c128*
    f32  c64          c64   c64
    i32* f32*         f32*  f32*
    i4   i4           i4    i4
    i4   i32*         i4    i4
    f8_e5m2 f32*      f8_e5m2 f8_e5m2
    i8 u16 f32        f32   f32
    i8 bf16 f16       f32   f32
""".strip().splitlines()


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: " ".join(fact.split()))
def test_promotion_facts(fact):
    *operands, narrow, wide = fact.split()
    with enable_x64(False):
        assert shown(result_type(*map(pair, operands))) == narrow
    with enable_x64(True):
        assert shown(result_type(*map(pair, operands))) == wide


def test_promotion_of_64_bits():
    with enable_x64(True):
        assert shown(result_type(pair("i64"), pair("u64"))) == "f64*"
        assert shown(result_type(pair("f64"), pair("c64"))) == "c128"
    with enable_x64(False):  # such arrays, made under enable_x64, stay as they are among themselves
        assert shown(result_type(pair("i64"), pair("i64"))) == "i64"
        assert shown(result_type(pair("i64"), pair("i8"))) == "i32"


@given(pairs, pairs)
def test_promotion_commutes(a, b):
    with enable_x64(True):
        assert result_type(a, b) == result_type(b, a)


@given(pairs, st.booleans())
def test_promotion_is_idempotent(a, x64):
    with enable_x64(x64):
        assert result_type(a)[0] == a[0]
        if dtypes.canonicalize(a[0]) == a[0]:
            assert result_type(a, a) == result_type(a)


@given(narrow_pairs, narrow_pairs, narrow_pairs)
def test_promotion_of_strong_dtypes_associates(a, b, c):
    a, b, c = ((dtype, False) for dtype, _ in (a, b, c))
    for x64 in (False, True):
        with enable_x64(x64):
            assert result_type(result_type(a, b), c) == result_type(a, result_type(b, c)) == result_type(a, b, c)


@given(narrow_pairs, narrow_pairs)
def test_promotion_makes_no_64_bits_of_32(a, b):
    with enable_x64(False):
        dtype, _ = result_type(a, b)
        assert dtypes.canonicalize(dtype) == dtype


@given(pairs, pairs)
def test_weak_results_have_no_strong_inexact_operand(a, b):
    with enable_x64(True):
        if result_type(a, b)[1]:
            assert all(weak or dtypes.is_integer(dtype) or dtypes.is_bool(dtype) for dtype, weak in (a, b))


@given(st.sampled_from(PROMOTING), st.sampled_from(PROMOTING))
def test_promote_types_is_the_strong_join(a, b):
    a, b = from_short_name(a), from_short_name(b)
    with enable_x64(True):
        assert dtypes.promote_types(a, b) == result_type((a, False), (b, False))[0]


def test_promote_types_with_python_types():
    assert dtypes.promote_types("int8", int) == "int8"
    assert dtypes.promote_types("int8", float) == dtypes.promote_types(int, float) == "float64"
    assert dtypes.promote_types("float64", "float32") == "float64"


@pytest.mark.parametrize(
    ("a", "b", "text"),
    [("f8_e5m2", "f32", "no common dtype for float8_e5m2, float32: floats of 8 bits or less never"),
     ("i4", "i8", "no common dtype for int4, int8: integers of 2 and 4 bits never")],
)  # fmt: skip
def test_promotion_errors(a, b, text):
    with pytest.raises(TypePromotionError, match=text):
        result_type(pair(a), pair(b))


def test_strict_promotion():
    with config.override(numpy_dtype_promotion="strict"):
        assert shown(result_type(pair("f32"), pair("f32*"))) == "f32"
        assert shown(result_type(pair("f32"), pair("i32*"))) == "f32"
        with pytest.raises(TypePromotionError, match="'strict'"):
            result_type(pair("f32"), pair("i32"))
        with pytest.raises(TypePromotionError, match=r"i32|f\*"):
            result_type(pair("i32"), pair("f32*"))
    assert shown(result_type(pair("f32"), pair("i32"))) == "f32"


def test_promotion_of_nothing_and_of_float0():
    with pytest.raises(ValueError, match="at least one"):
        result_type()
    assert result_type((dtypes.float0, False)) == (dtypes.float0, False)
    with pytest.raises(TypeError, match="float0 has no values to promote"):
        result_type((dtypes.float0, False), pair("f32"))
