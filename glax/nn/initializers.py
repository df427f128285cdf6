"""Initial values of weights: each initializer is a function (key, shape, dtype) -> array, or makes one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from .. import random
from .._promotion import as_shape, cast, named, strong
from ..ir import dtypes
from ..ir import ops as o
from ..numpy import asarray, exp, full, log, multiply, sqrt
from ..numpy import ones as ones_array
from ..numpy import zeros as zeros_array

Axes = int | Sequence[int]
_DISTRIBUTIONS = ("truncated_normal", "normal", "uniform")
_MODES = ("fan_in", "fan_out", "fan_avg", "fan_geo_avg")
# The standard deviation of a standard normal variable that is cut off at two of its own, and of the length of a
# complex one, cut off likewise.
_CUT_DEVIATION = 0.87962566103423978
_CUT_COMPLEX_DEVIATION = 0.95311164380491208


@runtime_checkable
class Initializer(Protocol):
    """What initializers are: a function from a key, a shape and perhaps a dtype to an array."""

    def __call__(self, key: Any, shape: Sequence[int], dtype: Any = None) -> Any:
        """An array of the shape and the dtype."""


def _dtype(dtype: Any, default: Any = None) -> np.dtype:
    """The dtype of weights; ValueError where it is not floating or complex."""
    found = dtypes.canonicalize(next((d for d in (dtype, default) if d is not None), float))
    if not dtypes.is_inexact(found):
        raise ValueError(f"initializers make floats or complex numbers, got dtype {found.name}")
    return found


def zeros(key: Any, shape: Sequence[int], dtype: Any = None) -> Any:
    """Zeros. The key is not used.

    >>> from glax import nn, random
    >>> nn.initializers.zeros(random.key(0), (2,))
    Array([0., 0.], dtype=float32)
    """
    return zeros_array(shape, dtypes.canonicalize(float if dtype is None else dtype))


def ones(key: Any, shape: Sequence[int], dtype: Any = None) -> Any:
    """Ones. The key is not used."""
    return ones_array(shape, dtypes.canonicalize(float if dtype is None else dtype))


def constant(value: Any, dtype: Any = None) -> Initializer:
    """An initializer that gives one value, which may be an array that broadcasts to the shape."""
    def init(key: Any, shape: Sequence[int], dtype: Any = dtype) -> Any:
        return full(shape, value, dtypes.canonicalize(float if dtype is None else dtype))

    return init


def _scaled(x: Any, factor: Any) -> Any:
    return multiply(x, strong(cast(factor, x.dtype), x.dtype))


def uniform(scale: Any = 1e-2, dtype: Any = None) -> Initializer:
    """An initializer that draws evenly from [0, scale)."""
    def init(key: Any, shape: Sequence[int], dtype: Any = dtype) -> Any:
        return _scaled(random.uniform(key, shape, _dtype(dtype)), scale)

    return init


def normal(stddev: Any = 1e-2, dtype: Any = None) -> Initializer:
    """An initializer that draws from the normal distribution of mean 0 and a standard deviation."""
    def init(key: Any, shape: Sequence[int], dtype: Any = dtype) -> Any:
        return _scaled(random.normal(key, shape, _dtype(dtype)), stddev)

    return init


def truncated_normal(stddev: Any = 1e-2, dtype: Any = None, lower: Any = -2.0, upper: Any = 2.0) -> Initializer:
    """An initializer that draws from the normal distribution between limits, in units of stddev.

    The standard deviation of what is drawn is less than stddev, since the tails are missing.
    """
    def init(key: Any, shape: Sequence[int], dtype: Any = dtype) -> Any:
        return _scaled(random.truncated_normal(key, lower, upper, shape, _dtype(dtype)), stddev)

    return init


def _fans(shape: tuple[int, ...], in_axis: Axes, out_axis: Axes, batch_axis: Axes) -> tuple[float, float]:
    """How many inputs each output of a layer has, and how many outputs each input."""
    def size(axes: Axes) -> int:
        return math.prod(shape[a] for a in ((axes,) if isinstance(axes, int) else axes))

    if len(shape) <= 1 and (in_axis, out_axis) == (-2, -1):
        raise ValueError(f"variance_scaling: weights of shape {shape} have no axes -2 and -1; give in_axis, out_axis")
    inputs, outputs = size(in_axis), size(out_axis)
    if 0 in shape:
        raise ValueError(f"variance_scaling: weights must not be empty, got shape {shape}")
    receptive = math.prod(shape) / inputs / outputs / size(batch_axis)
    return inputs * receptive, outputs * receptive


def _complex_uniform(key: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """Points that are equally likely everywhere in the disk of radius sqrt(2), whose mean square is 1."""
    length_key, angle_key = random.split(key)
    part = dtypes.real_part_dtype(dtype)
    return _polar(sqrt(2 * random.uniform(length_key, shape, part)), angle_key, shape, dtype)


def _complex_truncated_normal(key: Any, upper: float, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """Complex normal numbers of lengths up to a limit."""
    length_key, angle_key = random.split(key)
    part = dtypes.real_part_dtype(dtype)
    below = (1 - exp(np.asarray(-(upper ** 2), part))) * random.uniform(length_key, shape, part)
    return _polar(sqrt(-log(1 - below)), angle_key, shape, dtype)


def _polar(length: Any, angle_key: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    turns = o.convert_element_type(random.uniform(angle_key, shape, length.dtype), dtype)
    return o.convert_element_type(length, dtype) * exp(turns * complex(0, 2 * math.pi))


def variance_scaling(scale: Any, mode: str, distribution: str, in_axis: Axes = -2, out_axis: Axes = -1,
                     batch_axis: Axes = (), dtype: Any = None) -> Initializer:
    """An initializer whose variance is scale / n, with n of the layer's numbers of inputs and outputs.

    Args:
        scale: a positive number.
        mode: what n is: "fan_in", "fan_out", their mean "fan_avg", or their geometric mean "fan_geo_avg".
        distribution: "normal"; "uniform"; or "truncated_normal", cut off at two standard deviations.
        in_axis, out_axis: the axes of inputs and outputs in the weights; all others are of the receptive field.
        batch_axis: axes that are neither.
        dtype: the default dtype.

    Raises:
        ValueError: an unknown mode or distribution; when called, weights without the axes, or empty ones.

    >>> from glax import nn, random
    >>> init = nn.initializers.variance_scaling(2.0, "fan_in", "normal")
    >>> init(random.key(0), (50, 200)).std().round(2)
    Array(0.2, dtype=float32)
    """
    if mode not in _MODES:
        raise ValueError(f"variance_scaling: mode must be one of {', '.join(_MODES)}, got {mode!r}")
    if distribution not in _DISTRIBUTIONS:
        raise ValueError(f"variance_scaling: distribution must be one of {', '.join(_DISTRIBUTIONS)}, got "
                         f"{distribution!r}")

    def init(key: Any, shape: Sequence[int], dtype: Any = dtype) -> Any:
        shape, found = as_shape(shape, "variance_scaling"), _dtype(dtype)
        fan_in, fan_out = _fans(shape, in_axis, out_axis, batch_axis)
        n = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2,
             "fan_geo_avg": math.sqrt(fan_in * fan_out)}[mode]
        return _drawn(key, shape, found, distribution, scale / n)

    return init


def _drawn(key: Any, shape: tuple[int, ...], dtype: np.dtype, distribution: str, variance: Any) -> Any:
    part = dtypes.real_part_dtype(dtype)
    variance = asarray(variance, part)
    deviation = sqrt(variance)
    if distribution == "normal":
        return _scaled(random.normal(key, shape, dtype), deviation)
    if dtypes.is_complex(dtype):
        if distribution == "uniform":
            return _scaled(_complex_uniform(key, shape, dtype), deviation)
        return _scaled(_complex_truncated_normal(key, 2.0, shape, dtype), deviation / _CUT_COMPLEX_DEVIATION)
    if distribution == "uniform":
        return _scaled(random.uniform(key, shape, dtype, -1.0), sqrt(3 * variance))
    return _scaled(random.truncated_normal(key, -2.0, 2.0, shape, dtype), deviation / _CUT_DEVIATION)


def _named(name: str, scale: float, mode: str, distribution: str, who: str) -> Any:
    """A maker of variance-scaling initializers with some of the arguments filled in."""
    def make(in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = None) -> Initializer:
        return variance_scaling(scale, mode, distribution, in_axis, out_axis, batch_axis, dtype)

    return named(make, name, __name__, f"An initializer of {who}: variance_scaling({scale}, {mode!r}, "
                                       f"{distribution!r}). See `variance_scaling` for the arguments.")


_GLOROT, _LECUN, _HE = "Glorot and Bengio (2010)", "LeCun et al. (1998)", "He et al. (2015)"
glorot_uniform = xavier_uniform = _named("glorot_uniform", 1.0, "fan_avg", "uniform", _GLOROT)
glorot_normal = xavier_normal = _named("glorot_normal", 1.0, "fan_avg", "truncated_normal", _GLOROT)
lecun_uniform = _named("lecun_uniform", 1.0, "fan_in", "uniform", _LECUN)
lecun_normal = _named("lecun_normal", 1.0, "fan_in", "truncated_normal", _LECUN)
he_uniform = kaiming_uniform = _named("he_uniform", 2.0, "fan_in", "uniform", _HE)
he_normal = kaiming_normal = _named("he_normal", 2.0, "fan_in", "truncated_normal", _HE)

__all__ = [
    "Initializer", "constant", "glorot_normal", "glorot_uniform", "he_normal", "he_uniform", "kaiming_normal",
    "kaiming_uniform", "lecun_normal", "lecun_uniform", "normal", "ones", "truncated_normal", "uniform",
    "variance_scaling", "xavier_normal", "xavier_uniform", "zeros",
]


def __dir__() -> list[str]:
    return __all__
