"""Constants, and questions about dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._promotion import PYTHON_SCALARS, dtype_and_weak
from ..ir import dtypes
from ..ir.dtypes import promote_types
from ..lax._arguments import mistaken

pi, e, inf, nan, euler_gamma, newaxis = np.pi, np.e, np.inf, np.nan, np.euler_gamma, None
dtype, index_exp, s_ = np.dtype, np.index_exp, np.s_
ComplexWarning = np.exceptions.ComplexWarning
iterable = np.iterable
get_printoptions, set_printoptions, printoptions = np.get_printoptions, np.set_printoptions, np.printoptions

__all__ = [
    "ComplexWarning", "can_cast", "dtype", "e", "euler_gamma", "finfo", "get_printoptions", "iinfo", "index_exp", "inf",
    "isdtype", "isscalar", "issubdtype", "iterable", "nan", "newaxis", "pi", "printoptions", "promote_types",
    "result_type", "s_", "set_printoptions",
]


def finfo(dtype: Any) -> np.finfo:
    """The limits of a floating dtype, or of the parts of a complex one. ValueError for other dtypes. The attributes are
    those of numpy.finfo.

    >>> import glax.numpy as xp
    >>> float(xp.finfo("float16").max)
    65504.0
    """
    return dtypes.finfo(dtype)


def iinfo(int_type: Any) -> np.iinfo:
    """The limits of an integer dtype. ValueError for other dtypes.

    >>> import glax.numpy as xp
    >>> xp.iinfo("int8").min, xp.iinfo("int8").max
    (-128, 127)
    """
    return dtypes.iinfo(int_type)


def issubdtype(arg1: Any, arg2: Any) -> bool:
    """Whether a dtype is of a kind, such as numpy.floating.

    >>> import glax.numpy as xp
    >>> xp.issubdtype(xp.bfloat16, xp.floating)
    True
    """
    given = [np.dtype(x.dtype) if isinstance(getattr(x, "dtype", None), np.dtype) else x for x in (arg1, arg2)]
    for argument, x in zip(("arg1", "arg2"), given):
        if not isinstance(x, (type, str, np.dtype)):
            raise mistaken("issubdtype", argument, "a dtype or a kind of dtypes", x)
    return dtypes.issubdtype(*given)


def result_type(*args: Any) -> np.dtype:
    """The dtype to which arrays, numbers and dtypes promote.

    >>> import glax.numpy as xp
    >>> xp.result_type(xp.arange(2), 1.5)
    dtype('float32')
    """
    return dtypes.canonicalize(dtypes.result_type(*[_pair(x, i) for i, x in enumerate(args)])[0])


def _pair(x: Any, position: int) -> tuple[np.dtype, bool]:
    if isinstance(x, type) and x in (int, float, complex):
        return dtypes.python_scalar_dtype(x), True
    if isinstance(x, (str, type, np.dtype)):
        return dtypes.canonicalize(x), False
    return dtype_and_weak("result_type", x, position)


_KINDS = {"bool": "b", "signed integer": "i", "unsigned integer": "u", "integral": "iu", "real floating": "f",
          "complex floating": "c", "numeric": "iufc"}


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a dtype is another, or of a kind ('bool', 'integral', 'real floating', ...), or of one of several.

    >>> import glax.numpy as xp
    >>> xp.isdtype(xp.dtype("int32"), ("real floating", "integral"))
    True
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, k) for k in kind)
    found = dtypes.check_array_dtype(dtype, "isdtype")
    if isinstance(kind, str) and kind in _KINDS:
        return dtypes.kind(found) in _KINDS[kind]
    if isinstance(kind, str) and " " in kind:
        raise ValueError(f"isdtype: unknown kind {kind!r}; the kinds are {', '.join(_KINDS)}")
    return found == dtypes.check_array_dtype(kind, "isdtype")


_CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")


def can_cast(from_: Any, to: Any, casting: str = "safe") -> bool:
    """Whether a dtype converts to another under NumPy's casting rule.

    >>> import glax.numpy as xp
    >>> xp.can_cast("float32", "int32"), xp.can_cast("float32", "int32", "unsafe")
    (False, True)
    """
    if casting not in _CASTINGS:
        raise mistaken("can_cast", "casting", f"one of {', '.join(map(repr, _CASTINGS))}", casting, ValueError)
    given = [dtypes.check_array_dtype(getattr(x, "dtype", x), f"can_cast: {argument}")
             for x, argument in ((from_, "from_"), (to, "to"))]
    return np.can_cast(*given, casting)


def isscalar(element: Any) -> bool:
    """Whether a value is a Python or NumPy scalar, or an array without dimensions.

    >>> import glax.numpy as xp
    >>> xp.isscalar(1.0), xp.isscalar(xp.zeros(1))
    (True, False)
    """
    if hasattr(element, "aval"):
        return element.aval.shape == ()
    return np.isscalar(element) or isinstance(element, PYTHON_SCALARS) or (
        isinstance(element, np.ndarray) and element.ndim == 0)
