"""What rewrites say of arguments that do not fit the program."""

from __future__ import annotations

import re

import pytest

import glax
import glax.numpy as gnp
from glax import interp, lower, rewrite
from glax.lower import compile_program, from_numpy
from glax.rewrite import BatchAxis

CLOSED = glax.make_jaxpr(lambda x: gnp.sin(x) * x)(1.0)
PROGRAM = CLOSED.jaxpr
INTEGERS = glax.make_jaxpr(lambda x: x * 2)(1).jaxpr
ROW = glax.make_jaxpr(lambda x: x * 2)(gnp.ones(3)).jaxpr

TAKE_PROGRAMS = [
    lambda p: rewrite.jvp(p, [True]), lambda p: rewrite.linearize(p, [True]), lambda p: rewrite.vjp(p, [True]),
    lambda p: rewrite.vmap(p, BatchAxis(2), [0]), lambda p: rewrite.partial_eval(p, [True]),
    lambda p: rewrite.transpose(p, [True]), rewrite.jit, rewrite.inline, rewrite.fold, rewrite.simplify, rewrite.cse,
    rewrite.dce, rewrite.safe_where, lower.lower, compile_program, lambda p: interp.evaluate_jaxpr(p, 1.0),
    lambda p: glax.core.eval_jaxpr(p, [], 1.0),
]


@pytest.mark.parametrize("take", TAKE_PROGRAMS)
@pytest.mark.parametrize(("given", "said"), [
    (CLOSED, r"takes a Jaxpr, got an object of type ClosedJaxpr; pass its \.jaxpr"),
    ("{ lambda ; . let in () }", "takes a Jaxpr, got an object of type str"), (None, "of type NoneType"),
])
def test_something_else_than_a_program(take, given, said):
    with pytest.raises(TypeError, match=said):
        take(given)


@pytest.mark.parametrize(("call", "said"), [
    (lambda: rewrite.jvp(PROGRAM, [True, False]), "jvp: nonzero must have one entry for each "
                                                  "of 1, got 2"),
    (lambda: rewrite.linearize(PROGRAM, []), "one entry for each of 1, got 0"),
    (lambda: rewrite.vjp(PROGRAM, [True] * 3), "one entry for each of 1, got 3"),
    (lambda: rewrite.transpose(PROGRAM, [True, True]), "transpose: linear"),
    (lambda: rewrite.transpose(ROW, [True], [True, True]), "transpose: nonzero_cotangents"),
    (lambda: rewrite.partial_eval(PROGRAM, []), "partial_eval: unknown_inputs"),
    (lambda: rewrite.dce(PROGRAM, [True, False]), "dce: used_outputs"),
    (lambda: rewrite.vmap(PROGRAM, BatchAxis(4), [0, 0]), "vmap: in_dims"),
    (lambda: rewrite.vmap(PROGRAM, BatchAxis(4), [0], [0, 0]), "vmap: out_dims"),
    (lambda: rewrite.vmap(PROGRAM, BatchAxis(4), [1]), "vmap: in_dims[0] must be between 0 and 0, as the input without "
                                                       "the axis is f32*[], got 1"),
    (lambda: rewrite.vmap(ROW, BatchAxis(4), [-1]), "vmap: in_dims[0] must be between 0 and 1"),
    (lambda: rewrite.vmap(ROW, BatchAxis(4), [0], [2]), "vmap: out_dims[0] must be between 0 and 1, as the output"),
])
def test_entries_that_do_not_fit(call, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        call()


@pytest.mark.parametrize("call", [
    lambda: rewrite.jvp(INTEGERS, [True]), lambda: rewrite.linearize(INTEGERS, [True]),
    lambda: rewrite.vjp(INTEGERS, [True]), lambda: rewrite.transpose(INTEGERS, [True]),
])
def test_integers_have_no_tangents(call):
    with pytest.raises(TypeError, match=r"input 0 is i32\*\[\], and only inexact inputs have tangents"):
        call()


def test_the_size_of_an_axis_is_part_of_a_batch_axis():
    with pytest.raises(TypeError, match="vmap: axis must be a BatchAxis, got 4 of type int"):
        rewrite.vmap(PROGRAM, 4, [0])


@pytest.mark.parametrize(("given", "said"), [
    (gnp.float32(1), "got a Array"), ([1.0], "got a float at 0"), ([gnp.ones(()).__array__()], "got a ndarray at 0"),
    ([from_numpy(1.0)] * 2, "one list of 1 Arrays, of types (f32*[]), got 2"), ([], "got 0"),
])
def test_compiled_programs_say_how_they_are_called(given, said):
    with pytest.raises(TypeError, match=re.escape(said)):
        compile_program(PROGRAM)(given)
