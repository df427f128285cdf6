"""What reverse mode of control flow keeps."""

import numpy as np
import pytest

from glax import rewrite
from glax.interp import evaluate_jaxpr
from glax.ir import ShapedArray, check, stage
from glax.ir import ops as o

F32, I32 = np.dtype(np.float32), np.dtype(np.int32)
SCALAR, VECTOR, INDEX = ShapedArray((), F32), ShapedArray((3,), F32), ShapedArray((), I32)


def program(f, *avals):
    return stage(f, avals)[0]


def find(jaxpr, kind):
    return [e for e in jaxpr.eqns if type(e.op) is kind]


def names(jaxpr):
    return [e.op.name for e in jaxpr.eqns]


def scan_of(step, *avals, length=5, num_consts=1, num_carry=1):
    body = program(step, *avals)
    xs = [ShapedArray((length, *a.shape), a.dtype) for a in avals[num_consts + num_carry:]]
    return program(lambda *args: o.scan(body, length, args[:num_consts], args[num_consts:num_consts + num_carry],
                                        args[num_consts + num_carry:]),
                   *avals[:num_consts + num_carry], *xs)


def test_what_depends_on_constants_only_leaves_the_loop_and_is_saved_once():
    jaxpr = scan_of(lambda w, h, x: [o.add(o.mul(o.exp(o.sin(w)), h), x)], SCALAR, SCALAR, SCALAR)
    pulled = rewrite.vjp(jaxpr, [True, True, False])
    (loop,) = find(pulled.forward, o.Scan)
    assert "exp" in names(pulled.forward) and "cos" in names(pulled.forward)
    assert not {"exp", "sin", "cos"} & set(names(loop.op.jaxpr))
    saved = [a.aval.shape for a in pulled.forward.outs[1:]]
    assert saved.count((5,)) == 1 and all(shape in ((), (5,)) for shape in saved)


def test_arrays_that_a_scan_takes_or_gives_are_not_saved_again():
    jaxpr = scan_of(lambda w, h, x: [o.mul(o.mul(h, x), w), h], SCALAR, SCALAR, SCALAR)
    pulled = rewrite.vjp(jaxpr, [True, True, True])
    (loop,) = find(pulled.forward, o.Scan)
    assert pulled.forward.in_binders[2] in pulled.forward.outs[2:]
    assert loop.outputs[1] in pulled.forward.outs[2:]
    assert len(loop.outputs) == 3  # the carry, the carries of all steps, and h * x


def test_a_counter_is_known_so_only_what_depends_on_tangents_is_linear():
    step = lambda i, h: [o.add(i, np.int32(1)), o.mul(h, o.convert_element_type(i, F32))]
    jaxpr = scan_of(step, INDEX, SCALAR, num_consts=0, num_carry=2)
    linear = rewrite.linearize(jaxpr, [False, True]).linear
    (loop,) = find(linear, o.Scan)
    assert loop.op.num_carry == 1 and len(loop.outputs) == 1


def test_branches_share_places_for_what_they_save():
    one = program(lambda x: [o.sin(o.exp(x))], VECTOR)
    two = program(lambda x: [o.cos(x)], VECTOR)
    jaxpr = program(lambda i, x: o.cond([one, two], i, [x]), INDEX, VECTOR)
    pulled = rewrite.vjp(jaxpr, [False, True])
    (choice,) = find(pulled.forward, o.Cond)
    assert len(choice.outputs) == 1 + 2  # sin(exp x) needs two arrays, cos x one of these places
    check(pulled.forward)
    x = np.array([.5, 1, 2], F32)
    for index, slope in ((0, np.cos(np.exp(x)) * np.exp(x)), (1, -np.sin(x))):
        residuals = evaluate_jaxpr(pulled.forward, np.int32(index), x)[1:]
        (back,) = evaluate_jaxpr(pulled.backward, *residuals, np.ones(3, F32))
        np.testing.assert_allclose(back, slope, rtol=1e-5)


def test_operands_that_a_branch_needs_are_passed_on_and_not_saved():
    product = program(lambda x, w: [o.mul(x, w)], VECTOR, VECTOR)
    other = program(lambda x, w: [x], VECTOR, VECTOR)
    jaxpr = program(lambda i, x, w: o.cond([product, other], i, [x, w]), INDEX, VECTOR, VECTOR)
    pulled = rewrite.vjp(jaxpr, [False, True, False])
    (choice,) = find(pulled.forward, o.Cond)
    assert len(choice.outputs) == 1 and pulled.forward.in_binders[2] in pulled.forward.outs


def test_a_while_loop_computes_its_values_once_and_its_tangents_apart():
    go_on = program(lambda i, x: [o.lt(i, np.int32(4))], INDEX, SCALAR)
    step = program(lambda i, x: [o.add(i, np.int32(1)), o.sin(x)], INDEX, SCALAR)
    jaxpr = program(lambda i, x: o.while_loop(go_on, step, [], [], [i, x]), INDEX, SCALAR)
    linearized = rewrite.linearize(jaxpr, [False, True])
    assert len(find(linearized.primal, o.While)) == 1
    *primal, start, x = evaluate_jaxpr(linearized.primal, np.int32(0), np.float32(.5))
    (tangent,) = evaluate_jaxpr(linearized.linear, start, x, np.float32(1))
    slope = 1.0
    value = .5
    for _ in range(4):
        slope, value = slope * np.cos(value), np.sin(value)
    np.testing.assert_allclose(tangent, slope, rtol=1e-5)


def test_transposing_a_while_loop_names_its_line_and_what_to_use():
    go_on = program(lambda x: [o.lt(x, np.float32(4))], SCALAR)
    step = program(lambda x: [o.mul(x, np.float32(2))], SCALAR)
    jaxpr = program(lambda x: o.while_loop(go_on, step, [], [], [x]), SCALAR)
    with pytest.raises(ValueError, match=r"test_control_partial_eval\.py:\d+.*fori_loop.*scan.*max_steps"):
        rewrite.vjp(jaxpr, [True])


def test_the_transpose_of_a_scan_runs_what_is_not_linear_first():
    step = lambda i, h, x: [o.add(i, np.int32(1)), o.add(o.mul(h, o.convert_element_type(i, F32)), x)]
    jaxpr = scan_of(step, INDEX, SCALAR, SCALAR, length=3, num_consts=0, num_carry=2)
    only_second = rewrite.dce(jaxpr, [False, True])[0]
    backward, _ = rewrite.transpose(only_second, [False, True, True])
    check(backward)
    got = evaluate_jaxpr(backward, np.int32(1), np.float32(1))
    np.testing.assert_allclose(got[0], 6)
    np.testing.assert_allclose(got[1], [6, 3, 1])
