"""Elementwise operations. Operands have equal shapes, or are scalars."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, ClassVar

import numpy as np

from .. import dtypes
from ..jaxpr import Jaxpr, Literal
from ..operation import Operation, abstract_eval, expand_rule, operation
from ..staging import aval_of, bind, stage
from ..types import ShapedArray, shaped_array
from .typing import KIND_NAMES, common_elementwise_shape, kind_of, require_kind, require_same_dtype

__all__ = [
    "Abs", "Acos", "Acosh", "Add", "And", "Asin", "Asinh", "Atan", "Atan2", "Atanh", "Binary", "BitcastConvertType",
    "Cbrt", "Ceil", "Clamp", "Clz", "Comparison", "Complex", "Conj", "ConvertElementType", "Cos", "Cosh", "Digamma",
    "Div", "Elementwise", "Eq", "Erf", "ErfInv", "Erfc", "Exp", "Exp2", "Expm1", "Floor", "Ge", "Gt", "Imag",
    "IntegerPow", "IsFinite", "Le", "Lgamma", "Log", "Log1p", "Logaddexp", "Logistic", "Lt", "Max", "Min", "Mul", "Ne",
    "Neg", "Nextafter", "Not", "OptimizationBarrier", "Or", "Polygamma", "PopulationCount", "Pow", "Real",
    "ReducePrecision", "Rem", "Round", "Rsqrt", "SelectN", "ShiftLeft", "ShiftRightArithmetic", "ShiftRightLogical",
    "Sign", "Sin", "Sinh", "Sqrt", "Square", "StopGradient", "Sub", "Tan", "Tanh", "Unary", "Xor", "abs_", "acos",
    "acosh", "add", "and_", "asin", "asinh", "atan", "atan2", "atanh", "bitcast_convert_type", "cbrt", "ceil", "clamp",
    "clz", "complex_", "conj", "convert_element_type", "cos", "cosh", "digamma", "div", "eq", "erf", "erf_inv", "erfc",
    "exp", "exp2", "expm1", "floor", "ge", "gt", "imag", "integer_pow", "is_finite", "le", "lgamma", "log", "log1p",
    "logaddexp", "logistic", "lt", "max_", "min_", "mul", "ne", "neg", "nextafter", "not_", "number",
    "optimization_barrier", "or_", "polygamma", "population_count", "pow_", "real", "reduce_precision", "rem", "round_",
    "rsqrt", "select_n", "shift_left", "shift_right_arithmetic", "shift_right_logical", "sign", "sin", "sinh", "sqrt",
    "square", "stop_gradient", "sub", "tan", "tanh", "xor",
]


class Elementwise(Operation):
    """Base: each element of the result depends on the same element of every operand.

    Class attributes:
        accepts: the kinds of dtype it takes, of b(ool) i(nt) u(nsigned) f(loat) c(omplex).
        result: "same" dtype as the operands, "bool", or "real" (the real dtype of a complex one).
    """

    __slots__ = ()
    accepts: ClassVar[str] = "iufc"
    result: ClassVar[str] = "same"


class Unary(Elementwise):
    """Base of the elementwise operations of one operand."""

    __slots__ = ()


class Binary(Elementwise):
    """Base of the elementwise operations of two operands, which have the same dtype."""

    __slots__ = ()


class Comparison(Binary):
    """Base of the comparisons, whose result is bool."""

    __slots__ = ()
    accepts = "biufc"
    result = "bool"


BOOL = np.dtype(bool)
_TYPED: dict[tuple, ShapedArray] = {}


def _result_dtype(op: Elementwise, dtype: np.dtype) -> np.dtype:
    if op.result == "bool":
        return BOOL
    return dtypes.real_part_dtype(dtype) if op.result == "real" else dtype


@abstract_eval.register(Unary)
def _type_of_unary(op: Unary, x: ShapedArray) -> ShapedArray:
    found = _TYPED.get((op, x))
    if found is None:
        require_kind(op.name, op.accepts, x)
        weak = x.weak_type and op.result != "bool"
        found = _TYPED[op, x] = shaped_array(x.shape, _result_dtype(op, x.dtype), weak)
    return found


@abstract_eval.register(Binary)
def _type_of_binary(op: Binary, x: ShapedArray, y: ShapedArray) -> ShapedArray:
    found = _TYPED.get((op, x, y))
    if found is None:
        require_same_dtype(op.name, (x, y))
        require_kind(op.name, op.accepts, x)
        shape = common_elementwise_shape(op.name, (x, y))
        weak = x.weak_type and y.weak_type and op.result != "bool"
        found = shaped_array(shape, _result_dtype(op, x.dtype), weak)
        if len(_TYPED) > 50_000:
            _TYPED.clear()
        _TYPED[op, x, y] = found
    return found


def _unary(name: str, accepts: str, result: str = "same", doc: str = "") -> type[Unary]:
    """Define an elementwise operation of one operand and no parameters."""
    return _define(Unary, name, accepts, result, doc)


def _binary(name: str, accepts: str, doc: str = "", base: type[Binary] = Binary) -> type[Binary]:
    """Define an elementwise operation of two operands and no parameters."""
    return _define(base, name, accepts, base.result, doc)


def _define(base: type[Elementwise], name: str, accepts: str, result: str, doc: str) -> type:
    class_name = "".join(part.capitalize() for part in name.split("_"))
    body = {"__slots__": (), "name": name, "accepts": accepts, "result": result, "__doc__": doc,
            "__module__": __name__, "__qualname__": class_name}
    return operation(type(class_name, (base,), body))


Neg = _unary("neg", "iufc", doc="-x")
Sign = _unary("sign", "iufc", doc="-1, 0 or 1 with the sign of x; x / |x| for complex x")
Floor = _unary("floor", "f", doc="the nearest integer below")
Ceil = _unary("ceil", "f", doc="the nearest integer above")
IsFinite = _unary("is_finite", "f", "bool", "neither infinite nor NaN")
Exp = _unary("exp", "fc", doc="e to the power x")
Exp2 = _unary("exp2", "fc", doc="2 to the power x")
Expm1 = _unary("expm1", "fc", doc="exp(x) - 1, accurate near 0")
Log = _unary("log", "fc", doc="natural logarithm")
Log1p = _unary("log1p", "fc", doc="log(1 + x), accurate near 0")
Sqrt = _unary("sqrt", "fc", doc="square root")
Rsqrt = _unary("rsqrt", "fc", doc="1 / sqrt(x)")
Cbrt = _unary("cbrt", "f", doc="real cube root")
Sin = _unary("sin", "fc", doc="sine of x, in radians")
Cos = _unary("cos", "fc", doc="cosine of x, in radians")
Tan = _unary("tan", "fc", doc="tangent of x, in radians")
Asin = _unary("asin", "fc", doc="the angle in radians whose sine is x")
Acos = _unary("acos", "fc", doc="the angle in radians whose cosine is x")
Atan = _unary("atan", "fc", doc="the angle in radians whose tangent is x")
Sinh = _unary("sinh", "fc", doc="hyperbolic sine")
Cosh = _unary("cosh", "fc", doc="hyperbolic cosine")
Tanh = _unary("tanh", "fc", doc="hyperbolic tangent")
Asinh = _unary("asinh", "fc", doc="inverse of sinh")
Acosh = _unary("acosh", "fc", doc="inverse of cosh")
Atanh = _unary("atanh", "fc", doc="inverse of tanh")
Logistic = _unary("logistic", "fc", doc="1 / (1 + exp(-x))")
Erf = _unary("erf", "f", doc="error function")
Erfc = _unary("erfc", "f", doc="1 - erf(x), accurate for large x")
ErfInv = _unary("erf_inv", "f", doc="inverse of erf")
Lgamma = _unary("lgamma", "f", doc="logarithm of the absolute value of the gamma function")
Digamma = _unary("digamma", "f", doc="derivative of lgamma")
Abs = _unary("abs", "iufc", "real", "absolute value; the modulus of a complex number")
Not = _unary("not", "biu", doc="bitwise, or logical for bool")
PopulationCount = _unary("population_count", "iu", doc="how many bits are set")
Clz = _unary("clz", "iu", doc="how many leading bits are zero")
Real = _unary("real", "c", "real", "real part")
Imag = _unary("imag", "c", "real", "imaginary part")
Conj = _unary("conj", "c", doc="complex conjugate")
Square = _unary("square", "iufc", doc="x * x")
StopGradient = _unary("stop_gradient", "biufc", doc="x, with a derivative of zero")
OptimizationBarrier = _unary("optimization_barrier", "biufc", doc="x; the compiler moves nothing across")

Add = _binary("add", "iufcb", "x + y; logical or for bool")
Sub = _binary("sub", "iufc", "x - y")
Mul = _binary("mul", "iufcb", "x * y; logical and for bool")
Div = _binary("div", "iufc", "x / y; for integers rounded towards zero")
Rem = _binary("rem", "iuf", "the remainder of x / y, with the sign of x")
Max = _binary("max", "iufcb", "the larger; complex numbers compare by real, then imaginary part; NaN wins")
Min = _binary("min", "iufcb", "the smaller; complex numbers compare by real, then imaginary part; NaN wins")
Atan2 = _binary("atan2", "fc", "the angle of the point (y, x), given as atan2(y, x)")
Nextafter = _binary("nextafter", "f", "the float next to x towards y")
And = _binary("and", "biu", "bitwise, or logical for bool")
Or = _binary("or", "biu", "bitwise, or logical for bool")
Xor = _binary("xor", "biu", "bitwise, or logical for bool")
ShiftLeft = _binary("shift_left", "iu", "zero when shifted by the width or more")
ShiftRightArithmetic = _binary("shift_right_arithmetic", "iu", "copies of the sign come in from the left")
ShiftRightLogical = _binary("shift_right_logical", "iu", "zeros come in from the left")
Eq = _binary("eq", "biufc", "whether x equals y; NaN equals nothing", base=Comparison)
Ne = _binary("ne", "biufc", "whether x differs from y", base=Comparison)
Lt = _binary("lt", "biuf", "whether x is less than y", base=Comparison)
Le = _binary("le", "biuf", "whether x is at most y", base=Comparison)
Gt = _binary("gt", "biuf", "whether x is greater than y", base=Comparison)
Ge = _binary("ge", "biuf", "whether x is at least y", base=Comparison)


@operation
class Pow(Binary):
    """x to the power y, where y is of x's dtype, or an integer."""

    name = "pow"
    accepts = "fc"


@abstract_eval.register(Pow)
def _type_of_pow(op: Pow, x: ShapedArray, y: ShapedArray) -> ShapedArray:
    require_kind(op.name, op.accepts, x, 0)
    if kind_of(y.dtype) not in "iu":
        require_same_dtype(op.name, (x, y))
    return shaped_array(common_elementwise_shape(op.name, (x, y)), x.dtype, x.weak_type and y.weak_type)


@operation
class Complex(Binary):
    """A complex number of a real and an imaginary part, both float32 or both float64."""

    name = "complex"
    accepts = "f"


@abstract_eval.register(Complex)
def _type_of_complex(op: Complex, x: ShapedArray, y: ShapedArray) -> ShapedArray:
    require_same_dtype(op.name, (x, y))
    if x.dtype not in (np.float32, np.float64):
        raise TypeError(f"complex takes float32 or float64 parts, got {x.dtype.name}")
    dtype = np.dtype(np.complex64 if x.dtype == np.float32 else np.complex128)
    return shaped_array(common_elementwise_shape(op.name, (x, y)), dtype, x.weak_type and y.weak_type)


@operation
class Logaddexp(Binary):
    """log(exp(x) + exp(y)), without overflow. An operation of its own for its derivatives, which are smooth where the
    larger operand changes, though the steps of its program are not."""

    name = "logaddexp"
    accepts = "f"


@expand_rule.register(Logaddexp)
def _expand_logaddexp(op: Logaddexp, x: ShapedArray, y: ShapedArray) -> Jaxpr:
    """The larger + log1p(exp(-|x - y|)); of equal infinities, one of them."""
    def steps(x: Any, y: Any) -> list[Any]:
        difference = sub(x, y)
        larger = max_(x, y)
        result = add(larger, log1p(exp(neg(abs_(difference)))))
        return [select_n(ne(difference, difference), result, add(x, y))]

    return stage(steps, (x, y), op.name)[0]


@operation
class IntegerPow(Unary):
    """x to the power of a fixed integer, which is negative only for inexact x."""

    name = "integer_pow"
    accepts = "iufc"
    y: int


@abstract_eval.register(IntegerPow)
def _type_of_integer_pow(op: IntegerPow, x: ShapedArray) -> ShapedArray:
    require_kind(op.name, "iufc" if op.y >= 0 else "fc", x)
    return x


@operation
class Round(Unary):
    """The nearest integer; halves go away from zero (rounding_method 0) or to even (1)."""

    name = "round"
    accepts = "f"
    rounding_method: int


@operation
class Polygamma(Binary):
    """The derivative of order m of digamma at x, as polygamma(m, x)."""

    name = "polygamma"
    accepts = "f"


@operation
class ConvertElementType(Unary):
    """Every element converted to a dtype. Conversion from complex to real keeps the real part."""

    name = "convert_element_type"
    accepts = "biufc"
    new_dtype: np.dtype
    weak_type: bool


@abstract_eval.register(ConvertElementType)
def _type_of_convert(op: ConvertElementType, x: ShapedArray) -> ShapedArray:
    return shaped_array(x.shape, op.new_dtype, op.weak_type)


@operation
class ReducePrecision(Unary):
    """Every element rounded to a float format of fewer bits, kept in its dtype."""

    name = "reduce_precision"
    accepts = "f"
    exponent_bits: int
    mantissa_bits: int


@operation
class BitcastConvertType(Operation):
    """The same bits read as another dtype; a wider or narrower one takes or adds a last dimension."""

    name = "bitcast_convert_type"
    new_dtype: np.dtype


@abstract_eval.register(BitcastConvertType)
def _type_of_bitcast(op: BitcastConvertType, x: ShapedArray) -> ShapedArray:
    old, new = x.dtype.itemsize, op.new_dtype.itemsize
    if (kind_of(x.dtype) in "bc") or kind_of(op.new_dtype) in "bc":
        if x.dtype != op.new_dtype:
            raise TypeError(f"bitcast_convert_type does not convert {x.dtype.name} to {op.new_dtype.name}")
        return x.strip_weak_type()
    if old == new:
        return shaped_array(x.shape, op.new_dtype)
    if old > new:
        return shaped_array((*x.shape, old // new), op.new_dtype)
    if not x.shape or x.shape[-1] != new // old:
        raise ValueError(f"bitcast_convert_type from {x.dtype.name} to {op.new_dtype.name} needs a last dimension of "
                         f"{new // old}, got shape {x.shape}")
    return shaped_array(x.shape[:-1], op.new_dtype)


@operation
class SelectN(Elementwise):
    """Elements of cases[which]; which is bool (two cases) or int32. All have one shape, or are scalars."""

    name = "select_n"
    accepts = "biufc"


@abstract_eval.register(SelectN)
def _type_of_select(op: SelectN, which: ShapedArray, *cases: ShapedArray) -> ShapedArray:
    if not cases:
        raise TypeError("select_n takes at least one case")
    if which.dtype != BOOL and which.dtype != np.int32:
        raise TypeError(f"select_n needs a selector of dtype bool or int32, got {which.dtype.name}")
    if which.dtype == BOOL and len(cases) > 2:
        raise TypeError(f"select_n takes at most two cases with a bool selector, got {len(cases)}")
    require_same_dtype(op.name, cases)
    shape = common_elementwise_shape(op.name, (which, *cases))
    return shaped_array(shape, cases[0].dtype, all(c.weak_type for c in cases))


@operation
class Clamp(Elementwise):
    """x limited to [low, high], as clamp(low, x, high)."""

    name = "clamp"
    accepts = "biuf"


@abstract_eval.register(Clamp)
def _type_of_clamp(op: Clamp, low: ShapedArray, x: ShapedArray, high: ShapedArray) -> ShapedArray:
    require_same_dtype(op.name, (low, x, high))
    require_kind(op.name, op.accepts, x)
    shape = common_elementwise_shape(op.name, (low, x, high))
    return shaped_array(shape, x.dtype, low.weak_type and x.weak_type and high.weak_type)


@lru_cache(maxsize=4096)
def _weak_scalar(value: complex, dtype: np.dtype) -> Literal:
    return Literal(np.asarray(value, dtype), shaped_array((), dtype, True))


def number(value: complex, like: Any) -> Literal:
    """A constant of the dtype of an operand (not -0.0). It is weak, so that it takes no part in a result's type."""
    return _weak_scalar(value, aval_of(like).dtype)


def _function(kind: type[Elementwise], operands: str = "") -> Callable[..., Any]:
    """The function that applies an operation of no parameters, with a docstring: help() shows it in partial's place."""
    function = partial(bind, kind())
    operands = operands or ("x, y" if issubclass(kind, Binary) else "x")
    function.__doc__ = (f"{kind.name}({operands}): {kind.__doc__}\n\nIt is elementwise, for operands of kind "
                        f"{', '.join([KIND_NAMES[letter] for letter in kind.accepts])}.")
    return function


neg, sign, floor, ceil, is_finite = (_function(op) for op in (Neg, Sign, Floor, Ceil, IsFinite))
exp, exp2, expm1, log, log1p = (_function(op) for op in (Exp, Exp2, Expm1, Log, Log1p))
sqrt, rsqrt, cbrt, square = (_function(op) for op in (Sqrt, Rsqrt, Cbrt, Square))
sin, cos, tan, asin, acos, atan = (_function(op) for op in (Sin, Cos, Tan, Asin, Acos, Atan))
sinh, cosh, tanh, asinh, acosh, atanh = (_function(op) for op in (Sinh, Cosh, Tanh, Asinh, Acosh, Atanh))
logistic, erf, erfc, erf_inv = (_function(op) for op in (Logistic, Erf, Erfc, ErfInv))
lgamma, digamma, polygamma = _function(Lgamma), _function(Digamma), _function(Polygamma, "m, x")
abs_, not_, real, imag, conj = (_function(op) for op in (Abs, Not, Real, Imag, Conj))
population_count, clz = _function(PopulationCount), _function(Clz)
stop_gradient, optimization_barrier = _function(StopGradient), _function(OptimizationBarrier)
add, sub, mul, div, rem, pow_ = (_function(op) for op in (Add, Sub, Mul, Div, Rem, Pow))
max_, min_, nextafter, atan2 = _function(Max), _function(Min), _function(Nextafter), _function(Atan2, "y, x")
and_, or_, xor, complex_ = (_function(op) for op in (And, Or, Xor, Complex))
shift_left, shift_right_arithmetic, shift_right_logical = (
    _function(op) for op in (ShiftLeft, ShiftRightArithmetic, ShiftRightLogical))
eq, ne, lt, le, gt, ge = (_function(op) for op in (Eq, Ne, Lt, Le, Gt, Ge))
select_n, clamp, logaddexp = (
    _function(SelectN, "which, *cases"), _function(Clamp, "low, x, high"), _function(Logaddexp))


def integer_pow(x, y: int):
    """x to the power of a fixed integer, elementwise."""
    return bind(IntegerPow(y), x)


def round_(x, rounding_method: int = 0):
    """The integer nearest to x, elementwise; halves go away from zero (rounding_method 0) or to even (1)."""
    return bind(Round(rounding_method), x)


def convert_element_type(x, new_dtype, weak_type: bool = False):
    """x converted to a dtype, which is weak (gives way to other dtypes in arithmetic) if so asked."""
    return bind(ConvertElementType(np.dtype(new_dtype), weak_type), x)


def bitcast_convert_type(x, new_dtype):
    """The bits of x read as another dtype; a narrower one adds a last dimension, and a wider one takes it away."""
    return bind(BitcastConvertType(np.dtype(new_dtype)), x)


def reduce_precision(x, exponent_bits: int, mantissa_bits: int):
    """x rounded to a float format of so many bits of exponent and mantissa, kept in its dtype."""
    return bind(ReducePrecision(exponent_bits, mantissa_bits), x)
