"""NumPy arguments of compiled calls: copied to memory that is used again, and never seen by an earlier result."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import glax
import glax.numpy as gnp
from glax import lax
from glax.ir import ShapedArray, dtypes
from glax.lower import InputMemory, jaxlib_adapter
from glax.lower.input_memory import LARGEST

DTYPES = ["bool", "int8", "uint16", "int32", "float16", "bfloat16", "float32", "complex64", "float8_e4m3fn", "int4"]

# Programs that XLA may run without computing anything, so that a result could be an argument's memory.
PASS_ON = {
    "the argument": lambda x: x,
    "the argument twice": lambda x: (x, x),
    "a reshape": lambda x: x.reshape(-1),
    "a whole slice": lambda x: x[:],
    "a barrier": lambda x: lax.optimization_barrier(x),
    "a loop of no steps": lambda x: lax.fori_loop(0, 0, lambda i, c: c + c, x),
    "a branch": lambda x: lax.cond(True, lambda y: y, lambda y: y + y, x),
}


@pytest.mark.parametrize("name", PASS_ON)
def test_a_result_keeps_its_values_when_the_memory_is_used_again(name):
    f = glax.jit(PASS_ON[name])
    first = [np.asarray(y) for y in glax.tree.leaves(f(np.arange(4.0, dtype=np.float32)))]
    f(np.full(4, 9, np.float32))
    for y in first:
        np.testing.assert_array_equal(y, np.arange(4.0))


@settings(deadline=None)
@given(st.sampled_from(DTYPES), st.lists(st.integers(0, 3), max_size=3), st.booleans(), st.data())
def test_every_call_sees_its_own_arguments(dtype, shape, transposed, data):
    f = glax.jit(lambda x, y: (x, y, gnp.stack([y, x])))
    kept = []
    for _ in range(3):
        x, y = (np.array(data.draw(st.lists(st.integers(0, 1), min_size=int(np.prod(shape)),
                                            max_size=int(np.prod(shape))))).reshape(shape).astype(gnp.dtype(dtype))
                for _ in range(2))
        if transposed:
            x, y = x.T, y.T
        kept.append((x.copy(), y.copy(), f(x, y)))
        x[...] = y[...] = np.ones((), x.dtype)
    for x, y, (first, second, both) in kept:
        np.testing.assert_array_equal(np.asarray(first), x)
        np.testing.assert_array_equal(np.asarray(second), y)
        np.testing.assert_array_equal(np.asarray(both), np.stack([y, x]))


def test_a_callback_may_keep_what_it_is_given():
    kept = []

    @glax.jit
    def f(x):
        glax.debug.callback(lambda y: kept.append(y), x)
        return x

    for i in range(3):
        f(np.full(3, i, np.float32))
    assert [np.asarray(y).tolist() for y in kept] == [[0, 0, 0], [1, 1, 1], [2, 2, 2]]


def test_a_call_within_a_call_has_other_memory():
    @glax.jit
    def f(x):
        def again(y):
            return np.asarray(f(np.asarray(y) - 1)) if y[0] > 0 else np.zeros(2, np.float32)
        return x + glax.pure_callback(again, glax.ShapeDtypeStruct((2,), np.float32), x)

    assert f(np.full(2, 4, np.float32)).tolist() == [10, 10]
    assert f(np.full(2, 3, np.float32)).tolist() == [6, 6]


def test_threads_do_not_share_memory_during_a_run():
    f = glax.jit(lambda x: lax.fori_loop(0, 200, lambda i, c: c + x, gnp.zeros_like(x)))
    f(np.zeros(64, np.float32))
    wrong = []

    def work(k: int) -> None:
        for i in range(50):
            if not (np.asarray(f(np.full(64, k + i, np.float32))) == 200 * (k + i)).all():
                wrong.append((k, i))

    threads = [threading.Thread(target=work, args=(100 * k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_an_argument_that_is_donated_has_no_memory_to_keep():
    f = glax.jit(lambda x, y: x + y, donate_argnums=0)
    for i in range(3):
        assert f(np.full(2, i, np.float32), np.ones(2, np.float32)).tolist() == [i + 1, i + 1]


@pytest.mark.parametrize("dtype", DTYPES)
def test_memory_is_used_only_where_xla_reads_it_as_it_is(dtype):
    aval = ShapedArray((3,), dtypes.canonicalize(gnp.dtype(dtype)))
    memory = InputMemory(aval)
    values = np.array([1, 0, 1]).astype(aval.dtype)
    slot = memory.take(values)
    assert (slot is None) == (dtype == "int4") == (not memory.usable)
    if slot is not None:
        np.testing.assert_array_equal(jaxlib_adapter.host(slot.buffer, aval.shape, aval.dtype), values)


def test_large_and_empty_arguments_are_not_copied():
    assert InputMemory(ShapedArray((LARGEST,), "int8")).usable
    assert not InputMemory(ShapedArray((LARGEST + 1,), "int8")).usable
    assert not InputMemory(ShapedArray((0, 3), "float32")).usable
