"""Literals of every dtype read back from their text as they were, to the bit."""

import numpy as np
import pytest

import glax
from glax.ir import Jaxpr, Literal, dtypes, parse, shaped_array

DTYPES = [d for d in dtypes.DTYPES if d.kind != "V" or dtypes.is_inexact(d) or dtypes.is_integer(d)]
CHOSEN = (0.0, -0.0, 1e-20, 1e-45, 1 / 3, 16777217.0, 3.4028235e38, 1e-310, np.pi, np.inf, -np.inf, np.nan, -np.nan)


@pytest.fixture(autouse=True)
def x64():
    with glax.enable_x64(True), np.errstate(all="ignore"):
        yield


def some_bits(dtype, count):
    """Values that people write, then any bits that the dtype has: NaNs of every payload among them."""
    rng = np.random.default_rng(0)
    if dtypes.is_float(dtype) or dtypes.is_complex(dtype):
        chosen = np.array(CHOSEN).astype(dtype)
    else:
        chosen = np.array([0, 1]).astype(dtype)
    width = dtypes.itemsize_bits(dtype)
    if dtypes.kind(dtype) == "b":
        return chosen
    if width < 8:
        every = np.arange(2**width, dtype=np.uint8)
        return np.concatenate([chosen, every.view(dtype) if dtypes.is_float(dtype) else every.astype(dtype)])
    drawn = np.frombuffer(rng.bytes(count * dtype.itemsize), dtype)
    return np.concatenate([chosen, drawn, *_with_odd_parts(dtype)])


def _with_odd_parts(dtype):
    """For complex numbers, a part that is a NaN of odd bits beside one that is not; for floats, the NaN alone."""
    if not (dtypes.is_float(dtype) or dtypes.is_complex(dtype)) or dtype.itemsize < 4:
        return []
    part = dtypes.real_part_dtype(dtype)
    odd = (np.array(np.nan, part).view(f"u{part.itemsize}") | np.array(5, f"u{part.itemsize}")).view(part)
    if dtypes.is_float(dtype):
        return [np.array([odd, -odd])]
    pairs = [(odd, 1), (1, odd), (np.nan, odd), (-np.inf, -odd), (np.nan, 0), (-0.0, np.nan)]
    return [np.array(pairs, part).reshape(-1).view(dtype)]


def assert_round_trips(value):
    literal = Literal(value, shaped_array(value.shape, value.dtype))
    program = Jaxpr([], [], [literal])
    again = parse(str(program))
    found = again.outs[0]
    assert (found.aval, found.value.tobytes()) == (literal.aval, literal.value.tobytes()), str(program)
    assert again == program and again.fingerprint == program.fingerprint


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_literals_read_back(dtype):
    values = some_bits(dtype, 40)
    for value in values:
        assert_round_trips(np.array(value, dtype))
    for start in range(0, len(values), 4):
        assert_round_trips(values[start:start + 4].copy())
    assert_round_trips(np.resize(values, (2, 2, 30)))


def test_literals_that_differ_in_a_bit_have_different_texts():
    for dtype in (np.dtype("float32"), np.dtype("float64"), np.dtype("complex64")):
        values = some_bits(dtype, 40)
        texts = {x.tobytes(): str(Jaxpr([], [], [Literal(np.array(x))])) for x in values}
        assert len(set(texts.values())) == len(texts)
