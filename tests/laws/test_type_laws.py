"""The types of what rewrites make, weakness included, and parameters that they are to keep, over every operation."""

import numpy as np
import pytest
from exactness import all_equations, assert_types, with_weak_operands
from hypothesis import given
from programs import F32, programs
from samples import samples

import glax
from glax import rewrite
from glax.ir import check, shaped_array
from glax.ir import ops as o

SAMPLES = samples()
DOTS = [s for s in SAMPLES if isinstance(s.op, o.DotGeneral)]


@pytest.fixture(autouse=True)
def x64():
    with glax.enable_x64(True), np.errstate(all="ignore"):
        yield


def flagged(items, flags):
    return [x for x, flag in zip(items, flags) if flag]


def check_types_of_derivatives(program, nonzero):
    """Tangents and cotangents are of the types of what they belong to."""
    ins, outs = program.in_avals, program.out_avals
    given = flagged(ins, nonzero)
    derivative, moving = rewrite.jvp(program, nonzero)
    assert_types("inputs of jvp", derivative.in_avals, [*ins, *given], program)
    assert_types("outputs of jvp", derivative.out_avals, [*outs, *flagged(outs, moving)], derivative)
    split = rewrite.linearize(program, nonzero)
    assert_types("primal of linearize", split.primal.out_avals[:len(outs)], outs, split.primal)
    assert_types("outputs of linearize", split.linear.out_avals, flagged(outs, split.nonzero_outputs), split.linear)
    pulled = rewrite.vjp(program, nonzero)
    residuals = pulled.forward.out_avals[len(outs):]
    assert_types("forward of vjp", pulled.forward.out_avals[:len(outs)], outs, pulled.forward)
    assert_types("backward's inputs", pulled.backward.in_avals, [*residuals, *flagged(outs, pulled.nonzero_outputs)],
                 pulled.backward)
    assert_types("backward's outputs", pulled.backward.out_avals, given, pulled.backward)
    for made in (derivative, split.primal, split.linear, pulled.forward, pulled.backward):
        check(made)
    return [derivative, pulled.forward, pulled.backward]


def check_types_of_vmap(program, size):
    batched, _ = rewrite.vmap(program, rewrite.BatchAxis(size), [0] * len(program.in_binders))
    check(batched)
    for which, got, wanted in (("inputs", batched.in_avals, program.in_avals),
                               ("outputs", batched.out_avals, program.out_avals)):
        stacked = [shaped_array((size, *a.shape), a.dtype, a.weak_type) for a in wanted]
        assert_types(f"{which} of vmap", got, stacked, batched)
    return batched


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.id)
def test_types_of_rewritten_operations(sample):
    for program in with_weak_operands(sample):
        if program.in_binders:
            check_types_of_vmap(program, 2)
        if any(sample.differentiable):
            check_types_of_derivatives(program, sample.differentiable)


@given(programs(dtype=F32, smooth=False))
def test_types_of_rewritten_programs(case):
    program, _ = case
    check_types_of_vmap(program, 3)
    check_types_of_derivatives(program, [a.dtype == F32 for a in program.in_avals])


@pytest.mark.parametrize("sample", DOTS, ids=lambda s: s.id)
def test_contractions_keep_their_precision(sample):
    program = next(with_weak_operands(sample))
    made = [check_types_of_vmap(program, 2)]
    if any(sample.differentiable):
        made += check_types_of_derivatives(program, sample.differentiable)
        for linear in ([True, False], [False, True]):
            made.append(rewrite.transpose(program, linear)[0])
    for one in made:
        found = {eqn.op.precision for eqn in all_equations(one) if isinstance(eqn.op, o.DotGeneral)}
        assert found <= {sample.op.precision}, one
