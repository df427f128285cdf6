"""Lowering of the elementwise operations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...ir import Eqn, Literal, dtypes, lower_rule
from ...ir import ops as o
from ...ir.types import ShapedArray, shaped_array
from ..writer import FunctionWriter, function_type, tensor_type

BOOL, FLOAT32, UINT8 = np.dtype(bool), np.dtype(np.float32), np.dtype(np.uint8)
Rule = Callable[..., str]

# Operations that StableHLO has as they are, with operands and result of one type.
PLAIN: dict[type, str] = {
    o.Neg: "negate", o.Floor: "floor", o.Ceil: "ceil", o.Not: "not",
    o.Exp: "exponential", o.Expm1: "exponential_minus_one", o.Log: "log", o.Log1p: "log_plus_one",
    o.Sqrt: "sqrt", o.Rsqrt: "rsqrt", o.Cbrt: "cbrt", o.Sin: "sine", o.Cos: "cosine", o.Tan: "tan", o.Tanh: "tanh",
    o.Clz: "count_leading_zeros", o.OptimizationBarrier: "optimization_barrier",
    o.Sub: "subtract", o.Atan2: "atan2",
    o.And: "and", o.Or: "or", o.Xor: "xor", o.ShiftLeft: "shift_left",
    o.ShiftRightArithmetic: "shift_right_arithmetic", o.ShiftRightLogical: "shift_right_logical",
}  # fmt: skip

# Those that CHLO has, which XLA takes just as well.
COMPOSED: dict[type, str] = {
    o.Asin: "asin", o.Acos: "acos", o.Atan: "atan", o.Sinh: "sinh", o.Cosh: "cosh",
    o.Asinh: "asinh", o.Acosh: "acosh", o.Atanh: "atanh", o.Erf: "erf", o.Erfc: "erfc", o.ErfInv: "erf_inv",
    o.Lgamma: "lgamma", o.Digamma: "digamma", o.Polygamma: "polygamma", o.Nextafter: "next_after",
    o.Conj: "conj",
}  # fmt: skip

COMPARISONS: dict[type, str] = {o.Eq: "EQ", o.Ne: "NE", o.Lt: "LT", o.Le: "LE", o.Gt: "GT", o.Ge: "GE"}
_COMPARE_TYPES = {"b": "UNSIGNED", "u": "UNSIGNED", "i": "SIGNED", "f": "FLOAT", "c": "FLOAT"}


def _plain_unary(mnemonic: str) -> Rule:
    """The rule of an operation with operand and result of one type."""
    def rule(op: o.Unary, write: FunctionWriter, eqn: Eqn, x: str) -> str:
        return write.value(f"{mnemonic} {x} : {tensor_type(eqn[2][0].aval)}")
    return rule


def _plain_binary(mnemonic: str) -> Rule:
    """The rule of an operation with operands and result of one type, a scalar among the operands being repeated."""
    def rule(op: o.Binary, write: FunctionWriter, eqn: Eqn, x: str, y: str) -> str:
        left, right = eqn[1]
        out, left, right = eqn[2][0].aval, left.aval, right.aval
        if left.shape != right.shape:
            x, y = write.broadcast(x, left, out.shape), write.broadcast(y, right, out.shape)
        return write.value(f"{mnemonic} {x}, {y} : {tensor_type(out)}")
    return rule


def _division(mnemonic: str) -> Rule:
    """Division and remainder. XLA stops the process where it folds an integer division of constants by zero, so the
    divisor is kept from being zero; what XLA gives for zero at run time is given by selection."""
    plain = _plain_binary(mnemonic)

    def rule(op: o.Binary, write: FunctionWriter, eqn: Eqn, x: str, y: str) -> str:
        out = eqn.outputs[0].aval
        divisor = eqn.inputs[1]
        if not dtypes.is_integer(out.dtype) or (type(divisor) is Literal and divisor.value.all()):
            return plain(op, write, eqn, x, y)
        x, y = repeated(write, eqn, (x, y), out.shape)
        by_zero = compare(write, "EQ", y, write.scalar(0, out.dtype, out.shape), out)
        safe = select(write, by_zero, write.scalar(1, out.dtype, out.shape), y, out)
        result = write.value(f"{mnemonic} {x}, {safe} : {tensor_type(out)}")
        ones = np.asarray(-1).astype(out.dtype)
        instead = x if type(op) is o.Rem else write.scalar(ones, out.dtype, out.shape)
        return select(write, by_zero, instead, result, out)
    return rule


def _logical_on_bool(arithmetic: str, logical: str) -> Rule:
    """Sum and product, which for bool are `or` and `and`: XLA's own sum of bools may wrap around."""
    of_numbers, of_bools = _plain_binary(arithmetic), _plain_binary(logical)

    def rule(op: o.Binary, write: FunctionWriter, eqn: Eqn, x: str, y: str) -> str:
        return (of_bools if eqn[2][0].aval.dtype == BOOL else of_numbers)(op, write, eqn, x, y)
    return rule


def _composed(mnemonic: str) -> Rule:
    def rule(op: o.Elementwise, write: FunctionWriter, eqn: Eqn, *names: str) -> str:
        out = eqn[2][0].aval
        names = repeated(write, eqn, names, out.shape)
        wide = out if mnemonic == "next_after" else _without_narrow_floats(out)
        names = [convert(write, n, out, wide.dtype) for n in names]
        kind = tensor_type(wide)
        result = write.value(f"chlo.{mnemonic} {', '.join(names)} : {', '.join([kind] * len(names))} -> {kind}")
        if mnemonic in ("digamma", "polygamma"):
            result = _undefined_at_zero(write, names, result, wide)
        return convert(write, result, wide, out.dtype)
    return rule


def _undefined_at_zero(write: FunctionWriter, names: list[str], result: str, aval: ShapedArray) -> str:
    """NaN for digamma, or polygamma of order 0, at the pole between its signs, where some jaxlibs have -inf."""
    zero = write.scalar(0, aval.dtype, aval.shape)
    at_zero = [compare(write, "EQ", name, zero, aval) for name in names]
    bools = tensor_type(shaped_array(aval.shape, BOOL))
    both = at_zero[0] if len(at_zero) == 1 else write.value(f"stablehlo.and {', '.join(at_zero)} : {bools}")
    return select(write, both, write.scalar(np.nan, aval.dtype, aval.shape), result, aval)


def _without_narrow_floats(aval: ShapedArray) -> ShapedArray:
    """The type in which functions of several steps are computed: float32 for floats of 8 bits or less."""
    narrow = aval.dtype.itemsize == 1 and dtypes.is_float(aval.dtype)
    return shaped_array(aval.shape, FLOAT32) if narrow else aval


def repeated(write: FunctionWriter, eqn: Eqn, names: tuple[str, ...], shape: tuple[int, ...]) -> list[str]:
    """The operands, scalars among them repeated to the shape."""
    return [n if a.aval.shape == shape else write.broadcast(n, a.aval, shape) for n, a in zip(names, eqn[1])]


def changing_type(write: FunctionWriter, mnemonic: str, name: str, x: ShapedArray, out: ShapedArray) -> str:
    """Write an operation of one operand whose result has another type."""
    return write.value(f"stablehlo.{mnemonic} {name} : {function_type((x,), (out,))}")


def compare(write: FunctionWriter, direction: str, x: str, y: str, aval: ShapedArray, total: bool = False) -> str:
    """Write a comparison of two values of one type; total orders floats by their bits."""
    kind = dtypes.kind(aval.dtype)
    how = "TOTALORDER" if total and kind == "f" else _COMPARE_TYPES[kind]
    out = shaped_array(aval.shape, BOOL)
    return write.value(f"stablehlo.compare {direction}, {x}, {y}, {how} : {function_type((aval, aval), (out,))}")


def select(write: FunctionWriter, which: str, x: str, y: str, aval: ShapedArray,
           which_shape: tuple[int, ...] | None = None) -> str:
    """Write x where ``which`` is true and y elsewhere."""
    shape = aval.shape if which_shape is None else which_shape
    return write.value(f"stablehlo.select {which}, {x}, {y} : {tensor_type(shaped_array(shape, BOOL))}, "
                       f"{tensor_type(aval)}")


def convert(write: FunctionWriter, name: str, x: ShapedArray, dtype: np.dtype) -> str:
    """Write a conversion: to bool it asks for what is not zero, from complex to real it takes the real part."""
    if x.dtype == dtype:
        return name
    if dtypes.is_complex(x.dtype) and not dtypes.is_complex(dtype):
        real = shaped_array(x.shape, dtypes.real_part_dtype(x.dtype))
        return convert(write, changing_type(write, "real", name, x, real), real, dtype)
    if dtypes.is_integer(dtype) and (wide := _without_narrow_floats(x)) is not x:
        # XLA would round an integer's limits to the narrow dtype, and take its greatest number for one beyond them.
        return convert(write, changing_type(write, "convert", name, x, wide), wide, dtype)
    if dtype == BOOL:
        return compare(write, "NE", name, write.scalar(0, x.dtype, x.shape), x)
    return changing_type(write, "convert", name, x, shaped_array(x.shape, dtype))


def extreme(write: FunctionWriter, largest: bool, x: str, y: str, aval: ShapedArray) -> str:
    """Write the larger or smaller of two values, or NaN; complex numbers compare by real, then imaginary part."""
    if not dtypes.is_complex(aval.dtype):
        return write.value(f"stablehlo.{'maximum' if largest else 'minimum'} {x}, {y} : {tensor_type(aval)}")
    direction, part = "GT" if largest else "LT", shaped_array(aval.shape, dtypes.real_part_dtype(aval.dtype))
    x_real, y_real = (changing_type(write, "real", z, aval, part) for z in (x, y))
    x_imag, y_imag = (changing_type(write, "imag", z, aval, part) for z in (x, y))
    same = compare(write, "EQ", x_real, y_real, part)
    by_real, by_imag = compare(write, direction, x_real, y_real, part), compare(write, direction, x_imag, y_imag, part)
    first = select(write, same, by_imag, by_real, shaped_array(aval.shape, BOOL))
    greater = select(write, first, x, y, aval)
    kept = select(write, compare(write, "NE", y, y, aval), y, greater, aval)
    return select(write, compare(write, "NE", x, x, aval), x, kept, aval)


for _op_type, _mnemonic in PLAIN.items():
    _rule_for = _plain_unary if issubclass(_op_type, o.Unary) else _plain_binary
    lower_rule.register(_op_type)(_rule_for(f"stablehlo.{_mnemonic}"))
lower_rule.register(o.Div)(_division("stablehlo.divide"))
lower_rule.register(o.Rem)(_division("stablehlo.remainder"))
lower_rule.register(o.Add)(_logical_on_bool("stablehlo.add", "stablehlo.or"))
lower_rule.register(o.Mul)(_logical_on_bool("stablehlo.multiply", "stablehlo.and"))
for _op_type, _mnemonic in COMPOSED.items():
    lower_rule.register(_op_type)(_composed(_mnemonic))


@lower_rule.register(o.Comparison)
def _comparison(op: o.Comparison, write: FunctionWriter, eqn: Eqn, x: str, y: str) -> str:
    shape = eqn.outputs[0].aval.shape
    x, y = repeated(write, eqn, (x, y), shape)
    return compare(write, COMPARISONS[type(op)], x, y, shaped_array(shape, eqn.inputs[0].aval.dtype))


@lower_rule.register(o.Max, o.Min)
def _extreme(op: o.Max | o.Min, write: FunctionWriter, eqn: Eqn, x: str, y: str) -> str:
    out = eqn.outputs[0].aval
    x, y = repeated(write, eqn, (x, y), out.shape)
    return extreme(write, type(op) is o.Max, x, y, out)


@lower_rule.register(o.StopGradient)
def _same(op: o.StopGradient, write: FunctionWriter, eqn: Eqn, x: str) -> str:
    return x


@lower_rule.register(o.IsFinite)
def _is_finite(op: o.IsFinite, write: FunctionWriter, eqn: Eqn, x: str) -> str:
    return changing_type(write, "is_finite", x, eqn.inputs[0].aval, eqn.outputs[0].aval)


@lower_rule.register(o.Real, o.Imag)
def _part(op: o.Real | o.Imag, write: FunctionWriter, eqn: Eqn, x: str) -> str:
    return changing_type(write, op.name, x, eqn.inputs[0].aval, eqn.outputs[0].aval)


@lower_rule.register(o.Abs)
def _abs(op: o.Abs, write: FunctionWriter, eqn: Eqn, x: str) -> str:
    aval = eqn.inputs[0].aval
    return x if dtypes.kind(aval.dtype) == "u" else changing_type(write, "abs", x, aval, eqn.outputs[0].aval)


@lower_rule.register(o.Sign)
def _sign(op: o.Sign, write: FunctionWriter, eqn: Eqn, x: str) -> str:
    aval = eqn.inputs[0].aval
    if dtypes.kind(aval.dtype) != "u":
        return write.value(f"stablehlo.sign {x} : {tensor_type(aval)}")
    return extreme(write, False, x, write.scalar(1, aval.dtype, aval.shape), aval)


@lower_rule.register(o.Square)
def _square(op: o.Square, write: FunctionWriter, eqn: Eqn, x: str) -> str:
    kind = tensor_type(eqn.inputs[0].aval)
    if dtypes.is_complex(eqn.inputs[0].aval.dtype):
        return write.value(f"chlo.square {x} : {kind} -> {kind}")
    return write.value(f"stablehlo.multiply {x}, {x} : {kind}")


@lower_rule.register(o.Exp2)
def _exp2(op: o.Exp2, write: FunctionWriter, eqn: Eqn, x: str) -> str:
    """A power, which is accurate to the last digit where exp(x log 2) is not; complex x have to do with the latter."""
    aval = eqn.inputs[0].aval
    kind = tensor_type(aval)
    if not dtypes.is_complex(aval.dtype):
        return write.value(f"stablehlo.power {write.scalar(2, aval.dtype, aval.shape)}, {x} : {kind}")
    scaled = write.value(f"stablehlo.multiply {x}, {write.scalar(np.log(2), aval.dtype, aval.shape)} : {kind}")
    return write.value(f"stablehlo.exponential {scaled} : {kind}")


@lower_rule.register(o.PopulationCount)
def _population_count(op: o.PopulationCount, write: FunctionWriter, eqn: Eqn, x: str) -> str:
    """Integers of 4 bits or less are counted as bytes without their sign, which XLA would extend."""
    aval = eqn.inputs[0].aval
    wide = shaped_array(aval.shape, UINT8) if dtypes.itemsize_bits(aval.dtype) < 8 else aval
    if wide is not aval:
        unsigned = shaped_array(aval.shape, dtypes.from_short_name(f"u{dtypes.itemsize_bits(aval.dtype)}"))
        x = convert(write, convert(write, x, aval, unsigned.dtype), unsigned, UINT8)
    return convert(write, write.value(f"stablehlo.popcnt {x} : {tensor_type(wide)}"), wide, aval.dtype)


@lower_rule.register(o.Logistic)
def _logistic(op: o.Logistic, write: FunctionWriter, eqn: Eqn, x: str) -> str:
    return write.value(f"stablehlo.logistic {x} : {tensor_type(eqn.inputs[0].aval)}")


@lower_rule.register(o.Round)
def _round(op: o.Round, write: FunctionWriter, eqn: Eqn, x: str) -> str:
    mnemonic = "round_nearest_even" if op.rounding_method else "round_nearest_afz"
    return write.value(f"stablehlo.{mnemonic} {x} : {tensor_type(eqn.inputs[0].aval)}")


@lower_rule.register(o.Complex)
def _complex(op: o.Complex, write: FunctionWriter, eqn: Eqn, x: str, y: str) -> str:
    out, part = eqn.outputs[0].aval, eqn.inputs[0].aval.dtype
    x, y = repeated(write, eqn, (x, y), out.shape)
    parts = shaped_array(out.shape, part)
    return write.value(f"stablehlo.complex {x}, {y} : {function_type((parts, parts), (out,))}")


@lower_rule.register(o.Pow)
def _pow(op: o.Pow, write: FunctionWriter, eqn: Eqn, x: str, y: str) -> str:
    out, exponent = eqn.outputs[0].aval, eqn.inputs[1].aval
    y = convert(write, y, exponent, out.dtype)
    x = write.broadcast(x, eqn.inputs[0].aval, out.shape)
    y = write.broadcast(y, shaped_array(exponent.shape, out.dtype), out.shape)
    result = write.value(f"stablehlo.power {x}, {y} : {tensor_type(out)}")
    if not dtypes.is_complex(out.dtype):
        return result
    # XLA takes the logarithm of 0, of which a power is not 0 but NaN.
    part = shaped_array(out.shape, dtypes.real_part_dtype(out.dtype))
    real = write.value(f"stablehlo.real {y} : {function_type((out,), (part,))}")
    grows = compare(write, "GT", real, write.scalar(0, part.dtype, part.shape), part)
    is_zero = compare(write, "EQ", x, write.scalar(0, out.dtype, out.shape), out)
    vanishes = write.value(f"stablehlo.and {grows}, {is_zero} : {tensor_type(shaped_array(out.shape, BOOL))}")
    return select(write, vanishes, write.scalar(0, out.dtype, out.shape), result, out)


@lower_rule.register(o.IntegerPow)
def _integer_pow(op: o.IntegerPow, write: FunctionWriter, eqn: Eqn, x: str) -> str:
    """By repeated squaring."""
    aval = eqn.inputs[0].aval
    if op.y == 0:
        return write.scalar(1, aval.dtype, aval.shape)
    exponent, result, kind = abs(op.y), None, tensor_type(aval)
    while exponent:
        if exponent & 1:
            result = x if result is None else write.value(f"stablehlo.multiply {result}, {x} : {kind}")
        exponent >>= 1
        if exponent:
            x = write.value(f"stablehlo.multiply {x}, {x} : {kind}")
    if op.y > 0:
        return result
    return write.value(f"stablehlo.divide {write.scalar(1, aval.dtype, aval.shape)}, {result} : {kind}")


@lower_rule.register(o.ConvertElementType)
def _convert(op: o.ConvertElementType, write: FunctionWriter, eqn: Eqn, x: str) -> str:
    return convert(write, x, eqn.inputs[0].aval, op.new_dtype)


@lower_rule.register(o.ReducePrecision)
def _reduce_precision(op: o.ReducePrecision, write: FunctionWriter, eqn: Eqn, x: str) -> str:
    form = f"e{op.exponent_bits}m{op.mantissa_bits}"
    return write.value(f"stablehlo.reduce_precision {x}, format = {form} : {tensor_type(eqn.inputs[0].aval)}")


@lower_rule.register(o.BitcastConvertType)
def _bitcast(op: o.BitcastConvertType, write: FunctionWriter, eqn: Eqn, x: str) -> str:
    old, out = eqn.inputs[0].aval, eqn.outputs[0].aval
    if old.dtype == op.new_dtype:
        return x
    bits = [dtypes.itemsize_bits(d) for d in (old.dtype, op.new_dtype)]
    if bits[0] != bits[1] and min(bits) < 8:
        raise NotImplementedError(f"bitcast_convert_type from {old.dtype.name} to {op.new_dtype.name} is not lowered: "
                                  f"elements of less than a byte are only bitcast to their own width")
    return changing_type(write, "bitcast_convert", x, old, out)


@lower_rule.register(o.SelectN)
def _select_n(op: o.SelectN, write: FunctionWriter, eqn: Eqn, which: str, *cases: str) -> str:
    out, selector = eqn.outputs[0].aval, eqn.inputs[0].aval
    cases = [write.broadcast(n, a.aval, out.shape) for n, a in zip(cases, eqn.inputs[1:])]
    result = cases[0]
    for number, case in enumerate(cases[1:], 1):
        chosen = which
        if selector.dtype != BOOL:
            chosen = compare(write, "GE", which, write.scalar(number, selector.dtype, selector.shape), selector)
        result = select(write, chosen, case, result, out, selector.shape)
    return result


@lower_rule.register(o.Clamp)
def _clamp(op: o.Clamp, write: FunctionWriter, eqn: Eqn, low: str, x: str, high: str) -> str:
    out = eqn.outputs[0].aval
    if out.dtype == BOOL:  # which XLA does not clamp
        low, x, high = repeated(write, eqn, (low, x, high), out.shape)
        return extreme(write, False, extreme(write, True, low, x, out), high, out)
    limits = [eqn.inputs[0].aval, eqn.inputs[2].aval]
    x = write.broadcast(x, eqn.inputs[1].aval, out.shape)
    types = function_type((limits[0], out, limits[1]), (out,))
    return write.value(f"stablehlo.clamp {low}, {x}, {high} : {types}")
