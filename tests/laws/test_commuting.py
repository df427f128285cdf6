"""jvp, vmap, jit, grad and linearize commute, in pairs and in triples, over random programs."""

from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import F64, build

import glax
from glax._calls import apply_program
from glax.ir import ops as o
from glax.ir import shaped_array
from glax.testing import assert_close


@pytest.fixture(autouse=True)
def x64():
    with glax.enable_x64(True):
        yield


@st.composite
def functions(draw):
    """A function of one array to a scalar, its argument's shape, and its program."""
    shape = draw(st.sampled_from([(), (3,), (2, 3)]))
    program = build(draw, [shaped_array(shape, F64)], F64, True, 2, 6)

    def f(x):
        outs = apply_program(program, [x])
        sums = [o.reduce_sum(y, tuple(range(y.ndim))) for y in outs if y.dtype == F64]
        return o.sin(reduce(o.add, sums)) if sums else o.reduce_sum(x, tuple(range(len(shape))))

    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    point = lambda *extra: np.asarray(rng.integers(-8, 9, (*extra, *shape)) / 4 + .0625)
    return f, point, program


def directional(f):
    """The derivative of f along v, as a function of both."""
    return lambda x, v: glax.jvp(f, (x,), (v,))[1]


def through_linearize(f):
    return lambda x, v: glax.linearize(f, x)[1](v)


def agree(law, got, wanted, program):
    assert_close(law, [np.asarray(got)], [np.asarray(wanted)], program, factor=100)


def stack(f, *columns):
    return np.stack([np.asarray(f(*row)) for row in zip(*columns)])


@given(functions())
def test_pairs(case):
    f, point, program = case
    x, v, xs, vs = point(), point(), point(3), point(3)
    agree("jit", glax.jit(f)(x), f(x), program)
    agree("jit grad", glax.jit(glax.grad(f))(x), glax.grad(f)(x), program)
    agree("grad jit", glax.grad(glax.jit(f))(x), glax.grad(f)(x), program)
    agree("jit jvp", glax.jit(directional(f))(x, v), directional(f)(x, v), program)
    agree("jvp jit", directional(glax.jit(f))(x, v), directional(f)(x, v), program)
    agree("linearize", through_linearize(f)(x, v), directional(f)(x, v), program)
    agree("linearize jit", through_linearize(glax.jit(f))(x, v), directional(f)(x, v), program)
    agree("vmap", glax.vmap(f)(xs), stack(f, xs), program)
    agree("vmap jit", glax.vmap(glax.jit(f))(xs), glax.jit(glax.vmap(f))(xs), program)
    agree("vmap grad", glax.vmap(glax.grad(f))(xs), stack(glax.grad(f), xs), program)
    summed = lambda xs: o.reduce_sum(glax.vmap(f)(xs), (0,))
    agree("grad of sum of vmap", glax.grad(summed)(xs), glax.vmap(glax.grad(f))(xs), program)
    agree("vmap jvp", glax.vmap(directional(f))(xs, vs), stack(directional(f), xs, vs), program)
    agree("jvp vmap", directional(glax.vmap(f))(xs, vs), glax.vmap(directional(f))(xs, vs), program)
    agree("linearize vmap", through_linearize(glax.vmap(f))(xs, vs), glax.vmap(through_linearize(f))(xs, vs), program)
    agree("jvp grad = grad jvp", directional(glax.grad(f))(x, v), glax.grad(lambda x: directional(f)(x, v))(x), program)
    agree("linearize grad", through_linearize(glax.grad(f))(x, v), directional(glax.grad(f))(x, v), program)
    agree("grad is jvp's transpose", np.sum(np.asarray(glax.grad(f)(x)) * v), directional(f)(x, v), program)


@given(functions())
def test_triples(case):
    f, point, program = case
    x, v, xs, vs = point(), point(), point(2), point(2)
    hvp = lambda x, v: directional(glax.grad(f))(x, v)
    rows = stack(hvp, xs, vs)
    agree("vmap jvp grad", glax.vmap(hvp)(xs, vs), rows, program)
    agree("jvp vmap grad", directional(glax.vmap(glax.grad(f)))(xs, vs), rows, program)
    agree("jit vmap jvp grad", glax.jit(glax.vmap(hvp))(xs, vs), rows, program)
    agree("vmap jit jvp grad", glax.vmap(glax.jit(hvp))(xs, vs), rows, program)
    agree("vmap jvp jit grad", glax.vmap(directional(glax.jit(glax.grad(f))))(xs, vs), rows, program)
    agree("vmap jvp grad jit", glax.vmap(directional(glax.grad(glax.jit(f))))(xs, vs), rows, program)
    agree("vmap linearize grad", glax.vmap(through_linearize(glax.grad(f)))(xs, vs), rows, program)
    agree("vmap grad jvp", glax.vmap(lambda x, v: glax.grad(lambda x: directional(f)(x, v))(x))(xs, vs), rows, program)
    through_sum = lambda xs: o.reduce_sum(glax.vmap(directional(f))(xs, vs), (0,))
    agree("grad vmap jvp", glax.grad(through_sum)(xs), rows, program)
    agree("jvp jvp", directional(lambda x: directional(f)(x, v))(x, v), np.sum(np.asarray(hvp(x, v)) * v), program)
    agree("grad grad", glax.grad(lambda x: _total(glax.grad(f)(x), v))(x), hvp(x, v), program)
    nested = glax.vmap(lambda y: glax.vmap(lambda x: f(o.add(x, y)))(xs))(vs)
    agree("vmap vmap", nested, np.stack([[np.asarray(f(x + y)) for x in xs] for y in vs]), program)


def _total(x, v):
    return o.reduce_sum(o.mul(x, v), tuple(range(v.ndim)))
