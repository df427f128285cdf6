"""Tests of elements and of arrays: their answers are bool."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._promotion import broadcast_to_one_shape, named, promote, shape_of, type_of
from ..ir import dtypes
from ..ir import ops as o
from ..ir.limits import greatest
from .selection import as_array, as_bool


def _logical(name: str, bind_op: Any, what: str) -> Any:
    def function(x, y, /):
        type_of(name, y, 1)
        return bind_op(*broadcast_to_one_shape(name, [as_bool(name, x), as_bool(name, y)]))

    return named(function, name, __name__, f"""Elementwise {what} of whether operands are nonzero, as bool.

    Args:
        x, y: arrays or numbers, which are broadcast. ValueError where they do not, TypeError for anything else.
    """)


logical_and = _logical("logical_and", o.and_, "and")
logical_or = _logical("logical_or", o.or_, "or")
logical_xor = _logical("logical_xor", o.xor, "exclusive or")


def logical_not(x: Any, /) -> Any:
    """Elementwise test for being zero.

    >>> import glax.numpy as xp
    >>> xp.logical_not(xp.array([0, 1, 2]))
    Array([ True, False, False], dtype=bool)
    """
    return o.not_(as_bool("logical_not", x))


def _constant_bool(x: Any, value: bool) -> Any:
    return o.full(shape_of(x), value, np.dtype(bool)) if shape_of(x) else as_array(value)


def isnan(x: Any, /) -> Any:
    """Elementwise test for NaN.

    >>> import glax.numpy as xp
    >>> xp.isnan(xp.nan)
    Array(True, dtype=bool)
    """
    return o.ne(x, x) if type_of("isnan", x).is_inexact else _constant_bool(x, False)


def isfinite(x: Any, /) -> Any:
    """Elementwise test for being neither infinite nor NaN.

    >>> import glax.numpy as xp
    >>> xp.isfinite(xp.array([1.0, xp.inf, xp.nan]))
    Array([ True, False, False], dtype=bool)
    """
    kind = dtypes.kind(type_of("isfinite", x).dtype)
    if kind == "c":
        return o.and_(o.is_finite(o.real(x)), o.is_finite(o.imag(x)))
    return o.is_finite(x) if kind == "f" else _constant_bool(x, True)


def isinf(x: Any, /) -> Any:
    """Elementwise test for positive or negative infinity.

    >>> import glax.numpy as xp
    >>> xp.isinf(xp.array([1.0, -xp.inf, xp.nan]))
    Array([False,  True, False], dtype=bool)
    """
    aval = type_of("isinf", x)
    kind = dtypes.kind(aval.dtype)
    if kind == "c":
        return o.or_(isinf(o.real(x)), isinf(o.imag(x)))
    if kind != "f" or not _has_infinity(aval.dtype):
        return _constant_bool(x, False)
    return o.eq(o.abs_(x), aval.dtype.type(np.inf))


def _has_infinity(dtype: np.dtype) -> bool:
    return bool(np.isinf(greatest(dtype)))


def _signed_infinity(name: str, value: float, what: str) -> Any:
    def function(x, /, out=None):
        aval = type_of(name, x)
        if dtypes.is_complex(aval.dtype):
            raise ValueError(f"{name} is not defined for complex numbers")
        if not aval.is_inexact or not _has_infinity(aval.dtype):
            return _constant_bool(x, False)
        return o.eq(x, aval.dtype.type(value))

    return named(function, name, __name__,
                 f"Elementwise test for {what} infinity. ValueError for complex numbers.")


isposinf = _signed_infinity("isposinf", np.inf, "positive")
isneginf = _signed_infinity("isneginf", -np.inf, "negative")


def signbit(x: Any, /) -> Any:
    """Elementwise test for a sign bit that is set: negative numbers, -0.0 and some NaN.

    >>> import glax.numpy as xp
    >>> xp.signbit(-0.0)
    Array(True, dtype=bool)
    """
    aval = type_of("signbit", x)
    kind = dtypes.kind(aval.dtype)
    if kind in "bu":
        return _constant_bool(x, False)
    if kind == "c":
        raise ValueError("signbit is not defined for complex numbers")
    if kind == "f":
        bits = np.dtype(f"int{dtypes.itemsize_bits(aval.dtype)}")
        return o.lt(o.bitcast_convert_type(x, bits), bits.type(0))
    return o.lt(x, aval.dtype.type(0))


def isreal(x: Any) -> Any:
    """Elementwise test for an imaginary part of 0. It is the values that count; ``isrealobj`` asks for the dtype.

    >>> import glax.numpy as xp
    >>> xp.isreal(xp.array([1 + 0j, 1j]))
    Array([ True, False], dtype=bool)
    """
    aval = type_of("isreal", x)
    if not dtypes.is_complex(aval.dtype):
        return _constant_bool(x, True)
    return o.eq(o.imag(x), dtypes.real_part_dtype(aval.dtype).type(0))


def iscomplex(x: Any) -> Any:
    """Elementwise test for an imaginary part other than 0. It is the values that count; ``iscomplexobj`` asks for the
    dtype.

    >>> import glax.numpy as xp
    >>> xp.iscomplex(xp.array([1 + 0j, 1j]))
    Array([False,  True], dtype=bool)
    """
    type_of("iscomplex", x)
    return o.not_(isreal(x))


def iscomplexobj(x: Any) -> bool:
    """Whether x has a complex dtype.

    >>> import glax.numpy as xp
    >>> xp.iscomplexobj(xp.array([1 + 0j]))
    True
    """
    return x is not None and dtypes.is_complex(type_of("iscomplexobj", x).dtype)


def isrealobj(x: Any) -> bool:
    """Whether x has a dtype that is not complex.

    >>> import glax.numpy as xp
    >>> xp.isrealobj(xp.array([1 + 0j]))
    False
    """
    return not iscomplexobj(x)


def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Any:
    """Elementwise test for |a - b| <= atol + rtol * |b|; equal infinities are close.

    >>> import glax.numpy as xp
    >>> xp.isclose(1.0, 1.0 + 1e-6)
    Array(True, dtype=bool)
    """
    from .ufuncs import add, less_equal, multiply
    a, b = promote("isclose", a, b)
    dtype = type_of("isclose", a).dtype
    if dtypes.is_bool(dtype):
        return o.eq(*broadcast_to_one_shape("isclose", [a, b]))
    if not dtypes.is_inexact(dtype):
        wide = dtypes.python_scalar_dtype(float)
        a, b = (o.convert_element_type(v, wide) for v in (a, b))
    a, b = broadcast_to_one_shape("isclose", [a, b])
    near = less_equal(o.abs_(o.sub(a, b)), add(atol, multiply(rtol, o.abs_(b))))
    finite = logical_and(isfinite(a), isfinite(b))
    result = logical_or(logical_and(finite, near), o.eq(a, b))
    return logical_or(result, logical_and(isnan(a), isnan(b))) if equal_nan else result


def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Any:
    """Whether all elements are close, as ``isclose`` has it. A bool array without dimensions; where equal_nan is true,
    NaN is close to NaN.

    >>> import glax.numpy as xp
    >>> xp.allclose(xp.array([1.0, 2.0]), xp.array([1.0, 2.00001]))
    Array(True, dtype=bool)
    """
    from .reductions import all
    return all(isclose(a, b, rtol, atol, equal_nan))


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    """Whether two arrays have equal shapes and elements.

    >>> import glax.numpy as xp
    >>> xp.array_equal(xp.arange(3), xp.arange(3.0))
    Array(True, dtype=bool)
    """
    from .creation import asarray
    from .reductions import all
    a1, a2 = asarray(a1), asarray(a2)
    if a1.shape != a2.shape:
        return as_array(False)
    a1, a2 = promote("array_equal", a1, a2)
    same = o.eq(a1, a2)
    return all(logical_or(same, logical_and(isnan(a1), isnan(a2))) if equal_nan else same)


def array_equiv(a1: Any, a2: Any) -> Any:
    """Whether two arrays broadcast to one shape and are equal in it. False where the shapes do not broadcast.

    >>> import glax.numpy as xp
    >>> xp.array_equiv(xp.array([1, 1]), 1)
    Array(True, dtype=bool)
    """
    from .creation import asarray
    from .reductions import all
    a1, a2 = promote("array_equiv", asarray(a1), asarray(a2))
    try:
        a1, a2 = broadcast_to_one_shape("array_equiv", [a1, a2])
    except ValueError:
        return as_array(False)
    return all(o.eq(a1, a2))
