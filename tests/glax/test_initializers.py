"""Initial values of weights: those of JAX, and their spread."""

import numpy as np
import pytest

import glax
from glax import random
from glax.nn import initializers

FACTS = [
    ('initializers.zeros(KEY, (2,))', "float32",
     [0.0, 0.0]),
    ('initializers.ones(KEY, (2,), "bfloat16")', "bfloat16",
     [1.0, 1.0]),
    ('initializers.constant(3)(KEY, (2,))', "float32",
     [3.0, 3.0]),
    ('initializers.uniform()(KEY, (2,))', "float32",
     [0.0025873792, 0.006238625]),
    ('initializers.normal(2.0)(KEY, (2,))', "float32",
     [-1.2944822, 0.6312822]),
    ('initializers.truncated_normal()(KEY, (2,))', "float32",
     [-0.006136739, 0.0030082683]),
    ('initializers.truncated_normal(1.0, lower=-1.0, upper=0.5)(KEY, (2,))', "float32",
     [-0.534457, -0.022426901]),
    ('initializers.glorot_uniform()(KEY, (2, 3))', "float32",
     [[-0.52857876, 0.27136916, -0.5983387], [-0.8291817, -0.010225242, 1.0065001]]),
    ('initializers.glorot_normal()(KEY, (2, 1))', "float32",
     [[-0.5696317], [0.27923706]]),
    ('initializers.lecun_uniform()(KEY, (2, 1))', "float32",
     [[-0.590969], [0.30339995]]),
    ('initializers.lecun_normal()(KEY, (2, 1))', "float32",
     [[-0.4933155], [0.24182639]]),
    ('initializers.he_uniform()(KEY, (2, 1))', "float32",
     [[-0.83575636], [0.4290723]]),
    ('initializers.he_normal()(KEY, (2, 1))', "float32",
     [[-0.69765353], [0.34199417]]),
    ('initializers.he_normal(in_axis=0, out_axis=1)(KEY, (3, 1, 2))', "float32",
     [[[-0.40279043, 0.19745041]], [[-0.465018, -0.71276736]], [[-0.0073294113, 1.0123012]]]),
    ('initializers.he_normal(batch_axis=0)(KEY, (2, 3, 1))', "float32",
     [[[-0.5696317], [0.27923706], [-0.65763485]], [[-1.0080054], [-0.010365354], [1.4316101]]]),
    ('initializers.variance_scaling(2.0, "fan_geo_avg", "normal")(KEY, (2, 1))', "float32",
     [[-0.7697037], [0.37536263]]),
    ('initializers.variance_scaling(1.0, "fan_in", "normal", dtype="complex64")(KEY, (2, 1))', "complex64",
     [[-0.65205795 + 0.44469738j], [-0.31048718 + -0.20795411j]]),
    ('initializers.variance_scaling(1.0, "fan_out", "uniform", dtype="complex64")(KEY, (2, 1))', "complex64",
     [[0.16930532 + -0.40438804j], [-0.38687775 + 0.620437j]]),
    ('initializers.variance_scaling(1.0, "fan_in", "truncated_normal", dtype="complex64")(KEY, (2, 1))', "complex64",
     [[0.09018874 + -0.21541703j], [-0.21656832 + 0.34731126j]]),
]


@pytest.mark.parametrize("expression, dtype, values", FACTS, ids=[f[0] for f in FACTS])
def test_numbers_are_those_of_jax(expression, dtype, values):
    found = eval(expression, {"initializers": initializers, "KEY": random.PRNGKey(1701)})
    assert found.dtype.name == dtype
    np.testing.assert_allclose(np.asarray(found).astype(np.complex64), np.array(values), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("distribution", ["normal", "uniform", "truncated_normal"])
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_variance_is_scaled(distribution, dtype):
    init = initializers.variance_scaling(3.0, "fan_in", distribution, dtype=dtype)
    weights = np.asarray(init(random.key(0), (5, 30, 40)))
    assert abs(weights.mean()) < 5e-3
    np.testing.assert_allclose((abs(weights) ** 2).mean(), 3 / (5 * 30), rtol=0.05)


def test_initializers_run_compiled_and_are_of_the_protocol():
    init = initializers.he_normal()
    assert isinstance(init, initializers.Initializer) and isinstance(initializers.zeros, initializers.Initializer)
    compiled = glax.jit(lambda key: init(key, (3, 4), "bfloat16"))(random.key(1))
    assert compiled.dtype.name == "bfloat16" and compiled.shape == (3, 4)


@pytest.mark.parametrize("call, message", [
    (lambda k: initializers.he_normal()(k, (3,)), "axes -2 and -1"),
    (lambda k: initializers.he_normal()(k, (0, 4)), "must not be empty"),
    (lambda k: initializers.variance_scaling(1.0, "fan", "normal"), "mode must be one of"),
    (lambda k: initializers.variance_scaling(1.0, "fan_in", "gauss"), "distribution must be one of"),
    (lambda k: initializers.normal()(k, (3,), "int32"), "int32"),
])
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call(random.key(0))
