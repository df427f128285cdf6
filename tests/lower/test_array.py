"""The array that users hold: what it says, what it converts to, and that nothing can change it."""

import copy
import gc
import pickle
import weakref

import ml_dtypes
import numpy as np
import pytest

from glax.ir import dtypes
from glax.ir.types import shaped_array
from glax.lower import jaxlib_adapter as xla
from glax.lower.array import Array, from_buffer, from_numpy, from_numpy_owned

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


def make(values, dtype=np.float32, weak_type=False):
    value = np.array(values, dtype)
    return from_numpy_owned(value, shaped_array(value.shape, value.dtype, weak_type))


def on_device(values, dtype=np.float32):
    value = np.array(values, dtype)
    return from_buffer(xla.put(value), shaped_array(value.shape, value.dtype))


@pytest.fixture(params=[make, on_device])
def build(request):
    return request.param


def test_properties(build):
    x = build([[1, 2, 3], [4, 5, 6]], np.int16)
    assert (x.shape, x.dtype, x.ndim, x.size, x.itemsize, x.nbytes) == ((2, 3), np.dtype(np.int16), 2, 6, 2, 12)
    assert not x.weak_type and make(1.0, weak_type=True).weak_type
    assert len(x) == 2 and x.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert not hasattr(x, "flags") and not hasattr(x, "strides")


@pytest.mark.parametrize(
    "dtype", [np.float32, np.bool_, np.int8, np.complex64, BFLOAT16, ml_dtypes.float8_e5m2, ml_dtypes.int4]
)
def test_each_home_is_made_from_the_other_and_kept(dtype):
    there = on_device([0, 1, 1], dtype)
    assert there.value() is there.value() and not there.value().flags.writeable and there.dtype == dtype
    here = from_numpy_owned(there.value(), there.aval)
    assert here.buffer() is here.buffer()
    assert from_buffer(here.buffer(), here.aval).value().tobytes() == np.array([0, 1, 1], dtype).tobytes()


def test_scalars_of_numpy_become_arrays_when_asked_for():
    x = from_numpy_owned(np.float32(2.5), shaped_array((), np.dtype(np.float32)))
    assert x.value() is x.value() and type(x.value()) is np.ndarray and x.value().shape == ()
    assert not x.value().flags.writeable and float(x) == 2.5


# ---- immutability


@pytest.mark.parametrize("size", [1, 4, 1024, 4096, 1 << 16])
def test_nobody_can_write_to_an_array(size):
    raw = np.zeros(4 * size + 4096, np.uint8)
    start = -raw.ctypes.data % 4096
    for given in (
        raw[start : start + 4 * size].view(np.float32),
        np.zeros(size, np.float32),
        np.zeros((size, 2))[:, 0],
    ):
        x = from_numpy(given)
        before = x.buffer()
        given[:] = 7
        assert not x.value().any() and not from_buffer(before, x.aval).value().any()
        for view in (np.asarray(x), np.array(x, copy=False), np.from_dlpack(x), from_buffer(before, x.aval).value()):
            with pytest.raises(ValueError, match="read-only"):
                view[:] = 1
        for view in (np.asarray(x), from_buffer(before, x.aval).value()):
            with pytest.raises(ValueError, match="WRITEABLE"):
                view.flags.writeable = True
        np.array(x)[:] = 1
        x.__array__(copy=True)[:] = 1
        assert not x.value().any()


def test_large_copies_are_used_by_xla_as_they_are():
    x = from_numpy(np.ones(5000, np.float32))
    assert x.unsafe_buffer_pointer() == x.value().ctypes.data


def test_assignment_says_what_to_write_instead():
    with pytest.raises(TypeError, match=r"x\.at\[idx\]\.set\(y\)"):
        make([1])[0] = 2
    with pytest.raises(TypeError, match="immutable"):
        del make([1])[0]
    with pytest.raises(TypeError, match="asarray"):
        Array()
    with pytest.raises(AttributeError):
        make([1]).shape = (1, 1)
    with pytest.raises(AttributeError):
        make([1]).anything = 1


# ---- conversion from NumPy


def test_from_numpy_takes_what_numpy_takes():
    assert from_numpy(np.arange(6).reshape(2, 3).T).tolist() == [[0, 3], [1, 4], [2, 5]]
    assert from_numpy(np.array([1, 2], ">i2")).dtype == np.dtype(np.int16)
    assert from_numpy(np.float32(1)).shape == () and from_numpy(1.0, weak_type=True).weak_type
    big = np.arange(5000, dtype=">f4")[::-1]
    assert from_numpy(big).value().tolist() == big.tolist()
    for wide in (np.int64, np.float64, np.complex128, np.uint64):
        assert from_numpy(np.ones(2, wide)).dtype == dtypes.canonicalize(wide)
    for bad in ("text", np.array([object()])):
        with pytest.raises(TypeError):
            from_numpy(bad)


def test_as_numpy_sees_it(build):
    x = build([1.5, 2.5])
    assert np.asarray(x, np.float64).dtype == np.float64 and (np.asarray(x) + 1).tolist() == [2.5, 3.5]
    assert x.__array__(np.int32).tolist() == [1, 2]
    with pytest.raises(ValueError, match="copy"):
        x.__array__(np.int32, copy=False)
    assert np.asarray(build([1, 2], BFLOAT16)).dtype == BFLOAT16


def test_dlpack(build):
    x = build([1, 2])
    assert np.from_dlpack(x).tolist() == [1, 2] and x.__dlpack_device__() == (1, 0)
    assert np.from_dlpack(x).ctypes.data == x.unsafe_buffer_pointer()
    assert np.from_dlpack(x, copy=True).ctypes.data != x.unsafe_buffer_pointer()
    with pytest.raises(BufferError, match="dl_device"):
        x.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError):
        build([1, 2], ml_dtypes.int4).__dlpack__()


# ---- Python scalars


def test_scalars(build):
    assert int(build(3.7)) == 3 and float(build(3, np.int8)) == 3.0 and complex(build(2)) == 2 + 0j
    assert float(build(1.5, BFLOAT16)) == 1.5 and int(build(3, ml_dtypes.int4)) == 3
    assert range(9)[build(4, np.int8)] == 4 and hex(build(17, np.int32)) == "0x11"
    assert range(9)[build(4, ml_dtypes.int4)] == 4
    assert bool(build([[3]])) and not build(0)
    for convert in (int, float, complex):
        with pytest.raises(TypeError, match="0-dimensional"):
            convert(build([3]))
    for convert in (int, float):
        with pytest.raises(TypeError):
            convert(build(1j, np.complex64))
    for index in (build([3], np.int32), build(3.0), build(True, np.bool_)):
        with pytest.raises(TypeError, match="0-dimensional integer"):
            range(9)[index]
    for values, message in (([1, 2], "more than one"), ([], "empty")):
        with pytest.raises(ValueError, match=message):
            bool(build(values))
    with pytest.raises(TypeError, match="len"):
        len(build(1))
    with pytest.raises(TypeError, match="unhashable"):
        hash(build(1))


def test_items(build):
    x = build([[0, 1, 2], [3, 4, 5]], np.int32)
    assert x.item(4) == x.item(1, 1) == x.item((1, 1)) == 4 and type(x.item(4)) is int
    assert build([2.5], BFLOAT16).item() == 2.5 and build(True, np.bool_).item() is True
    with pytest.raises(ValueError, match="size 1"):
        x.item()
    with pytest.raises(IndexError):
        x.item(6)
    assert build([0, 1], BFLOAT16).tolist() == [0.0, 1.0]


# ---- text, as JAX prints it


@pytest.mark.parametrize(
    "x, text",
    [
        (make([0, 1]), "Array([0., 1.], dtype=float32)"),
        (make(1.5), "Array(1.5, dtype=float32)"),
        (make(1, weak_type=True), "Array(1., dtype=float32, weak_type=True)"),
        (make(True, bool), "Array(True, dtype=bool)"),
        (make([True, False], bool), "Array([ True, False], dtype=bool)"),
        (make([0, 1, 2], BFLOAT16), "Array([0, 1, 2], dtype=bfloat16)"),
        (make(2.5, BFLOAT16), "Array(2.5, dtype=bfloat16)"),
        (make([0, 1, 2], ml_dtypes.int4), "Array([0, 1, 2], dtype=int4)"),
        (make([1 + 2j], np.complex64), "Array([1.+2.j], dtype=complex64)"),
        (make([]), "Array([], shape=(0,), dtype=float32)"),
        (make(np.zeros((2, 0, 1)), bool), "Array([], shape=(2, 0, 1), dtype=bool)"),
        (make(np.zeros((0,)), np.int32, True), "Array([], shape=(0,), dtype=int32, weak_type=True)"),
        (make([1e-9, 1, 1e9]), "Array([1.e-09, 1.e+00, 1.e+09], dtype=float32)"),
        (make([[0, 1], [2, 3]]), "Array([[0., 1.],\n       [2., 3.]], dtype=float32)"),
        (
            make(np.arange(2000)),
            "Array([0.000e+00, 1.000e+00, 2.000e+00, ..., 1.997e+03, 1.998e+03,\n       1.999e+03], dtype=float32)",
        ),
        (
            make([9.034701, 0.94012296, -7.4349923, -9.217254, -4.577258, 2.2019513, -10.096182, -2.0917559]),
            "Array([  9.034701  ,   0.94012296,  -7.4349923 ,  -9.217254  ,\n"
            "        -4.577258  ,   2.2019513 , -10.096182  ,  -2.0917559 ],      dtype=float32)",
        ),
        (
            make([True] * 9, bool),
            "Array([ True,  True,  True,  True,  True,  True,  True,  True,  True],      dtype=bool)",
        ),
    ],
)
def test_repr(x, text):
    assert repr(x) == text


def test_str_and_format():
    assert str(make(1.5)) == "1.5" and str(make([0, 1])) == "[0. 1.]" and str(make(1j, np.complex64)) == "1j"
    assert f"{make(1):.2f}" == "1.00" and f"{make(3, np.int32):d}" == "3" and f"{make(2, BFLOAT16):.2f}" == "2.00"
    assert f"{make([0, 1])}" == "[0. 1.]" and f"{make(True, bool)}" == "True"
    with pytest.raises(TypeError):
        format(make([0, 1]), ".2f")


# ---- copies, deletion, devices


@pytest.mark.parametrize("dtype", [np.float32, bool, BFLOAT16, ml_dtypes.int4, np.float64])
@pytest.mark.parametrize("weak_type", [False, True])
def test_copies(dtype, weak_type):
    x = make([[0, 1]], dtype, weak_type)
    for other in (pickle.loads(pickle.dumps(x)), copy.copy(x), copy.deepcopy(x), copy.deepcopy({"x": x})["x"]):
        assert type(other) is Array and other is not x and other.aval == x.aval
        assert other.value().tobytes() == x.value().tobytes() and not other.value().flags.writeable
    assert copy.deepcopy(x).value().ctypes.data != x.value().ctypes.data


@pytest.mark.parametrize("dtype", [np.float32, BFLOAT16, ml_dtypes.int4])
def test_deletion(build, dtype):
    x = build([1, 1], dtype)
    view, other = np.asarray(x), copy.copy(x)
    assert not x.is_deleted() and x.is_ready() and x.block_until_ready() is x
    x.buffer()
    x.delete()
    x.delete()
    assert x.is_deleted() and x.shape == (2,) and len(x) == 2
    for use in (
        repr,
        np.asarray,
        Array.value,
        Array.tolist,
        Array.is_ready,
        Array.block_until_ready,
        Array.devices,
        Array.__dlpack__,
        Array.unsafe_buffer_pointer,
        Array.on_device_size_in_bytes,
        pickle.dumps,
        copy.copy,
    ):
        with pytest.raises(RuntimeError, match="deleted"):
            use(x)
    assert view.tolist() == other.tolist() == [1, 1] and not other.is_deleted()


def test_deletion_before_xla_has_seen_it():
    x = make([1])
    x.delete()
    assert x.is_deleted()
    with pytest.raises(RuntimeError, match=r"float32\[1\]"):
        x.buffer()


def test_devices(build):
    x = build([1, 2])
    assert x.device == xla.default_device() and x.devices() == {x.device} and x.on_device_size_in_bytes() == 8
    assert x.copy_to_host_async() is None


def test_arrays_can_be_referred_to_weakly_and_go_away():
    x = make([1])
    reference = weakref.ref(x)
    buffer = weakref.ref(x.buffer())
    del x
    gc.collect()
    assert reference() is None and buffer() is None


def test_methods_can_be_added_to_the_class(monkeypatch):
    monkeypatch.setattr(Array, "doubled", lambda self: self.value() * 2, raising=False)
    assert make([1, 2]).doubled().tolist() == [2, 4]


def test_array_namespace():
    assert make([1]).__array_namespace__().__name__ == "glax.numpy"
    assert make([1]).__array_namespace__(api_version="2024.12").__name__ == "glax.numpy"
    with pytest.raises(ValueError, match="api_version"):
        make([1]).__array_namespace__(api_version="1999.01")
