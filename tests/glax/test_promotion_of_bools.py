"""What becomes of bools, and of weak operands, where they are computed with: as in JAX 0.10, in both widths."""

import numpy as np
import pytest

import glax
import glax.numpy as gnp

BOOLS = np.array([True, False, True])
WIDTHS = [False, True]

# Where bools count as numbers they are int32, whatever the width.
OF_INTEGERS = {
    "floor_divide": 2, "remainder": 2, "mod": 2, "fmod": 2, "power": 2, "pow": 2, "left_shift": 2, "right_shift": 2,
    "bitwise_left_shift": 2, "bitwise_right_shift": 2, "divmod": 2, "square": 1,
}
# Where they count as floats these are of 32 bits, too, except for two functions.
OF_FLOATS = {"sin": 1, "sqrt": 1, "divide": 2, "hypot": 2, "logaddexp": 2, "arctan2": 2}
OF_DEFAULT_FLOATS = {"angle": 1, "rint": 1}
# And where or, and stand for sum, product they stay bools.
OF_BOOLS = {"add": 2, "multiply": 2, "maximum": 2, "bitwise_and": 2, "bitwise_xor": 2, "invert": 1, "logical_not": 1}
SECOND = {"array": BOOLS, "scalar": True, "reversed": None}


def dtypes_of(result):
    return {x.dtype.name for x in (result if isinstance(result, tuple) else (result,))}


@pytest.mark.parametrize("x64", WIDTHS)
@pytest.mark.parametrize("second", SECOND)
@pytest.mark.parametrize("name", [*OF_INTEGERS, *OF_FLOATS, *OF_DEFAULT_FLOATS, *OF_BOOLS])
def test_dtypes_of_bools(name, second, x64):
    wanted = "int32" if name in OF_INTEGERS else "bool" if name in OF_BOOLS else "float32"
    wanted = "float64" if name in OF_DEFAULT_FLOATS and x64 else wanted
    count = {**OF_INTEGERS, **OF_FLOATS, **OF_DEFAULT_FLOATS, **OF_BOOLS}[name]
    with glax.enable_x64(x64):
        operands = [gnp.array(BOOLS), SECOND[second]][:count]
        if second == "reversed":
            operands = [True, gnp.array(BOOLS)][:count]
        assert dtypes_of(getattr(gnp, name)(*operands)) == {wanted}
        assert dtypes_of(glax.jit(getattr(gnp, name))(*operands)) == {wanted}


@pytest.mark.parametrize("x64", WIDTHS)
@pytest.mark.parametrize("other, wanted", [("int8", "int8"), ("uint16", "uint16"), ("int32", "int32")])
def test_bools_yield_to_what_they_meet(other, wanted, x64):
    with glax.enable_x64(x64):
        for name in ("floor_divide", "remainder", "power", "left_shift"):
            assert getattr(gnp, name)(gnp.array(BOOLS), gnp.ones(3, other)).dtype.name == wanted


@pytest.mark.parametrize("x64", WIDTHS)
@pytest.mark.parametrize("x", [BOOLS, np.ones(3, "int32"), np.ones(3, "float32"), np.ones(3, "complex64")])
def test_logaddexp_of_an_array_and_a_python_complex_is_not_weak(x, x64):
    with glax.enable_x64(x64):
        for result in (gnp.logaddexp(x, 2j), gnp.logaddexp(2j, x)):
            assert not result.weak_type
            assert np.allclose(result, np.log(np.exp(x.astype(complex)) + np.exp(2j)))


@pytest.mark.parametrize("x", [0, 2j, 0.5 + 1j, -1 - 1j])
@pytest.mark.parametrize("y", [0, 2j, 0.5 - 1j])
def test_logaddexp_of_complex_numbers_with_equal_real_parts(x, y):
    for function, exp in ((gnp.logaddexp, np.exp), (gnp.logaddexp2, lambda z: np.power(2, z))):
        assert np.allclose(exp(np.asarray(function(np.complex64(x), np.complex64(y)))), exp(x) + exp(y), atol=1e-5)
