"""The laws, over random programs that are called through checkpoints and through custom rules that tell the truth."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import F64, programs

import glax
import glax.checkpoint_policies
from glax import rewrite, testing
from glax.interp import evaluate_jaxpr
from glax.ir import bind, check, stage
from glax.ir import ops as o
from glax.rewrite.programs import chosen

POLICIES = [None, glax.checkpoint_policies.dots_saveable, glax.checkpoint_policies.everything_saveable,
            glax.checkpoint_policies.save_only_these_names("a")]


@pytest.fixture(autouse=True)
def x64():
    with glax.enable_x64(True):
        yield


def inexact(avals):
    return [a.dtype == F64 for a in avals]


def with_true_jvp(body):
    rule, _ = rewrite.jvp(body, inexact(body.in_avals), instantiate_outputs=True)
    return o.CustomJvpCall(body, rule)


def with_true_vjp(body):
    pulled = rewrite.vjp(body, inexact(body.in_avals))
    outs = chosen(body.out_avals, inexact(body.out_avals))
    moving = chosen(pulled.nonzero_outputs, inexact(body.out_avals))
    residuals = pulled.forward.out_avals[len(body.outs):]

    def backward(*xs):
        n = len(residuals)
        return glax._calls.apply_program(pulled.backward, [*xs[:n], *chosen(xs[n:], moving)])

    return o.CustomVjpCall(body, pulled.forward, stage(backward, [*residuals, *outs])[0])


def checkpointed(body, policy):
    return o.Checkpoint(body, policy)


@st.composite
def calls(draw):
    """A program that calls a random one, the random one, and arguments."""
    body, args = draw(programs(depth=1, most=6))
    kind = draw(st.sampled_from([with_true_jvp, with_true_vjp, checkpointed]))
    op = kind(body, draw(st.sampled_from(POLICIES))) if kind is checkpointed else kind(body)

    def around(outs):
        # Of a steep result a sine would turn many times within the step of a difference, which then says nothing.
        return [o.atan(x) if x.dtype == F64 else x for x in outs]

    called, _ = stage(lambda *xs: around(bind(op, *xs)), body.in_avals)
    plain, _ = stage(lambda *xs: around(o.jit_call(body, list(xs))), body.in_avals)
    return called, plain, args


@given(calls())
def test_every_law(case):
    program, _, args = case
    check(program)
    testing.check_text(program)
    testing.check_clean_ups(program, args)
    testing.check_vmap(program, args)
    testing.check_jvp(program, args)
    testing.check_vjp(program, args)


@given(calls())
def test_true_rules_and_checkpoints_change_no_derivative(case):
    program, plain, args = case
    nonzero = inexact(program.in_avals)
    ones = [a + 1 for a, flag in zip(args, nonzero) if flag]
    first, second = (rewrite.jvp(p, nonzero, instantiate_outputs=True)[0] for p in (program, plain))
    testing.assert_close("jvp", evaluate_jaxpr(first, *args, *ones), evaluate_jaxpr(second, *args, *ones), program)
    moving = nonzero + [True] * len(ones)
    twice = [rewrite.jvp(p, moving, instantiate_outputs=True)[0] for p in (first, second)]
    given_args = [*args, *ones, *ones, *ones]
    testing.assert_close("jvp of jvp", *(evaluate_jaxpr(p, *given_args) for p in twice), program, factor=100)
    batched = [rewrite.vmap(p, rewrite.BatchAxis(2), [None] * len(args) + [0] * len(ones))[0] for p in (first, second)]
    stacked = [x[None].repeat(2, 0) for x in ones]
    testing.assert_close("vmap of jvp", *(evaluate_jaxpr(p, *args, *stacked) for p in batched), program, factor=100)
    testing.check_vjp(first, [*args, *ones], nonzero=moving)


@given(calls())
def test_lowering(case):
    program, _, args = case
    testing.check_lowering(program, args)
