"""Batching of control flow: what stays a choice or a loop, and that rows do not disturb one another."""

import numpy as np
import pytest

from glax import rewrite
from glax.interp import evaluate_jaxpr
from glax.ir import ShapedArray, check, stage
from glax.ir import ops as o

F32, I32 = np.dtype(np.float32), np.dtype(np.int32)
SCALAR, INDEX = ShapedArray((), F32), ShapedArray((), I32)
ROWS = rewrite.BatchAxis(3)


def program(f, *avals):
    return stage(f, avals)[0]


def kinds(jaxpr):
    return {e.op.name for e in jaxpr.eqns}


def chosen_by_index():
    branches = [program(lambda x, w: [o.mul(o.sqrt(x), w)], SCALAR, SCALAR),
                program(lambda x, w: [o.mul(w, o.mul(x, np.float32(0)))], SCALAR, SCALAR)]
    return program(lambda i, x, w: o.cond(branches, i, [x, w]), INDEX, SCALAR, SCALAR)


def test_a_shared_index_keeps_the_choice():
    batched, dims = rewrite.vmap(chosen_by_index(), ROWS, [None, 0, None])
    assert kinds(batched) == {"cond"} and dims == [0]


def test_a_mapped_index_selects():
    batched, _ = rewrite.vmap(chosen_by_index(), ROWS, [0, 0, None])
    assert "cond" not in kinds(batched) and "select_n" in kinds(batched)


@pytest.mark.parametrize("first", ["vmap", "grad"])
def test_a_branch_not_taken_leaks_no_nan(first):
    jaxpr = chosen_by_index()
    index, x, w = np.array([1, 1, 0], I32), np.array([-1, 0, 4], F32), np.float32(2)
    if first == "vmap":
        batched, _ = rewrite.vmap(jaxpr, ROWS, [0, 0, None])
        pulled = rewrite.vjp(batched, [False, True, True])
        for p in pulled[:2]:
            check(p)
        results = evaluate_jaxpr(pulled.forward, index, x, w)
        of_x, of_w = evaluate_jaxpr(pulled.backward, *results[1:], np.ones(3, F32))
    else:
        pulled = rewrite.vjp(jaxpr, [False, True, True])
        forward, _ = rewrite.vmap(pulled.forward, ROWS, [0, 0, None])
        results = evaluate_jaxpr(forward, index, x, w)
        backward, _ = rewrite.vmap(pulled.backward, ROWS, [0] * len(pulled.backward.in_binders))
        of_x, of_w = evaluate_jaxpr(backward, *results[1:], np.ones(3, F32))
        of_w = of_w.sum()
    np.testing.assert_allclose(of_x, [0, 0, .5])
    np.testing.assert_allclose(of_w, 2)


def test_forward_mode_of_a_mapped_choice_leaks_no_nan():
    batched, _ = rewrite.vmap(chosen_by_index(), ROWS, [0, 0, None])
    moved, _ = rewrite.jvp(batched, [False, True, True])
    args = np.array([1, 1, 0], I32), np.array([-1, 0, 4], F32), np.float32(2)
    _, tangent = evaluate_jaxpr(moved, *args, np.ones(3, F32), np.float32(1))
    np.testing.assert_allclose(tangent, [0, 0, 2.5])


def counting_loop():
    go_on = program(lambda n, i, x, k: [o.lt(i, n)], INDEX, INDEX, SCALAR, SCALAR)
    step = program(lambda i, x, k: [o.add(i, np.int32(1)), o.mul(x, k), k], INDEX, SCALAR, SCALAR)
    return program(lambda n, i, x, k: o.while_loop(go_on, step, [n], [], [i, x, k]), INDEX, INDEX, SCALAR, SCALAR)


def test_a_shared_condition_stays_a_plain_loop():
    batched, dims = rewrite.vmap(counting_loop(), ROWS, [None, None, 0, None], [True] * 3)
    (loop,) = batched.eqns
    assert dims == [None, 0, None]
    assert kinds(loop.op.cond_jaxpr) == {"lt"} and kinds(loop.op.body_jaxpr) == {"add", "mul"}


def test_rows_that_are_done_are_frozen_and_what_never_changes_is_shared():
    batched, dims = rewrite.vmap(counting_loop(), ROWS, [0, None, None, None], [True] * 3)
    check(batched)
    assert dims == [0, 0, None]
    n = np.array([0, 3, 1], I32)
    counts, powers, _ = evaluate_jaxpr(batched, n, np.int32(0), np.float32(1), np.float32(2))
    np.testing.assert_array_equal(counts, n)
    np.testing.assert_array_equal(powers, 2.0 ** n)


def test_scan_maps_the_carries_that_come_to_depend_on_mapped_values():
    body = program(lambda a, b, c, x: [o.add(a, b), o.add(b, x), c, c], *[SCALAR] * 4)
    jaxpr = program(lambda a, b, c, x: o.scan(body, 2, [], [a, b, c], [x]), *[SCALAR] * 3, ShapedArray((2,), F32))
    batched, dims = rewrite.vmap(jaxpr, ROWS, [None, None, None, 1], [True] * 4)
    check(batched)
    assert dims == [0, 0, None, None]
