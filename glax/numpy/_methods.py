"""Operators, methods and properties, installed on Array and on Tracer by one table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _tracer_conversions
from .._promotion import PYTHON_SCALARS
from ..ir import Tracer, dtypes
from ..ir import ops as o
from ..lower import Array
from . import arithmetic, diagonals, indexing, linear, reductions, repeating, selection, shaping, sorting, ufuncs

_OPERANDS = frozenset((Array, Tracer, np.ndarray, *PYTHON_SCALARS))
_CONTAINERS = (list, tuple, set, dict)


def _is_operand(x: Any, symbol: str, owner: Any) -> bool:
    """Whether x takes part in an operator here. Containers never do; other foreign types may have their own method."""
    if isinstance(x, (np.generic, np.ndarray, *PYTHON_SCALARS)):
        return True
    if isinstance(x, _CONTAINERS):
        raise TypeError(f"unsupported operand type(s) for {symbol}: {type(owner).__name__!r} and {type(x).__name__!r}; "
                        f"make an array of the {type(x).__name__} with glax.numpy.array")
    return False


def _binary(symbol: str, function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def method(self, other):
        if type(other) in _OPERANDS or _is_operand(other, symbol, self):
            return function(self, other)
        return NotImplemented

    return method


def _reflected(symbol: str, function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def method(self, other):
        if type(other) in _OPERANDS or _is_operand(other, symbol, self):
            return function(other, self)
        return NotImplemented

    return method


_ARITHMETIC = {
    "add": ("+", ufuncs.add), "sub": ("-", ufuncs.subtract), "mul": ("*", ufuncs.multiply),
    "truediv": ("/", ufuncs.divide), "floordiv": ("//", arithmetic.floor_divide), "mod": ("%", arithmetic.remainder),
    "divmod": ("divmod()", arithmetic.divmod), "pow": ("**", arithmetic.power),
    "and": ("&", ufuncs.bitwise_and), "or": ("|", ufuncs.bitwise_or), "xor": ("^",
                                                                              ufuncs.bitwise_xor), "matmul": ("@",
                                                                                                              linear.matmul),
    "lshift": ("<<", ufuncs.left_shift), "rshift": (">>", ufuncs.right_shift),
}
_COMPARISONS = {
    "eq": ("==", ufuncs.equal), "ne": ("!=", ufuncs.not_equal), "lt": ("<", ufuncs.less),
    "le": ("<=", ufuncs.less_equal), "gt": (">", ufuncs.greater), "ge": (">=", ufuncs.greater_equal),
}
_UNARY = {
    "__neg__": ufuncs.negative, "__pos__": arithmetic.positive, "__abs__": arithmetic.abs, "__invert__": ufuncs.invert,
}


def _operators() -> dict[str, Callable[..., Any]]:
    table: dict[str, Callable[..., Any]] = {}
    for name, (symbol, function) in _ARITHMETIC.items():
        table[f"__{name}__"] = _binary(symbol, function)
        table[f"__r{name}__"] = _reflected(symbol, function)
    for name, (symbol, function) in _COMPARISONS.items():
        table[f"__{name}__"] = _binary(symbol, function)
    for name, function in _UNARY.items():
        table[name] = _unary(function)
    for name, method in table.items():
        method.__name__ = name
    return table


def _unary(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def method(self):
        return function(self)

    return method




# ---- methods


def _from_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """A method that is a function of the array and whatever else it is given."""
    def method(self, *args, **kwargs):
        return function(self, *args, **kwargs)

    method.__name__ = method.__qualname__ = function.__name__
    method.__doc__ = function.__doc__
    return method


def _varargs(args: tuple[Any, ...]) -> Any:
    """Ints given one by one, or as one sequence."""
    return args[0] if len(args) == 1 else args


def _reshape(self, *args, order="C", copy=None):
    """The same elements in another shape, given as ints or as one sequence."""
    return shaping.reshape(self, _varargs(args), order)


def _transpose(self, *args):
    """Dimensions permuted, or reversed where no permutation is given."""
    return shaping.transpose(self, None if not args or args == (None,) else (
        _varargs(args) if isinstance(_varargs(args), (tuple, list)) else args))


def _sum(self, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None, promote_integers=True):
    """The sum of the elements over axes; see ``numpy.sum``."""
    return reductions.sum(self, axis, dtype, out, keepdims, initial, where, promote_integers)


def _flatten(self, order="C", *, out_sharding=None):
    """The elements in one dimension."""
    return shaping.ravel(self, order)


def _copy(self):
    """A copy."""
    from .creation import array
    return array(self)


def _astype(self, dtype, copy=False, device=None):
    """The array converted to a dtype."""
    return shaping.astype(self, dtype)


def _clip(self, min=None, max=None):
    """The elements limited to [min, max]."""
    return selection.clip(self, min, max)


def _nonzero(self, *, fill_value=None, size=None):
    """The indices of elements that are nonzero."""
    return sorting.nonzero(self, size=size, fill_value=fill_value)


def _searchsorted(self, v, side="left", sorter=None, *, method="scan"):
    """Where elements would be inserted to keep the vector sorted."""
    return sorting.searchsorted(self, v, side, sorter, method=method)


def _view(self, dtype=None, type=None):
    """The same bits read as another dtype, of the last dimension where widths differ."""
    if type is not None:
        raise NotImplementedError("view: type must be None")
    if dtype is None:
        return self
    new = dtypes.canonicalize(dtype)
    old = self.aval.dtype
    if new == old:
        return self
    if dtypes.is_bool(old):
        return _view(o.convert_element_type(self, np.dtype(np.uint8)), new)
    if dtypes.is_bool(new):
        return o.convert_element_type(_view(self, np.uint8), new)
    if dtypes.is_complex(old) or dtypes.is_complex(new):
        return _complex_view(self, old, new)
    if old.itemsize == new.itemsize:
        return o.bitcast_convert_type(self, new)
    shape = self.aval.shape
    if not shape:
        raise ValueError(f"view: a scalar of {old.name} cannot be read as {new.name}, which is of another width")
    if old.itemsize > new.itemsize:
        parts = o.bitcast_convert_type(self, new)
        return o.reshape(parts, (*shape[:-1], shape[-1] * parts.aval.shape[-1]))
    k = new.itemsize // old.itemsize
    if shape[-1] % k:
        raise ValueError(f"view: the last of {shape} must be a multiple of {k} to read it as {new.name}")
    return o.bitcast_convert_type(o.reshape(self, (*shape[:-1], shape[-1] // k, k)), new)


def _complex_view(x, old, new):
    if dtypes.is_complex(old):
        parts = o.concatenate([o.expand_dims(part(x), (len(x.aval.shape),)) for part in (o.real, o.imag)],
                              len(x.aval.shape))
        shape = x.aval.shape
        flat = o.reshape(parts, (*shape[:-1], 2 * shape[-1]) if shape else (2,))
        return _view(flat, new)
    flat = _view(x, dtypes.real_part_dtype(new))
    pairs = o.reshape(flat, (*flat.aval.shape[:-1], flat.aval.shape[-1] // 2, 2))
    return o.complex_(pairs[..., 0], pairs[..., 1])


def _item_size(self):
    return self.aval.dtype.itemsize


def _number_of_bytes(self):
    return self.aval.size * self.aval.dtype.itemsize


def _round(self, decimals=0, out=None):
    """The elements rounded to a number of decimals, halves to even."""
    return arithmetic.round(self, decimals, out)


def _python_round(self, ndigits=None):
    rounded = arithmetic.round(self, 0 if ndigits is None else ndigits)
    return shaping.astype(rounded, int) if ndigits is None else rounded


def _length(self):
    if not self.aval.shape:
        raise TypeError("len() of a 0-dimensional array")
    return self.aval.shape[0]


def _iterate(self):
    if not self.aval.shape:
        raise TypeError("iteration over a 0-dimensional array")
    if type(self) is Array:
        return iter([self[i] for i in range(self.aval.shape[0])])
    from ..lax import unstack
    return iter(unstack(self))


def _at(self):
    """``x.at[index]``: the place whose elements are to be read or replaced in a copy."""
    return indexing.IndexUpdateHelper(self)


def _transposed(self):
    """The dimensions reversed."""
    return o.transpose(self, tuple(range(len(self.aval.shape)))[::-1])


_FUNCTIONS = {
    "all": reductions.all, "any": reductions.any, "argmax": reductions.argmax, "argmin": reductions.argmin,
    "argpartition": sorting.argpartition, "argsort": sorting.argsort, "choose": indexing.choose,
    "conj": arithmetic.conjugate, "conjugate": arithmetic.conjugate,
    "cumprod": reductions.cumprod, "cumsum": reductions.cumsum, "diagonal": diagonals.diagonal, "dot": linear.dot,
    "max": reductions.max, "mean": reductions.mean, "min": reductions.min, "prod": reductions.prod,
    "ptp": reductions.ptp, "ravel": shaping.ravel, "repeat": repeating.repeat, "sort": sorting.sort,
    "squeeze": shaping.squeeze, "std": reductions.std, "swapaxes": shaping.swapaxes, "take": indexing.take,
    "trace": diagonals.trace, "var": reductions.var,
}
_METHODS = {
    "astype": _astype, "clip": _clip, "copy": _copy, "flatten": _flatten, "nonzero": _nonzero, "reshape": _reshape,
    "round": _round, "searchsorted": _searchsorted, "sum": _sum, "transpose": _transpose, "view": _view,
    "__round__": _python_round, "__len__": _length, "__iter__": _iterate,
    "T": property(_transposed), "mT": property(lambda self: shaping.matrix_transpose(self)), "at": property(_at),
    "real": property(arithmetic.real), "imag": property(arithmetic.imag),
    "itemsize": property(_item_size), "nbytes": property(_number_of_bytes),
}


def _compress(self, condition, axis=None, *, out=None, size=None, fill_value=0):
    """The slices along an axis where a condition holds."""
    return sorting.compress(condition, self, axis, size=size, fill_value=fill_value)


def _table() -> dict[str, Any]:
    functions = {name: _from_function(f) for name, f in _FUNCTIONS.items()}
    return _operators() | functions | _METHODS | {"compress": _compress}


def _to_bytes(self, order="C"):
    """The elements' bytes, in C's order or in Fortran's ('F')."""
    return self.value().tobytes(order)


def _to_device(self, device, *, stream=None):
    """The array on a device: itself where it is there already."""
    from .._values import device_put
    if stream is not None:
        raise ValueError(f"to_device: devices have no streams, so stream must be None, got {stream!r}")
    return device_put(self, device)


_OF_VALUES = {"tobytes": _to_bytes, "to_device": _to_device}


def install() -> None:
    """Put the methods on both kinds of array, and Python's conversions on Tracer."""
    for name, method in _OF_VALUES.items():
        method.__name__ = name
        setattr(Array, name, method)
    for kind in (Array, Tracer):
        for name, method in _table().items():
            setattr(kind, name, method)
    Array.__getitem__ = indexing.array_getitem
    Tracer.__getitem__ = indexing.getitem
    _tracer_conversions.install()
