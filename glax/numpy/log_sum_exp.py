"""Sums of exponentials and what is made of them, without overflow and with finite derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._promotion import broadcast_shapes, canonical_axes, promote_inexact, scalar_literal, shape_of, strong
from ..ir import dtypes
from ..ir import ops as o
from .creation import asarray
from .reductions import reduced
from .selection import as_bool, choose_between


def _like(x: Any, value: Any) -> Any:
    return scalar_literal(value, x.aval.dtype)


def largest(x: Any, axes: tuple[int, ...], where: Any) -> Any:
    """The largest elements over axes, which stay, without a derivative; 0 where it is infinite or there is none."""
    real = o.real(x) if dtypes.is_complex(x.aval.dtype) else x
    if where is not None:
        real = choose_between("max", where, real, _like(real, -np.inf))
    if any(x.aval.shape[d] == 0 for d in axes):
        shape = tuple(1 if d in axes else n for d, n in enumerate(x.aval.shape))
        return o.broadcast(_like(real, 0.0), shape)
    top = o.stop_gradient(reduced(o.ReduceMax, real, axes, True))
    return choose_between("max", o.is_finite(top), top, _like(top, 0.0))


def mask_of(name: str, x: Any, where: Any) -> tuple[Any, Any]:
    """x and a mask, broadcast to one shape."""
    if where is None:
        return x, None
    shape = broadcast_shapes(name, (x.aval.shape, shape_of(where)))
    return o.broadcast(x, shape), o.broadcast(as_bool(name, where), shape)


def prepared(name: str, a: Any, axis: Any, where: Any) -> tuple[Any, tuple[int, ...], Any]:
    a, = promote_inexact(name, a)
    a, where = mask_of(name, asarray(a), where)
    return a, canonical_axes(axis, len(a.aval.shape), name), where


def exponentials(x: Any, axes: tuple[int, ...], where: Any) -> tuple[Any, Any]:
    """exp(x - largest) and the largest; elements that the mask leaves out are 0, and have a derivative of 0."""
    top = largest(x, axes, where)
    if where is not None:
        x = choose_between("exp", where, x, _like(x, 0.0))
    shift = o.convert_element_type(top, x.aval.dtype) if top.aval.dtype != x.aval.dtype else top
    powers = o.exp(o.sub(x, o.broadcast(shift, x.aval.shape)))
    return powers if where is None else choose_between("exp", where, powers, _like(x, 0.0)), top


def shifted_exponentials(x: Any, axes: tuple[int, ...]) -> tuple[Any, Any]:
    """exp(x - largest) and x - largest, in the fewest operations: the largest is not kept from being infinite."""
    real = o.real(x) if dtypes.is_complex(x.aval.dtype) else x
    if any(x.aval.shape[d] == 0 for d in axes):
        return o.exp(x), x
    top = o.stop_gradient(reduced(o.ReduceMax, real, axes, True))
    shift = o.convert_element_type(top, x.aval.dtype) if top.aval.dtype != x.aval.dtype else top
    shifted = o.sub(x, o.broadcast(shift, x.aval.shape))
    return o.exp(shifted), shifted


def logsumexp(a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False,
              where: Any = None) -> Any:
    """log(sum(b * exp(a))) over axes, without overflow.

    Args:
        a: an array.
        axis: None for all axes, or one or several.
        b: factors, broadcast with a, 1 by default.
        keepdims: whether the axes stay, with size 1.
        return_sign: whether to return the logarithm of the absolute value, and the sign, of the sum.
        where: a mask, broadcast with a, of the elements that take part.

    Returns:
        An array, -inf for no elements; NaN for a negative sum unless return_sign.
    """
    if b is not None:
        a, b = promote_inexact("logsumexp", a, b)
        shape = broadcast_shapes("logsumexp", (shape_of(a), shape_of(b)))
        a, b = (o.broadcast(asarray(x), shape) for x in (a, b))
        taking_part = o.ne(b, _like(b, 0.0))
        where = taking_part if where is None else o.and_(*mask_of("logsumexp", taking_part, where))
    x, axes, where = prepared("logsumexp", a, axis, where)
    powers, top = exponentials(x, axes, where)
    if b is not None:
        powers = o.mul(powers, o.broadcast(b, powers.aval.shape))
    total = reduced(o.ReduceSum, powers, axes, keepdims)
    if not keepdims and axes:
        top = o.reshape(top, total.aval.shape)
    if not return_sign:
        # Of one real argument, the derivative where the sum is 0 is 0, not NaN.
        return _log_plus(total, top, b is None)
    from .arithmetic import sign
    signs = sign(total)
    size = o.abs_(total)
    return _log_plus(size, top, True), signs


def _log_plus(total: Any, top: Any, guarded: bool) -> Any:
    if top.aval.dtype != total.aval.dtype:
        top = o.convert_element_type(top, total.aval.dtype)
    if not guarded or dtypes.is_complex(total.aval.dtype):
        return o.add(o.log(total), top)
    empty = o.eq(total, _like(total, 0.0))
    safe = choose_between("log", empty, _like(total, 1.0), total)
    return choose_between("log", empty, _like(total, -np.inf), o.add(o.log(safe), top))


def softmax(x: Any, axis: Any = -1, where: Any = None, initial: Any = None) -> Any:
    """exp(x) divided by its sum over axes.

    Args:
        x: an array.
        axis: one or several axes, or None for all.
        where: a mask, broadcast with x, of the elements that take part; the others give 0.

    Returns:
        An array of x's shape; rows that are masked entirely give zeros, rows of -inf only give NaN.
    """
    x, axes, where = prepared("softmax", x, axis, where)
    x = strong(x)
    if where is None:
        powers, _ = shifted_exponentials(x, axes)
        return o.div(powers, o.broadcast(reduced(o.ReduceSum, powers, axes, True), powers.aval.shape))
    powers, _ = exponentials(x, axes, where)
    total = reduced(o.ReduceSum, powers, axes, True)
    empty = o.eq(total, _like(total, 0.0))
    return o.div(powers, o.broadcast(choose_between("softmax", empty, _like(total, 1.0), total), powers.aval.shape))


def log_softmax(x: Any, axis: Any = -1, where: Any = None, initial: Any = None) -> Any:
    """The logarithm of softmax, exact for small probabilities; -inf where the mask leaves an element out."""
    x, axes, where = prepared("log_softmax", x, axis, where)
    x = strong(x)
    if where is None:
        powers, shifted = shifted_exponentials(x, axes)
        return o.sub(shifted, o.broadcast(o.log(reduced(o.ReduceSum, powers, axes, True)), x.aval.shape))
    powers, top = exponentials(x, axes, where)
    total = reduced(o.ReduceSum, powers, axes, True)
    empty = o.eq(total, _like(total, 0.0))
    safe = choose_between("log_softmax", empty, _like(total, 1.0), total)
    norm = o.add(o.log(safe), top if top.aval.dtype == total.aval.dtype else o.convert_element_type(top,
                                                                                                    total.aval.dtype))
    kept = choose_between("log_softmax", where, x, _like(x, 0.0))
    result = o.sub(kept, o.broadcast(norm, x.aval.shape))
    return choose_between("log_softmax", where, result, _like(x, -np.inf))
