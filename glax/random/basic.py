"""Random bits, uniform and normal floats, integers and bools: what the other samplers are made of."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._promotion import broadcast_shapes, cast, shape_of, strong, type_of
from ..ir import aval_of, dtypes
from ..ir import ops as o
from .arguments import constant, fit, float_dtype, full, int_dtype, parameters, sampler, shape_argument
from .keys import key_words
from .threefry import UNSIGNED, random_bits, unstacked_keys

_sampled_bits = sampler("shape", "width")(random_bits)


def bits(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Unsigned integers of which every bit is random.

    Args:
        key: a single key.
        shape: the shape of the result.
        dtype: an unsigned integer dtype of 8 bits or more; by default uint32, or uint64 with 64-bit types enabled.

    Raises:
        ValueError: another dtype.

    >>> from glax import random
    >>> random.bits(random.key(0), (2,))
    Array([4070199207, 4202968722], dtype=uint32)
    """
    words = key_words("bits", key)
    found = dtypes.canonicalize(np.uint64 if dtype is None else dtype)
    width = dtypes.itemsize_bits(found)
    if UNSIGNED.get(width) != found:
        raise ValueError(f"bits: dtype must be an unsigned integer of 8, 16, 32 or 64 bits, got {found.name}")
    return _sampled_bits(words, shape=shape_argument("bits", shape), width=width)


def unit_floats(key: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """Floats from 0 up to, but without, 1: random bits put below the leading one of a 1, from which 1 is taken."""
    width, mantissa = dtypes.itemsize_bits(dtype), dtypes.finfo(dtype).nmant
    drawn = 8 if mantissa < 8 else width
    unsigned = UNSIGNED[width]
    numbers = random_bits(key, shape, drawn)
    if drawn != width:
        numbers = o.convert_element_type(numbers, unsigned)
    one = np.ones((), dtype).view(unsigned)
    numbers = o.or_(o.shift_right_logical(numbers, np.asarray(drawn - mantissa, unsigned)), one)
    return o.sub(o.bitcast_convert_type(numbers, dtype), np.ones((), dtype))


def uniform_floats(key: Any, low: Any, high: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """Floats from low up to high, which are scalars or of the shape, and of the dtype."""
    x = unit_floats(key, shape, dtype)
    # Rounding may take a product below low.
    return o.max_(low, o.add(o.mul(x, o.sub(high, low)), low))


_sampled_uniform = sampler("shape", "dtype")(uniform_floats)


def uniform(key: Any, shape: Any = (), dtype: Any = None, minval: Any = 0.0, maxval: Any = 1.0) -> Any:
    """Floats that are equally likely everywhere in [minval, maxval).

    Args:
        key: a single key.
        shape: the shape of the result.
        dtype: a floating dtype, by default float32, or float64 with 64-bit types enabled.
        minval, maxval: the limits; numbers, or arrays that broadcast to the shape. The result is differentiable in
            them.

    Raises:
        TypeError, ValueError: the key is not a single key, the dtype not floating, or limits do not fit the shape.

    >>> from glax import random
    >>> random.uniform(random.key(0), (2,))
    Array([0.947667 , 0.9785799], dtype=float32)
    """
    words = key_words("uniform", key)
    found = float_dtype("uniform", dtype)
    shape, limits = parameters("uniform", shape, found, minval=minval, maxval=maxval)
    return _sampled_uniform(words, *limits, shape=shape, dtype=found)


def normal_floats(key: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """Standard normal floats: the inverse of the distribution function at uniform ones."""
    minus_one = np.nextafter(np.asarray(-1, dtype), np.asarray(0, dtype), dtype=dtype)
    u = uniform_floats(key, minus_one, np.ones((), dtype), shape, dtype)
    return o.mul(np.asarray(math.sqrt(2), dtype), o.erf_inv(u))


@sampler("shape", "dtype")
def _sampled_normal(key: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    if not dtypes.is_complex(dtype):
        return normal_floats(key, shape, dtype)
    part = dtypes.real_part_dtype(dtype)
    half = np.asarray(math.sqrt(2), part)
    return o.complex_(*[o.div(normal_floats(k, shape, part), half) for k in unstacked_keys(key, 2)])


def normal(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Floats of the normal distribution of mean 0 and variance 1; complex ones have both parts of variance 1/2.

    Args:
        key: a single key.
        shape: the shape of the result.
        dtype: a floating or complex dtype, by default float32, or float64 with 64-bit types enabled.

    >>> from glax import random
    >>> random.normal(random.key(0), (2,))
    Array([1.622642 , 2.0252647], dtype=float32)
    """
    words = key_words("normal", key)
    return _sampled_normal(words, shape=shape_argument("normal", shape), dtype=float_dtype("normal", dtype, True))


@sampler("shape", "dtype")
def _sampled_truncated(key: Any, lower: Any, upper: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    root = np.asarray(math.sqrt(2), dtype)
    u = uniform_floats(key, o.erf(o.div(lower, root)), o.erf(o.div(upper, root)), shape, dtype)
    x = o.mul(root, o.erf_inv(u))
    inside = [o.nextafter(o.stop_gradient(limit), np.asarray(side, dtype))
              for limit, side in ((lower, math.inf), (upper, -math.inf))]
    return o.min_(o.max_(x, inside[0]), inside[1])


def truncated_normal(key: Any, lower: Any, upper: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Floats of the standard normal distribution that lie between limits.

    Args:
        key: a single key.
        lower, upper: the limits, numbers or arrays that broadcast together.
        shape: the shape of the result, to which they broadcast; by default their common shape.
        dtype: a floating dtype, by default float32, or float64 with 64-bit types enabled.
    """
    words, found = key_words("truncated_normal", key), float_dtype("truncated_normal", dtype)
    shape, limits = parameters("truncated_normal", shape, found, lower=lower, upper=upper)
    return _sampled_truncated(words, *limits, shape=shape, dtype=found)


def randint(key: Any, shape: Any, minval: Any, maxval: Any, dtype: Any = None) -> Any:
    """Integers from minval up to, but without, maxval.

    Args:
        key: a single key.
        shape: the shape of the result.
        minval, maxval: the limits; integers, or arrays of them that broadcast to the shape. Where maxval is not above
            minval the result is minval.
        dtype: an integer dtype, by default int32, or int64 with 64-bit types enabled.

    Raises:
        TypeError, ValueError: the key is not a single key, the dtype not one of integers, or limits do not fit the
            shape.

    >>> from glax import random
    >>> random.randint(random.key(0), (4,), 0, 10)
    Array([9, 0, 2, 3], dtype=int32)
    """
    words, found = key_words("randint", key), int_dtype("randint", dtype)
    shape = shape_argument("randint", shape)
    limits = [fit("randint", name, _whole(name, x), shape) for name, x in (("minval", minval), ("maxval", maxval))]
    return _sampled_integers(words, *limits, shape=shape, dtype=found)


def _whole(name: str, x: Any) -> Any:
    """A limit as an integer array or scalar."""
    aval = type_of(f"randint: {name}", x)
    if dtypes.kind(aval.dtype) not in "iufb":
        raise TypeError(f"randint: {name} must be an integer, got {aval.short()}")
    return strong(x if dtypes.is_integer(aval.dtype) else cast(x, dtypes.python_scalar_dtype(int)))


@sampler("shape", "dtype")
def _sampled_integers(key: Any, low: Any, high: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    info = dtypes.iinfo(dtype)
    if dtypes.itemsize_bits(dtype) >= 32:
        return _integers(key, low, high, shape, dtype)
    wide = np.dtype(np.int32)
    low, high = [_clipped(x, int(info.min), int(info.max) + extra, wide) for x, extra in ((low, 0), (high, 1))]
    return o.convert_element_type(_integers(key, low, high, shape, wide), dtype)


def _clipped(x: Any, low: int, high: int, dtype: np.dtype) -> Any:
    """x limited to a range, as far as its dtype has it, and then in another dtype."""
    own = aval_of(x).dtype
    info = dtypes.iinfo(own)
    low, high = max(low, int(info.min)), min(high, int(info.max))
    return cast(o.min_(o.max_(x, np.asarray(low, own)), np.asarray(high, own)), dtype)


def _integers(key: Any, low: Any, high: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """Integers of 32 or 64 bits: random ones of twice the width, modulo the span.

    They are never made: their remainder is that of the halves', the higher one's times that of two to the width.
    """
    info, width = dtypes.iinfo(dtype), dtypes.itemsize_bits(dtype)
    unsigned, own = UNSIGNED[width], aval_of(high).dtype
    greatest = min(int(info.max), int(dtypes.iinfo(own).max))
    # Where maxval is beyond the dtype, the greatest number of the dtype is one of those to draw.
    beyond = o.gt(high, np.asarray(greatest, own))
    low, high = [_clipped(x, int(info.min), int(info.max), dtype) for x in (low, high)]
    upper_half, lower_half = [random_bits(k, shape, width) for k in unstacked_keys(key, 2)]
    # Elementwise takes scalars and arrays of the shape, so both limits have one of these shapes.
    common = broadcast_shapes("randint", [shape_of(low), shape_of(high)])
    low, high, beyond = [full(x, common) for x in (low, high, beyond)]
    one = np.ones((), unsigned)
    span = o.convert_element_type(o.sub(high, low), unsigned)
    span = o.select_n(o.le(high, low), span, full(one, common))
    span = o.select_n(o.and_(beyond, o.gt(high, low)), span, o.add(span, one))
    factor = o.rem(np.asarray(1 << (width // 2), unsigned), span)
    factor = o.rem(o.mul(factor, factor), span)
    span, factor = full(span, shape), full(factor, shape)
    offset = o.rem(o.add(o.mul(o.rem(upper_half, span), factor), o.rem(lower_half, span)), span)
    return o.add(low, o.convert_element_type(offset, dtype) if offset.dtype != dtype else offset)


_MODES = ("low", "high")


def check_mode(name: str, mode: str | None) -> str:
    """The precision of the tails; ValueError where it is neither "low" nor "high"."""
    if mode is None:
        return "low"
    if mode not in _MODES:
        raise ValueError(f"{name}: mode must be 'low' or 'high', got {mode!r}")
    return mode


@sampler("shape", "mode")
def _sampled_bools(key: Any, p: Any, shape: tuple[int, ...], mode: str) -> Any:
    dtype = aval_of(p).dtype
    if mode == "low":
        return o.lt(unit_floats(key, shape, dtype), p)
    # A second draw decides what is below the resolution of the first.
    coarse, fine = [o.squeeze(x, (0,)) for x in o.split(unit_floats(key, (2, *shape), dtype), (1, 1), 0)]
    return o.lt(o.mul(fine, np.asarray(dtypes.finfo(dtype).eps, dtype)), o.sub(p, coarse))


def bernoulli(key: Any, p: Any = 0.5, shape: Any = None, mode: str = "low") -> Any:
    """Bools that are true with probability p.

    Args:
        key: a single key.
        p: the probability, a float or an array of floats.
        shape: the shape of the result, to which p broadcasts; by default p's.
        mode: "high" for probabilities so small that float32's resolution of uniform floats matters.

    Raises:
        TypeError: p is not of floats.

    >>> from glax import random
    >>> random.bernoulli(random.key(0), 0.3, (3,))
    Array([False, False, False], dtype=bool)
    """
    words = key_words("bernoulli", key)
    aval = type_of("bernoulli: p", p)
    if not dtypes.is_float(aval.dtype):
        raise TypeError(f"bernoulli: p must be of a floating dtype, got {aval.short()}")
    shape, (p,) = parameters("bernoulli", shape, aval.dtype, p=p)
    return _sampled_bools(words, p, shape=shape, mode=check_mode("bernoulli", mode))


def signs(key: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """-1 or 1, in a dtype."""
    p = np.asarray(0.5, dtypes.canonicalize(float))
    heads = o.convert_element_type(_sampled_bools(key, p, shape=shape, mode="low"), dtype)
    return o.sub(o.mul(constant(2, heads), heads), constant(1, heads))


def rademacher(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """-1 or 1, each half of the time; int32 by default, or int64 with 64-bit types enabled.

    >>> from glax import random
    >>> random.rademacher(random.key(1), (3,))
    Array([ 1, -1,  1], dtype=int32)
    """
    words = key_words("rademacher", key)
    found = dtypes.canonicalize(int if dtype is None else dtype)
    if dtypes.kind(found) not in "iuf":
        raise TypeError(f"rademacher: dtype must be one of integers or floats, got {found.name}")
    return signs(words, shape_argument("rademacher", shape), found)
