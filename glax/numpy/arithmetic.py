"""Elementwise arithmetic that takes more than one operation."""

from __future__ import annotations

import math
from typing import Any

from .._promotion import (
    as_index,
    broadcast_to_one_shape,
    of_parts,
    promote_inexact,
    require_no_out,
    scalar_literal,
    strong,
    type_of,
    with_parameters,
)
from .._promotion import literal_like as _constant
from ..ir import Tracer, dtypes
from ..ir import ops as o
from .selection import as_array
from .selection import where_of_one_dtype as _where
from .ufuncs import _NUMBERS, binary, binary_inexact, promote_numeric, strong_unless_scalar, unary_inexact


def _kind(x: Any) -> str:
    return dtypes.kind(type_of("operand", x).dtype)


# ---- signs and rounding


def positive(x: Any, /) -> Any:
    """x, as an array.

    >>> import glax.numpy as xp
    >>> xp.positive(-2)
    Array(-2, dtype=int32, weak_type=True)
    """
    type_of("positive", x)
    return as_array(x)


def abs(x: Any, /) -> Any:
    """Elementwise absolute value; the modulus of complex numbers.

    >>> import glax.numpy as xp
    >>> xp.abs(-2.0)
    Array(2., dtype=float32, weak_type=True)
    """
    return as_array(x) if dtypes.kind(type_of("abs", x).dtype) in "bu" else o.abs_(x)


absolute = abs


def fabs(x: Any, /) -> Any:
    """Elementwise absolute value of real numbers, as floats. TypeError for complex numbers.

    >>> import glax.numpy as xp
    >>> xp.fabs(-2)
    Array(2., dtype=float32, weak_type=True)
    """
    if dtypes.is_complex(type_of("fabs", x).dtype):
        raise TypeError("fabs does not accept complex numbers; use abs")
    return o.abs_(*promote_inexact("fabs", x))


def sign(x: Any, /) -> Any:
    """Elementwise sign: -1, 0 or 1, NaN of NaN; x / |x| for complex x. TypeError for bools.

    >>> import glax.numpy as xp
    >>> xp.sign(xp.array([-2.5, 0.0, 3.0]))
    Array([-1.,  0.,  1.], dtype=float32)
    """
    type_of("sign", x)
    return o.sign(x)


def _rounding(name: str, bind_op: Any, what: str) -> Any:
    def function(x, /):
        if dtypes.is_float(type_of(name, x).dtype):
            return bind_op(x)
        if dtypes.is_complex(type_of(name, x).dtype):
            raise TypeError(f"{name} does not accept complex numbers")
        return as_array(x)

    from .._promotion import named
    return named(function, name, __name__, f"""Elementwise rounding {what}; integers are returned as they are.
    The dtype stays. TypeError for complex numbers.
    """)


floor = _rounding("floor", o.floor, "down to an integer")
ceil = _rounding("ceil", o.ceil, "up to an integer")
trunc = with_parameters(
    _rounding("trunc", lambda x: _where(o.lt(x, _constant(x, 0.0)), o.ceil(x), o.floor(x)), "towards zero"), "x")


def _to_even(x: Any) -> Any:
    if _kind(x) == "c":
        return of_parts(_to_even, x)
    return o.round_(x, 1)


def rint(x: Any, /) -> Any:
    """Elementwise rounding to the nearest integer, halves to even; integers and bools become floats of default width.

    >>> import glax.numpy as xp
    >>> xp.rint(xp.array([0.5, 1.5, -2.6]))
    Array([ 0.,  2., -3.], dtype=float32)
    """
    return _to_even(floats_of("rint", x))


def floats_of(name: str, x: Any) -> Any:
    """x, integers and bools becoming floats of the default width, that of Python's floats."""
    aval = type_of(name, x)
    if aval.is_inexact:
        return x
    return strong(x, dtypes.python_scalar_dtype(float))


def round(a: Any, decimals: int = 0, out: None = None) -> Any:
    """a rounded to a number of decimals, halves to even. Integers are returned as they are.

    >>> import glax.numpy as xp
    >>> xp.round(2.567, 1)
    Array(2.6, dtype=float32, weak_type=True)
    """
    require_no_out("round", out)
    decimals = as_index(decimals, "round", "decimals")
    kind = dtypes.kind(type_of("round", a).dtype)
    if kind == "b":
        raise ValueError("round: a must be numbers, got bools")
    if kind in "iu":
        if decimals < 0:
            raise NotImplementedError("round of integers to a negative number of decimals is not supported")
        return as_array(a)
    if kind == "c":
        return of_parts(lambda part: round(part, decimals), a)
    if decimals == 0:
        return _to_even(a)
    factor = _constant(a, 10.0 ** builtin_abs(decimals))
    scale, unscale = (o.mul, o.div) if decimals > 0 else (o.div, o.mul)
    scaled = scale(a, factor)
    rounded = unscale(_to_even(scaled), factor)
    # What does not fit after scaling has no decimals to lose.
    return _where(o.is_finite(scaled), rounded, a)


around = round
builtin_abs = int.__abs__


# ---- powers and division


def square(x: Any, /) -> Any:
    """Elementwise square.

    >>> import glax.numpy as xp
    >>> xp.square(3)
    Array(9, dtype=int32, weak_type=True)
    """
    return o.square(*promote_numeric("square", x)) if dtypes.is_bool(type_of("square", x).dtype) else o.square(x)


reciprocal = unary_inexact("reciprocal", lambda x: o.integer_pow(x, -1), "1 / x")


def power(x: Any, y: Any, /) -> Any:
    """Elementwise x to the power y.

    Args:
        x, y: arrays or numbers. An integer as y that is known is taken as a fixed exponent: the dtype is that of x,
            x * x * ... is exact and has derivatives at 0. Other integers y leave the dtype of floating x.

    Returns:
        An array of the promoted dtype. TypeError for a fixed negative power of integers.

    >>> import glax.numpy as xp
    >>> xp.power(xp.arange(4), 2)
    Array([0, 1, 4, 9], dtype=int32)
    """
    x_aval, y_aval = type_of("power", x), type_of("power", y, 1)
    x_kind, y_kind = dtypes.kind(x_aval.dtype), dtypes.kind(y_aval.dtype)
    if y_kind in "iu" and not y_aval.shape and type(y) is not Tracer:
        return _fixed_power(x, as_index(y, "power", "y"))
    if x_kind in "fc" and y_kind in "iu":
        return o.pow_(*broadcast_to_one_shape("power", [x, y]))
    base, exponent = broadcast_to_one_shape("power", promote_numeric("power", x, y))
    if _kind(base) in "fc":
        return o.pow_(base, exponent)
    result = _integer_power(base, exponent)
    return result if type(y) is bool else strong(result)


pow = power


def _fixed_power(x: Any, exponent: int) -> Any:
    if dtypes.is_bool(type_of("power", x).dtype):
        x, = promote_numeric("power", x)
    if exponent < 0 and _kind(x) not in "fc":
        raise TypeError(f"integers cannot be raised to negative powers, got a power of {exponent} of dtype "
                        f"{type_of('power', x).dtype.name}; make x or the exponent a float")
    return o.integer_pow(x, exponent)


def _integer_power(x: Any, y: Any) -> Any:
    """Powers of integers by repeated squaring. Of negative exponents, the integer part of the result."""
    bits = dtypes.itemsize_bits(type_of("power", y).dtype)
    zero, one = _constant(y, 0), _constant(y, 1)
    negative = o.lt(y, zero) if _kind(y) == "i" else None
    result, base, rest = o.broadcast(_constant(x, 1), type_of("power", o.mul(x, y)).shape), x, y
    for bit in range(bits - (_kind(y) == "i")):
        odd = o.ne(o.and_(rest, one), zero)
        result = _where(odd, o.mul(result, base), result)
        if bit + 1 < bits:
            base, rest = o.mul(base, base), o.shift_right_logical(rest, one)
    if negative is None:
        return result
    unit = o.eq(o.abs_(x) if _kind(x) == "i" else x, _constant(x, 1))
    return _where(o.and_(negative, o.not_(unit)), _constant(x, 0), result)


float_power = binary_inexact("float_power", o.pow_, "x to the power y, as floats")


def _floor_of_quotient(x: Any, y: Any) -> Any:
    kind = _kind(x)
    if kind == "c":
        raise TypeError("floor_divide does not accept complex numbers")
    if kind == "f":
        return _float_divmod(x, y)[0]
    quotient = o.div(x, y)
    if kind == "u":
        return quotient
    inexact = o.ne(o.rem(x, y), _constant(x, 0))
    return _where(o.and_(o.ne(o.sign(x), o.sign(y)), inexact), o.sub(quotient, _constant(x, 1)), quotient)


def _float_divmod(x: Any, y: Any) -> tuple[Any, Any]:
    zero = _constant(x, 0.0)
    remainder = o.rem(x, y)
    quotient = o.div(o.sub(x, remainder), y)
    adjust = o.and_(o.ne(remainder, zero), o.ne(o.sign(y), o.sign(remainder)))
    remainder = _where(adjust, o.add(remainder, y), remainder)
    quotient = o.round_(_where(adjust, o.sub(quotient, _constant(x, 1.0)), quotient), 0)
    return _where(o.eq(y, zero), o.div(x, y), quotient), remainder


def _remainder(x: Any, y: Any) -> Any:
    kind = _kind(x)
    zero = _constant(x, 0)
    if kind in "iu":
        y = _where(o.eq(y, zero), _constant(y, 1), y)
    remainder = o.rem(x, y)
    if kind == "u":
        return remainder
    adjust = o.and_(o.ne(o.lt(remainder, zero), o.lt(y, zero)), o.ne(remainder, zero))
    return _where(adjust, o.add(remainder, y), remainder)


def _rem(x: Any, y: Any) -> Any:
    return o.rem(x, _where(o.eq(y, _constant(y, 0)), _constant(y, 1), y) if _kind(x) in "iu" else y)


floor_divide = binary("floor_divide", _floor_of_quotient, "quotient, rounded down", promote_numeric, _NUMBERS)
remainder = binary("remainder", _remainder, "remainder of x / y, with the sign of y; 0 for integers and y = 0",
                   promote_numeric, _NUMBERS)
mod = remainder
fmod = binary("fmod", _rem, "remainder of x / y, with the sign of x; 0 for integers and y = 0", promote_numeric,
              _NUMBERS)


def divmod(x: Any, y: Any, /) -> tuple[Any, Any]:
    """The pair (floor_divide(x, y), remainder(x, y)).

    >>> import glax.numpy as xp
    >>> xp.divmod(7, 2)
    (Array(3, dtype=int32, weak_type=True), Array(1, dtype=int32, weak_type=True))
    """
    x, y = broadcast_to_one_shape("divmod", promote_numeric("divmod", x, y))
    return _float_divmod(x, y) if _kind(x) == "f" else (_floor_of_quotient(x, y), _remainder(x, y))


# ---- logarithms


def _log_of_base(base: float) -> Any:
    def function(x: Any) -> Any:
        x = strong(x)
        result = o.log(x)
        if _kind(x) == "c":
            # As a complex number the divisor would make NaN of infinities.
            return of_parts(lambda part: o.div(part, _constant(part, math.log(base))), result)
        return o.div(result, o.log(_constant(x, base)))

    return function


log2 = unary_inexact("log2", _log_of_base(2.0), "logarithm to base 2")
log10 = unary_inexact("log10", _log_of_base(10.0), "logarithm to base 10")


def _log_add(scale: float) -> Any:
    """log(b^x + b^y) / log b for the base b whose logarithm is scale."""
    def function(x: Any, y: Any) -> Any:
        if _kind(x) == "c":
            larger = o.max_(x, y)
            difference = o.sub(o.min_(x, y), larger)
            rest = _times(o.log1p(o.exp(_times(difference, scale))), 1.0 / scale)
            return strong_unless_scalar(o.add(larger, rest))
        return _times(o.logaddexp(_times(x, scale), _times(y, scale)), 1.0 / scale)

    return function


def _times(x: Any, factor: float) -> Any:
    if factor == 1.0:
        return x
    if _kind(x) == "c":  # as a complex number the factor would make NaN of infinities
        return of_parts(lambda part: _times(part, factor), x)
    return o.mul(x, _constant(x, factor))


logaddexp = binary_inexact("logaddexp", _log_add(1.0), "log(exp(x) + exp(y)), without overflow")
_log2_of_sum = _log_add(math.log(2.0))
logaddexp2 = binary_inexact("logaddexp2", lambda x, y: strong_unless_scalar(_log2_of_sum(x, y)),
                            "log2(2**x + 2**y), without overflow")


def _hypot(x: Any, y: Any) -> Any:
    if _kind(x) == "c":
        raise TypeError("hypot does not accept complex numbers")
    x, y = o.abs_(x), o.abs_(y)
    large, small = o.max_(x, y), o.min_(x, y)
    zero, one, inf = (_constant(x, v) for v in (0.0, 1.0, math.inf))
    safe = _where(o.or_(o.eq(large, zero), o.eq(large, inf)), one, large)
    ratio = o.div(_where(o.eq(large, inf), zero, small), safe)
    result = o.mul(large, o.sqrt(o.add(one, o.square(ratio))))
    infinite = o.or_(o.eq(x, inf), o.eq(y, inf))
    return strong_unless_scalar(_where(infinite, inf, _where(o.eq(large, zero), large, result)))


hypot = binary_inexact("hypot", _hypot, "length sqrt(x**2 + y**2), without overflow")


# ---- angles and sinc

deg2rad = unary_inexact("deg2rad", lambda x: o.mul(x, _constant(x, math.pi / 180.0)),
                        "conversion of degrees to radians")
rad2deg = unary_inexact("rad2deg", lambda x: o.mul(x, _constant(x, 180.0 / math.pi)),
                        "conversion of radians to degrees")
radians, degrees = deg2rad, rad2deg

# Near 0, sin(t) / t by its series, which is exact enough there and has every derivative right.
_SINC_SERIES = [(-1.0) ** k / math.factorial(2 * k + 1) for k in range(10)]


def _sinc(x: Any) -> Any:
    t = o.mul(x, _constant(x, math.pi))
    size = o.abs_(t)
    near = o.lt(size, _constant(size, 0.5))
    far_t = _where(near, _constant(t, 1.0), t)
    squared = o.square(_where(near, t, _constant(t, 0.0)))
    series = _constant(t, _SINC_SERIES[-1])
    for coefficient in reversed(_SINC_SERIES[:-1]):
        series = o.add(o.mul(squared, series), _constant(t, coefficient))
    return _where(near, series, o.div(o.sin(far_t), far_t))


sinc = unary_inexact("sinc", _sinc, "sin(pi x) / (pi x), 1 at 0")


# ---- complex numbers


def conjugate(x: Any, /) -> Any:
    """Elementwise complex conjugate; real numbers are returned as they are.

    >>> import glax.numpy as xp
    >>> xp.conjugate(xp.array([1 + 2j]))
    Array([1.-2.j], dtype=complex64)
    """
    return o.conj(x) if dtypes.is_complex(type_of("conjugate", x).dtype) else as_array(x)


conj = conjugate


def real(val: Any, /) -> Any:
    """Real part; real numbers are returned as they are.

    >>> import glax.numpy as xp
    >>> xp.real(xp.array([1 + 2j, 3]))
    Array([1., 3.], dtype=float32)
    """
    return o.real(val) if dtypes.is_complex(type_of("real", val).dtype) else as_array(val)


def imag(val: Any, /) -> Any:
    """Imaginary part; zeros of real numbers.

    >>> import glax.numpy as xp
    >>> xp.imag(xp.array([1 + 2j, 3]))
    Array([2., 0.], dtype=float32)
    """
    aval = type_of("imag", val)
    if dtypes.is_complex(aval.dtype):
        return o.imag(val)
    return o.broadcast(scalar_literal(0, aval.dtype, aval.weak_type), aval.shape) if aval.shape else as_array(
        scalar_literal(0, aval.dtype, aval.weak_type))


def angle(z: Any, deg: bool = False) -> Any:
    """The angle of complex numbers, in radians or degrees.

    >>> import glax.numpy as xp
    >>> xp.angle(1j, deg=True)
    Array(90., dtype=float32, weak_type=True)
    """
    z = floats_of("angle", z)
    parts = (o.imag(z), o.real(z)) if _kind(z) == "c" else (imag(strong(z)), strong(z))
    result = o.atan2(*broadcast_to_one_shape("angle", parts))
    return rad2deg(result) if deg else result
