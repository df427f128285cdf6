"""print, callbacks and breakpoints in programs: they happen once each and in order, however the program is run."""

import contextvars
import io
import sys
import threading
import warnings

import numpy as np
import pytest

import glax
import glax.numpy as gnp
from glax import lax, rewrite
from glax.experimental import io_callback
from glax.interp import evaluate_jaxpr
from glax.ir import parse

SCALAR = glax.ShapeDtypeStruct((), np.float32)


class Record:
    """Seen values, in order."""

    def __init__(self):
        self.values = []

    def __call__(self, *xs):
        self.values.append(tuple(float(x) for x in xs))

    def take(self):
        values, self.values = self.values, []
        return values


@pytest.fixture
def record():
    return Record()


def shown(record, x):
    glax.debug.callback(record, x)
    return x


def interpreted(closed, x):
    return evaluate_jaxpr(closed.jaxpr, *map(np.asarray, closed.consts), np.asarray(x, np.float32))


RUNS = {
    "eager": lambda f, x: f(x),
    "jit": lambda f, x: glax.jit(f)(x),
    "interp": lambda f, x: interpreted(glax.make_jaxpr(f)(x), x),
    "jit of jit": lambda f, x: glax.jit(lambda y: glax.jit(f)(y))(x),
}


@pytest.mark.parametrize("run", RUNS)
def test_loops_branches_and_calls_in_order(record, run):
    def f(x):
        x = shown(record, x)
        x = lax.fori_loop(0, 3, lambda i, c: shown(record, c) + 1., x)
        x = lax.while_loop(lambda c: shown(record, c) < 7., lambda c: c + 1., x)
        x = lax.cond(x > 0, lambda c: shown(record, -c), lambda c: c, x)
        _, ys = lax.scan(lambda c, y: (c, shown(record, c * y)), x, gnp.arange(2.))
        return ys.sum()

    RUNS[run](f, np.float32(3.))
    assert record.take() == [(3.,), (3.,), (4.,), (5.,), (6.,), (7.,), (-7.,), (0.,), (-7.,)]


def test_unused_results_do_not_remove_effects(record):
    program = glax.make_jaxpr(lambda x: (shown(record, x * 2.), 1.)[1])(1.).jaxpr
    for one in (rewrite.cse, rewrite.fold, rewrite.simplify, rewrite.inline, lambda j: rewrite.dce(j)[0]):
        evaluate_jaxpr(one(program), np.float32(1.))
        assert record.take() == [(2.,)]
    assert program.effects and "debug_callback" in str(program)


@pytest.mark.parametrize("wrap", [lambda f: f, glax.jit, glax.checkpoint, lambda f: glax.jit(glax.checkpoint(f))])
def test_derivatives_show_once(record, wrap):
    f = lambda x: gnp.sin(shown(record, x)) * x
    for g in (lambda x: glax.grad(wrap(f))(x), lambda x: glax.jvp(wrap(f), (x,), (1.,)),
              lambda x: glax.linearize(wrap(f), x)[1](1.), lambda x: glax.jit(glax.grad(wrap(f)))(x)):
        g(2.)
        assert record.take() == [(2.,)]


def counted_loop(record):
    """A loop whose derivative goes through its steps again; its effects depend on no tangent."""
    def step(i, c):
        shown(record, i)
        lax.cond(i > 0, lambda: record_too(record, i), lambda: None)
        return c * 2.
    return lambda x, n: lax.fori_loop(0, n, step, x)


def record_too(record, i):
    shown(record, i + 10)


def test_loops_that_derivatives_run_again_show_once(record):
    f = counted_loop(record)
    once = [(0,), (1,), (11,)]
    y, linear = glax.linearize(lambda x: f(x, gnp.int32(2)), 3.)
    assert float(y) == 12. and record.take() == once
    for _ in range(2):
        assert float(linear(1.)) == 4.
        assert record.take() == []
    assert float(glax.jit(lambda x, n: glax.linearize(lambda v: f(v, n), x)[1](1.))(3., 2)) == 4.
    assert record.take() == once


def test_what_the_host_returned_is_not_asked_for_twice():
    calls = []

    def host(x):
        calls.append(float(x))
        return np.float32(len(calls))

    def f(v):
        step = lambda c: (c[0] * 2, io_callback(host, SCALAR, c[1]))
        return lax.while_loop(lambda c: c[1] < 2.5, step, (v, 0.))[0]

    with pytest.raises(NotImplementedError, match="would have to run io_callback.* a second time"):
        glax.linearize(f, 1.)
    assert float(f(1.)) == 8.


@pytest.mark.parametrize("compiled", [False, True])
def test_vmap_shows_each_row_once(record, compiled):
    wrap = glax.jit if compiled else lambda f: f
    xs = gnp.arange(3.)
    wrap(glax.vmap(lambda x: shown(record, x)))(xs)
    assert record.take() == [(0.,), (1.,), (2.,)]
    wrap(glax.vmap(lambda x: (shown(record, 5.), x)[1]))(xs)
    assert record.take() == [(5.,)]
    wrap(glax.vmap(lambda x: lax.cond(x > 0.5, lambda x: shown(record, x), lambda x: -x, x)))(xs)
    assert record.take() == [(1.,), (2.,)]
    wrap(glax.vmap(lambda x: lax.while_loop(lambda c: c < 2., lambda c: shown(record, c) + 1., x)))(xs)
    assert record.take() == [(0.,), (1.,), (1.,)]


def test_print(capfd):
    @glax.jit
    def f(x):
        glax.debug.print("x={x} twice={:.1f}", 2 * x, x=x)
        glax.debug.print("tree {}", {"a": x, "b": (x,)})
        glax.debug.print("nothing {{}}")
        return x

    f(1.)
    assert capfd.readouterr().out == "x=1.0 twice=2.0\ntree " + str({"a": np.float32(1), "b": (1,)}).replace(
        "np.float32(1.0)", "array(1., dtype=float32)").replace("(1,)", "(array(1., dtype=float32),)") + "\nnothing {}\n"
    program = glax.make_jaxpr(lambda x: glax.debug.print("{}", x))(1.).jaxpr
    assert parse(str(program)) == program and "debug_print[fmt='{}']" in str(program)
    for call, word in ((lambda: glax.debug.print("{} {}", 1.), "positional argument 1"),
                       (lambda: glax.debug.print("{y}", x=1.), "'y'"),
                       (lambda: glax.debug.print("none", 1.), "does not use")):
        with pytest.raises(ValueError, match=word):
            call()


def test_pure_callback_runs_and_batches():
    calls = []

    def host(x):
        calls.append(x.shape)
        return np.sin(x)

    def f(x, method):
        return glax.pure_callback(host, glax.ShapeDtypeStruct(x.shape, x.dtype), x, vmap_method=method)

    xs = np.arange(3, dtype=np.float32)
    for wrap in (lambda f: f, glax.jit):
        for method, shapes in (("sequential", [()] * 3), ("broadcast_all", [(3,)]), ("expand_dims", [(3,)])):
            got = wrap(glax.vmap(lambda x, method=method: f(x, method)))(xs)
            np.testing.assert_allclose(got, np.sin(xs), rtol=1e-6)
            assert calls == shapes
            calls.clear()
    with pytest.raises(TypeError, match="vmap_method"):
        glax.vmap(lambda x: f(x, None))(xs)
    with pytest.raises(TypeError, match="derivative"):
        glax.grad(lambda x: f(x, None))(1.)
    glax.jit(lambda x: (f(x, None), x)[1])(gnp.float32(1.))
    pair = glax.pure_callback(lambda x: {"a": x, "b": (x + 1,)}, {"a": SCALAR, "b": (SCALAR,)}, 1.)
    assert float(pair["b"][0]) == 2.


@pytest.mark.parametrize("wrap", [lambda f: f, glax.jit])
def test_broken_promises_and_exceptions(wrap):
    class Mine(Exception):
        pass

    def raises(x):
        raise Mine("from the host")

    def promised(result):
        return wrap(lambda x: glax.pure_callback(lambda x: result, SCALAR, x))

    with pytest.raises(Mine, match="from the host"):
        wrap(lambda x: glax.pure_callback(raises, SCALAR, x))(1.)
    with pytest.raises(Mine):
        wrap(lambda x: glax.debug.callback(raises, x))(1.)
    with pytest.raises(ValueError, match=r"shape \(3,\)"):
        promised(np.zeros(3, np.float32))(1.)
    with pytest.raises(TypeError, match="float64"):
        promised(np.float64(1.))(1.)
    with pytest.raises(ValueError, match="tree"):
        promised((np.float32(1.), np.float32(1.)))(1.)
    assert float(wrap(lambda x: x + 1)(1.)) == 2.


def test_exceptions_of_the_host_reach_the_thread_that_ran_the_program():
    got = {i: set() for i in range(4)}

    def work(i):
        def raises(x):
            raise KeyError(i)
        f = glax.jit(lambda x: glax.pure_callback(raises, SCALAR, x))
        for _ in range(100):
            try:
                f(1.)
            except Exception as error:
                got[i].add((type(error), *error.args))

    threads = [threading.Thread(target=work, args=(i,)) for i in got]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == {i: {(KeyError, i)} for i in got}


def test_host_functions_cannot_write_to_arrays():
    def write(x):
        x[0] = 7.

    for wrap in (lambda f: f, glax.jit):
        with pytest.raises(ValueError, match="read-only"):
            wrap(lambda x: glax.debug.callback(write, x))(gnp.zeros(2))


def test_io_callback_is_kept_and_ordered():
    state = []

    def push(x):
        state.append(float(x))
        return np.float32(len(state))

    def f(x):
        io_callback(push, SCALAR, x, ordered=True)
        return io_callback(push, SCALAR, x * 2, ordered=True)

    assert float(glax.jit(f)(1.)) == 2. and state == [1., 2.]
    state.clear()
    np.testing.assert_allclose(glax.jit(glax.vmap(f))(gnp.arange(2.)), [3., 4.])
    assert state == [0., 1., 0., 2.]


def test_breakpoint(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\nvars\nl\nnonsense\nc\n"))

    @glax.jit
    def f(x):
        y = x * 2
        glax.debug.breakpoint()
        return y

    assert float(f(2.)) == 4.
    out = capsys.readouterr().out
    assert "test_effects.py" in out and "4." in out and "NameError" in out and "x = " in out


def test_what_a_function_returned_is_its_own_again():
    """A function that fills the same array at every call is no less pure for it."""
    filled = np.zeros(3, np.float32)

    def fill(x):
        filled[:] = np.asarray(x)
        return filled

    shape = glax.ShapeDtypeStruct((3,), gnp.float32)
    first = glax.pure_callback(fill, shape, gnp.ones(3))
    second = glax.pure_callback(fill, shape, gnp.ones(3) * 2)
    filled[:] = 9
    assert np.asarray(first).tolist() == [1.] * 3 and np.asarray(second).tolist() == [2.] * 3


@pytest.mark.parametrize("run", [
    lambda f, x: f(x),
    lambda f, x: glax.vmap(f)(x[None])[0],
    lambda f, x: glax.jit(f)(x),
    lambda f, x: glax.core.eval_jaxpr(glax.make_jaxpr(f)(x).jaxpr, [], x)[0],
])
def test_functions_run_in_the_context_of_the_caller(run):
    offset = contextvars.ContextVar("offset", default=0.)
    offset.set(7.)

    def host(x):
        offset.set(offset.get() + 1.)
        with pytest.warns(RuntimeWarning, match="divide by zero"):
            np.divide(np.ones(()), np.zeros(()))
        return np.float32(x + offset.get())

    def f(x):
        y = gnp.log(x - x) * 0. + x  # NumPy would warn of it
        called = glax.pure_callback(host, glax.ShapeDtypeStruct((), gnp.float32), x, vmap_method="sequential")
        return gnp.where(gnp.isnan(y), called, y)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert float(run(f, gnp.asarray(1.))) == 9.
    assert offset.get() == 8.
