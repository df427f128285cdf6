"""glax.lax: nothing is promoted, dynamic indices wrap and clamp, general reductions, errors."""

import numpy as np
import pytest

import glax
from glax import lax
from glax import numpy as xp
from glax.interp import evaluate_jaxpr
from glax.ir import ShapedArray, stage

F32, I32 = ShapedArray((3,), "float32"), ShapedArray((), "int32")


def test_equal_types_go_straight_to_one_equation():
    jaxpr, _ = stage(lambda x: [lax.add(lax.sin(x), x)], [F32])
    assert [e.op.name for e in jaxpr.eqns] == ["sin", "add"]


@pytest.mark.parametrize("call", [
    lambda: lax.add(xp.float32(1), 1), lambda: lax.add(1, 1.0), lambda: lax.sin(1), lambda: lax.max(xp.float16(1), 0.0),
    lambda: lax.add(xp.ones(2), xp.ones((2, 2))), lambda: lax.clamp(0, xp.ones(2), 3), lambda: lax.pow(2,
                                                                                                       xp.float32(1)),
    lambda: lax.select(xp.array([True]), xp.ones(1), xp.arange(1)), lambda: lax.integer_pow(xp.arange(2), -1),
    lambda: lax.dot(xp.ones((2, 3)), xp.ones((2, 3))), lambda: lax.reshape(xp.ones(3), (2, -1)),
])
def test_nothing_is_promoted(call):
    with pytest.raises(TypeError):
        call()


def test_scalars_take_part_where_dtypes_are_equal():
    assert lax.add(xp.float32(1), 1.0).aval == ShapedArray((), "float32")
    assert lax.add(1.0, 1.0).aval == ShapedArray((), "float32", weak_type=True)
    assert lax.add(xp.ones((1, 3)), xp.ones((2, 3))).shape == (2, 3)


@pytest.mark.parametrize("start", range(-7, 8))
def test_dynamic_slices_wrap_and_clamp(start):
    x = np.arange(5, dtype=np.float32)
    at = int(np.clip(start + 5 if start < 0 else start, 0, 3))
    program, _ = stage(lambda x, i: [lax.dynamic_slice(x, (i,), (2,)), lax.dynamic_slice_in_dim(x, i, 2),
                                     lax.dynamic_update_slice(x, lax.full((2,), 9.0, "float32"), (i,))],
                       [ShapedArray((5,), "float32"), I32])
    want = x.copy()
    want[at:at + 2] = 9
    for first, second, changed in (
            evaluate_jaxpr(program, x, np.int32(start)),
            (lax.dynamic_slice(x, (start,), (2,)), lax.dynamic_slice_in_dim(x, start, 2),
             lax.dynamic_update_slice(x, np.full(2, 9, np.float32), (start,)))):
        np.testing.assert_array_equal(first, x[at:at + 2])
        np.testing.assert_array_equal(second, x[at:at + 2])
        np.testing.assert_array_equal(changed, want)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32"])
def test_dynamic_starts_of_narrow_dtypes_hold_the_size(dtype):
    x = np.arange(300, dtype=np.float32)
    program, _ = stage(lambda x, i: [lax.dynamic_slice(x, (i,), (1,))],
                       [ShapedArray((300,), "float32"), ShapedArray((), dtype)])
    start = np.asarray(-1 if dtype != "uint8" else 255).astype(dtype)
    assert evaluate_jaxpr(program, x, start)[0][0] == (299 if dtype != "uint8" else 255)


def test_general_reduction_of_several_operands():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    total, largest = lax.reduce((x, x), (0.0, -np.inf), lambda a, b: (a[0] + b[0], lax.max(a[1], b[1])), (1,))
    np.testing.assert_array_equal(total, x.sum(1))
    np.testing.assert_array_equal(largest, x.max(1))
    with pytest.raises(TypeError):
        lax.reduce(x, 0.0, lambda a, b: (a, b), (0,))


def test_scatter_and_gather_modes():
    x = xp.arange(4.0)
    numbers = lax.GatherDimensionNumbers((), (0,), (0,))
    at = xp.array([[1], [9]])
    assert np.isnan(np.asarray(lax.gather(x, at, numbers, (1,)))[1])
    np.testing.assert_array_equal(lax.gather(x, at, numbers, (1,), mode="clip"), [1, 3])
    np.testing.assert_array_equal(lax.gather(x, at, numbers, (1,), mode="fill", fill_value=-1), [1, -1])
    scatter = lax.ScatterDimensionNumbers((), (0,), (0,))
    np.testing.assert_array_equal(lax.scatter_add(x, at, xp.ones(2), scatter), [0, 2, 2, 3])
    np.testing.assert_array_equal(lax.scatter(x, at, xp.ones(2), scatter, mode="clip"), [0, 1, 2, 1])
    assert lax.GatherScatterMode.from_any("drop") is lax.GatherScatterMode.FILL_OR_DROP
    with pytest.raises(ValueError, match="mode"):
        lax.gather(x, at, numbers, (1,), mode="wrap")


def test_precisions():
    x = xp.ones((2, 2))
    for precision in (None, "highest", lax.Precision.HIGH, ("default", "float32")):
        assert lax.dot(x, x, precision=precision).shape == (2, 2)
    with pytest.raises(ValueError, match="precision"):
        lax.dot(x, x, precision="best")
    assert lax.dot(x.astype("bfloat16"), x.astype("bfloat16"), preferred_element_type="float32").dtype == np.float32


def test_stop_gradient_keeps_the_tree_and_stops():
    tree = lax.stop_gradient({"a": 1.0, "b": xp.arange(2)})
    assert set(tree) == {"a", "b"} and tree["b"].dtype == np.int32
    assert float(glax.grad(lambda x: x * lax.stop_gradient(x))(3.0)) == 3.0


def test_axes_are_named_in_errors():
    with pytest.raises(ValueError, match="axes 2 is out of bounds for an array of 1 dimensions"):
        lax.reduce_sum(xp.ones(2), (2,))
    with pytest.raises(ValueError, match="start_indices"):
        lax.dynamic_slice(xp.ones((2, 2)), (0,), (1, 1))


@pytest.mark.parametrize("call", [
    lambda: xp.ones(-1), lambda: xp.full((2, -1), 0), lambda: lax.full((-1,), 0), lambda: lax.iota("int32", -1),
    lambda: xp.arange(4).reshape(-1, -1), lambda: xp.arange(3).reshape(2), lambda: lax.reshape(xp.arange(3), (2, -1)),
    lambda: lax.broadcast_in_dim(xp.arange(3), (2,), (0,)), lambda: lax.broadcast_in_dim(xp.arange(3), (3,), (1,)),
    lambda: lax.dot(xp.ones(2), xp.ones(3)), lambda: xp.matvec(xp.ones((2, 3)), xp.ones(2)),
    lambda: glax.grad(lambda x: x, argnums=1)(1.0), lambda: glax.jacfwd(lambda x: x, argnums=-2)(1.0)])
@pytest.mark.parametrize("kind", [TypeError, ValueError])
def test_errors_about_shapes_are_of_both_kinds(call, kind):
    with pytest.raises(kind):
        call()


def test_rolling_by_a_computed_narrow_shift():
    program, _ = stage(lambda by: [xp.roll(xp.arange(300), by)], [ShapedArray((), "uint8")])
    np.testing.assert_array_equal(evaluate_jaxpr(program, np.uint8(200))[0], np.roll(np.arange(300), 200))


def test_powers_of_zero_with_complex_exponents():
    exponents = np.array([1, 2.5, 1 + 1j, 3 - 2j, .5j + .5], np.complex64)
    for base in 0j, complex(-0., 0), complex(0, -0.):
        for power in lax.pow, glax.jit(lax.pow):
            assert np.asarray(power(np.full(5, base, np.complex64), exponents)).tolist() == [0] * 5


def test_derivatives_of_cube_roots_at_zero_and_infinity():
    first, second = glax.grad(lax.cbrt), glax.grad(glax.grad(lax.cbrt))
    assert [float(first(x)) for x in (0., -0., np.inf, -np.inf)] == [np.inf, np.inf, 0., 0.]
    assert [float(second(x)) for x in (0., -0., np.inf, -np.inf)] == [-np.inf, np.inf, 0., 0.]
    np.testing.assert_allclose([first(8.), second(8.)], [1 / 12, -1 / 144], rtol=1e-5)
