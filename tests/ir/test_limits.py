"""The least and the greatest value of every dtype."""

import ml_dtypes
import numpy as np
import pytest

from glax.ir import dtypes
from glax.ir.limits import default_fill, greatest, least

REAL_FLOATS = [d for d in dtypes.DTYPES if dtypes.is_float(d)]
WITH_INFINITIES = {"float8_e3m4", "float8_e4m3", "float8_e5m2", "bfloat16", "float16", "float32", "float64"}
SMALL = [d for d in REAL_FLOATS if d.itemsize == 1]


def every_value(dtype):
    """All the values of a dtype of at most 8 bits, NaN left out."""
    codes = np.arange(2 ** dtypes.itemsize_bits(dtype), dtype=np.uint8)
    values = codes.view(dtype).astype(np.float64)
    return values[~np.isnan(values)]


@pytest.mark.parametrize("dtype", dtypes.DTYPES, ids=str)
def test_limits_are_scalars_of_the_dtype(dtype):
    for value in (least(dtype), greatest(dtype), default_fill(dtype)):
        assert type(value) is dtype.type
        assert np.asarray(value).dtype == dtype


@pytest.mark.parametrize("dtype", REAL_FLOATS, ids=str)
def test_limits_of_floats_are_infinite_where_there_are_infinities(dtype):
    infinite = dtype.name in WITH_INFINITIES
    assert bool(np.isinf(greatest(dtype))) == bool(np.isinf(least(dtype))) == infinite
    assert least(dtype) < greatest(dtype)


@pytest.mark.parametrize("dtype", SMALL, ids=str)
def test_limits_of_small_floats_bound_all_their_values(dtype):
    values = every_value(dtype)
    assert float(least(dtype)) == values.min()
    assert float(greatest(dtype)) == values.max()


def test_limits_without_infinities():
    for name, low, high in (("float8_e4m3fn", -448, 448), ("float8_e4m3b11fnuz", -30, 30), ("float4_e2m1fn", -6, 6),
                            ("float8_e8m0fnu", 2.0**-127, 2.0**127), ("float6_e3m2fn", -28, 28)):
        dtype = np.dtype(getattr(ml_dtypes, name))
        assert (float(least(dtype)), float(greatest(dtype))) == (low, high)


def test_limits_of_other_kinds():
    assert (least(np.dtype(bool)), greatest(np.dtype(bool))) == (False, True)
    assert (least(np.dtype(ml_dtypes.int4)), greatest(np.dtype(ml_dtypes.uint2))) == (-8, 3)
    assert (least(np.dtype("i8")), greatest(np.dtype("u8"))) == (-2**63, 2**64 - 1)
    assert least(np.dtype("c8")) == complex(-np.inf, 0)


def test_default_fills():
    for dtype, fill in (("i1", -128), ("u1", 255), (bool, True), (ml_dtypes.int2, -2)):
        assert default_fill(np.dtype(dtype)) == fill
    for dtype in ("f4", "c8", dtypes.bfloat16, ml_dtypes.float8_e4m3fn):
        assert np.isnan(default_fill(np.dtype(dtype)))
