"""The laws of the rewrites, over every operation."""

import numpy as np
import pytest
from samples import samples

import glax
from glax import testing
from glax.interp import evaluate_jaxpr
from glax.ir import check, program_of_operation, shaped_array

SAMPLES = samples()
DIFFERENTIABLE = [s for s in SAMPLES if any(s.differentiable)]


@pytest.fixture(autouse=True)
def x64():
    with glax.enable_x64(True):
        yield


def program_of(sample):
    return program_of_operation(sample.op, [shaped_array(x.shape, x.dtype) for x in sample.operands])


NARROW = {np.dtype("complex64"): "complex128", np.dtype("float32"): "float64"}


def widened(sample):
    """The sample in double precision, where it can be: programs among the parameters are of the types they are of."""
    if sample.op.has_sub_jaxprs():
        return sample
    return sample._replace(operands=tuple(x.astype(NARROW.get(x.dtype, x.dtype)) for x in sample.operands))


def is_double(sample):
    given = [x.dtype for x, d in zip(sample.operands, sample.differentiable) if d]
    narrow = [a for a in program_of(sample).out_avals if a.dtype in NARROW]
    return all(d in (np.float64, np.complex128) for d in given) and not narrow


with glax.enable_x64(True):
    WIDE = [widened(s) for s in DIFFERENTIABLE if is_double(widened(s))]


def test_every_cell_of_the_grid_has_a_rule():
    assert glax.rules().missing() == []


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.id)
def test_programs_are_well_formed_and_round_trip(sample):
    program = program_of(sample)
    check(program)
    testing.check_text(program)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.id)
def test_vmap_is_a_stack_of_calls(sample):
    testing.check_vmap(program_of(sample), sample.operands)


def in_dims_of(count):
    """All operands mapped, along their first axis, and each alone."""
    alone = [tuple(0 if k == i else None for k in range(count)) for i in range(count)]
    return dict.fromkeys([(0,) * count, *alone])


@pytest.mark.parametrize("sample", [s for s in SAMPLES if s.operands], ids=lambda s: s.id)
def test_vmap_of_no_calls_gives_nothing(sample):
    program = program_of(sample)
    for dims in in_dims_of(len(sample.operands)):
        batched, _ = glax.rewrite.vmap(program, glax.rewrite.BatchAxis(0), dims)
        check(batched)
        args = [x if d is None else np.zeros((0, *x.shape), x.dtype) for x, d in zip(sample.operands, dims)]
        for got, aval in zip(evaluate_jaxpr(batched, *args), program.out_avals, strict=True):
            assert (got.shape, got.dtype) == ((0, *aval.shape), aval.dtype), batched


@pytest.mark.parametrize("sample", WIDE, ids=lambda s: s.id)
def test_jvp_is_the_limit_of_differences(sample):
    with np.errstate(all="ignore"):
        testing.check_jvp(program_of(sample), sample.operands, nonzero=sample.differentiable, within=3e-4)


@pytest.mark.parametrize("sample", DIFFERENTIABLE, ids=lambda s: s.id)
def test_vjp_is_the_transpose_of_jvp(sample):
    with np.errstate(all="ignore"):
        testing.check_vjp(program_of(sample), sample.operands, nonzero=sample.differentiable)


@pytest.mark.parametrize("sample", WIDE, ids=lambda s: s.id)
def test_second_derivatives_exist(sample):
    program = program_of(sample)
    first, _ = glax.rewrite.jvp(program, sample.differentiable)
    directions = [np.ones(x.shape, x.dtype) for x, d in zip(sample.operands, sample.differentiable) if d]
    with np.errstate(all="ignore"):
        testing.check_vjp(first, [*sample.operands, *directions],
                          nonzero=[*sample.differentiable, *[True] * len(directions)])
