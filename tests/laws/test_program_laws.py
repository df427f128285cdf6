"""The laws of the rewrites, over random programs."""

import numpy as np
import pytest
from exactness import check_exact_clean_ups
from hypothesis import given
from programs import F32, F64, programs

import glax
from glax import testing
from glax.interp import evaluate_jaxpr
from glax.ir import check, parse


@pytest.fixture(autouse=True)
def x64():
    with glax.enable_x64(True):
        yield


@given(programs(smooth=False, whiles=True))
def test_text_round_trips(case):
    testing.check_text(case[0])


@given(programs(dtype=F32, smooth=False, whiles=True))
def test_clean_ups_keep_the_meaning(case):
    testing.check_clean_ups(*case)
    check_exact_clean_ups(*case)


@given(programs(smooth=False, whiles=True))
def test_vmap_is_a_stack_of_calls(case):
    testing.check_vmap(*case)


@given(programs(whiles=True))
def test_jvp_is_the_limit_of_differences(case):
    testing.check_jvp(*case)


@given(programs(smooth=False))
def test_vjp_is_the_transpose_of_jvp(case):
    testing.check_vjp(*case)


@given(programs(dtype=F32, smooth=False, most=6, whiles=True))
def test_xla_computes_what_numpy_computes(case):
    testing.check_lowering(*case)


@given(programs(smooth=False, whiles=True))
def test_evaluation_does_not_change_arguments(case):
    jaxpr, args = case
    before = [x.copy() for x in args]
    evaluate_jaxpr(jaxpr, *args)
    assert all(np.array_equal(a, b) for a, b in zip(args, before))


@given(programs(dtype=F64, smooth=False), programs(dtype=F64, smooth=False))
def test_equal_programs_hash_alike(first, second):
    a, b = first[0], second[0]
    check(a)
    assert (a == b) == (str(a) == str(b)) == (a.fingerprint == b.fingerprint)
    again = parse(str(a))
    assert again == a and hash(again) == hash(a)
