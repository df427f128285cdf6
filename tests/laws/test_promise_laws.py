"""Rewritten programs promise nothing of indices that is not so, where the operation they come from promised nothing
that is not so; nor does the text that XLA is given."""

import re
from dataclasses import replace

import numpy as np
import pytest
from promises import assert_promises_hold, broken_promises
from samples import samples

import glax
from glax import rewrite
from glax.ir import dtypes, program_of_operation, shaped_array
from glax.ir import ops as o
from glax.lower.lowering import lower

FAMILY = (o.Gather, o.ScatterBase, o.DynamicSlice, o.DynamicUpdateSlice, o.Sort, o.TopK, o.Cumulative)
SAMPLES = [s for s in samples() if isinstance(s.op, FAMILY)]
INDEXING = [s for s in SAMPLES if isinstance(s.op, (o.Gather, o.ScatterBase))]
CLIP = o.GatherScatterMode.CLIP


@pytest.fixture(autouse=True)
def quietly():
    with glax.enable_x64(True), np.errstate(all="ignore"):
        yield


def program_of(op, operands):
    return program_of_operation(op, [shaped_array(x.shape, x.dtype) for x in operands])


def shifted(operands):
    """Arguments of another call: all indices are one more, as far as they can be."""
    return [x if dtypes.is_inexact(x.dtype) or x.dtype == bool else x + (x < dtypes.iinfo(x.dtype).max).astype(x.dtype)
            for x in operands]


def calls_of(sample):
    """Arguments of calls that keep the operation's own promises, the larger indices first."""
    program = program_of(sample.op, sample.operands)
    return program, [xs for xs in (shifted(sample.operands), sample.operands) if not broken_promises(program, xs)]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.id)
def test_vmap_promises_nothing_that_is_not_so(sample):
    program, calls = calls_of(sample)
    count = len(sample.operands)
    for dims in ([0] * count, *([0 if k == i else None for k in range(count)] for i in range(count))):
        if len(calls) == 2:
            batched, _ = rewrite.vmap(program, rewrite.BatchAxis(2), dims)
            args = [xs[0] if d is None else np.stack(xs) for d, xs in zip(dims, zip(*calls))]
            assert_promises_hold(batched, args)


@pytest.mark.parametrize("sample", [s for s in SAMPLES if any(s.differentiable)], ids=lambda s: s.id)
def test_derivatives_promise_nothing_that_is_not_so(sample):
    program, calls = calls_of(sample)
    nonzero = sample.differentiable
    for args in calls:
        tangents = [x for x, flag in zip(args, nonzero) if flag]
        assert_promises_hold(rewrite.jvp(program, nonzero)[0], [*args, *tangents])
        pulled = rewrite.vjp(program, nonzero)
        residuals = assert_promises_hold(pulled.forward, args)[len(program.outs):]
        moving = [a for a, flag in zip(program.out_avals, pulled.nonzero_outputs) if flag]
        assert_promises_hold(pulled.backward, [*residuals, *[np.ones(a.shape, a.dtype) for a in moving]])


@pytest.mark.parametrize("sample", INDEXING, ids=lambda s: s.id)
def test_xla_is_promised_what_is_so_of_the_indices_it_is_given(sample):
    """Indices moved into bounds may meet, and need not be sorted any more if they have several components."""
    for flags in ((False, False), (True, False), (False, True), (True, True)):
        op = replace(sample.op, indices_are_sorted=flags[0], unique_indices=flags[1])
        text = lower(program_of(op, sample.operands)).text
        clips = op.mode is CLIP
        moves_many = clips and sample.operands[1].shape[-1] > 1
        so = {"indices_are_sorted": flags[0] and not moves_many, "unique_indices": flags[1] and not clips}
        for name, may in so.items():
            found = set(re.findall(f"{name} = (true|false)", text))
            assert may or found <= {"false"}, f"{name} of {op}\n{text}"
