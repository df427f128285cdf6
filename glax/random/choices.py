"""Choosing among things: categories, permutations, samples of a population."""

from __future__ import annotations

import math
from typing import Any

from .._promotion import (
    as_index,
    as_shape,
    canonical_axis,
    scalar_literal,
    shape_of,
    strong,
    type_of,
)
from ..ir import dtypes, is_value
from ..ir import ops as o
from ..lax import top_k
from ..numpy import arange, asarray, searchsorted, take
from .arguments import broadcasts_to, float_dtype, sampler
from .basic import check_mode, randint, uniform
from .continuous import gumbel, gumbel_floats
from .keys import key_words
from .threefry import random_bits, unstacked_keys


def categorical(key: Any, logits: Any, axis: int = -1, shape: Any = None, replace: bool = True,
                mode: str | None = None) -> Any:
    """Indices along an axis, with probabilities proportional to the exponentials of logits.

    Args:
        key: a single key.
        logits: an array of unnormalised logarithms of probabilities, along an axis of it.
        axis: the axis, which the result lacks.
        shape: the shape of the result. It ends with that of logits without the axis, which is the default.
        replace: with False the draws of the leading dimensions of shape are all different.
        mode: "high" for more random bits, "low" by default; see `gumbel`.

    Raises:
        ValueError: shape does not end as it must, or there are more draws without replacement than categories.

    >>> import glax.numpy as gnp
    >>> from glax import random
    >>> random.categorical(random.key(0), gnp.log(gnp.array([0.1, 0.2, 0.7])), shape=(5,))
    Array([1, 2, 2, 1, 2], dtype=int32)
    """
    words, mode = key_words("categorical", key), check_mode("categorical", mode)
    dtype = type_of("categorical: logits", logits).dtype
    if not dtypes.is_float(dtype):
        raise TypeError(f"categorical: logits must be of a floating dtype, got {dtype.name}")
    logits = asarray(logits)
    own = shape_of(logits)
    axis = canonical_axis(axis, len(own), "categorical")
    batch = own[:axis] + own[axis + 1:]
    shape = batch if shape is None else as_shape(shape, "categorical")
    prefix, rest = shape[:max(0, len(shape) - len(batch))], shape[max(0, len(shape) - len(batch)):]
    if len(rest) < len(batch) or not broadcasts_to(batch, rest):
        raise ValueError(f"categorical: shape must end with {batch}, that of logits without the axis, got {shape}")
    if not replace:
        return _distinct_categories(words, logits, axis, prefix, batch, mode)
    drawn = (*prefix, *rest[:axis], own[axis], *rest[axis:])
    noise = gumbel_floats(words, shape=drawn, dtype=dtype, mode=mode)
    aligned = o.broadcast(o.reshape(logits, (1,) * len(prefix) + own), drawn)
    return o.argmax(o.add(noise, aligned), axis + len(prefix), dtypes.canonicalize(int))


def _distinct_categories(words: Any, logits: Any, axis: int, prefix: tuple[int, ...], batch: tuple[int, ...],
                         mode: str) -> Any:
    count, own = math.prod(prefix), shape_of(logits)
    if count > own[axis]:
        raise ValueError(f"categorical: {count} draws without replacement need as many categories, got {own[axis]}")
    noise = gumbel_floats(words, shape=own, dtype=logits.dtype, mode=mode)
    chosen = top_k(o.add(noise, logits), count, axis=axis)[1]
    order = (axis, *[d for d in range(len(own)) if d != axis])
    return o.reshape(o.transpose(chosen, order), (*prefix, *batch))


@sampler("shape", "axis")
def _shuffled(key: Any, x: Any, shape: tuple[int, ...], axis: int) -> Any:
    """x sorted along an axis by random bits, so often that ties of them are of no account."""
    rounds = math.ceil(3 * math.log(max(1, math.prod(shape))) / math.log(0xFFFFFFFF))
    for _ in range(rounds):
        key, subkey = unstacked_keys(key, 2)
        _, x = o.sort([random_bits(subkey, shape, 32), x], axis)
    return x


def permutation(key: Any, x: Any, axis: int = 0, independent: bool = False) -> Any:
    """An array's slices along an axis in random order, or the first integers in random order.

    Args:
        key: a single key.
        x: an array, or a number n that stands for 0, ..., n - 1.
        axis: the axis whose slices change place.
        independent: whether every vector along the axis is ordered by itself.

    >>> from glax import random
    >>> random.permutation(random.key(0), 5)
    Array([0, 1, 4, 3, 2], dtype=int32)
    """
    words = key_words("permutation", key)
    x = _population("permutation", x)
    shape = shape_of(x)
    axis = canonical_axis(axis, len(shape), "permutation")
    if len(shape) == 1 or independent:
        return _shuffled(words, x, shape=shape, axis=axis)
    order = _shuffled(words, arange(shape[axis]), shape=(shape[axis],), axis=0)
    return take(x, order, axis)


def _population(name: str, x: Any) -> Any:
    """An array to draw from: as it is, or the first integers."""
    if is_value(x) and shape_of(x):
        return asarray(x)
    if not isinstance(x, int) and not (is_value(x) and dtypes.is_integer(type_of(name, x).dtype)):
        got = type_of(name, x).short() if is_value(x) else type(x).__name__
        raise TypeError(f"{name} takes an integer, or an array of at least one dimension, got {got}")
    return arange(max(0, as_index(x, name, "the number of elements")))


def choice(key: Any, a: Any, shape: Any = (), replace: bool = True, p: Any = None, axis: int = 0,
           mode: str | None = None) -> Any:
    """Random slices of an array along an axis, or random integers.

    Args:
        key: a single key.
        a: an array, or a number n that stands for 0, ..., n - 1.
        shape: how many slices, in what shape: the result has it in place of the axis.
        replace: with False all are different.
        p: the probability of each slice, of which the sum is 1; by default all are equally likely.
        axis: the axis of a.
        mode: of the draws with p and without replacement; see `gumbel`.

    Raises:
        ValueError: there are fewer than are to be drawn without replacement, none to draw from, or p does not have one
            element for each.

    >>> from glax import random
    >>> random.choice(random.key(0), 10, (3,), replace=False)
    Array([0, 1, 8], dtype=int32)
    """
    words = key_words("choice", key)
    shape, mode = as_shape(shape, "choice"), check_mode("choice", mode)
    single = not (is_value(a) and shape_of(a))
    x = _population("choice", a)
    own = shape_of(x)
    axis = canonical_axis(axis, len(own), "choice")
    count, drawn = own[axis], math.prod(shape)
    result = (*own[:axis], *shape, *own[axis + 1:])
    if not drawn:
        return o.full(result, 0, x.dtype)
    if not count:
        raise ValueError(f"choice: there is nothing to draw {drawn} of: a has no elements along axis {axis}")
    if not replace and drawn > count:
        raise ValueError(f"choice: {drawn} draws without replacement need as many elements, and a has {count}")
    if p is None and not replace:
        shuffled = permutation(words, x, axis)
        limits = [drawn if d == axis else n for d, n in enumerate(own)]
        return o.reshape(o.slice_(shuffled, (0,) * len(own), tuple(limits)), result)
    if p is None:
        where = randint(words, shape, 0, count)
    else:
        where = _weighted(words, p, count, shape, replace, mode)
    return strong(where, x.dtype) if single else take(x, where, axis)


def _weighted(words: Any, p: Any, count: int, shape: tuple[int, ...], replace: bool, mode: str) -> Any:
    """Positions drawn with probabilities p."""
    aval = type_of("choice: p", p)
    if aval.shape != (count,):
        raise ValueError(f"choice: p must have one element for each of {count}, got shape {aval.shape}")
    dtype = aval.dtype if dtypes.is_float(aval.dtype) else float_dtype("choice", None)
    p = strong(p, dtype)
    if not replace:
        noisy = o.add(gumbel(words, (count,), dtype, mode), o.log(p))
        return o.reshape(top_k(noisy, math.prod(shape))[1], shape)
    total = o.cumsum(p, 0)
    last = o.squeeze(o.slice_(total, (count - 1,), (count,)), (0,))
    return searchsorted(total, o.mul(last, o.sub(scalar_literal(1, dtype), uniform(words, shape, dtype))))
