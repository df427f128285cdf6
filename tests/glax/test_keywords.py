"""Arguments by the names that JAX has for them."""

import inspect

import numpy as np
import pytest

import glax
import glax.numpy as xp
from glax import custom_derivatives, lax, nn, random, tree_util
from glax.scipy import special

ONE = np.float32(0.5)
CALLS = [
    (lax.nextafter, {"x1": ONE, "x2": 1.0}), (lax.polygamma, {"m": 1.0, "x": ONE}),
    (lax.unstack, {"x": np.ones(2), "axis": 0}), (lax.broadcast_like, {"arr": 1.0, "like_arr": np.ones(3)}),
    (tree_util.is_tree_node, {"typ": list}), (random.key_dtype, {"impl_spec": None}),
    (custom_derivatives.zero_from_primal, {"val": ONE}),
    (xp.fmax, {"x1": ONE, "x2": 1.0}), (xp.fmin, {"x1": ONE, "x2": 1.0}), (xp.trunc, {"x": ONE}),
    *[(getattr(nn, name), {"x": ONE}) for name in (
        "sigmoid", "softplus", "silu", "swish", "mish", "log_sigmoid", "soft_sign")],
    *[(getattr(special, name), {"x": ONE}) for name in (
        "digamma", "entr", "erf", "erfc", "erfinv", "expit", "gamma", "gammaln", "gammasgn", "loggamma", "logit",
        "ndtr")],
    (special.ndtri, {"p": ONE}), (special.kl_div, {"p": ONE, "q": 1.0}), (special.rel_entr, {"p": ONE, "q": 1.0}),
    (special.xlogy, {"x": ONE, "y": 1.0}), (special.xlog1py, {"x": ONE, "y": 1.0}),
]  # fmt: skip


@pytest.mark.parametrize("function, arguments", CALLS, ids=lambda x: getattr(x, "__name__", ""))
def test_arguments_by_name(function, arguments):
    assert list(inspect.signature(function).parameters)[:len(arguments)] == list(arguments)
    for a, b in zip(glax.tree.leaves(function(**arguments)), glax.tree.leaves(function(*arguments.values()))):
        assert np.array_equal(a, b) if hasattr(a, "shape") else a == b


@pytest.mark.parametrize("set_it, value", [
    (glax.enable_x64, True), (glax.debug_nans, False), (glax.debug_infs, False),
    (glax.numpy_dtype_promotion, "standard"), (glax.default_matmul_precision, "highest"),
])  # fmt: skip
def test_settings_by_name(set_it, value):
    with set_it(new_val=value):
        assert xp.add(1, 1) == 2
