"""Products are summed in a dtype that holds them, whatever the dtypes of operands and result."""

import itertools

import numpy as np
import pytest

import glax
import glax.numpy as gnp
from glax import lax
from glax.interp import evaluate_jaxpr

INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32"]
NUMBERS = (((1,), (1,)), ((), ()))


@pytest.mark.parametrize("operand, result", [
    (a, b) for a, b in itertools.product(INTEGERS, INTEGERS) if np.dtype(a).itemsize <= np.dtype(b).itemsize])
def test_products_of_integers_are_exact_in_the_dtype_of_the_result(operand, result):
    limits = np.iinfo(operand)
    values = np.linspace(limits.min, limits.max, 12).astype(operand).reshape(3, 4)

    def product(x):
        return lax.dot_general(x, x, NUMBERS, preferred_element_type=np.dtype(result))

    wide = values.astype(object)
    wanted = np.array([[sum(p * q for p, q in zip(a, b)) for b in wide] for a in wide], object)
    size = 1 << np.iinfo(result).bits
    wanted = np.array([(int(v) - np.iinfo(result).min) % size + np.iinfo(result).min for v in wanted.ravel()])
    program = glax.make_jaxpr(product)(values).jaxpr
    for found in glax.jit(product)(values), product(gnp.asarray(values)), evaluate_jaxpr(program, values)[0]:
        assert np.asarray(found).dtype == result
        assert np.asarray(found).ravel().tolist() == wanted.tolist()
