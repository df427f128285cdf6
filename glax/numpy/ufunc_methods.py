"""What NumPy's ufuncs have beside being called: reduce, accumulate, reduceat, outer and at."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .._promotion import as_index, canonical_axis
from ..ir import ops as o
from . import arithmetic, floats, linear, logic, reductions, ufuncs
from .creation import asarray
from .shaping import broadcast_arrays, moveaxis, ravel, stack

_REDUCTIONS = {
    "add": (reductions.sum, reductions.cumsum, "add", 0), "multiply": (reductions.prod, reductions.cumprod,
                                                                       "multiply", 1),
    "maximum": (reductions.max, None, "max", None), "minimum": (reductions.min, None, "min", None),
    "logical_and": (reductions.all, None, None, True), "logical_or": (reductions.any, None, None, False),
    "subtract": (None, None, "subtract", None), "divide": (None, None, "divide", None),
    "power": (None, None, "power", None),
}


class _IsUfunc(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return type.__instancecheck__(cls, instance) or (callable(instance) and hasattr(instance, "_ufunc"))


class ufunc(metaclass=_IsUfunc):
    """An elementwise function with NumPy's methods; ``frompyfunc`` makes one.

    Attributes:
        nin, nout: how many arguments and results it has.
        identity: the value that changes nothing, or None.
    """

    def __init__(self, func: Callable[..., Any], nin: int, nout: int, *, identity: Any = None, name: str | None = None):
        self.func = func
        self.nin, self.nout, self.nargs = nin, nout, nin + nout
        self.identity = identity
        self.__name__ = name or getattr(func, "__name__", "ufunc")
        self.__doc__ = func.__doc__

    def __repr__(self) -> str:
        return f"<ufunc {self.__name__!r}>"

    def __call__(self, *args: Any) -> Any:
        if len(args) != self.nin:
            raise TypeError(f"{self.__name__} takes {self.nin} arguments, got {len(args)}")
        return self.func(*args)

    def _require_binary(self, method: str) -> None:
        if (self.nin, self.nout) != (2, 1):
            raise ValueError(f"{self.__name__}.{method} is for functions of two arguments with one result")

    def reduce(self, a: Any, axis: int | None = 0, dtype: Any = None, out: None = None, keepdims: bool = False,
               initial: Any = None, where: Any = None) -> Any:
        """The function applied to all elements along an axis, one after another."""
        self._require_binary("reduce")
        found = _REDUCTIONS.get(self.__name__, (None,))[0] if self.func in _NAMED else None
        options = {k: v for k, v in (("dtype", dtype), ("initial", initial), ("where", where)) if v is not None}
        if found is not None:
            return found(a, axis=axis, keepdims=keepdims, **options)
        if where is not None:
            raise NotImplementedError(f"{self.__name__}.reduce: where is not supported")
        a = asarray(a) if dtype is None else asarray(a, dtype)
        n = len(a.aval.shape)
        if axis is None:
            a, axis = ravel(a), 0
        axis = canonical_axis(axis, len(a.aval.shape), f"{self.__name__}.reduce")
        parts = list(moveaxis(a, axis, 0))
        start = initial if initial is not None else (self.identity if not parts else None)
        if start is None and not parts:
            raise ValueError(f"{self.__name__}.reduce of no elements is undefined: the function has no identity")
        values = parts if start is None else [start, *parts]
        result = functools.reduce(self.func, values)
        result = asarray(result)
        return o.expand_dims(result, (axis,) if len(a.aval.shape) == n else tuple(range(n))) if keepdims else result

    def accumulate(self, a: Any, axis: int = 0, dtype: Any = None, out: None = None) -> Any:
        """The results of the function along an axis so far, at each element."""
        self._require_binary("accumulate")
        a = asarray(a) if dtype is None else asarray(a, dtype)
        axis = canonical_axis(axis, len(a.aval.shape), f"{self.__name__}.accumulate")
        found = _REDUCTIONS.get(self.__name__, (None, None))[1] if self.func in _NAMED else None
        if found is not None:
            return found(a, axis=axis)
        parts = list(moveaxis(a, axis, 0))
        results = parts[:1]
        for part in parts[1:]:
            results.append(self.func(results[-1], part))
        return stack(results, axis) if results else a

    def reduceat(self, a: Any, indices: Any, axis: int = 0, dtype: Any = None, out: None = None) -> Any:
        """The function applied to all elements between neighbouring positions; these must be concrete."""
        from .._promotion import concrete
        self._require_binary("reduceat")
        a = asarray(a) if dtype is None else asarray(a, dtype)
        axis = canonical_axis(axis, len(a.aval.shape), f"{self.__name__}.reduceat")
        starts = [int(i) for i in concrete(indices, f"{self.__name__}.reduceat", "indices")]
        moved = moveaxis(a, axis, 0)
        stops = [*starts[1:], moved.aval.shape[0]]
        pieces = [self.reduce(moved[i:j]) if i < j else moved[i] for i, j in zip(starts, stops)]
        return stack(pieces, axis)

    def outer(self, A: Any, B: Any) -> Any:
        """The function of each element of one array with each of another."""
        self._require_binary("outer")
        A, B = asarray(A), asarray(B)
        left = o.reshape(A, A.aval.shape + (1,) * len(B.aval.shape))
        return self.func(left, B)

    def at(self, a: Any, indices: Any, b: Any = None, *, inplace: bool = True) -> Any:
        """A copy of a with the function applied to the elements at indices, again where these repeat (inplace must be
        False: arrays are immutable)."""
        if inplace:
            raise NotImplementedError(f"{self.__name__}.at: arrays are immutable, so inplace must be False")
        a = asarray(a)
        if self.nin == 1:
            return a.at[indices].set(self.func(a[indices]))
        method = _REDUCTIONS.get(self.__name__, (None, None, None))[2] if self.func in _NAMED else None
        if method is not None:
            return getattr(a.at[indices], method)(b)
        given = indices if isinstance(indices, tuple) else (indices,)
        *columns, values = broadcast_arrays(*[asarray(i) for i in given], asarray(b))
        for place in np.ndindex(values.aval.shape):
            where = tuple(c[place] for c in columns)
            a = a.at[where].set(self.func(a[where], values[place]))
        return a


def frompyfunc(func: Callable[..., Any], /, nin: int, nout: int, *, identity: Any = None) -> ufunc:
    """An elementwise function with NumPy's ufunc methods, of a function of scalars or arrays.

    >>> import glax.numpy as xp
    >>> xp.frompyfunc(lambda x, y: x + 2 * y, 2, 1).reduce(xp.arange(3))
    Array(6, dtype=int32)
    """
    from .functional import vectorize
    if not callable(func):
        raise TypeError(f"frompyfunc: a function is needed, got {func!r}")
    nin, nout = as_index(nin, "frompyfunc", "nin"), as_index(nout, "frompyfunc", "nout")
    return ufunc(vectorize(func), nin, nout, identity=identity, name=getattr(func, "__name__", None))


_ONE = (
    arithmetic.abs, arithmetic.conjugate, arithmetic.deg2rad, arithmetic.log2, arithmetic.log10,
    arithmetic.positive, arithmetic.rad2deg, arithmetic.reciprocal, arithmetic.rint, arithmetic.sign,
    arithmetic.square, logic.isfinite, logic.isinf, logic.isnan, logic.logical_not, logic.signbit, ufuncs.negative,
    ufuncs.invert, arithmetic.floor, arithmetic.ceil, arithmetic.trunc, *(getattr(ufuncs, name) for name in
    ufuncs._UNARY),
)
_TWO = (
    ufuncs.add, ufuncs.subtract, ufuncs.multiply, ufuncs.divide, ufuncs.arctan2, ufuncs.nextafter, ufuncs.maximum,
    ufuncs.minimum, ufuncs.bitwise_and, ufuncs.bitwise_or, ufuncs.bitwise_xor, ufuncs.left_shift,
    ufuncs.right_shift, ufuncs.equal, ufuncs.not_equal, ufuncs.less, ufuncs.less_equal, ufuncs.greater,
    ufuncs.greater_equal, arithmetic.power, arithmetic.float_power, arithmetic.floor_divide, arithmetic.remainder,
    arithmetic.fmod, arithmetic.logaddexp, arithmetic.logaddexp2, arithmetic.hypot, floats.copysign,
    floats.heaviside, floats.fmax, floats.fmin, floats.gcd, floats.lcm, floats.ldexp, logic.logical_and,
    logic.logical_or, logic.logical_xor, linear.vecdot,
)
_NAMED = frozenset((*_ONE, *_TWO))


def install() -> None:
    """Give the elementwise functions of this package the methods."""
    for arity, functions in ((1, _ONE), (2, _TWO)):
        for function in functions:
            identity = _REDUCTIONS.get(function.__name__, (None, None, None, None))[3]
            made = ufunc(function, arity, 1, identity=identity, name=function.__name__)
            function._ufunc = made
            for name in ("reduce", "accumulate", "reduceat", "outer", "at", "nin", "nout", "nargs", "identity"):
                setattr(function, name, getattr(made, name))


install()
