"""Reductions that leave NaN out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._promotion import named, scalar_literal, type_of
from ..ir import ops as o
from ..ir.limits import greatest, least
from . import reductions
from .logic import isnan
from .reductions import as_array_of
from .selection import as_bool, choose_between


def _replaced(name: str, a: Any, value: Any) -> Any:
    """a with NaN replaced by a value."""
    a = as_array_of(name, a)
    if not a.aval.is_inexact:
        return a
    return choose_between(name, isnan(a), scalar_literal(value, a.aval.dtype, a.aval.weak_type), a)


def _both(name: str, a: Any, where: Any) -> Any:
    """The mask of elements that are not NaN and take part."""
    numbers = o.not_(isnan(as_array_of(name, a)))
    if where is None:
        return numbers
    from .logic import logical_and
    return logical_and(numbers, as_bool(name, where))


def _accumulation(name: str, function: Callable[..., Any], identity: int) -> Any:
    def reduction(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None):
        return function(_replaced(name, a, identity), axis, dtype, out, keepdims, initial, where)

    return named(reduction, name, __name__, f"``{function.__name__}`` with NaN counted as {identity}, whose derivative "
                                            f"there is 0. Arguments are those of ``{function.__name__}``.")


nansum = _accumulation("nansum", reductions.sum, 0)
nanprod = _accumulation("nanprod", reductions.prod, 1)


def _cumulative(name: str, function: Callable[..., Any], identity: int) -> Any:
    def cumulative(a, axis=None, dtype=None, out=None):
        return function(_replaced(name, a, identity), axis, dtype, out)

    return named(cumulative, name, __name__, f"``{function.__name__}`` with NaN counted as {identity}. Arguments are "
                                             f"those of ``{function.__name__}``.")


nancumsum = _cumulative("nancumsum", reductions.cumsum, 0)
nancumprod = _cumulative("nancumprod", reductions.cumprod, 1)


def _extreme(name: str, function: Callable[..., Any], largest: bool) -> Any:
    def reduction(a, axis=None, out=None, keepdims=False, initial=None, where=None):
        a = as_array_of(name, a)
        if not a.aval.is_inexact:
            return function(a, axis, out, keepdims, initial, where)
        start = (least if largest else greatest)(a.aval.dtype)
        result = function(_replaced(name, a, start), axis, out, keepdims, initial, where)
        if initial is not None:
            return result
        none = reductions.all(isnan(a), axis, keepdims=keepdims)
        return choose_between(name, none, scalar_literal(np.nan, a.aval.dtype), result)

    return named(reduction, name, __name__,
                 f"``{function.__name__}`` of the elements that are not NaN; NaN where none is. Arguments are those of "
                 f"``{function.__name__}``.")


nanmax = _extreme("nanmax", reductions.max, True)
nanmin = _extreme("nanmin", reductions.min, False)


def _arg_extreme(name: str, function: Callable[..., Any], largest: bool) -> Any:
    def reduction(a, axis=None, out=None, keepdims=False):
        a = as_array_of(name, a)
        if not a.aval.is_inexact:
            return function(a, axis, out, keepdims)
        start = (least if largest else greatest)(a.aval.dtype)
        result = function(_replaced(name, a, start), axis, out, keepdims)
        none = reductions.all(isnan(a), axis, keepdims=keepdims)
        return choose_between(name, none, result.aval.dtype.type(-1), result)

    return named(reduction, name, __name__,
                 f"``{function.__name__}`` of the elements that are not NaN; -1 where none is. Arguments are those of "
                 f"``{function.__name__}``.")


nanargmax = _arg_extreme("nanargmax", reductions.argmax, True)
nanargmin = _arg_extreme("nanargmin", reductions.argmin, False)


def nanmean(a: Any, axis: Any = None, dtype: Any = None, out: None = None, keepdims: bool = False,
            where: Any = None) -> Any:
    """The mean of the elements that are not NaN; NaN where none is.

    >>> import glax.numpy as xp
    >>> xp.nanmean(xp.array([1.0, xp.nan, 3.0]))
    Array(2., dtype=float32)
    """
    if not type_of("nanmean", a).is_inexact:
        return reductions.mean(a, axis, dtype, out, keepdims, where=where)
    return reductions.mean(_replaced("nanmean", a, 0), axis, dtype, out, keepdims, where=_both("nanmean", a, where))


def nanvar(a: Any, axis: Any = None, dtype: Any = None, out: None = None, ddof: int = 0, keepdims: bool = False,
           where: Any = None, *, mean: Any = None, correction: int | float | None = None) -> Any:
    """The variance of the elements that are not NaN; NaN where there are no more of them than ddof. Arguments are those
    of ``var``.

    >>> import glax.numpy as xp
    >>> xp.nanvar(xp.array([1.0, xp.nan, 3.0]))
    Array(1., dtype=float32)
    """
    if not type_of("nanvar", a).is_inexact:
        return reductions.var(a, axis, dtype, out, ddof, keepdims, where=where, mean=mean, correction=correction)
    return reductions.var(_replaced("nanvar", a, 0), axis, dtype, out, ddof, keepdims, where=_both("nanvar", a, where),
                          mean=mean, correction=correction)


def nanstd(a: Any, axis: Any = None, dtype: Any = None, out: None = None, ddof: int = 0, keepdims: bool = False,
           where: Any = None, *, mean: Any = None, correction: int | float | None = None) -> Any:
    """The standard deviation of the elements that are not NaN, whose derivative at a NaN is 0. Arguments are those of
    ``std``.

    >>> import glax.numpy as xp
    >>> xp.nanstd(xp.array([1.0, xp.nan, 3.0]))
    Array(1., dtype=float32)
    """
    reductions.require_inexact("nanstd", dtype)
    return o.sqrt(nanvar(a, axis, dtype, out, ddof, keepdims, where, mean=mean, correction=correction))
