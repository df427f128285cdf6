"""Constants survive being written into a module, bit by bit."""

import ml_dtypes
import numpy as np
import pytest

from glax.ir import Jaxpr, Literal, dtypes
from glax.lower import jaxlib_adapter as xla
from glax.lower.constants import constant_text
from glax.lower.lowering import lower

SPECIAL = {
    "b": [True, False, True],
    "i": [0, 1, -1],
    "u": [0, 1, 1],
    "f": [0.0, -0.0, 1.0, -1.5, 0.1, 1e-5, 3e38, 1e-40, np.inf, -np.inf, np.nan],
    "c": [0, -0.0, 1 + 2j, complex(np.nan, np.inf), 1e-40j, 0.1 + 1e30j],
}


def run_constants(arrays):
    jaxpr = Jaxpr([], [], [Literal(x) for x in arrays])
    executable = xla.compile(lower(jaxpr).text, xla.FAST_OPTIONS)
    buffers = xla.runner(executable, xla.result_handlers(jaxpr.out_avals))([])
    return [xla.host(b, a.shape, a.dtype) for b, a in zip(buffers, jaxpr.out_avals, strict=True)]


@pytest.mark.parametrize("dtype", dtypes.DTYPES, ids=lambda d: d.name)
def test_constants_of_every_dtype_and_shape(dtype):
    if dtype.name in ("float6_e2m3fn", "float6_e3m2fn"):
        pytest.skip("XLA has no floats of 6 bits")
    with np.errstate(all="ignore"):
        scalars = [np.array(v).astype(dtype) for v in SPECIAL[dtypes.kind(dtype)]]
    mixed = np.array([1, 0, 1, 1, 0, 1]).astype(dtype)
    arrays = [*scalars, np.stack(scalars), mixed.reshape(2, 3), mixed.reshape(3, 1, 2), np.full((4,), scalars[1]),
              np.zeros((0,), dtype), np.zeros((2, 0), dtype)]
    for array, back in zip(arrays, run_constants(arrays), strict=True):
        assert back.dtype == dtype and back.shape == array.shape
        nan = array != array
        assert (back != back).tolist() == nan.tolist()
        assert np.where(nan, 0, back.astype(dtype)).tobytes() == np.where(nan, 0, array).tobytes()


@pytest.mark.parametrize(("value", "text"), [
    (np.float32(2), "dense<2.0>"),
    (np.float64(1e-5), "dense<1.0e-05>"),
    (np.float32(np.nan), "dense<0x7FC00000>"),
    (np.array([3, 3], np.int8), "dense<3>"),
    (np.array([[True, False], [True, True]]), "dense<[[true, false], [true, true]]>"),
    (np.complex64(1 - 2j), "dense<(1.0, -2.0)>"),
    (np.array([1, -2], ml_dtypes.int4), "dense<[1, -2]>"),
    (np.zeros((0, 2), np.float32), "dense<>"),
])
def test_text(value, text):
    assert constant_text(value) == text
