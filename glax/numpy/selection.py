"""Choosing between elements: where, select, clip and their relatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._promotion import broadcast_shapes, cast, of_parts, promote, shape_of, type_of
from ..ir import dtypes
from ..ir import ops as o
from ..lax._arguments import entries, operand
from .key_arrays import all_keys, on_words

BOOL = np.dtype(bool)


def as_bool(name: str, x: Any) -> Any:
    """x itself where it is bool, else whether its elements are nonzero."""
    aval = type_of(name, x)
    return x if aval.dtype == BOOL else o.ne(x, np.zeros((), aval.dtype)[()])


def choose_between(name: str, condition: Any, x: Any, y: Any) -> Any:
    """Elements of x where the bool condition holds, else of y, which have one dtype; all are broadcast."""
    c_shape, x_shape, y_shape = shape_of(condition), shape_of(x), shape_of(y)
    if c_shape == x_shape == y_shape:
        return o.select_n(condition, y, x)
    shape = broadcast_shapes(name, (c_shape, x_shape, y_shape))
    if c_shape not in ((), shape):
        condition = o.broadcast(condition, shape)
    if x_shape not in ((), shape) or (shape and x_shape == y_shape == ()):
        x = o.broadcast(x, shape)
    if y_shape not in ((), shape):
        y = o.broadcast(y, shape)
    return o.select_n(condition, y, x)


def where_of_one_dtype(condition: Any, x: Any, y: Any) -> Any:
    """``where`` of a bool condition, and of x and y of one dtype."""
    return choose_between("where", condition, x, y)


def where(condition: Any, x: Any = None, y: Any = None, /, *, size: int | None = None, fill_value: Any = None) -> Any:
    """Elements of x where condition is nonzero, of y elsewhere; with condition alone, the indices where it is nonzero.

    Args:
        condition: an array or a number; anything nonzero counts as true.
        x, y: arrays or numbers, which are promoted and broadcast with condition; or random keys, both of them.
        size, fill_value: for the form with condition alone, as for ``nonzero``.

    >>> import glax.numpy as xp
    >>> xp.where(xp.arange(4) > 1, 10, xp.arange(4))
    Array([ 0,  1, 10, 10], dtype=int32)
    """
    if x is None and y is None:
        from .sorting import nonzero
        return nonzero(condition, size=size, fill_value=fill_value)
    if x is None or y is None:
        raise TypeError("where: give both x and y, or neither")
    if size is not None or fill_value is not None:
        raise ValueError("where: size and fill_value go with condition alone, and x and y were given")
    try:
        x, y = promote("where", x, y)
    except TypeError:
        if not all_keys((x, y)):
            raise
        return on_words(lambda x, y: where(condition, x, y), x, y)
    return choose_between("where", as_bool("where", condition), x, y)


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Any:
    """Elements of the first choice whose condition holds, of default where none does. A condition holds where it is
    nonzero; all are broadcast, and dtypes are promoted. ValueError unless there are as many conditions as choices.

    >>> import glax.numpy as xp
    >>> xp.select([xp.arange(4) > 2, xp.arange(4) > 0], [xp.arange(4), -xp.arange(4)], default=9)
    Array([ 9, -1, -2,  3], dtype=int32)
    """
    condlist = entries(condlist, "select", "condlist", "a sequence of arrays")
    choicelist = entries(choicelist, "select", "choicelist", "a sequence of arrays")
    if len(condlist) != len(choicelist):
        raise ValueError(f"select: condlist and choicelist must be of equal length, got {len(condlist)} and "
                         f"{len(choicelist)}")
    if not condlist:
        raise ValueError("select: condlist must not be empty")
    *choices, result = promote("select", *choicelist, default)
    for condition, choice in zip(reversed(list(condlist)), reversed(choices)):
        result = choose_between("select", as_bool("select", condition), choice, result)
    return result


def clip(arr: Any = None, /, min: Any = None, max: Any = None, *, a: Any = None, a_min: Any = None,
         a_max: Any = None) -> Any:
    """arr limited to [min, max]; either limit may be None. Limits are promoted and broadcast with arr.

    >>> import glax.numpy as xp
    >>> xp.clip(xp.arange(5), 1, 3)
    Array([1, 1, 2, 3, 3], dtype=int32)
    """
    from .ufuncs import maximum, minimum
    arr, low, high = (new if new is not None else old for new, old in ((arr, a), (min, a_min), (max, a_max)))
    if arr is None:
        raise ValueError("clip: an array is needed")
    for value in (arr, low, high):
        if value is not None and dtypes.is_complex(type_of("clip", value).dtype):
            raise ValueError("clip: complex values have no order; clip the real and the imaginary part instead")
    if low is not None:
        arr = maximum(low, arr)
    if high is not None:
        arr = minimum(high, arr)
    return as_array(arr)


def as_array(x: Any) -> Any:
    """An Array or a Tracer of what is one already, or is a number."""
    from .creation import asarray
    return asarray(x)


def piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> Any:
    """Functions of x, or constants, chosen elementwise by the last condition that holds.

    Args:
        x: an array.
        condlist: bool arrays of x's shape, or one of them.
        funclist: a function (called on all of x) or a number for each condition; one more is used where none holds.

    >>> import glax.numpy as xp
    >>> xp.piecewise(xp.array([-1.0, 2.0]), [xp.array([True, False])], [0.0, lambda v: v * 10])
    Array([ 0., 20.], dtype=float32)
    """
    x = as_array(x)
    several = isinstance(condlist, (list, tuple)) or len(shape_of(operand(condlist, "piecewise", "condlist"))) > len(
        x.shape)
    conditions = list(condlist) if several else [condlist]
    functions: list[Callable[..., Any] | Any] = list(entries(funclist, "piecewise", "funclist",
                                                             "a sequence of functions and numbers"))
    if len(functions) == len(conditions):
        functions.append(0)
    if len(functions) != len(conditions) + 1:
        raise ValueError(f"piecewise: {len(conditions)} conditions take {len(conditions)} or {len(conditions) + 1} "
                         f"functions, got {len(funclist)}")
    aval = type_of("piecewise", x)

    def value(f: Any) -> Any:
        found = operand(f(x, *args, **kw) if callable(f) else f, "piecewise", "funclist")
        return cast(o.convert_element_type(found, aval.dtype), aval.dtype)

    result = o.broadcast(value(functions[-1]), aval.shape)
    for condition, f in zip(conditions, functions):
        result = choose_between("piecewise", as_bool("piecewise", condition), value(f), result)
    return result


def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """x with NaN replaced by nan, and infinities by posinf and neginf (by default the largest and least finite).

    >>> import glax.numpy as xp
    >>> xp.nan_to_num(xp.array([xp.nan, 1.0]))
    Array([0., 1.], dtype=float32)
    """
    from .logic import isnan
    aval = type_of("nan_to_num", x)
    for given, argument in ((nan, "nan"), (posinf, "posinf"), (neginf, "neginf")):
        if given is not None or argument == "nan":
            operand(given, "nan_to_num", argument)
    if dtypes.is_complex(aval.dtype):
        return of_parts(lambda part: nan_to_num(part, copy, nan, posinf, neginf), x)
    if not aval.is_inexact:
        return as_array(x)
    limits = dtypes.finfo(aval.dtype)
    posinf = limits.max if posinf is None else posinf
    neginf = limits.min if neginf is None else neginf
    x = as_array(x)
    for test, new in ((isnan(x), nan), (x == np.inf, posinf), (x == -np.inf, neginf)):
        x = choose_between("nan_to_num", test, cast(new, aval.dtype), x)
    return x
