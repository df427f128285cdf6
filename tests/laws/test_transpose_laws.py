"""<y, f(x)> = <transpose(f) y, x>, over every operation that is linear.

The law of vjp tells nothing of operations whose derivative is not themselves (reduce_precision, name in a checkpoint):
here their transposes are taken directly. Which operands an operation is linear in is found by trying: f(u - 2v) must be
f(u) - 2 f(v), for powers of two, which no dtype rounds.
"""

from itertools import combinations

import numpy as np
import pytest
from samples import samples

import glax
from glax import rewrite, testing
from glax.interp import evaluate_jaxpr
from glax.ir import check, dtypes, program_of_operation, shaped_array

LINEAR = """
    neg real imag conj complex optimization_barrier reduce_precision convert_element_type name add sub mul div select_n
    broadcast_in_dim reshape transpose squeeze concatenate split slice rev pad reduce_sum cumsum dot_general
    dynamic_slice dynamic_update_slice gather scatter scatter_add scatter_mul linear_call linear_solve
""".split()
POWERS_OF_TWO = np.array([1, 2, 0.5, -1, -2, -0.5])


@pytest.fixture(autouse=True)
def x64():
    with glax.enable_x64(True):
        yield


def program_of(sample):
    return program_of_operation(sample.op, [shaped_array(x.shape, x.dtype) for x in sample.operands])


def powers(avals, rng):
    made = []
    for aval in avals:
        x = rng.choice(POWERS_OF_TWO, aval.shape)
        x = x + 1j * rng.choice(POWERS_OF_TWO, aval.shape) if dtypes.is_complex(aval.dtype) else x
        made.append(np.asarray(x, aval.dtype))
    return made


def put(operands, linear, values):
    values = iter(values)
    return [next(values) if flag else x for x, flag in zip(operands, linear)]


def is_linear(sample, linear):
    """Whether an operation is linear in flagged operands together, tried at some values."""
    program, rng = program_of(sample), np.random.default_rng(0)
    if not all(a.is_inexact for a in program.out_avals):
        return False
    avals = [a for a, flag in zip(program.in_avals, linear) if flag]
    for _ in range(3):
        u, v = powers(avals, rng), powers(avals, rng)
        between = [a - b * b.dtype.type(2) for a, b in zip(u, v)]
        of_u, of_v, got = [evaluate_jaxpr(program, *put(sample.operands, linear, xs)) for xs in (u, v, between)]
        wanted = [np.asarray(a, np.complex128) - 2 * np.asarray(b, np.complex128) for a, b in zip(of_u, of_v)]
        if not all(np.allclose(np.asarray(a, np.complex128), b, atol=1e-6) for a, b in zip(got, wanted)):
            return False
    return True


def may_refuse(sample, positions):
    """Whether an operation says itself that it has no such transpose, though it is linear at a sample's values."""
    name, op = sample.op.name, sample.op
    return ((name == "scatter" and not op.unique_indices) or (name == "linear_solve" and op.vecmat is None)
            or (name, positions) in (("linear_call", (0,)), ("scatter_mul", (2,))))


def cases():
    for sample in samples():
        inexact = [k for k, x in enumerate(sample.operands) if dtypes.is_inexact(x.dtype) and x.size]
        if sample.op.name not in LINEAR or not inexact:
            continue
        for positions in sorted({*combinations(inexact, 1), tuple(inexact)}):
            linear = [k in positions for k in range(len(sample.operands))]
            if not may_refuse(sample, positions) and is_linear(sample, linear):
                yield pytest.param(sample, linear, id=f"{sample.id} by {','.join(map(str, positions))}")


with glax.enable_x64(True), np.errstate(all="ignore"):
    CASES = list(cases())


def test_every_linear_operation_is_tried():
    assert sorted(set(LINEAR) - {case.values[0].op.name for case in CASES}) == []


@pytest.mark.parametrize("sample, linear", CASES)
def test_transpose_has_the_same_products(sample, linear):
    program, rng = program_of(sample), np.random.default_rng(1)
    transposed, _ = rewrite.transpose(program, linear)
    check(transposed)
    xs = powers([a for a, flag in zip(program.in_avals, linear) if flag], rng)
    ys = powers(program.out_avals, rng)
    outs = evaluate_jaxpr(program, *put(sample.operands, linear, xs))
    fixed = [x for x, flag in zip(sample.operands, linear) if not flag]
    back = evaluate_jaxpr(transposed, *fixed, *ys)
    left, right = product(ys, outs), product(back, xs)
    within = max(testing.tolerance(x.dtype) for x in (*xs, *ys)) * max(1, product(map(np.abs, ys), map(np.abs, outs)))
    assert abs(left - right) <= within, f"<y, f(x)> = {left}, <transpose(f) y, x> = {right}\n{program}\n{transposed}"


def product(a, b):
    return float(sum(np.sum(np.asarray(x, np.complex128) * np.asarray(y, np.complex128)) for x, y in zip(a, b)).real)
