"""Elementwise operations: operands of one dtype, and of one shape up to scalars and dimensions of size 1."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from enum import IntEnum
from typing import Any

import numpy as np

from .._calls import leaf_avals
from .._promotion import PYTHON_SCALARS, as_index, broadcast_shapes, literal_like, named, type_of, with_parameters
from ..ir import Tracer, dtypes
from ..ir import ops as o
from ..ir.tree import flatten, unflatten
from ..lower import Array
from ._arguments import as_result
from ._names import dtype_of, named_error

_BOOL = np.dtype(np.bool_)


def _unary(name: str, bind_op: Callable[[Any], Any], what: str) -> Callable[[Any], Any]:
    def function(x):
        try:
            return bind_op(x)
        except TypeError as error:
            raise named_error(error, name, x) from None

    return named(function, name, __name__, f"""Elementwise {what}.

    Args:
        x: an array or a number, of a dtype that the operation accepts.

    Returns:
        An array of x's shape. TypeError for other dtypes: nothing is promoted (glax.numpy does that).
    """)


def _binary(name: str, bind_op: Callable[[Any, Any], Any], what: str) -> Callable[[Any, Any], Any]:
    def function(x, y):
        kind, other = type(x), type(y)
        try:
            if (kind is Tracer or kind is Array) and (other is Tracer or other is Array) and (
                    x.aval is y.aval or x.aval.shape == y.aval.shape):
                return bind_op(x, y)
            return bind_op(*broadcast_sizes_of_one(name, x, y))
        except TypeError as error:
            raise named_error(error, name, x, y) from None

    return named(function, name, __name__, f"""Elementwise {what}.

    Args:
        x, y: arrays or numbers of one dtype, and of equal shapes; either may be a scalar or have dimensions of size 1.

    Returns:
        An array of the common shape. TypeError where dtypes differ or numbers of dimensions do, ValueError where
        sizes do.
    """)


def _arithmetic(name: str, bind_op: Callable[[Any, Any], Any], what: str) -> Callable[[Any, Any], Any]:
    """A function of two operands which may not be bools, though the operation takes them."""
    def bind_numbers(x: Any, y: Any) -> Any:
        if type_of(name, x).dtype == _BOOL and type_of(name, y, 1).dtype == _BOOL:
            raise TypeError(f"{name} does not accept dtype bool; use bitwise_{'or' if name == 'add' else 'and'}")
        return bind_op(x, y)

    return _binary(name, bind_numbers, what)


def broadcast_sizes_of_one(name: str, *xs: Any) -> list[Any]:
    """Operands of equal numbers of dimensions, or scalars, with dimensions of size 1 repeated as needed."""
    shapes = [type_of(name, x, i).shape for i, x in enumerate(xs)]
    arrays = [s for s in shapes if s]
    if not arrays or all(s == arrays[0] for s in arrays):
        return list(xs)
    if len({len(s) for s in arrays}) > 1:
        raise TypeError(f"{name}: arrays must have the same number of dimensions, got shapes "
                        f"{', '.join(map(str, shapes))}")
    shape = broadcast_shapes(name, arrays)
    return [x if not s else o.broadcast(x, shape) for x, s in zip(xs, shapes)]



def _absolute(x: Any) -> Any:
    aval = type_of("abs", x)
    if dtypes.kind(aval.dtype) == "u":
        raise TypeError(f"abs does not accept unsigned integers, got {aval.short()}")
    return o.abs_(x)


neg = _unary("neg", o.neg, "negation")
sign = _unary("sign", o.sign, "sign: -1, 0 or 1; x / |x| for complex x")
floor = _unary("floor", o.floor, "rounding down to an integer")
ceil = _unary("ceil", o.ceil, "rounding up to an integer")
is_finite = _unary("is_finite", o.is_finite, "test for being neither infinite nor NaN")
exp = _unary("exp", o.exp, "exponential")
exp2 = _unary("exp2", o.exp2, "power of two")
expm1 = _unary("expm1", o.expm1, "exp(x) - 1, accurate near 0")
log = _unary("log", o.log, "natural logarithm")
log1p = _unary("log1p", o.log1p, "log(1 + x), accurate near 0")
sqrt = _unary("sqrt", o.sqrt, "square root")
rsqrt = _unary("rsqrt", o.rsqrt, "reciprocal of the square root")
cbrt = _unary("cbrt", o.cbrt, "real cube root")
square = _unary("square", o.square, "square")
sin = _unary("sin", o.sin, "sine")
cos = _unary("cos", o.cos, "cosine")
tan = _unary("tan", o.tan, "tangent")
asin = _unary("asin", o.asin, "arc sine")
acos = _unary("acos", o.acos, "arc cosine")
atan = _unary("atan", o.atan, "arc tangent")
sinh = _unary("sinh", o.sinh, "hyperbolic sine")
cosh = _unary("cosh", o.cosh, "hyperbolic cosine")
tanh = _unary("tanh", o.tanh, "hyperbolic tangent")
asinh = _unary("asinh", o.asinh, "inverse hyperbolic sine")
acosh = _unary("acosh", o.acosh, "inverse hyperbolic cosine")
atanh = _unary("atanh", o.atanh, "inverse hyperbolic tangent")
logistic = _unary("logistic", o.logistic, "logistic function 1 / (1 + exp(-x))")
erf = _unary("erf", o.erf, "error function")
erfc = _unary("erfc", o.erfc, "complement of the error function, accurate for large x")
erf_inv = _unary("erf_inv", o.erf_inv, "inverse of the error function")
lgamma = _unary("lgamma", o.lgamma, "logarithm of the absolute value of the gamma function")
digamma = _unary("digamma", o.digamma, "derivative of lgamma")
bitwise_not = _unary("bitwise_not", o.not_, "negation of bits; of bools, logical negation")
population_count = _unary("population_count", o.population_count, "count of the bits that are set")
clz = _unary("clz", o.clz, "count of leading zero bits")
abs = _unary("abs", _absolute, "absolute value; the modulus of complex numbers; not of unsigned integers")
real = _unary("real", o.real, "real part of complex numbers")
imag = _unary("imag", o.imag, "imaginary part of complex numbers")

add = _arithmetic("add", o.add, "sum x + y")
sub = _binary("sub", o.sub, "difference x - y")
mul = _arithmetic("mul", o.mul, "product x * y")
div = _binary("div", o.div, "quotient x / y, of integers rounded towards zero")
rem = _binary("rem", o.rem, "remainder of x / y, with the sign of x")
pow = _binary("pow", o.pow_, "power of inexact x to y, where y has x's dtype or is an integer")
max = _binary("max", o.max_, "larger of x and y; NaN wins")
min = _binary("min", o.min_, "smaller of x and y; NaN wins")
atan2 = _binary("atan2", o.atan2, "angle of the point (y, x), given as atan2(y, x)")
nextafter = with_parameters(_binary("nextafter", o.nextafter, "float next to x1 in the direction of x2"), "x1", "x2")
polygamma = with_parameters(_binary("polygamma", o.polygamma, "derivative of digamma of order m at x"), "m", "x")
complex = _binary("complex", o.complex_, "complex number of a real and an imaginary part")
bitwise_and = _binary("bitwise_and", o.and_, "and of bits; of bools, logical and")
bitwise_or = _binary("bitwise_or", o.or_, "or of bits; of bools, logical or")
bitwise_xor = _binary("bitwise_xor", o.xor, "exclusive or of bits; of bools, inequality")
shift_left = _binary("shift_left", o.shift_left, "x shifted left by y bits")
shift_right_arithmetic = _binary("shift_right_arithmetic", o.shift_right_arithmetic,
                                 "x shifted right by y bits, its sign coming in from the left")
shift_right_logical = _binary("shift_right_logical", o.shift_right_logical,
                              "x shifted right by y bits, zeros coming in from the left")
eq = _binary("eq", o.eq, "test x == y")
ne = _binary("ne", o.ne, "test x != y")
lt = _binary("lt", o.lt, "test x < y")
le = _binary("le", o.le, "test x <= y")
gt = _binary("gt", o.gt, "test x > y")
ge = _binary("ge", o.ge, "test x >= y")


class RoundingMethod(IntEnum):
    """Where halves go in ``round``."""

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1


def round(x: Any, rounding_method: RoundingMethod = RoundingMethod.AWAY_FROM_ZERO) -> Any:
    """Elementwise rounding of floats to the nearest integer.

    >>> from glax import lax
    >>> lax.round(2.5), lax.round(2.5, lax.RoundingMethod.TO_NEAREST_EVEN)
    (Array(3., dtype=float32, weak_type=True), Array(2., dtype=float32, weak_type=True))
    """
    try:
        method = int(RoundingMethod(rounding_method))
    except ValueError:
        raise ValueError(f"round: rounding_method must be one of {', '.join(map(repr, RoundingMethod))}, got "
                         f"{rounding_method!r}") from None
    try:
        return o.round_(x, method)
    except TypeError as error:
        raise named_error(error, "round", x) from None


def integer_pow(x: Any, y: int) -> Any:
    """Elementwise power to a fixed Python int. TypeError for a negative power of integers.

    >>> from glax import lax
    >>> lax.integer_pow(3.0, 2)
    Array(9., dtype=float32, weak_type=True)
    """
    y = as_index(y, "integer_pow", "y")
    aval = type_of("integer_pow", x)
    if y < 0 and not aval.is_inexact:
        raise TypeError(f"integers cannot be raised to negative powers, got integer_pow({aval.short()}, {y})")
    return o.integer_pow(x, y)


def conj(x: Any) -> Any:
    """Elementwise complex conjugate; real floats become complex.

    >>> from glax import lax
    >>> lax.conj(1 + 2j)
    Array(1.-2.j, dtype=complex64, weak_type=True)
    """
    if dtypes.is_complex(type_of("conj", x).dtype):
        return o.conj(x)
    try:
        return o.complex_(x, literal_like(x, 0.0))
    except TypeError as error:
        raise named_error(error, "conj", x) from None


def reciprocal(x: Any) -> Any:
    """Elementwise 1 / x, for floats and complex numbers.

    >>> from glax import lax
    >>> lax.reciprocal(4.0)
    Array(0.25, dtype=float32, weak_type=True)
    """
    try:
        return o.integer_pow(x, -1)
    except TypeError as error:
        raise named_error(error, "reciprocal", x) from None


def select_n(which: Any, *cases: Any) -> Any:
    """Elements of ``cases[which]``: which is bool (false first) or int32, a scalar or of the cases' shape.

    >>> from glax import lax
    >>> lax.select_n(True, 1.0, 2.0)
    Array(2., dtype=float32, weak_type=True)
    """
    if not cases:
        raise TypeError("select_n takes at least one case")
    shapes = [type_of("select_n", c, i + 1).shape for i, c in enumerate(cases)]
    if any(s != shapes[0] for s in shapes):
        raise TypeError(f"select_n: cases must have equal shapes, got {', '.join(map(str, shapes))}")
    type_of("select_n", which)
    return o.select_n(which, *cases)


def select(pred: Any, on_true: Any, on_false: Any) -> Any:
    """Elements of on_true where the bool pred holds, of on_false elsewhere.

    >>> from glax import lax
    >>> lax.select(True, 1.0, 2.0)
    Array(1., dtype=float32, weak_type=True)
    """
    shapes = [type_of("select", x, i).shape for i, x in enumerate((pred, on_true, on_false))][1:]
    if shapes[0] != shapes[1]:
        raise TypeError(f"select: on_true and on_false must have equal shapes, got {shapes[0]} and {shapes[1]}")
    try:
        return o.select_n(pred, on_false, on_true)
    except TypeError as error:
        raise named_error(error, "select") from None


def clamp(min: Any, x: Any, max: Any) -> Any:
    """x limited to [min, max], which are scalars or of x's shape, and of its dtype.

    >>> from glax import lax
    >>> lax.clamp(0.0, 5.0, 1.0)
    Array(1., dtype=float32, weak_type=True)
    """
    low, shape, high = (type_of("clamp", value, position).shape for position, value in enumerate((min, x, max)))
    for name, bound in (("min", low), ("max", high)):
        if bound and bound != shape:
            raise TypeError(f"clamp: {name} must be a scalar or have x's shape {shape}, got shape {bound}")
    return o.clamp(min, x, max)


def reduce_precision(operand: Any, exponent_bits: int, mantissa_bits: int) -> Any:
    """Floats rounded to a format of fewer exponent and mantissa bits; the dtype stays. Halves go to even, as in IEEE
    754. ValueError for exponent_bits below 1 or mantissa_bits below 0.

    >>> from glax import lax
    >>> lax.reduce_precision(1.2, exponent_bits=8, mantissa_bits=2)
    Array(1.25, dtype=float32, weak_type=True)
    """
    e, m = (as_index(v, "reduce_precision", n) for v, n in ((exponent_bits, "exponent_bits"),
                                                              (mantissa_bits, "mantissa_bits")))
    if e < 1 or m < 0:
        raise ValueError(f"reduce_precision: exponent_bits must be at least 1, mantissa_bits at least 0, got {e}, {m}")
    try:
        return o.reduce_precision(operand, e, m)
    except TypeError as error:
        raise named_error(error, "reduce_precision", operand) from None


def convert_element_type(operand: Any, new_dtype: Any) -> Any:
    """operand converted to a dtype. Floats lose their fraction where they become integers, complex numbers their
    imaginary part where they become real; TypeError for a Python complex number that would.

    >>> from glax import lax
    >>> lax.convert_element_type(2.7, "int32")
    Array(2, dtype=int32)
    """
    dtype = dtype_of(new_dtype, "convert_element_type", "new_dtype")
    if type(operand) is builtins.complex and dtype == _BOOL:
        operand = operand != 0
    elif type(operand) is builtins.complex and not dtypes.is_complex(dtype):
        raise TypeError(f"convert_element_type: the Python complex number {operand!r} cannot become {dtype.name}; take "
                        f"its real part")
    aval = type_of("convert_element_type", operand)
    if aval.dtype == dtype and not aval.weak_type and type(operand) in (Array, Tracer):
        return operand
    return o.convert_element_type(operand, dtype)

def bitcast_convert_type(operand: Any, new_dtype: Any) -> Any:
    """The bits of operand read as another dtype; one of another width takes or adds a last dimension.

    >>> from glax import lax
    >>> lax.bitcast_convert_type(1.0, "int32")
    Array(1065353216, dtype=int32)
    """
    try:
        return o.bitcast_convert_type(operand, dtype_of(new_dtype, "bitcast_convert_type", "new_dtype"))
    except TypeError as error:
        raise named_error(error, "bitcast_convert_type", operand) from None


def stop_gradient(x: Any) -> Any:
    """x, a pytree, with derivatives of zero; leaves that are not floating or complex are returned as they are.

    >>> from glax import lax
    >>> lax.stop_gradient(1.0)
    Array(1., dtype=float32, weak_type=True)
    """
    leaves, tree = flatten(x)
    return unflatten(tree, [
        o.stop_gradient(leaf) if type_of("stop_gradient", leaf).is_inexact else
        leaf if type(leaf) in PYTHON_SCALARS else as_result(leaf) for leaf in leaves])


def optimization_barrier(operand: Any) -> Any:
    """operand, a pytree, across which the compiler moves and merges nothing.

    >>> from glax import lax
    >>> lax.optimization_barrier((1.0, 2))
    (Array(1., dtype=float32, weak_type=True), Array(2, dtype=int32, weak_type=True))
    """
    leaves, tree = flatten(operand)
    leaf_avals("optimization_barrier", operand, leaves)
    return unflatten(tree, [o.optimization_barrier(leaf) for leaf in leaves])


def dtype(x: Any) -> np.dtype:
    """The dtype of a value.

    >>> from glax import lax
    >>> lax.dtype(1.0)
    dtype('float32')
    """
    return type_of("dtype", x).dtype

