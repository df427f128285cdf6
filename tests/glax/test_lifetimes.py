"""What calls keep alive, how often they call Python, and what is left of donated arguments when they fail."""

import gc
import weakref

import numpy as np
import pytest

import glax
import glax.numpy as gnp
from glax import lax
from glax.experimental import io_callback

FLOAT = glax.ShapeDtypeStruct((), "float32")


class Thing:
    """Something that can be watched."""


def kept_alive(call, times=40):
    """How many of the things that calls were given are there afterwards."""
    watched = []
    for _ in range(times):
        thing = Thing()
        watched.append(weakref.ref(thing))
        call(thing)
        del thing
    gc.collect()
    return sum(reference() is not None for reference in watched)


CALLS = {
    "pure_callback": lambda t: glax.pure_callback(lambda x: (t, x)[1], FLOAT, 1.),
    "debug.callback": lambda t: glax.debug.callback(lambda x: t, 1.),
    "in a derivative": lambda t: glax.grad(lambda x: (glax.debug.callback(lambda x: t, x), x * 2)[1])(1.),
    "in a compiled function": lambda t: glax.jit(lambda x: glax.pure_callback(lambda x: (t, x)[1], FLOAT, x))(1.),
    "in a loop": lambda t: lax.fori_loop(0, 2, lambda i, x: glax.pure_callback(lambda x: (t, x)[1], FLOAT, x), 1.),
    "a jitted function": lambda t: glax.jit(lambda x: (t, x)[1])(1.),
    "a mapped function": lambda t: glax.vmap(lambda x: (t, x)[1])(gnp.ones(2)),
}


@pytest.mark.parametrize("name", CALLS)
def test_python_functions_are_not_kept(name):
    assert kept_alive(CALLS[name]) <= (16 if name == "in a loop" else 1)


def test_static_arguments_of_calls_that_fail_are_not_kept():
    failing = glax.jit(lambda static, x: x.nothing_of_this_name, static_argnums=0)

    def call(thing):
        with pytest.raises(AttributeError):
            failing(thing, 1.)

    assert kept_alive(call) <= 1


@pytest.mark.parametrize("callback", [io_callback, glax.pure_callback])
@pytest.mark.parametrize("transform", [
    lambda f: glax.grad(f)(2.), lambda f: glax.jvp(f, (2.,), (1.,))[1], lambda f: glax.linearize(f, 2.)[1](1.),
    lambda f: glax.vjp(f, 2.)[1](1.)[0]])
def test_a_function_that_decides_is_called_once(transform, callback):
    calls = []

    def count(x):
        calls.append(float(x))
        return np.float32(len(calls))

    def f(x):
        y = callback(count, FLOAT, lax.stop_gradient(x))
        return x * y * 10 if y == 1 else x * y

    assert float(transform(f)) == 10
    assert calls == [2.]


def test_donated_arguments_of_a_call_that_fails_are_gone_or_as_they_were():
    def fails(x):
        raise ArithmeticError("no result")

    step = glax.jit(lambda x, y: glax.pure_callback(fails, glax.ShapeDtypeStruct((3,), "float32"), y) + x,
                    donate_argnums=0)
    x = gnp.asarray(np.ones(3, np.float32))
    with pytest.raises(ArithmeticError):
        step(x, gnp.ones(3))
    if x.is_deleted():
        with pytest.raises(RuntimeError, match="deleted"):
            x + 1
    else:
        assert (x + 1).tolist() == [2., 2., 2.]
