"""Corners of glax.numpy, one table a class: what NumPy and JAX answer there."""

import array
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import glax
import glax.numpy as gnp
from glax import lax, random
from glax.ir import Literal

FLOATS = gnp.arange(5.) * 10
INTS = np.array([1, 2, 7], np.int32)
AROUND = [-7, -1, 0, 4, 9]
NAN = np.nan


def same(result: Any, expected: Any) -> None:
    np.testing.assert_array_equal(np.asarray(result), np.asarray(expected))


def compiled_too(function: Callable[..., Any], *args: Any) -> list[Any]:
    return [function(*args), glax.jit(function)(*args)]


@pytest.mark.parametrize(("bins", "right", "expected"), [
    ([3, 1, 0], True, [3, 3, 1, 1, 3, 2, 0]),
    ([3, 1, 0], False, [3, 3, 0, 1, 2, 1, 0]),
    ([0, 1, 3], True, [0, 0, 2, 2, 0, 1, 3]),
    ([0, 1, 3], False, [0, 0, 3, 2, 1, 2, 3]),
    ([1, 1], True, [0, 0, 2, 2, 0, 0, 2]),
    ([2], False, [0, 0, 1, 1, 0, 0, 1]),
    ([np.nan, 1, 0], False, [3, 3, 1, 1, 2, 1, 1]),
    ([0, 1, np.nan], False, [0, 0, 2, 2, 1, 2, 2]),
])
def test_digitize(bins, right, expected):
    x = np.array([-1, -2, 3, 2, 0, 1, 5])
    same(expected, np.digitize(x, bins, right))
    for result in compiled_too(lambda x: gnp.digitize(x, gnp.array(bins), right), x):
        same(result, expected)


@pytest.mark.parametrize("dtype", ["int32", "int8"])
@pytest.mark.parametrize(("read", "expected", "slopes"), [
    (lambda x, i: gnp.take(x, i, mode="clip"), [0, 0, 0, 40, 40], [3, 0, 0, 0, 2]),
    (lambda x, i: gnp.take(x[None], i, axis=1, mode="clip")[0], [0, 0, 0, 40, 40], [3, 0, 0, 0, 2]),
    (lambda x, i: x.take(i, mode="clip"), [0, 0, 0, 40, 40], [3, 0, 0, 0, 2]),
    (lambda x, i: gnp.take(x, i), [NAN, 40, 0, 40, NAN], [1, 0, 0, 0, 2]),
    (lambda x, i: gnp.take(x, i, mode="wrap"), [30, 40, 0, 40, 40], [1, 0, 0, 1, 3]),
    (lambda x, i: gnp.take_along_axis(x, i, 0, mode="clip"), [0, 40, 0, 40, 40], [2, 0, 0, 0, 3]),
    (lambda x, i: gnp.take_along_axis(x, i, 0, mode="clip", wrap_negative_indices=False), [0, 0, 0, 40, 40],
     [3, 0, 0, 0, 2]),
    (lambda x, i: gnp.take_along_axis(x, i, 0), [NAN, 40, 0, 40, NAN], [1, 0, 0, 0, 2]),
    (lambda x, i: x.at[i].get(mode="clip"), [0, 40, 0, 40, 40], [2, 0, 0, 0, 3]),
    (lambda x, i: x.at[i].get(mode="clip", wrap_negative_indices=False), [0, 0, 0, 40, 40], [3, 0, 0, 0, 2]),
])
def test_indices_out_of_bounds(read, expected, slopes, dtype):
    indices = np.array(AROUND, dtype)
    for at in (lambda x: read(x, indices), lambda x: read(x, gnp.array(indices))):
        for result in compiled_too(at, FLOATS):
            same(result, expected)
        same(glax.grad(lambda x, at=at: gnp.nansum(at(x)))(FLOATS), slopes)
    same(glax.jit(read)(FLOATS, indices), expected)


@pytest.mark.parametrize(("call", "expected"), [
    (lambda: gnp.take(gnp.zeros((0, 3)), gnp.zeros(0, int), axis=0, mode="clip").shape, (0, 3)),
    (lambda: gnp.take(gnp.zeros((0, 3)), gnp.zeros(0, int), axis=0, mode="wrap").shape, (0, 3)),
    (lambda: gnp.take(gnp.zeros(0), gnp.array([0])), IndexError),
    (lambda: gnp.take(gnp.zeros(0), gnp.array([0]), mode="clip"), IndexError),
    (lambda: gnp.take_along_axis(gnp.zeros((0, 3)), gnp.zeros((1, 3), int), 0).tolist(), [[0, 0, 0]]),
    (lambda: gnp.zeros((0, 3)).at[(gnp.array([0, 1]), 1)].power(2).shape, (0, 3)),
    (lambda: gnp.zeros((0, 3)).at[(gnp.array([0, 1]), 1)].apply(gnp.sin).shape, (0, 3)),
    (lambda: gnp.zeros((0, 3)).at[0, 1].apply(gnp.sin), IndexError),
    (lambda: gnp.unwrap(gnp.zeros(0)).shape, (0,)),
    (lambda: gnp.unwrap(gnp.zeros((3, 0))).shape, (3, 0)),
    (lambda: gnp.unwrap(gnp.zeros((0, 3)), axis=0).shape, (0, 3)),
    (lambda: gnp.cov(gnp.zeros((2, 0))).tolist(), [[NAN, NAN]] * 2),
    (lambda: gnp.cov(gnp.zeros((2, 0)), bias=True).tolist(), [[NAN, NAN]] * 2),
    (lambda: gnp.cov(gnp.zeros(0)).tolist(), NAN),
    (lambda: gnp.cov(gnp.zeros((0, 2))).shape, (0, 0)),
])
def test_no_elements(call, expected):
    if isinstance(expected, type):
        with pytest.raises(expected):
            call()
    else:
        np.testing.assert_equal(call(), expected)


@pytest.mark.parametrize(("n", "prepend", "append", "expected"), [
    (0, 9, None, [1, 4]), (0, None, 9, [1, 4]), (1, 9, None, [-8, 3]), (2, 9, 0, [11, -7]),
])
def test_diff(n, prepend, append, expected):
    same(gnp.diff(gnp.array([1, 4]), n, prepend=prepend, append=append), expected)


@pytest.mark.parametrize(("x", "y"), [
    (1 + 1j, 2 - 1j), (1j, 2 + 1j), (500 + 1j, 500 + 1j), (-300 + 2j, -301 - 1j), (3.5, -2.0),
])
def test_logaddexp2(x, y):
    larger = max(np.real(x), np.real(y))
    expected = larger + np.log2(2.0 ** (x - larger) + 2.0 ** (y - larger))
    for result in compiled_too(gnp.logaddexp2, x, y):
        turns = np.imag(result - expected) * np.log(2) / (2 * np.pi)
        assert abs(turns - round(float(turns))) < 1e-6
        np.testing.assert_allclose(np.real(result), np.real(expected), rtol=1e-6)


@pytest.mark.parametrize("x", [np.inf + 0j, -np.inf + 0j])
def test_logaddexp2_keeps_infinities(x):
    same(gnp.real(gnp.logaddexp2(x, 1 + 1j)), np.real(x) if np.real(x) > 0 else 1)


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64"])
def test_ldexp(name):
    with glax.config.override(enable_x64=name == "float64"), np.errstate(all="ignore"):
        dtype = np.dtype(getattr(ml_dtypes, name, name))
        info = ml_dtypes.finfo(dtype)
        tiny, least, most, bias = float(info.smallest_normal), float(info.smallest_subnormal), float(info.max), -int(
            info.minexp)
        normal = [0., -0., np.inf, -np.inf, NAN, 1., -1.5, 1.3, 1 / 3, tiny, tiny * 1000.7, most, -most / 3, 7.7]
        x = np.array([*normal, least, -3 * least, tiny / 3]).astype(dtype)
        for n in (0, 1, -7, bias, bias + 1, bias + 5, -bias - 1, -bias - 3, 2 * bias + 20, -2 * bias - 20, 5000, -5000):
            expected = np.ldexp(x.astype(np.float64), n).astype(dtype)
            assert same_bits(gnp.ldexp(x, n), expected), (n, gnp.ldexp(x, n), expected)
            for result in (glax.jit(lambda x, n=n: gnp.ldexp(x, n))(x), glax.jit(gnp.ldexp)(x, n)):
                # Compiled code takes subnormal numbers for zero.
                same_enough = same_bits(flushed(result, tiny)[:len(normal)], flushed(expected, tiny)[:len(normal)])
                assert same_enough, (n, result, expected)


def same_bits(x: Any, y: Any) -> bool:
    x, y = (np.where(np.isnan(v), NAN, v).tobytes() for v in (np.asarray(x, np.float64), np.asarray(y, np.float64)))
    return x == y


def flushed(x: Any, tiny: float) -> np.ndarray:
    x = np.asarray(x, np.float64)
    return np.where(np.abs(x) < tiny * 1.01, x * 0, x)


@pytest.mark.parametrize(("x", "n", "expected"), [
    (1., np.uint32(2**31), np.inf), (1., 2**31 - 1, np.inf), (1., -2**31, 0.), (2., np.int8(-128), 2.**-127),
    (np.float16(1e-4), 20, float(np.float16(1e-4)) * 2**20), (1e-35, 130, 13611.295), (1.5, True, 3.),
])
def test_ldexp_of_scalars(x, n, expected):
    np.testing.assert_allclose(gnp.ldexp(x, n), expected, rtol=1e-6)
    if expected == 0 or expected > 1e-37:
        np.testing.assert_allclose(glax.jit(lambda x: gnp.ldexp(x, n))(x), expected, rtol=1e-6)


def test_derivatives_of_ldexp_with_constant_exponents():
    slopes = glax.jit(glax.grad(lambda x: (gnp.ldexp(x, 130) * gnp.array([0., 1e-30])).sum()))(gnp.array([1e-35, 0.]))
    np.testing.assert_allclose(slopes, [0, 1.3611295e9], rtol=1e-6)


@pytest.mark.parametrize(("x", "index", "values", "options", "expected"), [
    ([2., 2, 3], np.array([0, 0, 1]), 2, {}, [16, 4, 3]),
    ([2., 2, 3], np.array([0, 0, 1]), np.array([2, 3, 4]), {}, [64, 16, 3]),
    ([2., 2, 3], np.array([0, -3, 1]), 2., {}, [16, 4, 3]),
    ([2, 2, 3], np.array([0, 0, 1]), 2, {}, [16, 4, 3]),
    ([2., 2, 3], np.array([0, 0, 7]), 2, {}, [16, 2, 3]),
    ([2., 2, 3], np.array([2, 7]), 2, {"mode": "clip"}, [2, 2, 81]),
    ([2., 2, 3], np.array([0, 0, 1]), 2, {"unique_indices": True}, [4, 4, 3]),
    ([-2., 2, -3], np.array([0, 0]), 3, {}, [-512, 2, -3]),
    ([[1., 2, 3], [4, 5, 6]], (np.array([0, 0]), slice(1, None)), np.array([[2, 3], [1, 2]]), {},
     [[1, 4, 729], [4, 5, 6]]),
    ([2., 2, 3], slice(1, None), 2, {}, [2, 4, 9]),
    ([2., 2, 3], np.array([True, False, True]), 3, {}, [8, 2, 27]),
    ([2., 2, 3], -1, 2, {}, [2, 2, 9]),
])
def test_powers_at_indices(x, index, values, options, expected):
    x = np.array(x, np.int32 if isinstance(x[0], int) else np.float32)
    for result in compiled_too(lambda x: gnp.asarray(x).at[index].power(values, **options), x):
        same(result, expected)
        assert result.dtype == x.dtype
    if isinstance(index, np.ndarray) and index.dtype != bool and not options.get("unique_indices"):
        same(glax.jit(lambda x, i: x.at[i].power(values, **options))(x, index), expected)


def test_powers_at_repeated_indices_have_derivatives():
    x = gnp.array([2., 2., 3.])
    same(glax.grad(lambda x: x.at[gnp.array([0, 0, 1])].power(2.).sum())(x), [32, 4, 1])
    same(x.at[gnp.array([0, 0, 1])].apply(gnp.square), [4, 4, 3])


@pytest.mark.parametrize(("x", "values", "expected"), [
    (np.zeros(2, np.float32), True, -1), (np.zeros(2, np.float32), np.array([True]), -1),
    (np.zeros(2, np.int32), True, -1), (np.zeros(2, np.float32), np.uint8(3), -3), (np.zeros(2, np.uint8), 1, 255),
    (np.zeros(2, np.int8), np.uint8(3), -3), (np.zeros(2, np.float32), [2.5], -2.5),
    (np.zeros(2, np.complex64), True, -1), (np.zeros(2, bool), True, TypeError),
])
def test_subtract_at_indices(x, values, expected):
    place = gnp.asarray(x).at[1:]
    if expected is TypeError:
        with pytest.raises(TypeError, match="bools are not subtracted"):
            place.subtract(values)
    else:
        result = place.subtract(values)
        same(result, [0, expected])
        assert result.dtype == x.dtype


@pytest.mark.parametrize(("value", "real"), [
    (1j, False), (1 + 0j, True), (np.complex64(1j), False), (2, True), (True, True), (2.5, True),
])
def test_isreal_of_scalars(value, real):
    for result in compiled_too(lambda: gnp.isreal(value)):
        assert bool(result) is real
    assert bool(gnp.iscomplex(value)) is not real
    with pytest.raises(TypeError, match="iscomplex requires arrays"):
        gnp.iscomplex("text")


@pytest.mark.parametrize(("name", "a", "expected"), [
    ("sum", [0, 2, 0], True), ("sum", [0, 0], False), ("prod", [1, 2], True), ("prod", [1, 0], False),
    ("sum", [], False), ("prod", [], True), ("cumsum", [0, 3, 0], [False, True, True]),
    ("cumprod", [2, 0, 3], [True, False, False]), ("nansum", [NAN, 0.], False), ("nanprod", [NAN, 2.], True),
    ("nancumsum", [NAN, .5], [False, True]), ("cumulative_sum", [0, 1], [False, True]),
    ("sum", [256.5, 0], True), ("sum", [-1j], True),
])
def test_accumulations_in_bools(name, a, expected):
    for result in compiled_too(lambda a: getattr(gnp, name)(a, dtype=bool), np.array(a)):
        same(result, expected)
        assert result.dtype == bool


def test_accumulations_in_bools_with_a_start_and_a_mask():
    a, mask = gnp.array([[1, 0], [2, 0]]), np.array([[False, True], [True, True]])
    same(gnp.sum(a, 1, bool, initial=0, where=mask), [False, True])
    same(gnp.sum(a, 0, bool, initial=3), [True, True])
    same(gnp.prod(a, 0, bool, initial=3, where=mask, keepdims=True), [[True, False]])


@pytest.mark.parametrize(("name", "a", "dtype", "expected", "result_dtype"), [
    ("var", [1, 2, 7], "int32", 7, "float32"), ("nanvar", [1, 2, 7], "int32", 7, "float32"),
    ("var", [1.5, 2, 7], "int32", 7, "float32"), ("var", [True, False], "int32", 0, "float32"),
    ("var", [1, 2, 7], "uint8", 7, "float32"),
    ("var", [1, 3], "complex64", 1, "complex64"), ("std", [1, 3], "complex64", 1, "complex64"),
    ("nanvar", [1., 3, NAN], "complex64", 1, "complex64"), ("nanstd", [1j, 3j], "complex64", 1, "complex64"),
    ("var", [1j, 3j], None, 1, "float32"), ("var", [1, 3], "float16", 1, "float16"),
    ("std", [1, 3], "int32", ValueError, None), ("nanstd", [1, 3], "int32", ValueError, None),
    ("var", [1, 3], "bool", ValueError, None),
])
def test_dtypes_of_variances(name, a, dtype, expected, result_dtype):
    def function(a):
        return getattr(gnp, name)(a, dtype=dtype)

    if expected is ValueError:
        with pytest.raises(ValueError, match="dtype must be"):
            function(np.array(a))
        return
    for result in compiled_too(function, np.array(a)):
        same(result, expected)
        assert result.dtype == result_dtype


@pytest.mark.parametrize(("p", "m", "expected"), [
    (np.arange(6.).reshape(3, 2), 0, np.arange(6.).reshape(3, 2)), (np.arange(6.).reshape(3, 2), 1, [[0, 1], [4, 3]]),
    (np.arange(6.).reshape(3, 2), 2, [[0, 2]]), ([1., 2, 3, 4], 1, [3, 4, 3]), ([1., 2, 3, 4], 2, [6, 4]),
    ([1., 2, 3, 4], 3, [6]), ([1., 2, 3, 4], 4, []), ([1, 0, 5], 1, [2, 0]),
])
def test_polyder(p, m, expected):
    same(gnp.polyder(gnp.array(p), m), expected)


@pytest.mark.parametrize("mode", ["reflect", "symmetric"])
@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("width", [(0, 0), (1, 1), (2, 3), (4, 9), (13, 0)])
def test_odd_padding(mode, n, width):
    x = (np.arange(n) ** 2 + 3).astype(np.int32)
    expected = np.pad(x, width, mode=mode, reflect_type="odd")
    for result in compiled_too(lambda x: gnp.pad(x, width, mode=mode, reflect_type="odd"), x):
        same(result, expected)
    both = np.stack([x, x * 2], 1).astype(np.float32)
    same(gnp.pad(both, (width, (1, 0)), mode=mode, reflect_type="odd"),
         np.pad(both, (width, (1, 0)), mode=mode, reflect_type="odd"))


class Always:
    """A rule that is equal to every other."""

    def __init__(self, amount: float):
        self.amount = amount

    def __call__(self, size, in_batched, x):
        return x + self.amount, True

    def __eq__(self, other: object) -> bool:
        return type(other) is Always

    def __hash__(self) -> int:
        return 1


def test_the_vmap_rule_is_the_one_given_last():
    f = glax.custom_batching.custom_vmap(lambda x: x)
    for amount in (10., 20.):
        f.def_vmap(Always(amount))
        for vmapped in (glax.vmap(f), glax.jit(glax.vmap(f))):
            same(vmapped(gnp.arange(2.)), [amount, amount + 1])


def _read_only(x: np.ndarray) -> np.ndarray:
    x = x.view()
    x.flags.writeable = False
    return x


_BYTES, _ITEMS = bytearray(8), array.array("f", [0., 0.])
_PLAIN, _ROW = np.zeros(2, np.float32), np.zeros(1, np.float32)


@pytest.mark.parametrize(("writable", "view"), [
    (_PLAIN, _read_only(_PLAIN)), (_PLAIN, _read_only(_PLAIN)[::-1]), (_ROW, np.broadcast_to(_ROW, 2)),
    (np.frombuffer(_BYTES, np.float32), _read_only(np.frombuffer(_BYTES, np.float32))),
    (np.frombuffer(_BYTES, np.float32), np.frombuffer(memoryview(_BYTES).toreadonly(), np.float32)),
    (np.frombuffer(_ITEMS, np.float32), np.frombuffer(memoryview(_ITEMS).toreadonly(), np.float32)),
])
def test_constants_of_read_only_views_stay(writable, view):
    writable[...] = 0
    literal, program = Literal(view), glax.make_jaxpr(lambda: lax.sin(view))()
    text, hashed = str(program), hash(program)
    writable[...] = 7
    same(literal.value, [0, 0])
    assert literal == Literal(np.zeros(2, np.float32))
    assert (str(program), hash(program)) == (text, hashed)


def test_memory_that_nobody_writes_to_is_not_copied():
    owner = np.zeros(3, np.float32)
    owner.flags.writeable = False
    for value in (owner, owner[1:], np.frombuffer(b"abcd", np.uint8), glax.jit(lambda x: x + 1)(owner).value()):
        assert np.shares_memory(Literal(value).value, value)


SQUARE = np.ones((2, 2), np.float32)


@pytest.mark.parametrize("call", [
    lambda x: lax.reshape(x, (2, 2)), lambda x: lax.transpose(x, (0, 1)), lambda x: lax.squeeze(x, ()),
    lambda x: lax.expand_dims(x, ()), lambda x: lax.rev(x, ()), lambda x: lax.tile(x, (1, 1)),
    lambda x: lax.collapse(x, 1), lambda x: lax.broadcast_like(x, x), lambda x: lax.broadcast_to_rank(x, 2),
    lambda x: lax.broadcast_in_dim(x, (2, 2), (0, 1)), lambda x: lax.convert_element_type(x, x.dtype),
    lambda x: lax.associative_scan(gnp.add, x[:1]), lambda x: lax.switch(0, [lambda x: x], x),
    lambda x: lax.stop_gradient(x), lambda x: lax.stop_gradient(x.astype(np.int32).view()),
    lambda x: lax.slice(x, (0, 0), (2, 2)), lambda x: lax.fori_loop(0, 0, lambda i, x: x, x),
])
def test_what_is_left_unchanged_is_an_array_of_its_own(call):
    x = SQUARE.copy()
    result = call(x)
    assert type(result) is type(gnp.ones(1))
    before = np.array(result)
    x[...] = 7
    same(result, before)
    staged = glax.jit(call)(SQUARE)
    same(staged, before)


def test_membership_of_a_scalar_is_an_array():
    assert isinstance(gnp.isin(2.0, gnp.array([])), gnp.ndarray)


def test_moving_and_dumping_arrays():
    x = gnp.array([[1., 2.], [3., 4.]])
    assert x.to_device(glax.devices()[0]) is x
    assert x.tobytes() == np.asarray(x).tobytes()
    assert x.tobytes("F") == np.asarray(x).tobytes("F")
    with pytest.raises(ValueError, match="stream must be None"):
        x.to_device(x.device, stream=1)


KEY = random.key(0)
KEYS = random.split(KEY, 3)


@pytest.mark.parametrize(("call", "expected"), [
    (lambda: gnp.where(np.array([True, False, True]), KEYS, KEY), [KEYS[0], KEY, KEYS[2]]),
    (lambda: gnp.stack([KEY, KEYS[1]]), [KEY, KEYS[1]]),
    (lambda: gnp.stack([KEYS, KEYS], axis=-1)[1], [KEYS[1], KEYS[1]]),
    (lambda: gnp.concatenate([KEYS[1:], KEYS[:1]]), [KEYS[1], KEYS[2], KEYS[0]]),
    (lambda: gnp.concatenate([KEYS[None], KEYS[None]], axis=None)[3:], [*KEYS]),
    (lambda: glax.jit(lambda on, keys: gnp.where(on, keys, keys[::-1]))(False, KEYS), [*KEYS[::-1]]),
])
def test_keys_are_chosen_and_joined(call, expected):
    found = call()
    assert found.shape == (len(expected),)
    assert all(bool(a == b) for a, b in zip(found, expected))


@pytest.mark.parametrize("call", [
    lambda: gnp.where(True, KEY, 1), lambda: gnp.stack([KEY, gnp.zeros(())]), lambda: gnp.where(KEYS, 1, 2),
    lambda: KEY == gnp.zeros(()), lambda: KEY != 1, lambda: gnp.concatenate([KEYS, gnp.zeros(3)]),
])
def test_keys_are_not_mixed_with_numbers(call):
    with pytest.raises(TypeError):
        call()


def test_take_by_bools_and_not_by_floats():
    x = gnp.arange(3.)
    assert gnp.take(x, True).tolist() == np.take(np.arange(3.), True).tolist()
    assert gnp.take(x, np.array([True, False, True])).tolist() == [1., 0., 1.]
    for mode in (None, "wrap", "clip", "fill"):
        with pytest.raises(TypeError, match="take: indices must be integers"):
            gnp.take(x, 1.5, mode=mode)


def test_covariance_of_columns():
    assert gnp.cov(np.ones((1, 4)), rowvar=False).shape == (4, 4)
    with pytest.raises(TypeError, match="fweights must be integers"):
        gnp.cov(np.ones((2, 3)), fweights=np.ones(3))
