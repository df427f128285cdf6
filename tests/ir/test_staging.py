"""Staging: everything is recorded, programs nest by closure conversion, and leaks are found."""

import threading

import numpy as np
import pytest

import glax
import glax.numpy as gnp
from glax import lax
from glax.ir import ShapedArray, UnexpectedTracerError, check, current_builder, stage
from glax.ir import ops as o

SCALAR = ShapedArray((), "float32")


def test_constants_are_recorded():
    program = glax.make_jaxpr(lambda: lax.mul(2., 2.))()
    assert [e.op.name for e in program.eqns] == ["mul"]


def test_outer_values_become_inputs_of_inner_programs():
    def outer(x, y):
        inner, captured = stage(lambda z: [o.add(o.mul(z, x), o.add(y, x))], [SCALAR], "inner")
        assert len(inner.in_binders) == 3 and [c.atom.index for c in captured] == [0, 1]
        check(inner)
        return o.jit_call(inner, [*captured, y])

    program, captured = stage(outer, [SCALAR, SCALAR], "outer")
    assert not captured
    check(program)


def test_arrays_are_captured_once_and_scalars_are_written_in_place():
    table = np.arange(3, dtype=np.float32)
    program, captured = stage(lambda x: [o.add(o.mul(x, table), table), o.mul(np.float32(2), 3.)],
                              [ShapedArray((3,), "float32")])
    assert len(captured) == 1 and captured[0] is table and len(program.in_binders) == 2


def test_perturbations_are_not_confused():
    slope = glax.grad(lambda x: x * glax.grad(lambda y: x * y)(2.))(3.)
    assert float(slope) == 6.
    assert float(glax.grad(lambda x: glax.jvp(lambda y: x, (1.,), (1.,))[1])(2.)) == 0.


def test_leaks_say_where_the_value_was_made():
    kept = []

    def leak(x):
        kept.append(gnp.cos(x))
        return x

    for transform in (glax.jit, glax.grad, lambda f: lambda x: glax.vmap(f)(gnp.ones(2)), glax.make_jaxpr):
        transform(leak)(1.)
        value = kept.pop()
        for use in (lambda value=value: value + 1, lambda value=value: glax.jit(lambda y: y * value)(1.)):
            with pytest.raises(UnexpectedTracerError, match=r"(?s)test_staging.py.*leak"):
                use()
    assert current_builder() is None


def test_threads_stage_apart():
    results, barrier = {}, threading.Barrier(4)

    def work(n):
        def f(x):
            for _ in range(n):
                barrier.wait()
                x = gnp.sin(x) if n else x
            return x

        results[n] = len(glax.make_jaxpr(f)(1.).eqns)

    threads = [threading.Thread(target=work, args=(20,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {20: 20}


def test_long_programs_take_no_recursion():
    def chain(x):
        for _ in range(20_000):
            x = lax.sin(x)
        return x

    program = glax.make_jaxpr(glax.grad(chain))(1.)
    assert len(program.eqns) > 40_000
    text = str(program)
    assert glax.ir.parse(text) == program.jaxpr and hash(program.jaxpr) == hash(glax.ir.parse(text))
