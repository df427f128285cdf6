"""Bad input: typed errors that name the argument, what was expected and what came, and leave no state behind."""

import re

import numpy as np
import pytest

import glax
import glax.numpy as gnp
from glax import lax
from glax.ir import (
    ConcretizationTypeError,
    JaxprSyntaxError,
    NonHashableStaticError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
    UnexpectedTracerError,
    current_builder,
    parse,
)

LEAKED = []


def leak(x):
    LEAKED.append(gnp.sin(x))
    return x


def use_leaked():
    glax.jit(leak)(1.)
    return LEAKED.pop() + 1


CASES = {
    "unflatten by what is no treedef": (
        lambda: glax.tree_util.tree_unflatten(3, [1]), TypeError, ["tree_unflatten", "treedef", "PyTreeDef", "3"]),
    "children of what is no treedef": (
        lambda: glax.tree_util.treedef_children(3), TypeError, ["treedef_children", "treedef"]),
    "tuple of what is no treedef": (
        lambda: glax.tree_util.treedef_tuple([3]), TypeError, ["treedef_tuple", "treedefs"]),
    "transposition by what is no treedef": (
        lambda: glax.tree_util.tree_transpose(3, 3, [1]), TypeError, ["tree_transpose", "outer_treedef"]),
    "polynomial of a scalar": (
        lambda: gnp.polyval(gnp.float32(1), gnp.ones(3)), ValueError, ["polyval", "p must", "scalar"]),
    "axis out of range, as an index": (lambda: gnp.mean(gnp.ones(3), axis=2), IndexError, ["mean", "axis 2"]),
    "axis out of range, as a value": (lambda: gnp.mean(gnp.ones(3), axis=2), ValueError, ["mean", "axis 2"]),
    "bound of a clamp": (lambda: lax.clamp(gnp.ones(3), 1., 2.), TypeError, ["clamp", "min", "(3,)"]),
    "int beyond its default type": (lambda: gnp.float16(1) + 2**31, OverflowError, ["2147483648", "int32"]),
    "grad of a string": (lambda: glax.grad(lambda x: x)("text"), TypeError, ["args[0]", "'text'"]),
    "grad of an integer": (
        lambda: glax.grad(lambda p: p["n"] * 1.)({"n": 3}), TypeError, ["['n']", "int32", "allow_int"]),
    "grad of a vector output": (lambda: glax.grad(lambda x: x)(gnp.ones(3)), TypeError, ["scalar", "(3,)"]),
    "grad of an integer output": (lambda: glax.grad(lambda x: 3)(1.), TypeError, ["int32"]),
    "grad of a tuple output": (lambda: glax.grad(lambda x: (x, x))(1.), TypeError, ["scalar", "has_aux"]),
    "grad without its argument": (lambda: glax.grad(lambda x, y: x, 2)(1., 2.), TypeError, ["argnums", "2"]),
    "grad of no function": (lambda: glax.grad(3), TypeError, ["function", "3"]),
    "aux that is none": (lambda: glax.grad(lambda x: x, has_aux=True)(1.), TypeError, ["has_aux", "pair"]),
    "jvp trees differ": (
        lambda: glax.jvp(lambda d: d["a"], ({"a": 1.},), ({"b": 1.},)), TypeError, ["tangents", "keys a"]),
    "jvp shapes differ": (lambda: glax.jvp(gnp.sin, (gnp.ones(3),), (gnp.ones(2),)), ValueError, ["(3,)", "(2,)"]),
    "jvp dtypes differ": (lambda: glax.jvp(gnp.sin, (1.,), (np.int32(1),)), TypeError, ["float32", "int32"]),
    "jvp not tuples": (lambda: glax.jvp(gnp.sin, 1., 1.), TypeError, ["primals", "tuple"]),
    "cotangent tree": (lambda: glax.vjp(lambda x: (x, x), 1.)[1](1.), ValueError, ["cotangent", "tree"]),
    "cotangent shape": (lambda: glax.vjp(gnp.sin, gnp.ones(3))[1](gnp.ones(2)), ValueError, ["cotangent", "(3,)"]),
    "vmap sizes differ": (
        lambda: glax.vmap(gnp.add)(gnp.ones(3), gnp.ones(4)), ValueError, ["args[0]", "args[1]", "3", "4"]),
    "vmap axis out of range": (lambda: glax.vmap(gnp.sin, in_axes=2)(gnp.ones(3)), ValueError, ["axis 2", "args[0]"]),
    "vmap in_axes count": (lambda: glax.vmap(gnp.add, in_axes=(0,))(1., 2.), ValueError, ["in_axes", "1", "2"]),
    "vmap in_axes tree": (
        lambda: glax.vmap(lambda d: d["a"], in_axes=({"b": 0},))({"a": gnp.ones(3)}), ValueError, ["in_axes"]),
    "vmap in_axes type": (lambda: glax.vmap(gnp.sin, in_axes="0"), TypeError, ["in_axes", "str"]),
    "vmap of nothing": (lambda: glax.vmap(lambda x: x, in_axes=None)(1.), ValueError, ["axis_size"]),
    "vmap of a scalar": (lambda: glax.vmap(gnp.sin)(1.), ValueError, ["axis 0", "0 dimensions"]),
    "vmap out_axes None": (lambda: glax.vmap(gnp.sin, out_axes=None)(gnp.ones(3)), ValueError, ["out_axes", "None"]),
    "vmap out_axes range": (lambda: glax.vmap(gnp.sin, out_axes=2)(gnp.ones(3)), ValueError, ["out_axes 2"]),
    "jit output": (lambda: glax.jit(lambda x: {"a": "text"})(1.), TypeError, ["['a']", "'text'", "str"]),
    "jit argument": (lambda: glax.jit(lambda d: d)({"a": object()}), TypeError, ["['a']", "object"]),
    "unhashable static": (
        lambda: glax.jit(lambda x, n: x, static_argnums=1)(1., [1]), NonHashableStaticError, ["position 1", "list"]),
    "static name": (lambda: glax.jit(lambda x: x, static_argnames="n"), ValueError, ["static_argnames", "'n'"]),
    "leaked tracer": (use_leaked, UnexpectedTracerError, ["jit of leak", "test_errors.py"]),
    "bool": (
        lambda: glax.jit(lambda x: x if x > 0 else -x)(1.), TracerBoolConversionError, ["lax.cond", "test_errors.py"]),
    "bool within": (
        lambda: glax.jit(lambda q: glax.grad(lambda x: x if x > 0 else -x)(q))(1.), TracerBoolConversionError,
        ["grad of", "within jit of"]),
    "index": (lambda: glax.jit(lambda n: [1, 2][n])(1), TracerIntegerConversionError, ["static_argnums"]),
    "float": (lambda: glax.vmap(lambda x: float(x))(gnp.ones(2)), ConcretizationTypeError, ["float", "vmap"]),
    "numpy": (lambda: glax.grad(lambda x: np.sin(np.asarray(x)))(1.), TracerArrayConversionError, ["numpy"]),
    "unequal dtypes": (lambda: lax.add(np.float32(1), np.int32(1)), TypeError, ["add", "float32", "int32"]),
    "unequal shapes": (lambda: lax.add(gnp.ones(2), gnp.ones(3)), TypeError, ["add", "(2,)", "(3,)"]),
    "integer sine": (lambda: lax.sin(np.int32(1)), TypeError, ["sin", "int32"]),
    "axis": (lambda: gnp.sum(gnp.ones(3), axis=1), ValueError, ["1"]),
    "matmul": (lambda: gnp.ones((2, 3)) @ gnp.ones((2, 3)), TypeError, ["(2, 3)"]),
    "list operand": (lambda: gnp.sin([1., 2.]), TypeError, ["list"]),
    "string array": (lambda: gnp.asarray("text"), TypeError, ["str"]),
    "item assignment": (lambda: gnp.ones(3).__setitem__(0, 1.), TypeError, ["at["]),
    "truth of a vector": (lambda: bool(gnp.ones(3)), ValueError, ["ambiguous"]),
    "no program": (lambda: parse("not a program"), JaxprSyntaxError, ["line 1"]),
    "unknown operation": (
        lambda: parse("{ lambda ; a:f32[]. let b:f32[] = sinn a in (b,) }"), JaxprSyntaxError, ["sinn"]),
    "unbound variable": (lambda: parse("{ lambda ; a:f32[]. let in (b,) }"), JaxprSyntaxError, ["b", "not bound"]),
    "truncated program": (lambda: parse("{ lambda ; a:f32[]. let b:f32[] = sin"), JaxprSyntaxError, ["the end"]),
    "config": (lambda: glax.config.update("enable_x65", True), AttributeError, ["enable_x64"]),
}


@pytest.mark.parametrize("name", CASES)
def test_bad_input(name):
    call, error, words = CASES[name]
    with pytest.raises(error) as caught:
        call()
    for word in words:
        assert word in str(caught.value), f"the message lacks {word!r}: {caught.value}"
    assert current_builder() is None
    np.testing.assert_allclose(np.asarray(glax.jit(glax.grad(lambda x: x ** 2))(3.)), 6.)


def test_an_error_inside_nested_transformations_leaves_nothing_behind():
    def broken(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        glax.jit(glax.vmap(glax.grad(broken)))(gnp.ones(3))
    assert current_builder() is None
    assert float(gnp.sin(0.)) == 0.


MASKED = np.ma.masked_array(np.ones(3, np.float32), mask=[0, 1, 0])


@pytest.mark.parametrize("take", [
    gnp.asarray, gnp.sin, glax.jit(lambda x: x), glax.grad(lambda x: x.sum()), glax.vmap(lambda x: x),
    glax.make_jaxpr(lambda x: x), lambda x: gnp.ones(3) + x, lambda x: lax.add(gnp.ones(3), x), glax.device_put,
    lambda x: glax.jit(lambda y: y + x)(1.),
])
def test_a_mask_is_not_lost(take):
    with pytest.raises(ValueError, match=r"masked arrays are not taken.*x\.filled"):
        take(MASKED)


@pytest.mark.parametrize(("call", "path"), [
    (lambda: glax.jit(lambda x: x)("a"), "args[0]"), (lambda: glax.vmap(lambda x: x)(["a"]), "args[0][0]"),
    (lambda: glax.jit(lambda x, y: x)(1., y={"k": "a"}), "kwargs['y']['k']"),
    (lambda: glax.make_jaxpr(lambda x: x)({"w": "a"}), "args[0]['w']"),
    (lambda: glax.eval_shape(lambda x: x, "a"), "args[0]"), (lambda: glax.jit(lambda x: x).lower("a"), "args[0]"),
    (lambda: glax.pure_callback(lambda x: x, "a", 1.), "result_shape_dtypes"),
    (lambda: glax.pure_callback(lambda x: x, gnp.ones(1), "a"), "args[0]"),
])
def test_what_is_no_array_is_named_by_its_place_in_the_call(call, path):
    with pytest.raises(TypeError, match=re.escape(f"{path}: expected an array or a number, got 'a' of type str")):
        call()


def test_long_values_are_cut_in_messages():
    program = glax.make_jaxpr(lambda x: x + np.ones((50, 50), np.float32))(1.)
    for call in (lambda: glax.jit(program), lambda: glax.jit(lambda x: x)(program)):
        with pytest.raises(TypeError) as caught:
            call()
        assert len(str(caught.value)) < 400


@pytest.mark.parametrize("make", [
    lambda f: glax.jit(f, static_argnums=2), lambda f: glax.jit(f, donate_argnums=(0, -3)),
    lambda f: glax.make_jaxpr(f, static_argnums=9), lambda f: glax.checkpoint(f, static_argnums=(2,)),
])
def test_positions_that_no_argument_has(make):
    with pytest.raises(ValueError, match="argnums has .* 2 positional arguments"):
        make(lambda x, n: x)(1., 2)


def test_an_integer_is_no_tangent_of_a_float():
    with pytest.raises(TypeError, match="must have dtype float32 for a primal of dtype float32, got int32"):
        glax.jvp(lambda x: x * x, (1.,), (1,))
