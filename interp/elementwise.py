"""Elementwise operations: a table of NumPy functions, and rules where XLA's meaning is another.

Denormal numbers are the exception: NumPy computes with them, and compiled programs take them for zero.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ..ir import dtypes, evaluate
from ..ir import ops as o
from .convert import convert
from .small import COMPLEX, FLOAT32, FLOATS, INTEGERS, SMALL_INTS, signed, unsigned, widened

Choice = tuple[Callable, dict[np.dtype, Callable]]


def _by_kind(real: Callable, complex_: Callable | None = None, integer: Callable | None = None) -> Choice:
    """A function for real numbers, and others by dtype."""
    special = dict.fromkeys(COMPLEX, complex_) if complex_ else {}
    if integer:
        special |= dict.fromkeys(INTEGERS, integer) | dict.fromkeys(SMALL_INTS, widened(integer))
    return real, special


def _wrapping(function: Callable) -> Choice:
    """A function for all dtypes, of which NumPy gives int8 for integers of 4 bits or less."""
    return function, dict.fromkeys(SMALL_INTS, widened(function))


# ---- functions NumPy lacks, or means otherwise -----------------------------------------------------------------


def _sign_real(x: Any) -> Any:
    return np.copysign(np.sign(x), x)  # NumPy's sign of -0.0 is 0.0


def _complex_of(real: Any, imag: Any) -> Any:
    """Built from its parts: ``real + 1j * imag`` spoils infinities and signs of zero."""
    shape = real.shape if real.shape else imag.shape
    out = np.empty(shape, np.complex64 if real.dtype == FLOAT32 else np.complex128)
    out.real = real
    out.imag = imag
    return out


def _sign_complex(x: Any) -> Any:
    size = np.abs(x)
    return np.where(size == 0, x, _complex_of(x.real / size, x.imag / size))


def _round_away(x: Any) -> Any:
    whole = np.trunc(x)
    size = np.abs(whole)
    one, half = np.ones((), x.dtype), np.array(0.5, x.dtype)
    return np.copysign(np.where(np.abs(x - whole) >= half, size + one, size), x)


def _from_above(function: Callable) -> Callable:
    """A function of complex numbers for which XLA takes -0.0 as an imaginary part for 0.0: on the real axis, where some
    have a branch cut, it gives the value above."""
    return lambda x: function(_complex_of(x.real, x.imag + x.real.dtype.type(0)))


def _nan_where(condition: Callable[[Any, Any], Any], function: Callable) -> Callable:
    """A function of complex numbers that is NaN in both parts where a condition of the operand's parts holds.

    C's rules, which NumPy follows, give one of the parts a value at more points than XLA does.
    """
    def apply(x: Any) -> Any:
        undefined = condition(x.real, x.imag)
        out = function(x)
        return np.where(undefined, out.dtype.type(complex(np.nan, np.nan)), out) if undefined.any() else out
    return apply


def _either_nan(real: Any, imag: Any) -> Any:
    return np.isnan(real) | np.isnan(imag)


def _imag_not_finite(real: Any, imag: Any) -> Any:
    return ~np.isfinite(imag)


def _zero_and_nan(real: Any, imag: Any) -> Any:
    return (real == 0) & np.isnan(imag)


def _real_not_finite(real: Any, imag: Any) -> Any:
    return ~np.isfinite(real) | np.isnan(imag)


_exp_complex = _nan_where(_imag_not_finite, _from_above(np.exp))


def _exp2_complex(x: Any) -> Any:
    return _exp_complex(x * x.dtype.type(np.log(2)))


def _abs_complex(x: Any) -> Any:
    return np.where(_either_nan(x.real, x.imag), x.real.dtype.type(np.nan), np.abs(x))


def _asinh_complex(x: Any) -> Any:
    """On the imaginary axis, where it has branch cuts, the value is that of the right."""
    return np.arcsinh(_complex_of(x.real + x.real.dtype.type(0), x.imag))


def _atanh_complex(x: Any) -> Any:
    real, imag = x.real + x.real.dtype.type(0), x.imag
    out = np.arctanh(_complex_of(real, imag))
    special = ~np.isfinite(real) | np.isnan(imag)
    if not special.any():
        return out
    kind = real.dtype.type
    quarter_turn = np.where(imag >= 0, kind(np.pi / 2), kind(-np.pi / 2))
    size = np.where(np.isinf(real) | np.isinf(imag), np.copysign(kind(0), real), kind(np.nan))
    return np.where(special, _complex_of(size, quarter_turn), out)


def _atan_complex(x: Any) -> Any:
    turned = _atanh_complex(_complex_of(-x.imag, x.real))
    return _complex_of(turned.imag, -turned.real)


def _divide_complex(x: Any, y: Any) -> Any:
    special = ~(np.isfinite(x) & np.isfinite(y)) | (y == 0)
    quotient = np.divide(x, y)
    return np.where(special, _quotient_at_special_points(x, y), quotient) if special.any() else quotient


def _quotient_at_special_points(x: Any, y: Any) -> Any:
    """Where the plain formula gives NaN, infinities and zeros decide, as in annex G of the C standard."""
    a, b, c, d = x.real, x.imag, y.real, y.imag
    zero, one, inf = (x.real.dtype.type(v) for v in (0, 1, np.inf))
    size = c * c + d * d
    real, imag = (a * c + b * d) / size, (b * c - a * d) / size

    def units(re: Any, im: Any) -> tuple[Any, Any]:
        return tuple(np.copysign(np.where(np.isinf(v), one, zero), v) for v in (re, im))

    undefined = np.isnan(real) & np.isnan(imag)
    (au, bu), (cu, du) = units(a, b), units(c, d)
    by_zero = (size == 0) & ~(np.isnan(a) & np.isnan(b))
    of_infinite = (np.isinf(a) | np.isinf(b)) & np.isfinite(y)
    by_infinite = np.isfinite(x) & (np.isinf(c) | np.isinf(d))
    signed_inf = np.copysign(inf, c)
    return _complex_of(*[
        np.where(~undefined, plain, np.select([by_zero, of_infinite, by_infinite], choices, plain))
        for plain, choices in ((real, [signed_inf * a, inf * (au * c + bu * d), zero * (a * cu + b * du)]),
                               (imag, [signed_inf * b, inf * (bu * c - au * d), zero * (b * cu - a * du)]))])


def _reciprocal(x: Any) -> Any:
    return _divide_complex(np.ones((), x.dtype), x) if x.dtype in COMPLEX else np.reciprocal(x)


def _rsqrt_complex(x: Any) -> Any:
    kind = x.real.dtype.type
    out = np.reciprocal(np.sqrt(x))
    vanishing, zero = np.isinf(x.real) | np.isinf(x.imag), x == 0
    if not (vanishing | zero).any():
        return out
    nothing = _complex_of(np.where(np.isneginf(x.real), kind(-0.0), kind(0)), np.where(x.imag < 0, kind(0), kind(-0.0)))
    return np.where(zero, x.dtype.type(complex(np.inf, np.nan)), np.where(vanishing, nothing, out))


def _expm1_complex(x: Any) -> Any:
    """NumPy's is NaN at real infinities."""
    return np.where(x.imag == 0, _complex_of(np.expm1(x.real), np.zeros_like(x.imag)), np.expm1(x))


def _rsqrt(x: Any) -> Any:
    return np.reciprocal(np.sqrt(x))


def _logistic(x: Any) -> Any:
    return np.reciprocal(x.dtype.type(1) + np.exp(-x))


def _logistic_complex(x: Any) -> Any:
    one = x.dtype.type(1)
    shrinking = np.exp(np.where(x.real < 0, x, -x))  # a complex exponential that overflows gives NaN
    return np.where(x.real < 0, shrinking, one) / (one + shrinking)


def _atan2_complex(y: Any, x: Any) -> Any:
    i = x.dtype.type(1j)
    return -i * np.log((x + i * y) / np.sqrt(x * x + y * y))


# ---- special functions -----------------------------------------------------------------------------------------


@cache
def _special() -> Any:
    """SciPy's special functions, which take 0.1 s to import and are seldom needed."""
    from scipy import special
    return special


def _erf_inv(x: Any) -> Any:
    return np.copysign(_special().erfinv(x), x)  # SciPy's of -0.0 is 0.0


def _lgamma(x: Any) -> Any:
    return np.where(np.isinf(x), np.abs(x), _special().gammaln(x))


def _digamma(x: Any) -> Any:
    undefined = (x <= 0) & ((x == np.floor(x)) | np.isinf(x))
    return np.where(undefined, x.dtype.type(np.nan), _special().psi(x))


def _polygamma(m: Any, x: Any) -> Any:
    """As XLA has it, NaN at infinity, and at poles where the sides differ in sign (those of even order)."""
    special, one = _special(), x.dtype.type(1)
    order = m + one
    sign, zeta = np.power(-one, order), special.zeta(order, x)
    undefined = np.isposinf(x) | (np.isinf(zeta) & (sign < 0))
    general = np.where(undefined, x.dtype.type(np.nan), sign * special.gamma(order) * zeta)
    return np.where(m == 0, _digamma(x), general).astype(x.dtype, copy=False)


# ---- integers --------------------------------------------------------------------------------------------------


def _divide_integers(x: Any, y: Any) -> Any:
    """Rounded towards zero; all bits are set where y is zero."""
    quotient = np.floor_divide(x - np.fmod(x, y), y)
    by_zero = y == 0
    return np.where(by_zero, ~np.zeros((), x.dtype), quotient) if by_zero.any() else quotient


def _remainder_of_integers(x: Any, y: Any) -> Any:
    by_zero = y == 0
    return np.where(by_zero, x, np.fmod(x, y)) if by_zero.any() else np.fmod(x, y)


def _bits(x: Any) -> Any:
    """The bits of integers as unsigned numbers, those of 4-bit ones alone."""
    out = x.view(unsigned(x.dtype))
    return out & np.uint8(2 ** dtypes.itemsize_bits(x.dtype) - 1) if x.dtype in SMALL_INTS else out


def _population_count(x: Any) -> Any:
    return np.bitwise_count(_bits(x)).astype(x.dtype)


def _bit_length(bits: Any) -> Any:
    return np.frexp(bits.astype(np.float64))[1]


def _clz(x: Any) -> Any:
    bits = _bits(x)
    width = dtypes.itemsize_bits(x.dtype)
    if width < 64:
        return (width - _bit_length(bits)).astype(x.dtype)
    high, low = bits >> np.uint64(32), bits & np.uint64(0xFFFFFFFF)
    return np.where(high != 0, 32 - _bit_length(high), 64 - _bit_length(low)).astype(x.dtype)


# NumPy's own shifts take negative counts, and those beyond the width, the way XLA does.


def _shift_right_logical(x: Any, y: Any) -> Any:
    kind = unsigned(x.dtype)
    return np.right_shift(_bits(x), y.astype(kind) if x.dtype in SMALL_INTS else y.view(kind)).astype(x.dtype)


def _shift_right_arithmetic(x: Any, y: Any) -> Any:
    """The highest bit counts as the sign in unsigned integers too."""
    kind = signed(x.dtype)
    if x.dtype not in SMALL_INTS:
        return np.right_shift(x.view(kind), y.view(kind)).view(x.dtype)
    spare = np.int8(8 - dtypes.itemsize_bits(x.dtype))
    return np.right_shift((x.astype(kind) << spare) >> spare, y.astype(kind)).astype(x.dtype)


# ---- powers ----------------------------------------------------------------------------------------------------


def _pow(op: o.Pow, x: Any, y: Any) -> Any:
    return np.power(x, y if y.dtype == x.dtype else y.astype(x.dtype))


def _integer_pow(op: o.IntegerPow, x: Any) -> Any:
    exponent = abs(op.y)
    if not exponent:
        return np.ones(x.shape, x.dtype)
    result = None
    while exponent:
        if exponent & 1:
            result = x if result is None else np.multiply(result, x)
        exponent >>= 1
        if exponent:
            x = np.multiply(x, x)
    return _reciprocal(result) if op.y < 0 else result


# ---- extremes --------------------------------------------------------------------------------------------------


def _of_zeros(function: Callable, of_zeros: Callable, winner: float) -> Choice:
    """A maximum or minimum that knows -0.0 to be less than 0.0, which NumPy takes for equal numbers.

    Of equal ones NumPy gives the second in float32 and float64, so a scalar there that is the winner needs no care.
    """
    sign = np.signbit(winner)

    def extreme(x: Any, y: Any) -> Any:
        found = function(x, y)
        if y.ndim == 0 and (y != 0 or np.signbit(y) == sign and y.dtype.itemsize >= 4):
            return found
        zeros = found == 0
        if not zeros.any():
            return found
        zeros &= (x == 0) & (y == 0)
        return np.where(zeros, of_zeros(x, y), found) if zeros.any() else found

    usual, special = _wrapping(function)
    return usual, special | dict.fromkeys(FLOATS, extreme)


# ---- choices ---------------------------------------------------------------------------------------------------


def _select_n(op: o.SelectN, which: Any, *cases: Any) -> Any:
    """A selector out of range counts as the nearest that is in range."""
    if len(cases) == 2:
        return np.where(which if which.dtype == bool else which > 0, cases[1], cases[0])
    result = cases[0]
    for number, case in enumerate(cases[1:], 1):
        result = np.where(which >= number, case, result)
    return result


# ---- the rules -------------------------------------------------------------------------------------------------


def _identity(op: Any, x: Any) -> Any:
    return x


UNARY: dict[type, Callable | Choice] = {
    o.Neg: _wrapping(np.negative), o.Square: _wrapping(np.square), o.Abs: _by_kind(np.abs, _abs_complex, np.abs),
    o.Not: _wrapping(np.invert),
    o.Floor: np.floor, o.Ceil: np.ceil, o.IsFinite: np.isfinite,
    o.Exp: _by_kind(np.exp, _exp_complex), o.Expm1: _by_kind(np.expm1, _expm1_complex),
    o.Log: _by_kind(np.log, _nan_where(_either_nan, np.log)),
    o.Log1p: _by_kind(np.log1p, _nan_where(_either_nan, np.log1p)),
    o.Sqrt: _by_kind(np.sqrt, _nan_where(_either_nan, _from_above(np.sqrt))), o.Cbrt: np.cbrt,
    o.Sin: _by_kind(np.sin, _nan_where(_real_not_finite, np.sin)),
    o.Cos: _by_kind(np.cos, _nan_where(_real_not_finite, np.cos)),
    o.Tan: _by_kind(np.tan, _nan_where(lambda re, im: ~np.isfinite(re) & np.isfinite(im), np.tan)),
    o.Asin: _by_kind(np.arcsin, _nan_where(_zero_and_nan, _from_above(np.arcsin))),
    o.Acos: _by_kind(np.arccos, _nan_where(_zero_and_nan, _from_above(np.arccos))),
    o.Atan: _by_kind(np.arctan, _atan_complex),
    o.Sinh: _by_kind(np.sinh, _nan_where(_imag_not_finite, _from_above(np.sinh))),
    o.Cosh: _by_kind(np.cosh, _nan_where(_imag_not_finite, np.cosh)),
    o.Tanh: _by_kind(np.tanh, _nan_where(lambda re, im: np.isfinite(re) & ~np.isfinite(im), np.tanh)),
    o.Asinh: _by_kind(np.arcsinh, _nan_where(lambda re, im: np.isnan(re) & (im == 0), _asinh_complex)),
    o.Acosh: _by_kind(np.arccosh, _nan_where(_zero_and_nan, _from_above(np.arccosh))),
    o.Atanh: _by_kind(np.arctanh, _atanh_complex),
    o.Conj: np.conjugate, o.Real: lambda x: x.real, o.Imag: lambda x: x.imag,
    o.Sign: _by_kind(_sign_real, _sign_complex, np.sign),
    o.Exp2: _by_kind(np.exp2, _exp2_complex),
    o.Rsqrt: _by_kind(widened(_rsqrt), _rsqrt_complex),
    o.Logistic: _by_kind(widened(_logistic), _nan_where(_imag_not_finite, _logistic_complex)),
    o.Erf: widened(lambda x: _special().erf(x)), o.Erfc: widened(lambda x: _special().erfc(x)),
    o.ErfInv: widened(_erf_inv),
    o.Lgamma: widened(_lgamma), o.Digamma: widened(_digamma),
    o.PopulationCount: _population_count, o.Clz: _clz,
}  # fmt: skip

BINARY: dict[type, Callable | Choice] = {
    o.Add: np.add, o.Sub: np.subtract, o.Mul: np.multiply,
    o.Div: _by_kind(np.divide, _divide_complex, integer=_divide_integers),
    o.Rem: _by_kind(np.fmod, integer=_remainder_of_integers),
    o.Max: _of_zeros(np.maximum, lambda x, y: np.where(np.signbit(x), y, x), 0.0),
    o.Min: _of_zeros(np.minimum, lambda x, y: np.where(np.signbit(x), x, y), -0.0),
    o.Atan2: _by_kind(np.arctan2, _atan2_complex),
    o.Nextafter: np.nextafter,
    o.And: _wrapping(np.bitwise_and), o.Or: _wrapping(np.bitwise_or), o.Xor: _wrapping(np.bitwise_xor),
    o.ShiftLeft: _wrapping(np.left_shift),
    o.ShiftRightLogical: _shift_right_logical, o.ShiftRightArithmetic: _shift_right_arithmetic,
    o.Eq: np.equal, o.Ne: np.not_equal, o.Lt: np.less, o.Le: np.less_equal, o.Gt: np.greater, o.Ge: np.greater_equal,
    o.Complex: _complex_of,
    o.Polygamma: widened(_polygamma),
}  # fmt: skip


def _rule_of_one(function: Callable | Choice) -> Callable:
    if not isinstance(function, tuple):
        return lambda op, x: function(x)
    usual, find = function[0], function[1].get
    return lambda op, x: find(x.dtype, usual)(x)


def _rule_of_two(function: Callable | Choice) -> Callable:
    if not isinstance(function, tuple):
        return lambda op, x, y: function(x, y)
    usual, find = function[0], function[1].get
    return lambda op, x, y: find(x.dtype, usual)(x, y)


for _op_type, _function in UNARY.items():
    evaluate.register(_op_type)(_rule_of_one(_function))
for _op_type, _function in BINARY.items():
    evaluate.register(_op_type)(_rule_of_two(_function))

_LARGER, _SMALLER = _rule_of_two(BINARY[o.Max]), _rule_of_two(BINARY[o.Min])
_ROUNDINGS = {0: _round_away, 1: np.rint}

evaluate.register(o.StopGradient, o.OptimizationBarrier)(_identity)
evaluate.register(o.Pow)(_pow)
evaluate.register(o.IntegerPow)(_integer_pow)
evaluate.register(o.SelectN)(_select_n)
evaluate.register(o.Clamp)(lambda op, low, x, high: _SMALLER(op, _LARGER(op, x, low), high))
evaluate.register(o.Round)(lambda op, x: _ROUNDINGS[op.rounding_method](x))
evaluate.register(o.ConvertElementType)(lambda op, x: convert(x, op.new_dtype))
