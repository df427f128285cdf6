"""Elementwise functions: operands are promoted to one dtype and broadcast to one shape.

They are made from tables by three factories, each with a short way for operands that need no change.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._promotion import (
    broadcast_to_one_shape,
    cast,
    dtype_and_weak,
    named,
    promote,
    promote_inexact,
    promoted_literal,
    shape_of,
    strong,
    type_of,
    with_parameters,
)
from ..ir import Tracer, dtypes
from ..ir import ops as o
from ..ir.dtypes import DTYPES, result_type
from ..lax._names import named_error
from ..lower import Array

_BOOL, _INT32 = np.dtype(np.bool_), np.dtype(np.int32)
_ALL = frozenset(DTYPES)
_INEXACT = frozenset(d for d in DTYPES if dtypes.is_inexact(d))
_NUMBERS = frozenset(d for d in DTYPES if not dtypes.is_bool(d))
_KINDS_BELOW = {"b": (bool,), "i": (bool, int), "u": (bool, int), "f": (bool, int, float),
                "c": (bool, int, float, complex)}


def _scalars_that_yield(accepted: frozenset) -> frozenset:
    """Pairs of a dtype and a type of Python scalar that takes the dtype when they meet."""
    return frozenset((d, kind) for d in accepted for kind in _KINDS_BELOW[dtypes.kind(d)])


_UNARY_DOC = """Elementwise {what}.

    Args:
        x: an array or a number.{note}

    Returns:
        An array of x's shape. TypeError for what is not an array or a number (lists, say), and for dtypes that the
        function does not take.
    """
_BINARY_DOC = """Elementwise {what}.

    Args:
        x, y: arrays or numbers, which are promoted to one dtype and broadcast.{note}

    Returns:
        An array of the broadcast shape. ValueError where shapes do not broadcast, TypeError for what is not an array
        or a number and for dtypes that the function does not take.
    """
_INEXACT_NOTE = " Integers become floats."


def promote_numeric(name: str, *xs: Any) -> list[Any]:
    """The operands in the dtype to which they promote; bools alone become int32, whatever the default width."""
    dtype, weak = result_type(*[dtype_and_weak(name, x, i) for i, x in enumerate(xs)])
    if dtype == _BOOL:
        dtype = _INT32
    return [cast(x, dtype, weak) for x in xs]


def unary(name: str, bind_op: Callable[[Any], Any], what: str) -> Callable[[Any], Any]:
    """A function of one operand that keeps its dtype."""
    def function(x, /):
        try:
            return bind_op(x)
        except TypeError as error:
            raise named_error(error, name, x) from None

    return named(function, name, __name__, _UNARY_DOC.format(what=what, note=""))


def unary_inexact(name: str, bind_op: Callable[[Any], Any], what: str, *parameters: str) -> Callable[[Any], Any]:
    """A function of one operand that is floating or complex; integers become floats.

    With a name in ``parameters``, the operand may be passed by it.
    """
    def function(x, /):
        kind = type(x)
        if (kind is Tracer or kind is Array) and x.aval.dtype in _INEXACT:
            return bind_op(x)
        try:
            return bind_op(*promote_inexact(name, x))
        except TypeError as error:
            raise named_error(error, name, x) from None

    function = named(function, name, __name__, _UNARY_DOC.format(what=what, note=_INEXACT_NOTE))
    return with_parameters(function, *parameters) if parameters else function


def binary(name: str, bind_op: Callable[[Any, Any], Any], what: str, prepare: Callable[..., list[Any]] = promote,
           direct: frozenset = _ALL, note: str = "", of_bools: Callable[[Any, Any], Any] | None = None,
           ) -> Callable[[Any, Any], Any]:
    """A function of two operands.

    Args:
        prepare: what promotes the operands, called with the name and the operands.
        direct: the dtypes that prepare leaves as they are where both operands have them.
        of_bools: what to do with bools, where that is something else.
    """
    direct = direct if of_bools is None else direct & _NUMBERS
    yields = _scalars_that_yield(direct)

    def function(x, y, /):
        kx, ky = type(x), type(y)
        try:
            if kx is Tracer or kx is Array:
                aval = x.aval
                if ky is Tracer or ky is Array:
                    if aval is y.aval and aval.dtype in direct:
                        return bind_op(x, y)
                elif (aval.dtype, ky) in yields:
                    return bind_op(x, promoted_literal(y, aval.dtype, aval.weak_type))
            elif ky is Tracer or ky is Array:
                aval = y.aval
                if (aval.dtype, kx) in yields:
                    return bind_op(promoted_literal(x, aval.dtype, aval.weak_type), y)
            x, y = broadcast_to_one_shape(name, prepare(name, x, y))
            if of_bools is not None and dtypes.is_bool(type_of(name, x).dtype):
                return of_bools(x, y)
            return bind_op(x, y)
        except TypeError as error:
            raise named_error(error, name, x, y) from None

    return named(function, name, __name__, _BINARY_DOC.format(what=what, note=note))


def binary_inexact(name: str, bind_op: Callable[[Any, Any], Any], what: str,
                   *parameters: str) -> Callable[[Any, Any], Any]:
    """A function of two operands that are floating or complex, as unary_inexact."""
    function = binary(name, bind_op, what, promote_inexact, _INEXACT, _INEXACT_NOTE)
    return with_parameters(function, *parameters) if parameters else function


def strong_unless_scalar(result: Any) -> Any:
    """A result that only scalars have weakly, as that of some of JAX's functions."""
    return strong(result) if shape_of(result) else result


# ---- one operand

_UNARY = {
    "sin": (o.sin, "sine"), "cos": (o.cos, "cosine"), "tan": (o.tan, "tangent"),
    "arcsin": (o.asin, "arc sine"), "arccos": (o.acos, "arc cosine"), "arctan": (o.atan, "arc tangent"),
    "sinh": (o.sinh, "hyperbolic sine"), "cosh": (o.cosh, "hyperbolic cosine"), "tanh": (o.tanh, "hyperbolic tangent"),
    "arcsinh": (o.asinh, "inverse hyperbolic sine"), "arccosh": (o.acosh, "inverse hyperbolic cosine"),
    "arctanh": (o.atanh, "inverse hyperbolic tangent"),
    "exp": (o.exp, "exponential"), "exp2": (o.exp2, "power of two"), "expm1": (o.expm1, "exp(x) - 1"),
    "log": (o.log, "natural logarithm"), "log1p": (o.log1p, "log(1 + x)"),
    "sqrt": (o.sqrt, "square root"), "cbrt": (o.cbrt, "real cube root"),
}
sin, cos, tan, arcsin, arccos, arctan, sinh, cosh, tanh, arcsinh, arccosh, arctanh, exp, exp2, expm1, log, log1p, \
    sqrt, cbrt = (unary_inexact(name, *row) for name, row in _UNARY.items())
asin, acos, atan, asinh, acosh, atanh = arcsin, arccos, arctan, arcsinh, arccosh, arctanh

negative = unary("negative", o.neg, "negation; not of bools")
invert = unary("invert", o.not_, "negation of bits; of bools, logical negation")
bitwise_not = bitwise_invert = invert


# ---- two operands

add = binary("add", o.add, "sum; of bools, or", of_bools=o.or_)
subtract = binary("subtract", o.sub, "difference; not of bools")
multiply = binary("multiply", o.mul, "product; of bools, and", of_bools=o.and_)
divide = binary_inexact("divide", o.div, "quotient")
true_divide = divide
arctan2 = binary_inexact("arctan2", o.atan2, "angle of the point (y, x), given as arctan2(y, x)")
atan2 = arctan2
nextafter = binary_inexact("nextafter", o.nextafter, "float next to x in the direction of y")
maximum = binary("maximum", o.max_, "larger of x and y; NaN wins, and equal operands share the derivative")
minimum = binary("minimum", o.min_, "smaller of x and y; NaN wins, and equal operands share the derivative")
bitwise_and = binary("bitwise_and", o.and_, "and of bits; of bools, logical and")
bitwise_or = binary("bitwise_or", o.or_, "or of bits; of bools, logical or")
bitwise_xor = binary("bitwise_xor", o.xor, "exclusive or of bits")
left_shift = binary("left_shift", o.shift_left, "x shifted left by y bits; bools become integers", promote_numeric,
                    _NUMBERS)
bitwise_left_shift = left_shift


def _shift_right(x: Any, y: Any) -> Any:
    shift = o.shift_right_logical if dtypes.kind(type_of("right_shift", x).dtype) == "u" else o.shift_right_arithmetic
    return shift(x, y)


right_shift = binary("right_shift", _shift_right, "x shifted right by y bits, keeping its sign; bools become integers",
                     promote_numeric, _NUMBERS)
bitwise_right_shift = right_shift


def _ordered(bind_op: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A comparison that orders complex numbers by their real, then their imaginary parts."""
    def compare(x: Any, y: Any) -> Any:
        if not dtypes.is_complex(type_of("comparison", x).dtype):
            return bind_op(x, y)
        (xr, yr), (xi, yi) = ([part(v) for v in (x, y)] for part in (o.real, o.imag))
        same, by_imag, by_real = o.eq(xr, yr), bind_op(xi, yi), bind_op(xr, yr)
        return o.or_(o.and_(same, by_imag), o.and_(o.not_(same), by_real))

    return compare


equal = binary("equal", o.eq, "test x == y")
not_equal = binary("not_equal", o.ne, "test x != y")
less = binary("less", _ordered(o.lt), "test x < y")
less_equal = binary("less_equal", _ordered(o.le), "test x <= y")
greater = binary("greater", _ordered(o.gt), "test x > y")
greater_equal = binary("greater_equal", _ordered(o.ge), "test x >= y")
