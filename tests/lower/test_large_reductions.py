"""Reductions of many elements, which XLA does by other means than those of few, give what NumPy does."""

import numpy as np
import pytest

import glax
import glax.numpy as gnp
from glax.interp import evaluate_jaxpr

SHAPES = [((5000,), None), ((70, 80), 1), ((70, 80), 0), ((4, 30, 96), (0, 2)), ((4, 30, 96), (1, 2)), ((20, 257), 1),
          ((200, 32), 1), ((9, 8, 8, 8), (1, 3))]


def same(f, *args, tolerance=1e-5):
    """What a compiled function gives, the interpreter gives, and the operations one by one."""
    program = glax.make_jaxpr(f)(*args).jaxpr
    compiled = np.asarray(glax.jit(f)(*args))
    for other in evaluate_jaxpr(program, *args)[0], np.asarray(f(*map(gnp.asarray, args))):
        assert compiled.dtype == other.dtype
        if compiled.dtype.kind in "fc":
            np.testing.assert_allclose(compiled, other, rtol=tolerance, atol=tolerance)
        else:
            np.testing.assert_array_equal(compiled, other)


@pytest.mark.parametrize("shape, axes", SHAPES)
@pytest.mark.parametrize("reduction", ["max", "min", "sum", "prod", "any", "all"])
def test_reductions_over_axes(reduction, shape, axes):
    random = np.random.default_rng(0)
    f = getattr(gnp, reduction)
    for dtype in ("float32", "int32", "bool") if reduction in ("max", "sum") else ("float32",):
        values = random.uniform(.99, 1.01, shape) if reduction == "prod" else random.normal(size=shape) * 3
        if reduction in ("any", "all"):
            values = values > (2.5 * 3 if reduction == "any" else -2.5 * 3)
        same(lambda x: f(x, axis=axes), values.astype(dtype), tolerance=1e-4)


@pytest.mark.parametrize("shape, axes", SHAPES)
@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("before", [
    lambda x: x, lambda x: gnp.maximum(x, 0), lambda x: gnp.clip(x, -1, 1), gnp.negative])
def test_nothing_special_is_lost(before, special, shape, axes):
    values = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    values[(1,) * len(shape)] = special
    for reduction in gnp.max, gnp.min, gnp.sum:
        same(lambda x, f=reduction: f(before(x), axis=axes), values, tolerance=1e-4)
    same(lambda x: gnp.max(before(x), axis=axes), np.full(shape, special, np.float32))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16"])
@pytest.mark.parametrize("reduction", [gnp.max, gnp.min, lambda x: gnp.sum(x, dtype=x.dtype)])
@pytest.mark.parametrize("before", [
    lambda x: x + x, lambda x: x * x, lambda x: x // 3, lambda x: -x, lambda x: x - gnp.max(x)])
def test_small_integers_wrap(before, reduction, dtype):
    values = np.ones(5000, dtype)
    values[3:6] = 100, 0, np.iinfo(dtype).max
    same(lambda x: reduction(before(x)), values)


def test_conversions_to_small_integers_truncate():
    values = np.ones(5000, np.float32)
    values[3:5] = -3.7, 9.9
    same(lambda x: gnp.min(x.astype("int8")), values)
    same(lambda x: gnp.max(x.astype("int8")), values)
