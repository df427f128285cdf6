"""Errors that say where: the place in a tree of arguments or results, the argument of a function, the user's line."""

import functools
import inspect
from collections import defaultdict

import numpy as np
import pytest

import glax
import glax.numpy as gnp
from glax import lax
from glax.ir import NonHashableStaticError, current_builder

ROW = gnp.ones((2, 2))
INDEX = gnp.zeros((1, 1), "int32")


def thrice(p):
    return {"x": p, "y": [p, p]}


PATHS = {
    "cotangent's shape": (
        lambda: glax.vjp(thrice, 1.)[1]({"x": 1., "y": [1., gnp.ones(2)]}), ValueError,
        "vjp of thrice: the cotangent['y'][1] must have the shape () of its output, got (2,)"),
    "cotangent's dtype": (
        lambda: glax.vjp(thrice, 1.)[1]({"x": 1., "y": [1., np.int32(2)]}), ValueError,
        "the cotangent['y'][1] must have dtype float32 for an output of dtype float32, got int32"),
    "cotangent that is no array": (
        lambda: glax.vjp(thrice, 1.)[1]({"x": 1., "y": [1., "a"]}), ValueError,
        "the cotangent['y'][1]: expected an array or a number, got 'a' of type str"),
    "cotangent of an integer": (
        lambda: glax.vjp(lambda p: [p, 1], 1.)[1]([1., 1]), ValueError,
        "the cotangent[1] must have dtype float0 for an output of dtype int32, got int32"),
    "cotangent of a linear function": (
        lambda: glax.linear_transpose(thrice, 1.)({"x": gnp.ones(2), "y": [1., 1.]}), ValueError,
        "the cotangent['x'] must have the shape ()"),
    "tangent of linearize": (
        lambda: glax.linearize(lambda p, q: p["a"] * q, {"a": 1.}, 2.)[1]({"a": gnp.ones(2)}, 1.), ValueError,
        "tangents[0]['a'] must have the shape () of its primal, got (2,)"),
    "tangent's dtype": (
        lambda: glax.linearize(lambda p, q: p * q, 1., 2.)[1](1., 1), TypeError,
        "tangents[1] must have dtype float32 for a primal of dtype float32, got int32"),
    "only tangent": (
        lambda: glax.jvp(lambda p: p["a"][0], ({"a": [gnp.ones(3)]},), ({"a": [gnp.ones(2)]},)), ValueError,
        "tangents[0]['a'][0] must have the shape (3,) of its primal, got (2,)"),
    "tangent that is no array": (
        lambda: glax.jvp(lambda p: p["a"], ({"a": 1.},), ({"a": "b"},)), TypeError,
        "tangents[0]['a']: expected an array or a number, got 'b' of type str"),
    "axis of an output": (
        lambda: glax.vmap(thrice, out_axes={"x": 0, "y": [0, 3]})(gnp.ones(3)), ValueError,
        "vmap of thrice: out_axes 3 is out of range for output['y'][1] of 0 dimensions"),
    "mapped output without an axis": (
        lambda: glax.vmap(thrice, out_axes={"x": 0, "y": None})(gnp.ones(3)), ValueError,
        "vmap of thrice: output['y'][0] depends on a mapped input"),
    "device_put": (
        lambda: glax.device_put({"a": [1, "x"]}), TypeError,
        "device_put: argument['a'][1]: expected an array or a number, got 'x' of type str"),
    "compiled for another type": (
        lambda: glax.jit(lambda d, k: d["a"]).lower({"a": 1.}, k=gnp.ones(3)).compile()({"a": 1.}, k=gnp.ones(2)),
        TypeError, "compiled for f32[3] as kwargs['k'], got f32[2]"),
    "compiled for another dtype": (
        lambda: glax.jit(lambda d: d["a"]).lower({"a": 1.}).compile()({"a": 1}), TypeError,
        "compiled for f32*[] as args[0]['a'], got i32*[]"),
    "optimization_barrier": (
        lambda: lax.optimization_barrier({"a": "x"}), TypeError, "optimization_barrier: argument['a']: expected an"),
    "associative_scan": (
        lambda: lax.associative_scan(lambda a, b: {"w": gnp.ones(3)}, {"w": gnp.ones(4)}), TypeError,
        "associative_scan: fn must return arrays of the types of its arguments, but output['w'] is f32[3] for f32[2]"),
    "compiled program": (
        lambda: glax.lower.compile_program(glax.make_jaxpr(gnp.add)(gnp.ones(2), gnp.ones(2)).jaxpr)(
            [gnp.ones(2), gnp.ones(3)]), TypeError, "of types (f32[2], f32[2]), got f32[3] at 1"),
    "static argument of make_jaxpr": (
        lambda: glax.make_jaxpr(lambda x, n: x, static_argnums=1)(1., [2]), NonHashableStaticError,
        "the static argument at position 1 must be hashable, got [2] of type list"),
    **{f"a leaf of {name}'s argument": (
        lambda name=name: getattr(glax, name)(thrice)({"a": [gnp.ones(3), "x"]}), TypeError,
        f"{name} of thrice: args[0]['a'][1]: expected an array or a number, got 'x'")
       for name in ("jit", "grad", "vmap", "jacfwd", "jacrev", "hessian")},
    **{f"a leaf of {name}'s primals": (
        lambda name=name: getattr(glax, name)(thrice, {"a": [gnp.ones(3), "x"]}), TypeError,
        f"{name} of thrice: primals[0]['a'][1]: expected an array or a number, got 'x'")
       for name in ("vjp", "linearize")},
    **{f"{name} of an integer": (
        lambda name=name: getattr(glax, name)(lambda x, y: y, argnums=1)(1., {"a": [3]}), TypeError,
        f"{name} of <lambda>: args[1]['a'][0] has dtype int32") for name in ("grad", "jacfwd", "jacrev", "hessian")},
    **{f"output of {name}": (
        lambda name=name: getattr(glax, name)(lambda x: {"a": [None, "x"]})(1.), TypeError,
        f"{name} of <lambda> must return arrays or numbers, in any tree; output['a'][1] is 'x'")
       for name in ("jit", "grad", "jacfwd", "jacrev", "hessian")},
    "keys of a defaultdict": (
        lambda: glax.jit(lambda x: x)(defaultdict(float, {1: 1., "b": 2.})), ValueError,
        "the keys of a dict in a tree must be comparable with one another"),
    "a real argument of a holomorphic function": (
        lambda: glax.jacrev(lambda x: x * 1j, holomorphic=True, allow_int=True)(1.), TypeError,
        "args[0] has dtype float32; with holomorphic=True it must be complex"),
    "keys of a dict": (
        lambda: glax.jit(lambda x: x)({"a": [{1: 1., "b": 2.}]}), ValueError,
        "the keys of a dict in a tree must be comparable with one another"),
    "jit of None": (lambda: glax.jit(None), TypeError, "jit takes a function, got None"),
}


@pytest.mark.parametrize("name", PATHS)
def test_the_place_in_a_tree(name):
    call, error, words = PATHS[name]
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)
    assert current_builder() is None


def test_jit_without_a_function_is_a_decorator():
    @functools.partial(glax.jit, static_argnums=0)
    def power(n, x):
        return x ** n

    @glax.jit(static_argnames="n")
    def root(x, n):
        return x ** (1 / n)

    assert float(power(3, 2.)) == 8. and float(root(9., n=2)) == 3.
    assert "<no function>" in str(inspect.signature(glax.jit))


# ---- structured arguments of lax -------------------------------------------------------------------------------


GATHER, SCATTER = lax.GatherDimensionNumbers, lax.ScatterDimensionNumbers
STRUCTURED = {
    "dimension_numbers must be ((lhs_contracting": [
        lambda: lax.dot_general(ROW, ROW, 5), lambda: lax.dot_general(ROW, ROW, None),
        lambda: lax.dot_general(ROW, ROW, ((1,), (0,))), lambda: lax.dot_general(ROW, ROW, ((1, 0), ((), ()))),
        lambda: lax.dot(ROW, ROW, dimension_numbers=5)],
    "gather: dimension_numbers": [
        lambda: lax.gather(ROW, INDEX, 5, (1, 1)), lambda: lax.gather(ROW, INDEX, SCATTER((1,), (0,), (0,)), (1, 1)),
        lambda: lax.gather(ROW, INDEX, GATHER(5, (0,), (0,)), (1, 1)),
        lambda: lax.gather(ROW, INDEX, GATHER(("a",), (0,), (0,)), (1, 1))],
    "gather: mode": [lambda: lax.gather(ROW, INDEX, GATHER((1,), (0,), (0,)), (1, 2), mode=[1])],
    "scatter_add: dimension_numbers": [
        lambda: lax.scatter_add(ROW, INDEX, gnp.ones((1, 2)), None),
        lambda: lax.scatter_add(ROW, INDEX, gnp.ones((1, 2)), SCATTER((1,), 0, (0,)))],
    "index_take: idxs": [lambda: lax.index_take(ROW, 5, (0,)), lambda: lax.index_take(ROW, (), ()),
                         lambda: lax.index_take(ROW, (1,), (0,)), lambda: lax.index_take(ROW, (INDEX[0],), (0, 1))],
    "index_take: axes": [lambda: lax.index_take(ROW, (INDEX[0],), 5)],
    "transpose: permutation": [lambda: lax.transpose(ROW, 5), lambda: lax.transpose(ROW, None)],
    "reshape: dimensions": [lambda: lax.reshape(ROW, (4,), 5)],
    "pad: padding_config": [lambda: lax.pad(ROW, 0., 5), lambda: lax.pad(ROW, 0., (1, 1))],
    "rev: dimensions": [lambda: lax.rev(ROW, 5), lambda: lax.rev(ROW, None)],
    "broadcast_in_dim: broadcast_dimensions": [lambda: lax.broadcast_in_dim(ROW, (2, 2), 5)],
    "broadcast_to_rank: rank": [lambda: lax.broadcast_to_rank(ROW, "a")],
    "slice: start_indices": [lambda: lax.slice(ROW, 5, (1, 1))],
    "slice: limit_indices": [lambda: lax.slice(ROW, (0, 0), 5)],
    "slice: strides": [lambda: lax.slice(ROW, (0, 0), (1, 1), 5)],
    "slice_in_dim: stride": [lambda: lax.slice_in_dim(ROW, 0, 2, stride=None)],
    "dynamic_slice: allow_negative_indices": [
        lambda: lax.dynamic_slice(ROW, (0, 0), (1, 1), allow_negative_indices=5),
        lambda: lax.dynamic_slice(ROW, (0, 0), (1, 1), allow_negative_indices=(True,))],
    "dynamic_update_slice": [lambda: lax.dynamic_update_slice(ROW, "a", (0, 0))],
    "reduce_sum: axes": [lambda: lax.reduce_sum(ROW, 5), lambda: lax.reduce_sum(ROW, None)],
    "reduce: dimensions": [lambda: lax.reduce(ROW, 0., lax.add, 5)],
    "reduce takes a function as computation": [lambda: lax.reduce(ROW, 0., None, (0,))],
    "reduce: operands": [lambda: lax.reduce((), (), lax.add, (0,))],
    "concatenate requires arrays or numbers, got 'a'": [lambda: lax.concatenate([ROW, "a"], 0)],
    "stack requires arrays or numbers, got 'a'": [lambda: lax.stack([ROW, "a"])],
    "stack: operands must have one shape": [lambda: lax.stack([ROW, gnp.ones(3)])],
    "sort_key_val requires arrays or numbers, got 'a'": [lambda: lax.sort_key_val(ROW, "a")],
    "concatenate: operands": [lambda: lax.concatenate(5, 0)],
    "stack: operands": [lambda: lax.stack(5)],
    "split: sizes": [lambda: lax.split(ROW, 5)],
    "collapse: start_dimension": [lambda: lax.collapse(ROW, "a")],
    "round: rounding_method": [lambda: lax.round(ROW, 5)],
    "switch: branches": [lambda: lax.switch(0, 5)],
    "switch takes a function as branches[1]": [lambda: lax.switch(0, [lambda: 1, 5])],
    "while_loop takes a function as cond_fun": [lambda: lax.while_loop(1, lambda c: c, 1.)],
    "while_loop takes a function as body_fun": [lambda: lax.while_loop(lambda c: c < 1, None, 1.)],
    "cond takes a function as false_fun": [lambda: lax.cond(True, lambda: 1., 2)],
    "scan takes a function as f": [lambda: lax.scan(5, 0., ROW)],
    "fori_loop takes a function as body_fun": [lambda: lax.fori_loop(0, 3, 5, 0.)],
    "lower requires": [lambda: lax.fori_loop("a", 3, lambda i, c: c, 0.)],
    "custom_linear_solve takes a function as transpose_solve": [
        lambda: lax.custom_linear_solve(lambda x: x, 1., lambda f, b: b, 3)],
}


@pytest.mark.parametrize("words", STRUCTURED)
def test_structured_arguments(words):
    for call in STRUCTURED[words]:
        with pytest.raises((TypeError, ValueError)) as caught:
            call()
        assert words in str(caught.value)


@pytest.mark.parametrize("start, result", [(1., 5), (1j, 5), (1j, 5.)])
@pytest.mark.parametrize("loop", [
    lambda body, start: lax.while_loop(lambda c: False, body, start),
    lambda body, start: lax.while_loop(lambda c: False, body, start, max_steps=3),
    lambda body, start: lax.scan(lambda c, _: (body(c), None), start, length=2),
    lambda body, start: lax.fori_loop(0, 2, lambda i, c: body(c), start),
    lambda body, start: glax.jit(lambda n: lax.fori_loop(0, n, lambda i, c: body(c), start))(2),
])
def test_a_weak_carry_keeps_its_dtype(loop, start, result):
    with pytest.raises(TypeError, match="must keep its shape and dtype"):
        loop(lambda c: result, start)
    loop(lambda c: c + result, start)
    loop(lambda c: result, result)


# ---- the user's line -------------------------------------------------------------------------------------------


def misshapen(x):
    return (gnp.ones((2, 4)) + x).sum()  # the line


def notes_of(call, error=Exception):
    with pytest.raises(error) as caught:
        call()
    assert current_builder() is None
    return getattr(caught.value, "__notes__", [])


def line_of(f, text):
    lines, start = inspect.getsourcelines(f)
    return f"{__file__}:{start + next(i for i, line in enumerate(lines) if text in line)} ({f.__name__})"


@pytest.mark.parametrize("call, what", [
    (lambda: glax.jit(glax.grad(misshapen))(gnp.ones(7)), "grad of misshapen"),
    (lambda: glax.grad(glax.jit(misshapen))(gnp.ones(7)), "jit of misshapen"),
    (lambda: glax.vmap(misshapen)(gnp.ones((3, 7))), "vmap of misshapen"),
    (lambda: glax.make_jaxpr(misshapen)(gnp.ones(7)), "make_jaxpr of misshapen"),
    (lambda: lax.map(misshapen, gnp.ones((3, 7))), "map of misshapen"),
    (lambda: lax.cond(True, misshapen, gnp.sum, gnp.ones(7)), "true_fun of cond (misshapen)"),
    (lambda: glax.jit(glax.checkpoint(misshapen))(gnp.ones(7)), "checkpoint of misshapen"),
])
def test_the_innermost_staging_names_the_users_line_once(call, what):
    assert notes_of(call, TypeError) == [f"at {line_of(misshapen, '# the line')}, while staging {what}"]


def axis(x):
    return gnp.sum(x, axis=3)


def dtype(x):
    return lax.sin(x)


def rewriting(x):
    return glax.grad(lambda y: lax.while_loop(lambda c: c < 3, lambda c: c + y, y))(x)


def carry(x):
    return lax.scan(lambda c, _: (gnp.ones(3), None), x, length=2)


@pytest.mark.parametrize("f, x", [(axis, 1.), (dtype, 1), (rewriting, 1.), (carry, 1.)])
def test_errors_of_every_kind_have_the_users_line(f, x):
    line = line_of(f, "return")
    with pytest.raises((TypeError, ValueError)) as caught:
        glax.jit(f)(x)
    notes = getattr(caught.value, "__notes__", [])
    assert "\n".join([str(caught.value), *notes]).count(line) == 1


def test_what_needs_no_note_has_none():
    def mine(x):
        raise TypeError("mine")

    def theirs(x):
        return {}[0]

    for f in (mine, theirs):
        assert notes_of(lambda f=f: glax.jit(glax.grad(f))(1.)) == []
    assert notes_of(lambda: gnp.ones(2) + gnp.ones(3)) == []
    assert notes_of(lambda: glax.jit(lambda x: x if x > 0 else -x)(1.)) == []  # the message has the line
    assert notes_of(lambda: glax.jit(lambda x: "text")(1.)) == []  # no line of the function's is to blame


def test_a_caught_error_leaves_no_note_on_the_next():
    def careful(x):
        try:
            return misshapen(x)
        except TypeError:
            return gnp.sum(x)

    assert float(glax.jit(careful)(gnp.ones(7))) == 7.


@pytest.mark.parametrize("call", [
    glax.jit(lambda x: x), glax.grad(lambda x: x), glax.vmap(lambda x: x), glax.make_jaxpr(lambda x: x),
    glax.tree.flatten, glax.tree.leaves, lambda x: glax.tree.map(lambda y: y, x), glax.device_put,
])
def test_a_tree_that_contains_itself(call):
    tree = [1.]
    tree.append(tree)
    with pytest.raises(ValueError, match="contains itself, or is nested too deeply"):
        call(tree)


def test_a_compiled_program_takes_no_others_of_as_many_bytes():
    run = glax.lower.compile_program(glax.ir.parse("{ lambda ; a:f32[2,3]. let b:f32[2,3] = neg a in (b,) }"))
    for other in (gnp.ones((3, 2)), gnp.ones((2, 3), int)):
        with pytest.raises(TypeError, match=r"of types \(f32\[2,3\]\), got .* at 0"):
            run([other])
