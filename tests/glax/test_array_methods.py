"""Indexing, operators, methods, and what happens where Python asks a staged value for its contents."""

import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import glax
import glax.numpy as xp
from glax.interp import evaluate_jaxpr
from glax.ir import (
    ConcretizationTypeError,
    NonConcreteBooleanIndexError,
    ShapedArray,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
    stage,
)


def evaluated(function, *values):
    """The results of a function that is staged and then evaluated on NumPy values."""
    jaxpr, consts = stage(function, [ShapedArray(v.shape, v.dtype) for v in values])
    return evaluate_jaxpr(jaxpr, *[np.asarray(xp.asarray(c)) for c in consts], *values)


SHAPE = (3, 4, 2)
X = np.arange(24, dtype=np.float32).reshape(SHAPE)


def entries(n):
    ends = st.one_of(st.none(), st.integers(-n - 2, n + 2))
    return st.one_of(
        st.integers(-n, n - 1),
        st.builds(slice, ends, ends, st.sampled_from([None, 1, 2, -1, -2])),
        st.lists(st.integers(-n, n - 1), min_size=1, max_size=3).map(np.asarray),
        st.lists(st.booleans(), min_size=n, max_size=n).map(np.asarray))


@st.composite
def indices(draw):
    """An index that NumPy takes: some dimensions indexed, perhaps an Ellipsis, perhaps new axes."""
    count = draw(st.integers(0, 3))
    index = [draw(entries(n)) for n in SHAPE[:count]]
    if draw(st.booleans()):
        index.append(Ellipsis)
    if draw(st.booleans()):
        index.insert(draw(st.integers(0, len(index))), None)
    try:
        X[tuple(index)]
    except IndexError:
        return ()
    return tuple(index)


@given(indices())
@settings(max_examples=150, deadline=None)
def test_indexing_agrees_with_numpy_eager_and_staged(index):
    want = X[index]
    np.testing.assert_array_equal(xp.asarray(X)[index], want)
    np.testing.assert_array_equal(evaluated(lambda v: [v[index]], X)[0], want)


@given(indices(), st.sampled_from(["set", "add", "multiply", "min", "max", "subtract", "divide", "power"]))
@settings(max_examples=150, deadline=None)
def test_updates_agree_with_numpy(index, method):
    place = np.zeros(SHAPE, int)
    np.add.at(place, index, 1)
    repeated = bool((place > 1).any())
    want = X.copy()
    if method == "set":
        want[index] = -1
    elif method == "power":
        want[index] = want[index] ** 2
    else:
        ufunc = {"add": np.add, "multiply": np.multiply, "min": np.minimum, "max": np.maximum, "subtract": np.subtract,
                 "divide": np.divide}[method]
        ufunc.at(want, index, 2)
    if not (repeated and method == "power"):
        got = getattr(xp.asarray(X).at[index], method)(-1 if method == "set" else 2)
        np.testing.assert_allclose(got, want)


@pytest.mark.parametrize("i", range(-5, 5))
def test_staged_positions_wrap_and_then_clamp(i):
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    row, element, column, changed, added = evaluated(
        lambda v, k: [v[k], v[k, 1], v[:, k], v.at[k].set(0), v.at[k, 0].add(1)], x, np.int32(i))
    at = np.clip(i + 3 if i < 0 else i, 0, 2)
    np.testing.assert_array_equal(row, x[at])
    assert element == x[at, 1]
    np.testing.assert_array_equal(column, x[:, np.clip(i + 4 if i < 0 else i, 0, 3)])
    wanted, more = x.copy(), x.copy()
    if -3 <= i < 3:
        wanted[i] = 0
        more[i, 0] += 1
    np.testing.assert_array_equal(changed, wanted)
    np.testing.assert_array_equal(added, more)


@pytest.mark.parametrize("index, error", [
    ([0, 1], TypeError), (1.5, TypeError), ("a", TypeError), ((0, 0, 0, 0), IndexError), (np.array([1.0]), TypeError),
    (np.array([True]), IndexError), ((..., ...), IndexError)])
def test_bad_indices(index, error):
    with pytest.raises(error):
        xp.asarray(X)[index]


def staged(function, shape=(3,), dtype="float32"):
    return stage(lambda v: [function(v)], [ShapedArray(shape, dtype)], "jit of train")


@pytest.mark.parametrize("use, shape, dtype, error, advice", [
    (bool, (), "bool", TracerBoolConversionError, "lax.cond"),
    (lambda v: 1 if v > 0 else 2, (), "float32", TracerBoolConversionError, "numpy.where"),
    (operator.index, (), "int32", TracerIntegerConversionError, "static_argnums"),
    (lambda v: list(range(v)), (), "int32", TracerIntegerConversionError, "fori_loop"),
    (int, (), "float32", ConcretizationTypeError, "astype"), (float, (), "float32", ConcretizationTypeError, "astype"),
    (complex, (), "float32", ConcretizationTypeError, "astype"),
    (np.asarray, (3,), "float32", TracerArrayConversionError, "numpy"),
    (lambda v: v.item(), (), "float32", ConcretizationTypeError, "item"),
    (lambda v: v.tolist(), (3,), "float32", ConcretizationTypeError, "tolist"),
    (lambda v: xp.ones(3)[v > 0], (3,), "float32", NonConcreteBooleanIndexError, "numpy.where"),
    (lambda v: xp.arange(v), (), "int32", ConcretizationTypeError, "static"),
    (lambda v: xp.nonzero(v), (3,), "int32", ConcretizationTypeError, "size="),
    (hash, (), "float32", TypeError, "hashed"),
])
def test_asking_a_staged_value_for_its_contents(use, shape, dtype, error, advice):
    with pytest.raises(error) as caught:
        staged(use, shape, dtype)
    assert advice in str(caught.value)
    if error is not TypeError:
        assert "jit of train" in str(caught.value) and "test_array_methods.py" in str(caught.value)


def test_the_error_names_the_operation_that_made_the_value():
    with pytest.raises(TracerBoolConversionError, match="result of the operation 'gt'"):
        staged(lambda v: bool(v > 0), ())


class Foreign:
    def __radd__(self, other):
        return "mine"

    def __rmatmul__(self, other):
        return "mine"


def test_operators_leave_foreign_types_to_themselves():
    x = xp.ones(2)
    assert x + Foreign() == "mine" and x @ Foreign() == "mine"
    assert (x == "a") is False and operator.ne(x, None) is True
    for other in ([1, 2], (1, 2), {}):
        for operate in (operator.add, operator.eq):
            with pytest.raises(TypeError):
                operate(x, other)


def test_numpy_operands_on_either_side():
    x = xp.arange(3.0)
    for result in (x + np.ones(3), np.ones(3) + x, np.float32(1) + x, x + np.float64(1)):
        assert isinstance(result, glax.lower.Array) and result.dtype == np.float32
        np.testing.assert_array_equal(result, [1, 2, 3])


def test_every_array_is_an_ndarray():
    seen = []
    staged(lambda v: seen.append(isinstance(v, xp.ndarray)) or v)
    assert seen == [True] and isinstance(xp.ones(2), xp.ndarray) and not isinstance(np.ones(2), xp.ndarray)


METHODS = ["sum", "mean", "max", "min", "prod", "std", "var", "any", "all", "argmax", "argmin", "cumsum", "cumprod",
           "ravel", "flatten", "copy", "transpose", "squeeze", "conj", "trace", "diagonal", "round", "argsort", "sort"]


@pytest.mark.parametrize("name", METHODS)
def test_methods_agree_with_numpy_and_stage(name):
    x = X[:, :3, 0] / 4
    given = x.copy()
    want = np.sort(x) if name == "sort" else getattr(given, name)()
    np.testing.assert_allclose(getattr(xp.asarray(x), name)(), want, rtol=1e-5)
    np.testing.assert_allclose(evaluated(lambda v: [getattr(v, name)()], x)[0], want, rtol=1e-5)


def test_properties_and_iteration():
    x = xp.asarray(X)
    assert x.T.shape == (2, 4, 3) and x.mT.shape == (3, 2, 4) and len(x) == 3
    assert x.reshape(-1).shape == x.reshape((24,)).shape == x.reshape(4, 6).ravel().shape == (24,)
    assert x.astype(int).dtype == np.int32 and x.view("uint8").shape == (3, 4, 8)
    np.testing.assert_array_equal([np.asarray(row) for row in x], X)
    with pytest.raises(TypeError):
        iter(xp.float32(1))
    assert [float(y) for y in evaluated(lambda v: [a + b for a, b in zip(v, v)], np.ones(2, np.float32))] == [2, 2]
    assert round(xp.float32(2.5)).dtype == np.int32 and float(abs(xp.float32(-2))) == 2


def test_ufunc_methods():
    assert int(xp.add.reduce(xp.arange(4))) == 6 and isinstance(xp.sin, xp.ufunc)
    np.testing.assert_array_equal(xp.multiply.outer(xp.arange(3), xp.arange(2)), np.multiply.outer(range(3), range(2)))
    np.testing.assert_array_equal(xp.add.at(xp.zeros(2), xp.array([0, 0]), 1.0, inplace=False), [2, 0])
    with pytest.raises(NotImplementedError):
        xp.add.at(xp.zeros(2), xp.array([0]), 1.0)


@pytest.mark.parametrize("read, slope", [
    (lambda x: x[xp.array([5, 0])], [1, 0, 0]), (lambda x: x[xp.array([-5])], [0, 0, 0]),
    (lambda x: x[xp.array([1, 9]),], [0, 1, 0]), (lambda x: x.at[xp.array([5, 0])].get(mode="clip"), [1, 0, 1]),
    (lambda x: x[5], [0, 0, 1]), (lambda x: xp.take(x, xp.array([5, 0]), mode="clip"), [1, 0, 1]),
    (lambda x: xp.take(x, xp.array([5, 0]), fill_value=0.0), [1, 0, 0])])
def test_no_derivative_flows_back_from_beyond_the_ends_unless_clipped(read, slope):
    for f in (glax.grad(lambda x: read(x).sum()), glax.jit(glax.grad(lambda x: read(x).sum()))):
        np.testing.assert_array_equal(f(xp.arange(3.0)), slope)


def test_computed_positions_are_read_as_known_ones():
    slope = glax.grad(lambda x, i: x[i].sum())
    for f in (slope, glax.jit(slope)):
        np.testing.assert_array_equal(f(xp.arange(3.0), xp.array([5, 0])), [1, 0, 0])
