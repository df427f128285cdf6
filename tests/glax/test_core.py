"""Programs back to functions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from programs import programs

import glax
import glax.numpy as gnp
from glax import rewrite
from glax.ir import ClosedJaxpr


@given(programs(dtype=np.dtype(np.float32)))
def test_staging_the_function_of_a_program_gives_the_program(case):
    program, _ = case
    closed = ClosedJaxpr(program)
    avals = [glax.ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type) for a in program.in_avals]
    assert glax.make_jaxpr(glax.extend.core.jaxpr_as_fun(closed))(*avals) == closed


def test_it_is_transformed_like_any_function():
    captured = gnp.arange(3.0)
    closed = glax.make_jaxpr(lambda x: (x * captured).sum())(gnp.ones(3))
    f = glax.extend.core.jaxpr_as_fun(closed)
    (value,), (slope,) = f(gnp.ones(3)), (glax.grad(lambda x: f(x)[0])(gnp.ones(3)),)
    assert float(value) == 3 and slope.tolist() == [0, 1, 2]
    assert glax.jit(glax.vmap(f))(gnp.ones((2, 3)))[0].tolist() == [3, 3]


def test_a_rewritten_program_runs_under_jit():
    both, _ = rewrite.jvp(glax.make_jaxpr(gnp.sin)(1.0).jaxpr, [True])
    y, t = glax.jit(lambda x, t: glax.core.eval_jaxpr(both, [], x, t))(0.0, 2.0)
    assert (float(y), float(t)) == (0, 2)


@pytest.mark.parametrize(("args", "said"), [
    ((), "a program of 1 inputs was given 0 consts and 0 arguments"),
    ((np.ones(2),), r"input 0 of the program is f32\[3\], got f"), ((np.ones(3, np.int32),), "got i32"),
])
def test_arguments_that_do_not_fit(args, said):
    program = glax.make_jaxpr(gnp.sin)(gnp.ones(3)).jaxpr
    with pytest.raises(TypeError, match=said):
        glax.core.eval_jaxpr(program, [], *args)


def test_only_a_closed_program_is_a_function():
    with pytest.raises(TypeError, match="jaxpr_as_fun takes a ClosedJaxpr, got an object of type Jaxpr"):
        glax.extend.core.jaxpr_as_fun(glax.make_jaxpr(gnp.sin)(1.0).jaxpr)
