"""Elementwise functions of the parts of floating-point numbers, and of integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._promotion import (
    broadcast_to_one_shape,
    promote,
    promote_inexact,
    scalar_literal,
    strong,
    type_of,
)
from ..ir import dtypes
from ..ir import ops as o
from .arithmetic import trunc
from .logic import isnan, signbit
from .selection import as_array, choose_between
from .ufuncs import binary_inexact, promote_numeric, strong_unless_scalar

_INT32 = np.dtype(np.int32)
_FARTHEST = 10_000  # beyond the exponent of any float


def _like(x: Any, value: Any) -> Any:
    aval = type_of("value", x)
    return scalar_literal(value, aval.dtype, aval.weak_type)


copysign = binary_inexact(
    "copysign", lambda x, y: choose_between("copysign", signbit(y), o.neg(o.abs_(x)),
                                            o.abs_(x)), "x with the sign of y")


def _step(x: Any, at_zero: Any) -> Any:
    zero, one = _like(x, 0), _like(x, 1)
    step = choose_between("heaviside", o.gt(x, zero), one, choose_between("heaviside", o.lt(x, zero), zero, at_zero))
    step = choose_between("heaviside", isnan(x), x, step)
    return strong(step) if type_of("heaviside", x).shape else step


heaviside = binary_inexact("heaviside", _step, "step function: 0 for negative x, 1 for positive x, y at 0")


def _layout(dtype: np.dtype) -> tuple[np.dtype, int, int]:
    """The integer dtype of a float's bits, how many of them are mantissa, and the exponent's bias."""
    info = dtypes.finfo(dtype)
    return np.dtype(f"int{info.bits}"), int(info.nmant), 1 - int(info.minexp)


def _power_of_two(exponent: Any, dtype: np.dtype) -> Any:
    """2 to an int32 power that normal numbers of the dtype can hold, exactly."""
    bits, mantissa, bias = _layout(dtype)
    biased = o.add(o.convert_element_type(exponent, bits), bits.type(bias))
    return o.bitcast_convert_type(o.shift_left(biased, bits.type(mantissa)), dtype)


def _scaled(x: Any, exponent: Any) -> Any:
    """x times 2 to an int32 power of any size, in steps that numbers can hold, of which only the last one rounds."""
    dtype = type_of("ldexp", x).dtype
    bias = _layout(dtype)[2]
    limit = np.int32(bias - 1)
    parts = []
    for _ in range(3):
        parts.append(o.clamp(np.int32(-limit), exponent, limit))
        exponent = o.sub(exponent, parts[-1])
    for part in parts[::-1]:
        # The compiler would multiply constants by one another first, and overflow.
        x = o.mul(x, _power_of_two(o.optimization_barrier(part), dtype))
    return x


def _moderate(exponent: Any) -> Any:
    """Integers as int32, those beyond any float's range as ones that are so, too."""
    dtype = type_of("ldexp", exponent, 1).dtype
    if not dtypes.is_bool(dtype) and dtypes.itemsize_bits(dtype) >= 32:
        low = dtype.type(0 if dtypes.kind(dtype) == "u" else -_FARTHEST)
        exponent = o.clamp(low, exponent, dtype.type(_FARTHEST))
    return o.convert_element_type(exponent, _INT32)


def ldexp(x1: Any, x2: Any, /) -> Any:
    """Elementwise x1 times 2 to the integer power x2.

    >>> import glax.numpy as xp
    >>> xp.ldexp(1.5, 2)
    Array(6., dtype=float32)
    """
    if dtypes.kind(type_of("ldexp", x2, 1).dtype) not in "biu":
        raise ValueError(f"ldexp: x2 must be integers, got {type_of('ldexp', x2, 1).short()}")
    x1, = promote_inexact("ldexp", x1)
    if dtypes.is_complex(type_of("ldexp", x1).dtype):
        raise ValueError("ldexp does not accept complex numbers")
    x, exponent = broadcast_to_one_shape("ldexp", [x1, _moderate(x2)])
    shape = max(type_of("ldexp", v).shape for v in (x, exponent))
    x, exponent = (o.broadcast(v, shape) for v in (x, exponent))
    return o.convert_element_type(_scaled(x, exponent), type_of("ldexp", x).dtype)


def frexp(x: Any, /) -> tuple[Any, Any]:
    """Elementwise mantissa, from 0.5 up to 1 in size, and int32 exponent of 2: x = mantissa * 2**exponent.

    >>> import glax.numpy as xp
    >>> xp.frexp(xp.array(6.0))
    (Array(0.75, dtype=float32), Array(3, dtype=int32))
    """
    x, = promote_inexact("frexp", x)
    dtype = type_of("frexp", x).dtype
    if dtypes.is_complex(dtype):
        raise TypeError("frexp does not accept complex numbers")
    bits, mantissa, bias = _layout(dtype)
    tiny = o.lt(o.abs_(x), dtype.type(dtypes.finfo(dtype).tiny))
    normal = choose_between("frexp", tiny, o.mul(x, dtype.type(2.0 ** mantissa)), x)
    raw = o.shift_right_logical(o.bitcast_convert_type(normal, bits), bits.type(mantissa))
    raw = o.and_(raw, bits.type(2 * bias + 1))
    exponent = o.sub(o.convert_element_type(raw, _INT32), np.int32(bias - 1))
    exponent = o.sub(exponent, choose_between("frexp", tiny, np.int32(mantissa), np.int32(0)))
    plain = o.or_(o.eq(x, dtype.type(0)), o.not_(o.is_finite(x)))
    exponent = choose_between("frexp", plain, np.int32(0), exponent)
    return _scaled(x, o.neg(exponent)), exponent


def modf(x: Any, /, out: None = None) -> tuple[Any, Any]:
    """Elementwise fraction and integer part, both with the sign of x.

    >>> import glax.numpy as xp
    >>> xp.modf(-1.5)
    (Array(-0.5, dtype=float32, weak_type=True), Array(-1., dtype=float32, weak_type=True))
    """
    x, = promote_inexact("modf", x)
    whole = trunc(x)
    infinite = o.eq(o.abs_(x), type_of("modf", x).dtype.type(np.inf))
    fraction = choose_between("modf", infinite, _like(x, 0), o.sub(x, whole))
    return copysign(fraction, x), whole


def spacing(x: Any, /) -> Any:
    """Elementwise distance to the next number away from zero. Of integers, as floats; negative for negative numbers.

    >>> import glax.numpy as xp
    >>> xp.spacing(1.0) == 2**-23
    Array(True, dtype=bool)
    """
    x = strong(*promote_inexact("spacing", x))
    away = copysign(_like(x, np.inf), x)
    return o.sub(o.nextafter(o.stop_gradient(x), o.broadcast(away, type_of("spacing", x).shape)), x)


def fmax(x1: Any, x2: Any) -> Any:
    """Elementwise larger of x1 and x2; a number wins over a NaN.

    >>> import glax.numpy as xp
    >>> xp.fmax(xp.array([1.0, xp.nan]), 0.0)
    Array([1., 0.], dtype=float32)
    """
    return _ignoring_nan("fmax", o.max_, x1, x2)


def fmin(x1: Any, x2: Any) -> Any:
    """Elementwise smaller of x1 and x2; a number wins over a NaN.

    >>> import glax.numpy as xp
    >>> xp.fmin(xp.array([1.0, xp.nan]), 2.0)
    Array([1., 2.], dtype=float32)
    """
    return _ignoring_nan("fmin", o.min_, x1, x2)


def _ignoring_nan(name: str, bind_op: Any, x: Any, y: Any) -> Any:
    x, y = broadcast_to_one_shape(name, promote(name, x, y))
    if not type_of(name, x).is_inexact:
        return bind_op(x, y)
    return choose_between(name, isnan(x), y, choose_between(name, isnan(y), x, bind_op(x, y)))


# ---- integers


def _absolute(x: Any) -> Any:
    return o.abs_(x) if dtypes.kind(type_of("abs", x).dtype) == "i" else x


def _gcd(x: Any, y: Any) -> Any:
    """Euclid's algorithm, as many steps as the widest numbers can need."""
    zero, one = _like(x, 0), _like(x, 1)
    x, y = _absolute(x), _absolute(y)
    steps = int(dtypes.itemsize_bits(type_of("gcd", x).dtype) * 1.45) + 2
    for _ in range(steps):
        done = o.eq(y, zero)
        rest = o.rem(x, choose_between("gcd", done, one, y))
        x, y = choose_between("gcd", done, x, y), choose_between("gcd", done, zero, rest)
    return x


def _integers(name: str, *xs: Any) -> Any:
    """The operands in one integer dtype; a bool may meet an integer, but not another bool."""
    avals = [type_of(name, x, position) for position, x in enumerate(xs)]
    if any(a.is_inexact for a in avals) or all(dtypes.is_bool(a.dtype) for a in avals):
        raise ValueError(f"{name}: integers are needed, got {' and '.join(a.short() for a in avals)}")
    return broadcast_to_one_shape(name, promote_numeric(name, *xs))


def gcd(x1: Any, x2: Any) -> Any:
    """Elementwise greatest common divisor of integers.

    >>> import glax.numpy as xp
    >>> xp.gcd(12, 18)
    Array(6, dtype=int32, weak_type=True)
    """
    return strong_unless_scalar(_gcd(*_integers("gcd", x1, x2)))


def lcm(x1: Any, x2: Any) -> Any:
    """Elementwise least common multiple of integers. ValueError for what is not integers.

    >>> import glax.numpy as xp
    >>> xp.lcm(xp.array([4, 0]), 6)
    Array([12,  0], dtype=int32)
    """
    x, y = _integers("lcm", x1, x2)
    x, y = _absolute(x), _absolute(y)
    divisor = _gcd(x, y)
    none = o.eq(divisor, _like(divisor, 0))
    quotient = o.div(y, choose_between("lcm", none, _like(divisor, 1), divisor))
    return strong_unless_scalar(choose_between("lcm", none, _like(x, 0), o.mul(x, quotient)))


def bitwise_count(x: Any, /) -> Any:
    """Elementwise count of the bits set in the absolute value of an integer or a bool, as uint8.

    >>> import glax.numpy as xp
    >>> xp.bitwise_count(xp.array([7, -8]))
    Array([3, 1], dtype=uint8)
    """
    type_of("bitwise_count", x)
    x, = promote_numeric("bitwise_count", as_array(x))
    if not dtypes.is_integer(type_of("bitwise_count", x).dtype):
        raise TypeError(f"bitwise_count: x must be integers, got {type_of('bitwise_count', x).short()}")
    return o.convert_element_type(o.population_count(_absolute(x)), np.dtype(np.uint8))

