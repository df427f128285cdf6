"""Arrays of dtype float0, the tangents of integers: they have a shape and no values, and go wherever arrays go."""

import pickle

import numpy as np
import pytest

import glax
import glax.numpy as gnp
from glax import lax

ZEROS = np.zeros((3, 2), glax.float0)

FUNCTIONS = {
    "itself": lambda z: z,
    "not used": lambda z: gnp.ones(2),
    "reshape": lambda z: gnp.reshape(z, (6,)),
    "index": lambda z: z[0],
    "concatenate": lambda z: gnp.concatenate([z, z]),
    "where": lambda z: gnp.where(True, z, z),
    "cond": lambda z: lax.cond(z.ndim == 2, lambda z: z[:1], lambda z: z[1:2], z),
    "while": lambda z: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1]), (0, z)),
    "scan": lambda z: lax.scan(lambda c, x: (c, (x, c)), z, z),
    "vmap": lambda z: glax.vmap(lambda row: (row, row[:1]), out_axes=1)(z),
    "jvp": lambda z: glax.jvp(lambda n: (n * 2, n + 0.5), (gnp.arange(6).reshape(3, 2),), (z,)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_float0_goes_through_compiled_functions_as_through_others(name):
    f = FUNCTIONS[name]
    wanted, structure = glax.tree_util.tree_flatten(f(ZEROS))
    for given in ZEROS, gnp.asarray(ZEROS), glax.jit(lambda z: z)(ZEROS):
        found, same = glax.tree_util.tree_flatten(glax.jit(f)(given))
        assert same == structure
        for x, y in zip(found, wanted):
            assert np.asarray(x).dtype == np.asarray(y).dtype
            np.testing.assert_array_equal(np.asarray(x), np.asarray(y))


def test_gradient_of_an_integer_is_of_float0_in_a_compiled_function():
    gradient = glax.jit(glax.grad(lambda n: n * 1.5, allow_int=True))(3)
    assert (gradient.shape, gradient.dtype, np.asarray(gradient).dtype) == ((), glax.float0, glax.float0)


def test_float0_results_pickle_and_can_be_deleted():
    result = glax.jit(lambda z: z)(ZEROS)
    assert pickle.loads(pickle.dumps(result)).dtype == glax.float0
    assert not result.value().flags.writeable
    result = glax.jit(lambda z: z)(ZEROS)
    result.delete()
    with pytest.raises(RuntimeError, match="deleted"):
        result.value()


@pytest.mark.parametrize("f", [lambda z: z + 1, gnp.sin, lambda z: gnp.equal(z, z), lambda z: gnp.multiply(z, z)])
def test_arithmetic_of_float0_is_refused(f):
    for call in f, glax.jit(f):
        with pytest.raises(TypeError, match="float0|void"):
            call(ZEROS)
