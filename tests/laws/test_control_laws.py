"""Laws of control flow, over random bodies."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import F64, build

import glax
from glax import rewrite
from glax.interp import evaluate_jaxpr
from glax.ir import check, current_builder, shaped_array, stage
from glax.ir import ops as o
from glax.testing import assert_close, check_lowering

SCALAR, VECTOR = shaped_array((), F64), shaped_array((2,), F64)


@pytest.fixture(autouse=True)
def x64():
    with glax.enable_x64(True):
        yield


@st.composite
def scans(draw):
    """A scan of a random body, the same steps written out, and arguments."""
    body = build(draw, [SCALAR, VECTOR, SCALAR, SCALAR], F64, True, 1, 4, out_avals=[VECTOR, SCALAR, SCALAR])
    length, reverse = draw(st.integers(0, 4)), draw(st.booleans())
    unroll = draw(st.integers(1, 3))
    xs = shaped_array((length,), F64)

    def written_out(const, a, b, xs):
        ys = [None] * length
        for i in reversed(range(length)) if reverse else range(length):
            x = o.reshape(o.slice_(xs, (i,), (i + 1,)), ())
            a, b, ys[i] = current_builder().splice(body, [const, a, b, x])
        stacked = o.concatenate([o.reshape(y, (1,)) for y in ys], 0) if ys else o.full((0,), 0, F64)
        return [a, b, stacked]

    avals = [SCALAR, VECTOR, SCALAR, xs]
    loop, _ = stage(lambda c, a, b, xs: o.scan(body, length, [c], [a, b], [xs], reverse, unroll), avals)
    unrolled, _ = stage(written_out, avals)
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    return loop, unrolled, lambda *extra: [rng.integers(-8, 9, (*extra, *a.shape)) / 4 + .0625 for a in avals]


def gradient(jaxpr):
    """The program of a program's inputs and cotangents to the cotangents of its inputs."""
    pulled = rewrite.vjp(jaxpr, [True] * len(jaxpr.in_binders))
    count = len(jaxpr.outs)

    def run(*args):
        splice = current_builder().splice
        residuals = splice(pulled.forward, args[:len(jaxpr.in_binders)])[count:]
        moving = [ct for ct, flag in zip(args[len(jaxpr.in_binders):], pulled.nonzero_outputs) if flag]
        return splice(pulled.backward, [*residuals, *moving])

    made, _ = stage(run, [*jaxpr.in_avals, *jaxpr.out_avals])
    check(made)
    return made


@given(scans())
def test_a_scan_is_its_steps_written_out(case):
    loop, unrolled, point = case
    args = point()
    assert_close("scan", evaluate_jaxpr(loop, *args), evaluate_jaxpr(unrolled, *args), loop)
    cts = [np.cos(np.arange(a.size)).reshape(a.shape) for a in loop.out_avals]
    assert_close("gradient of scan", evaluate_jaxpr(gradient(loop), *args, *cts),
                 evaluate_jaxpr(gradient(unrolled), *args, *cts), loop, factor=100)


@given(scans())
def test_vmap_of_the_gradient_of_a_scan_is_a_stack_of_gradients(case):
    loop, _, point = case
    args = point(3)
    cts = [np.cos(np.arange(3 * a.size)).reshape((3, *a.shape)) for a in loop.out_avals]
    backward = gradient(loop)
    batched, _ = rewrite.vmap(backward, rewrite.BatchAxis(3), [0] * len(backward.in_binders))
    check(batched)
    rows = [evaluate_jaxpr(backward, *row) for row in zip(*args, *cts)]
    assert_close("vmap grad scan", evaluate_jaxpr(batched, *args, *cts), [np.stack(x) for x in zip(*rows)], loop)


@given(scans())
def test_cleaned_gradients_are_the_same(case):
    loop, _, point = case
    args, cts = point(), [np.ones(a.shape) for a in loop.out_avals]
    backward = gradient(loop)
    cleaned = rewrite.clean_up(backward)
    check(cleaned)
    assert_close("clean-up", evaluate_jaxpr(cleaned, *args, *cts), evaluate_jaxpr(backward, *args, *cts), backward)


@given(scans())
def test_second_derivatives_of_scans(case):
    loop, unrolled, point = case
    args, cts = point(), [np.ones(a.shape) for a in loop.out_avals]
    directions = [np.sin(1 + np.arange(x.size)).reshape(x.shape) for x in args]

    def along(jaxpr):
        backward = gradient(jaxpr)
        moved, _ = rewrite.jvp(backward, [True] * len(args) + [False] * len(cts), True)
        check(moved)
        return evaluate_jaxpr(moved, *args, *cts, *directions)

    assert_close("hessian product", along(loop), along(unrolled), loop, factor=1e4)


@given(scans())
def test_xla_computes_gradients_of_scans(case):
    loop, _, point = case
    check_lowering(gradient(loop), [*point(), *[np.ones(a.shape) for a in loop.out_avals]])
