"""ops, numpy.linalg, flatten_util, errors."""

from importlib import import_module

import ml_dtypes
import numpy as np
import pytest

import glax
import glax.numpy as gnp


@pytest.mark.parametrize("kind,of_nothing", [("sum", 0.), ("prod", 1.), ("max", -np.inf), ("min", np.inf)])
def test_segments(kind, of_nothing):
    data, ids = np.array([1., 5., 2., 7., 3.], np.float32), np.array([0, 2, 0, -1, 9])
    reduce = getattr(glax.ops, f"segment_{kind}")
    of_rows = {"sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min}[kind]
    wanted = [of_rows([1., 2.]), of_nothing, 5.]
    np.testing.assert_allclose(reduce(data, ids, 3), wanted)
    np.testing.assert_allclose(glax.jit(lambda d: reduce(d, ids, num_segments=3))(data), wanted)
    forward, reverse = (jac(lambda d: reduce(d, ids, 3))(data) for jac in (glax.jacfwd, glax.jacrev))
    np.testing.assert_allclose(forward, reverse)
    assert reduce(data, np.array([0, 1, 0, 1, 3])).shape == (4,)
    with pytest.raises(ValueError, match="segment_ids"):
        reduce(data, ids[:3], 3)


def test_extremes_of_a_format_without_infinities():
    x = gnp.array([1., 2., np.nan], ml_dtypes.float8_e4m3fn)
    assert glax.ops.segment_max(x[:2], np.array([0, 0]), 2).tolist() == [2, -448]
    assert glax.ops.segment_min(x[:2], np.array([0, 0]), 2).tolist() == [1, 448]
    assert float(gnp.max(x, where=np.array([True, False, False]), initial=.5)) == 1
    assert (float(gnp.nanmax(x)), float(gnp.nanmin(x)), int(gnp.nanargmin(x))) == (2, 1, 0)
    primal, tangent = glax.jvp(glax.lax.cummax, (x[:2],), (x[:2],))
    assert primal.tolist() == tangent.tolist() == [1, 2]


@pytest.mark.parametrize("ord", [None, 0, 1, 2, 3, np.inf, -np.inf, 1.5])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_vector_norms(ord, axis):
    x = np.array([[3., -4., 1.], [0., 2., -2.]], np.float32)
    for keepdims in (False, True):
        np.testing.assert_allclose(gnp.linalg.norm(x, ord, axis, keepdims), np.linalg.norm(x, ord, axis, keepdims),
                                   rtol=1e-6)


@pytest.mark.parametrize("ord", [None, "fro", 1, -1, np.inf, -np.inf])
def test_matrix_norms(ord):
    x = np.array([[[3., -4., 1.], [0., 2., -2.]], [[1., 1., 1.], [5., 0., 0.]]], np.float32)
    for axes in ((0, 1), (1, 2), (2, 0), (-1, -2)):
        for keepdims in (False, True):
            np.testing.assert_allclose(gnp.linalg.norm(x, ord, axes, keepdims), np.linalg.norm(x, ord, axes, keepdims),
                                       rtol=1e-6)
    with pytest.raises(NotImplementedError, match="singular"):
        gnp.linalg.norm(x[0], 2)


@pytest.mark.parametrize("wrap", [lambda f: f, glax.jit], ids=["eager", "jit"])
def test_quantiles_at_the_ends_and_between_equals(wrap):
    inf = np.inf
    x, q = gnp.array([-inf, -inf, 2.0, inf, inf]), gnp.array([0, 0.1, 0.25, 0.5, 0.6, 0.75, 0.8, 1])
    want = [-inf, -inf, -inf, 2, inf, inf, inf, inf]
    np.testing.assert_array_equal(wrap(gnp.quantile)(x, q), want)
    np.testing.assert_array_equal(wrap(gnp.nanquantile)(gnp.append(x, gnp.nan), q), want)
    np.testing.assert_array_equal(wrap(gnp.quantile)(gnp.full(3, 3.3), gnp.array([0.2, 0.3])), np.float32([3.3, 3.3]))
    assert np.isnan(wrap(gnp.median)(gnp.array([-inf, inf])))
    np.testing.assert_array_equal(glax.grad(wrap(gnp.median))(gnp.array([1.0, 1.0])), [0.5, 0.5])


def test_ravel_pytree():
    values = {"a": gnp.arange(3), "b": [gnp.ones((2, 2)), 5.]}
    vector, unravel = glax.flatten_util.ravel_pytree(values)
    assert vector.shape == (8,) and vector.dtype == np.float32
    again = unravel(vector * 2)
    assert again["a"].dtype == np.int32 and float(again["b"][1]) == 10.
    slope = glax.grad(lambda v: (unravel(v)["b"][0] ** 2).sum())(vector)
    np.testing.assert_allclose(slope, [0, 0, 0, 2, 2, 2, 2, 0])
    with pytest.raises(ValueError, match="8 elements"):
        unravel(vector[:3])


def test_arrays_and_tracers_are_instances_of_array():
    seen = []
    glax.jit(lambda x: seen.append(isinstance(x, glax.Array)) or x)(1.)
    assert seen == [True] and isinstance(gnp.ones(2), glax.Array) and not isinstance(np.ones(2), glax.Array)
    assert issubclass(glax.errors.TracerBoolConversionError, TypeError)


@pytest.mark.parametrize("module", ["numpy", "numpy.linalg", "lax", "nn", "nn.initializers", "scipy.special"])
def test_modules_list_their_public_names(module):
    found = import_module(f"glax.{module}")
    assert dir(found) == sorted(found.__all__)
