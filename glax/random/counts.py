"""Distributions of counts: Poisson, binomial, multinomial. All are sampled by loops of trials."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .._promotion import broadcast_shapes, shape_of, strong, type_of
from ..ir import aval_of
from ..ir import ops as o
from ..lax import scan, while_loop
from ..numpy import clip, cumsum, moveaxis, where
from .arguments import constant, fit, float_dtype, full, int_dtype, parameters, sampler, shape_argument
from .basic import unit_floats
from .keys import key_words
from .threefry import split_key, unstacked_keys

# Means up to this are counted one by one, others drawn by rejection.
_FEW = 10


def _c(x: float, like: Any) -> Any:
    return constant(x, like)


def _until_all_accepted(draw: Callable[[Any], tuple[Any, Any]], key: Any, shape: tuple[int, ...],
                        dtype: np.dtype) -> Any:
    """The first accepted of a sequence of draws, for each element. ``draw`` maps a key to draws and a mask."""
    def step(state: tuple[Any, ...]) -> tuple[Any, ...]:
        values, accepted, key = state
        values_now, accepted_now, key = (*draw(key)[:2], unstacked_keys(key, 3)[0])
        return o.select_n(accepted_now, values, values_now), o.or_(accepted, accepted_now), key

    start = (o.full(shape, -1, dtype), o.full(shape, False, np.dtype(bool)), key)
    return while_loop(lambda s: o.not_(o.reduce_and(s[1], tuple(range(len(shape))))), step, start)[0]


def _shifted_uniforms(key: Any, shape: tuple[int, ...], dtype: np.dtype) -> tuple[Any, Any, Any]:
    """What transformed rejection starts from: u - 1/2, v, and how far u is from the ends of (0, 1)."""
    _, u_key, v_key = unstacked_keys(key, 3)
    u, v = unit_floats(u_key, shape, dtype), unit_floats(v_key, shape, dtype)
    u = o.sub(u, _c(0.5, u))
    return u, v, o.sub(_c(0.5, u), o.abs_(u))


# ---- Poisson ---------------------------------------------------------------------------------------------------


def _poisson_one_by_one(key: Any, rate: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """How many uniform numbers it takes for their product to be below exp(-rate) (Knuth), less one."""
    limit = o.neg(rate)

    def step(state: tuple[Any, ...]) -> tuple[Any, ...]:
        count, key, logs = state
        key, subkey = unstacked_keys(key, 2)
        count = o.select_n(o.gt(logs, limit), count, o.add(count, np.ones((), dtype)))
        return count, key, o.add(logs, o.log(unit_floats(subkey, shape, aval_of(rate).dtype)))

    axes = tuple(range(len(shape)))
    start = (o.full(shape, 0, dtype), key, o.full(shape, 0, aval_of(rate).dtype))
    count, _, _ = while_loop(lambda s: o.reduce_or(o.gt(s[2], limit), axes), step, start)
    return o.sub(count, np.ones((), dtype))


def _poisson_by_rejection(key: Any, rate: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """Transformed rejection with squeeze (Hoermann, 1993: algorithm PTRS), for rates of 10 or more."""
    log_rate = o.log(rate)
    b = o.add(_c(0.931, rate), o.mul(_c(2.53, rate), o.sqrt(rate)))
    a = o.add(_c(-0.059, rate), o.mul(_c(0.02483, rate), b))
    inverse_alpha = o.add(_c(1.1239, rate), o.div(_c(1.1328, rate), o.sub(b, _c(3.4, rate))))
    v_limit = o.sub(_c(0.9277, rate), o.div(_c(3.6224, rate), o.sub(b, _c(2, rate))))

    def draw(key: Any) -> tuple[Any, Any]:
        u, v, edge = _shifted_uniforms(key, shape, aval_of(rate).dtype)
        k = o.floor(o.add(o.add(o.mul(o.add(o.div(o.mul(_c(2, u), a), edge), b), u), rate), _c(0.43, u)))
        left = o.log(o.div(o.mul(v, inverse_alpha), o.add(o.div(a, o.mul(edge, edge)), b)))
        right = o.sub(o.add(o.neg(rate), o.mul(k, log_rate)), o.lgamma(o.add(k, _c(1, k))))
        quick = o.and_(o.ge(edge, _c(0.07, u)), o.le(v, v_limit))
        bad = o.or_(o.lt(k, _c(0, k)), o.and_(o.lt(edge, _c(0.013, u)), o.gt(v, edge)))
        return k, o.or_(quick, o.and_(o.not_(bad), o.le(left, right)))

    return o.convert_element_type(_until_all_accepted(draw, key, shape, aval_of(rate).dtype), dtype)


@sampler("shape", "dtype", always=True)
def _sampled_poisson(key: Any, lam: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    lam = full(lam, shape)
    few = o.or_(o.ne(lam, lam), o.lt(lam, _c(_FEW, lam)))
    counted = _poisson_one_by_one(key, o.select_n(few, full(_c(0, lam), shape), lam), shape, dtype)
    drawn = _poisson_by_rejection(key, o.select_n(few, lam, full(_c(1e5, lam), shape)), shape, dtype)
    none = o.full(shape, 0, dtype)
    return o.select_n(o.eq(lam, _c(0, lam)), o.select_n(few, drawn, counted), none)


def poisson(key: Any, lam: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Counts of the Poisson distribution of mean lam.

    Args:
        key: a single key.
        lam: the mean, a number or an array.
        shape: the shape of the result, to which lam broadcasts; by default lam's.
        dtype: an integer dtype, by default int32, or int64 with 64-bit types enabled.
    """
    words, found = key_words("poisson", key), int_dtype("poisson", dtype)
    shape, (lam,) = parameters("poisson", shape, np.dtype(np.float32), lam=lam)
    return _sampled_poisson(words, lam, shape=shape, dtype=found)


# ---- binomial --------------------------------------------------------------------------------------------------

# What Stirling's formula for log(k!) lacks, for k up to 9.
_STIRLING_TAILS = [math.lgamma(k + 1) - ((k + 0.5) * math.log(k + 1) - (k + 1) + 0.5 * math.log(2 * math.pi))
                   for k in range(10)]


def _stirling_tail(k: Any) -> Any:
    """What Stirling's formula for log(k!) lacks: from a table, or by a series in 1 / (k + 1)."""
    near = o.clamp(_c(0, k), k, _c(9, k))
    position = o.convert_element_type(o.floor(near), np.dtype(np.int32))
    table = o.full(shape_of(k), _STIRLING_TAILS[0], aval_of(k).dtype)
    for i, tail in enumerate(_STIRLING_TAILS[1:], 1):
        table = o.select_n(o.eq(position, np.int32(i)), table, full(_c(tail, k), shape_of(k)))
    next_k = o.add(k, _c(1, k))
    square = o.mul(next_k, next_k)
    series = o.div(o.sub(_c(1 / 12, k), o.div(o.sub(_c(1 / 360, k), o.div(_c(1 / 1260, k), square)), square)), next_k)
    return o.select_n(o.le(k, _c(9, k)), series, table)


def _binomial_by_gaps(key: Any, n: Any, p: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """How many geometric gaps between successes fit into n trials."""
    log_q = o.log1p(o.neg(p))

    def step(state: tuple[Any, ...]) -> tuple[Any, ...]:
        successes, trials, key = state
        subkey, key = unstacked_keys(key, 2)
        successes = o.select_n(o.le(trials, n), successes, o.add(successes, _c(1, n)))
        gap = o.ceil(o.div(o.log(unit_floats(subkey, shape, dtype)), log_q))
        return successes, o.add(trials, gap), key

    axes = tuple(range(len(shape)))
    start = (o.full(shape, 0, dtype), o.full(shape, 0, dtype), key)
    return o.sub(while_loop(lambda s: o.reduce_or(o.le(s[1], n), axes), step, start)[0], _c(1, n))


def _binomial_by_rejection(key: Any, n: Any, p: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """Transformed rejection (Hoermann, 1993: algorithm BTRS), for n p of 10 or more and p up to one half."""
    one = _c(1, n)
    spread = o.sqrt(o.mul(o.mul(n, p), o.sub(one, p)))
    b = o.add(_c(1.15, n), o.mul(_c(2.53, n), spread))
    a = o.add(o.add(_c(-0.0873, n), o.mul(_c(0.0248, n), b)), o.mul(_c(0.01, n), p))
    c = o.add(o.mul(n, p), _c(0.5, n))
    v_limit = o.sub(_c(0.92, n), o.div(_c(4.2, n), b))
    odds = o.div(p, o.sub(one, p))
    alpha = o.mul(o.add(_c(2.83, n), o.div(_c(5.1, n), b)), spread)
    mode = o.floor(o.mul(o.add(n, one), p))

    def log_ratio(k: Any) -> Any:
        """The logarithm of the probability of k, relative to that of the mode."""
        from_mode, from_k = o.add(o.sub(n, mode), one), o.add(o.sub(n, k), one)
        total = o.mul(o.add(mode, _c(0.5, n)), o.log(o.div(o.add(mode, one), o.mul(odds, from_mode))))
        total = o.add(total, o.mul(o.add(n, one), o.log(o.div(from_mode, from_k))))
        total = o.add(total, o.mul(o.add(k, _c(0.5, n)), o.log(o.div(o.mul(odds, from_k), o.add(k, one)))))
        total = o.add(o.add(total, _stirling_tail(mode)), _stirling_tail(o.sub(n, mode)))
        return o.sub(o.sub(total, _stirling_tail(k)), _stirling_tail(o.sub(n, k)))

    def draw(key: Any) -> tuple[Any, Any]:
        u, v, edge = _shifted_uniforms(key, shape, dtype)
        k = o.floor(o.add(o.mul(o.add(o.div(o.mul(_c(2, u), a), edge), b), u), c))
        quick = o.and_(o.ge(edge, _c(0.07, u)), o.le(v, v_limit))
        outside = o.or_(o.lt(k, _c(0, k)), o.gt(k, n))
        left = o.log(o.div(o.mul(v, alpha), o.add(o.div(a, o.mul(edge, edge)), b)))
        return k, o.or_(quick, o.and_(o.not_(outside), o.le(left, log_ratio(k))))

    return _until_all_accepted(draw, key, shape, dtype)


@sampler("shape", "dtype", always=True)
def _sampled_binomial(key: Any, n: Any, p: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    n, p = full(n, shape), full(p, shape)
    rare = o.lt(p, _c(0.5, p))
    q = o.select_n(rare, o.sub(_c(1, p), p), p)
    n_invalid = o.or_(o.ne(n, n), o.lt(n, _c(0, n)))
    endless = o.eq(o.abs_(n), _c(math.inf, n))
    q_nan, q_negative = o.ne(q, q), o.lt(q, _c(0, q))
    safe_q = o.select_n(o.or_(q_nan, q_negative), q, full(_c(0.01, q), shape))
    few = o.or_(o.or_(n_invalid, endless), o.le(o.mul(n, safe_q), _c(_FEW, n)))
    whole = o.floor(n)
    # What is not drawn by one method is given to it as something that is drawn at once.
    n_few = o.select_n(o.and_(few, o.not_(o.or_(n_invalid, endless))), full(_c(0, n), shape), whole)
    n_many = o.select_n(few, whole, full(_c(1e4, n), shape))
    gaps = _binomial_by_gaps(key, n_few, safe_q, shape, dtype)
    drawn = _binomial_by_rejection(key, n_many, o.select_n(few, safe_q, full(_c(0.5, n), shape)), shape, dtype)
    count = o.select_n(few, drawn, gaps)
    invalid = o.or_(o.or_(q_negative, q_nan), n_invalid)
    count = o.select_n(invalid, count, full(_c(math.nan, n), shape))
    count = o.select_n(o.and_(endless, o.not_(invalid)), count, full(_c(math.inf, n), shape))
    as_drawn = o.or_(o.or_(rare, invalid), endless)
    return o.select_n(as_drawn, o.sub(whole, count), count)


def binomial(key: Any, n: Any, p: Any, shape: Any = None, dtype: Any = None) -> Any:
    """How many of n independent trials succeed, each with probability p; as floats.

    Args:
        key: a single key.
        n: the number of trials, a number or an array.
        p: the probability, a number or an array.
        shape: the shape of the result, to which n and p broadcast; by default their common shape.
        dtype: a floating dtype, by default float32, or float64 with 64-bit types enabled.

    Returns:
        Whole floats. NaN where n or p is NaN or negative, or p is above 1; infinity where n is.
    """
    words, found = key_words("binomial", key), float_dtype("binomial", dtype)
    shape, (n, p) = parameters("binomial", shape, found, n=n, p=p)
    return _sampled_binomial(words, n, p, shape=shape, dtype=found)


def multinomial(key: Any, n: Any, p: Any, *, shape: Any = None, dtype: Any = None, unroll: int | bool = 1) -> Any:
    """How many of n independent draws fall into each of several categories; as floats.

    Args:
        key: a single key.
        n: the number of draws, a number or an array.
        p: the probabilities of the categories along the last dimension.
        shape: the shape of the result: that of n and of p without its last dimension, broadcast, and then the number
            of categories; this is the default.
        dtype: a floating dtype, by default float32, or float64 with 64-bit types enabled.
        unroll: how many categories each turn of the loop over them does.

    >>> import glax.numpy as gnp
    >>> from glax import random
    >>> random.multinomial(random.key(0), 9, gnp.array([0.2, 0.3, 0.5])).sum()
    Array(9., dtype=float32)
    """
    words, found = key_words("multinomial", key), float_dtype("multinomial", dtype)
    aval = type_of("multinomial: p", p)
    if not aval.shape or not aval.shape[-1]:
        raise ValueError(f"multinomial: p must have at least one category in its last dimension, got {aval.shape}")
    categories = aval.shape[-1]
    if shape is None:
        batch = broadcast_shapes("multinomial", [shape_of(n), aval.shape[:-1]])
    else:
        *batch, last = shape_argument("multinomial", shape) or (None,)
        if last != categories:
            raise ValueError(f"multinomial: shape must end with the number of categories, {categories}, got {shape}")
        batch = tuple(batch)
    n = full(fit("multinomial", "n", strong(n, found), batch), batch)
    p = fit("multinomial", "p", strong(p, found), (*batch, categories))
    rest = cumsum(p[..., ::-1], axis=-1)[..., ::-1]
    ratios = moveaxis(p / where(rest == 0, 1, rest), -1, 0)

    def step(remaining: Any, inputs: tuple[Any, Any]) -> tuple[Any, Any]:
        ratio, key = inputs
        count = binomial(key, remaining, clip(ratio, 0, 1), batch, found)
        return remaining - count, count

    _, counts = scan(step, n, (ratios, split_key(words, (categories,))), unroll=unroll)
    return moveaxis(counts, 0, -1)
