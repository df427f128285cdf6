"""Derivatives of the elementwise operations."""

from __future__ import annotations

from math import log as log_of_number
from math import pi
from math import sqrt as sqrt_of_number
from typing import Any

from ...ir import Zero, aval_of, bind, dtypes, jvp_rule
from ...ir import ops as o
from ...ir.ops import (
    add,
    broadcast,
    conj,
    convert_element_type,
    cos,
    cosh,
    digamma,
    div,
    exp,
    integer_pow,
    log,
    mul,
    neg,
    number,
    pow_,
    select_n,
    sin,
    sinh,
    square,
    sub,
)
from .rule_helpers import derivative, not_differentiable, zero_derivative


def scaled(value: complex, x: Any) -> Any:
    return mul(x, number(value, x))


def one_minus_square(x: Any) -> Any:
    return sub(number(1, x), square(x))


def one_plus_square(x: Any) -> Any:
    return add(number(1, x), square(x))


zero_derivative(o.Sign, o.Floor, o.Ceil, o.Round, o.IsFinite, o.Not, o.PopulationCount, o.Clz, o.StopGradient,
                o.And, o.Or, o.Xor, o.ShiftLeft, o.ShiftRightArithmetic, o.ShiftRightLogical, o.Comparison,
                o.BitcastConvertType)

derivative(o.Neg, lambda op, t, y, x: neg(t))
derivative(o.Exp, lambda op, t, y, x: mul(t, y))
derivative(o.Exp2, lambda op, t, y, x: mul(t, scaled(log_of_number(2), y)))
derivative(o.Expm1, lambda op, t, y, x: mul(t, add(y, number(1, y))))
derivative(o.Log, lambda op, t, y, x: div(t, x))
derivative(o.Log1p, lambda op, t, y, x: div(t, add(x, number(1, x))))
derivative(o.Sqrt, lambda op, t, y, x: mul(t, div(number(.5, y), y)))
derivative(o.Rsqrt, lambda op, t, y, x: mul(t, mul(number(-.5, y), div(y, x))))
derivative(o.Cbrt, lambda op, t, y, x: mul(t, scaled(1 / 3, integer_pow(y, -2))))
derivative(o.Sin, lambda op, t, y, x: mul(t, cos(x)))
derivative(o.Cos, lambda op, t, y, x: neg(mul(t, sin(x))))
derivative(o.Tan, lambda op, t, y, x: mul(t, one_plus_square(y)))
derivative(o.Asin, lambda op, t, y, x: mul(t, o.rsqrt(one_minus_square(x))))
derivative(o.Acos, lambda op, t, y, x: mul(t, neg(o.rsqrt(one_minus_square(x)))))
derivative(o.Atan, lambda op, t, y, x: div(t, one_plus_square(x)))
derivative(o.Sinh, lambda op, t, y, x: mul(t, cosh(x)))
derivative(o.Cosh, lambda op, t, y, x: mul(t, sinh(x)))
derivative(o.Tanh, lambda op, t, y, x: mul(t, one_minus_square(y)))
derivative(o.Asinh, lambda op, t, y, x: mul(t, o.rsqrt(one_plus_square(x))))
derivative(o.Acosh, lambda op, t, y, x: mul(t, mul(o.rsqrt(sub(x, number(1, x))), o.rsqrt(add(x, number(1, x))))))
derivative(o.Atanh, lambda op, t, y, x: div(t, one_minus_square(x)))
derivative(o.Logistic, lambda op, t, y, x: mul(t, mul(y, sub(number(1, y), y))))
derivative(o.Erf, lambda op, t, y, x: mul(t, scaled(2 / sqrt_of_number(pi), exp(neg(square(x))))))
derivative(o.Erfc, lambda op, t, y, x: mul(t, scaled(-2 / sqrt_of_number(pi), exp(neg(square(x))))))
derivative(o.ErfInv, lambda op, t, y, x: mul(t, scaled(sqrt_of_number(pi) / 2, exp(square(y)))))
derivative(o.Lgamma, lambda op, t, y, x: mul(t, digamma(x)))
derivative(o.Digamma, lambda op, t, y, x: mul(t, o.polygamma(number(1, x), x)))
derivative(o.Nextafter, not_differentiable("x"), not_differentiable("y"))
derivative(o.Polygamma, not_differentiable("its order"),
           lambda op, t, y, m, x: mul(t, o.polygamma(add(m, number(1, m)), x)))
derivative(o.Real, lambda op, t, y, x: o.real(t))
derivative(o.Imag, lambda op, t, y, x: o.imag(t))
derivative(o.Conj, lambda op, t, y, x: conj(t))
derivative(o.Square, lambda op, t, y, x: mul(t, scaled(2, x)))
derivative(o.OptimizationBarrier, lambda op, t, y, x: bind(op, t))
derivative(o.ReducePrecision, lambda op, t, y, x: bind(op, t))

derivative(o.Add, lambda op, t, z, x, y: t, lambda op, t, z, x, y: t)
derivative(o.Sub, lambda op, t, z, x, y: t, lambda op, t, z, x, y: neg(t))
derivative(o.Mul, lambda op, t, z, x, y: mul(t, y), lambda op, t, z, x, y: mul(x, t))
derivative(o.Div, lambda op, t, z, x, y: div(t, y), lambda op, t, z, x, y: div(mul(neg(z), t), y))
derivative(o.Rem, lambda op, t, z, x, y: t, lambda op, t, z, x, y: mul(neg(t), truncate(div(x, y))))
derivative(o.Atan2, lambda op, t, z, x, y: mul(t, div(y, add(square(x), square(y)))),
           lambda op, t, z, x, y: mul(t, div(neg(x), add(square(x), square(y)))))
derivative(o.Complex, lambda op, t, z, x, y: o.complex_(t, number(0, t)),
           lambda op, t, z, x, y: o.complex_(number(0, t), t))
derivative(o.Max, lambda op, t, z, x, y: mul(t, share_of_extreme(z, x, y)),
           lambda op, t, z, x, y: mul(t, share_of_extreme(z, y, x)))
derivative(o.Min, lambda op, t, z, x, y: mul(t, share_of_extreme(z, x, y)),
           lambda op, t, z, x, y: mul(t, share_of_extreme(z, y, x)))
derivative(o.Clamp, lambda op, t, z, low, x, high: where(o.and_(o.lt(x, low), o.lt(low, high)), t, z),
           lambda op, t, z, low, x, high: where(o.and_(o.gt(x, low), o.lt(x, high)), t, z),
           lambda op, t, z, low, x, high: where(o.lt(high, x), t, z))


def share_of_sum(x: Any, z: Any) -> Any:
    """exp(x) / exp(z) for a sum z of exponentials in which x takes part; 1 where x is all of it, infinite or not."""
    whole = o.eq(x, z)
    return exp(select_n(whole, sub(x, z), number(0, x)))


derivative(o.Logaddexp, lambda op, t, z, x, y: mul(t, share_of_sum(x, z)),
           lambda op, t, z, x, y: mul(t, share_of_sum(y, z)))


def truncate(x: Any) -> Any:
    return mul(o.sign(x), o.floor(o.abs_(x)))


def where(condition: Any, t: Any, like: Any) -> Any:
    """The tangent where a condition holds, zero elsewhere, in the shape of a result."""
    shape = aval_of(like).shape
    return select_n(broadcast(condition, shape), number(0, t), broadcast(t, shape))


def share_of_extreme(z: Any, x: Any, y: Any) -> Any:
    """1 where x alone is the extreme z, 1/2 where both are, 0 where it is not."""
    x, y = broadcast(x, aval_of(z).shape), broadcast(y, aval_of(z).shape)
    half = select_n(o.eq(z, y), number(1, x), number(.5, x))
    return select_n(o.eq(z, x), number(0, x), half)


def integer_pow_derivative(op: o.IntegerPow, t: Any, z: Any, x: Any) -> Any:
    if op.y == 0:
        return Zero(aval_of(z))
    if op.y == 1:
        return t
    return mul(t, scaled(op.y, x if op.y == 2 else integer_pow(x, op.y - 1)))


derivative(o.IntegerPow, integer_pow_derivative)


def pow_derivative_in_base(op: o.Pow, t: Any, z: Any, x: Any, y: Any) -> Any:
    """y x**(y-1), which is 0 where y is 0, whatever x is."""
    exponent = convert_element_type(y, aval_of(x).dtype) if aval_of(y).dtype != aval_of(x).dtype else y
    is_zero = o.eq(exponent, number(0, exponent))
    shape = aval_of(z).shape
    safe = select_n(is_zero, sub(exponent, number(1, exponent)), number(1, exponent))
    slope = mul(exponent, pow_(x, safe))
    return mul(t, select_n(broadcast(is_zero, shape), broadcast(slope, shape), number(0, x)))


def pow_derivative_in_exponent(op: o.Pow, t: Any, z: Any, x: Any, y: Any) -> Any:
    """log(x) x**y, which is 0 where x is 0 and y at least 0."""
    if not aval_of(y).is_inexact:
        return Zero(aval_of(z))
    log_x = log(select_n(o.eq(x, number(0, x)), x, number(1, x)))
    return mul(t, mul(log_x, z))


derivative(o.Pow, pow_derivative_in_base, pow_derivative_in_exponent)


@jvp_rule.register(o.Abs)
def _jvp_of_abs(op: o.Abs, primals: list, tangents: list) -> tuple[Any, Any]:
    (x,), (t,) = primals, tangents
    out = bind(op, x)
    if dtypes.is_complex(aval_of(x).dtype):
        # The direction of x, which is 0 at 0, where |x| has no derivative.
        direction = div(x, o.complex_(or_one(out), number(0, out)))
        return out, o.real(mul(conj(direction), t))
    return out, select_n(o.ge(x, number(0, x)), neg(t), t)


@jvp_rule.register(o.Sign)
def _jvp_of_sign(op: o.Sign, primals: list, tangents: list) -> tuple[Any, Any]:
    (x,), (t,) = primals, tangents
    out = bind(op, x)
    if not dtypes.is_complex(aval_of(x).dtype):
        return out, Zero(out.aval)
    # x/|x| turns as x does, and keeps its length.
    turn = o.imag(mul(conj(out), t))
    return out, mul(out, o.complex_(number(0, turn), div(turn, or_one(o.abs_(x)))))


def or_one(length: Any) -> Any:
    """A length, to divide by: 1 where it is 0."""
    return select_n(o.eq(length, number(0, length)), length, number(1, length))


@jvp_rule.register(o.ConvertElementType)
def _jvp_of_convert(op: o.ConvertElementType, primals: list, tangents: list) -> tuple[Any, Any]:
    out = bind(op, *primals)
    (t,) = tangents
    if not dtypes.is_inexact(op.new_dtype) or not aval_of(t).is_inexact:
        return out, Zero(out.aval)
    return out, bind(op, t)


@jvp_rule.register(o.SelectN)
def _jvp_of_select(op: o.SelectN, primals: list, tangents: list) -> tuple[Any, Any]:
    which, *_ = primals
    out = bind(op, *primals)
    cases = [t if type(t) is not Zero else number(0, out) for t in tangents[1:]]
    if all(type(t) is Zero for t in tangents[1:]):
        return out, Zero(out.aval)
    return out, broadcast(select_n(which, *(broadcast(c, out.aval.shape) if aval_of(which).shape else c
                                            for c in cases)), out.aval.shape)

