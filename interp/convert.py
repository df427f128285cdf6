"""Changes of dtype and of precision: conversion, bitcast, reduce_precision."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ..ir import dtypes, evaluate
from ..ir.ops import BitcastConvertType, ReducePrecision
from .small import FLOAT32, SMALL_FLOATS, WIDE, unsigned


def convert(x: Any, dtype: np.dtype) -> Any:
    """x as a dtype. Floats that become integers lose their fraction, stay within limits, and NaN becomes 0; complex
    numbers that become real lose their imaginary part."""
    old = x.dtype
    if old == dtype:
        return x
    old_kind, kind = dtypes.kind(old), dtypes.kind(dtype)
    if kind == "b":
        return np.not_equal(x.real if old_kind == "c" else x, np.zeros((), dtypes.real_part_dtype(old)))
    if old_kind == "c" and kind != "c":
        return convert(x.real, dtype)
    if old_kind == "f" and kind in "iu":
        return _float_to_integer(x.astype(FLOAT32) if old in SMALL_FLOATS else x, dtype)
    if old in WIDE and dtype in WIDE:  # ml_dtypes has no casts between some pairs of these
        x = x.astype(np.int8 if kind in "iu" else FLOAT32)
    return x.astype(dtype)


@cache
def _range_of(dtype: np.dtype, real: np.dtype) -> tuple[Any, Any, Any, Any]:
    """The least and greatest integer, the least as a float, and the greatest plus one, a power of two, as a float."""
    info = dtypes.iinfo(dtype)
    low, high = int(info.min), int(info.max)
    return np.array(low, dtype), np.array(high, dtype), real.type(low), real.type(high + 1)


def _float_to_integer(x: Any, dtype: np.dtype) -> Any:
    least, greatest, low, above = _range_of(dtype, x.dtype)
    fits = (x >= low) & (x < above)
    if fits.all():
        return x.astype(dtype)
    whole = np.where(fits, x, x.dtype.type(0)).astype(dtype)
    return np.where(x >= above, greatest, np.where(x < low, least, whole))


@evaluate.register(BitcastConvertType)
def _bitcast(op: BitcastConvertType, x: Any) -> Any:
    old, new = x.dtype, op.new_dtype
    if old == new:
        return x
    old_bits, new_bits = dtypes.itemsize_bits(old), dtypes.itemsize_bits(new)
    if old_bits == new_bits:
        return x.view(new)
    if old_bits < 8 or new_bits < 8:
        raise NotImplementedError(f"bitcast_convert_type from {old.name} to {new.name} is not evaluated: elements of "
                                  f"less than a byte are only bitcast to their own width")
    if old_bits > new_bits:
        return np.ascontiguousarray(x[..., np.newaxis]).view(new)
    return np.ascontiguousarray(x).view(new)[..., 0]


@cache
def _format_of(dtype: np.dtype) -> tuple[int, int]:
    """How many exponent and mantissa bits a float of 2, 4 or 8 bytes has."""
    info = dtypes.finfo(dtype)
    return info.bits - 1 - info.nmant, info.nmant


@evaluate.register(ReducePrecision)
def _reduce_precision(op: ReducePrecision, x: Any) -> Any:
    if x.dtype.itemsize == 1:
        return _rounded_to(x.astype(FLOAT32), op.exponent_bits, op.mantissa_bits).astype(x.dtype)
    return _rounded_to(x, op.exponent_bits, op.mantissa_bits)


def _rounded_to(x: Any, exponent_bits: int, mantissa_bits: int) -> Any:
    """Mantissas rounded to nearest even; exponents too large become infinite, those too small zero (no denormals)."""
    own_exponent, own_mantissa = _format_of(x.dtype)
    word = unsigned(x.dtype)
    bits = x.view(word)
    sign = word.type(1 << (own_exponent + own_mantissa))
    if mantissa_bits < own_mantissa:
        last = 1 << (own_mantissa - mantissa_bits)
        odd = (bits >> word.type(own_mantissa - mantissa_bits)) & word.type(1)
        bits = (bits + word.type((last >> 1) - 1) + odd) & ~word.type(last - 1)
    if exponent_bits < own_exponent:
        all_ones = word.type(((1 << own_exponent) - 1) << own_mantissa)
        bias, own_bias = (1 << (exponent_bits - 1)) - 1, (1 << (own_exponent - 1)) - 1
        exponent = bits & all_ones
        too_large = exponent > word.type((own_bias + bias) << own_mantissa)
        too_small = exponent <= word.type((own_bias - bias) << own_mantissa)
        bits = np.where(too_large, bits & sign | all_ones, np.where(too_small, bits & sign, bits))
    return np.where(np.isnan(x), x, bits.view(x.dtype))
