"""What operands become before they meet in an operation: one dtype, and one shape scalars aside.

Python scalars are weak: they take the dtype of the arrays they meet. They turn into literals, which are kept, since
the same few scalars are used over and over.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.exceptions import AxisError

from ._called import called
from ._examples import with_example
from .ir import IncompatibleShapesError, Literal, ShapedArray, Tracer, aval_of, dtypes, shaped_array
from .ir import ops as o
from .ir.config import config
from .ir.dtypes import result_type
from .ir.limits import greatest, least
from .lower import Array

PYTHON_SCALARS = (int, float, complex, bool)
_IS_PYTHON_SCALAR = frozenset(PYTHON_SCALARS)
_MOST_LITERALS = 20_000
_INT32_LIMIT = 2**31
_LITERALS: dict[tuple, Literal] = {}
_DTYPE_OF_SCALAR = {
    x64: {bool: (np.dtype(bool), False), int: (np.dtype(i), True), float: (np.dtype(f), True),
          complex: (np.dtype(c), True)}
    for x64, i, f, c in ((False, "int32", "float32", "complex64"), (True, "int64", "float64", "complex128"))
}


def scalar_literal(value: Any, dtype: np.dtype, weak: bool = False) -> Literal:
    """The literal of a Python scalar in a dtype. An int beyond a narrow integer dtype wraps around; OverflowError where
    it is beyond the default integer dtype as well."""
    # Zeros and complex numbers go by their text: 0.0 and -0.0, and 1+0j and 1-0j, are equal keys.
    key = (type(value), repr(value) if not value or type(value) is complex else value, dtype, weak)
    found = _LITERALS.get(key)
    if found is None:
        if len(_LITERALS) >= _MOST_LITERALS:
            _LITERALS.clear()
        found = _LITERALS[key] = Literal(_scalar_array(value, dtype), shaped_array((), dtype, weak))
    return found


def promoted_literal(value: Any, dtype: np.dtype, weak: bool = False) -> Literal:
    """The literal of a Python scalar that promotes to a dtype.

    OverflowError for an int beyond the default integer dtype that becomes a float: it counts as an integer of that
    dtype before it is promoted.
    """
    if type(value) is int and not -_INT32_LIMIT <= value < _INT32_LIMIT and dtypes.is_inexact(dtype):
        default = dtypes.python_scalar_dtype(int)
        if not least(default) <= value <= greatest(default):
            raise OverflowError(f"the integer {value} is beyond {default.name}, the type of Python ints; write it as a "
                                f"float")
    return scalar_literal(value, dtype, weak)


def _scalar_array(value: Any, dtype: np.dtype) -> np.ndarray:
    if type(value) is int and dtypes.is_integer(dtype):
        try:
            return np.asarray(value, dtype)
        except OverflowError:
            default = dtypes.python_scalar_dtype(int)
            if dtype == default:
                raise
            return np.asarray(value, default).astype(dtype)
    return np.asarray(value, dtype)


def literal_like(x: Any, value: Any) -> Literal:
    """The literal of a Python scalar in the dtype of x, weak where x is."""
    aval = type_of("operand", x)
    return scalar_literal(value, aval.dtype, aval.weak_type)


def of_parts(function: Callable[[Any], Any], x: Any) -> Any:
    """A function of real numbers applied to both parts of complex ones."""
    return o.complex_(function(o.real(x)), function(o.imag(x)))


def type_of(name: str, x: Any, position: int = 0) -> ShapedArray:
    """The type of an argument of a public function; TypeError naming the function where it is not an array."""
    try:
        return x.aval if type(x) is Tracer or type(x) is Array else aval_of(x)
    except TypeError as error:
        if isinstance(x, (np.ndarray, np.generic)):
            raise TypeError(f"{called(name)}: argument {position} has dtype {x.dtype}, and arrays hold bools and "
                            f"numbers only") from error
        hint = "; make an array of it with glax.numpy.array" if isinstance(x, (list, tuple)) else ""
        raise TypeError(f"{called(name)} requires arrays or numbers, got {x!r} of type {type(x).__name__} at position "
                        f"{position}{hint}") from None
    except OverflowError:  # a Python int beyond the default width, which may yet fit what it meets
        return shaped_array((), dtypes.python_scalar_dtype(int), True)


def dtype_and_weak(name: str, x: Any, position: int = 0) -> tuple[np.dtype, bool]:
    """An argument's dtype and whether it is weak."""
    kind = type(x)
    if kind is Array or kind is Tracer:
        aval = x.aval
    elif kind in _IS_PYTHON_SCALAR:
        return _DTYPE_OF_SCALAR[config.enable_x64][kind]
    else:
        aval = type_of(name, x, position)
    return aval.dtype, aval.weak_type


def shape_of(x: Any) -> tuple[int, ...]:
    kind = type(x)
    if kind is Array or kind is Tracer:
        return x.aval.shape
    return () if kind in _IS_PYTHON_SCALAR else aval_of(x).shape


def cast(x: Any, dtype: np.dtype, weak: bool = False) -> Any:
    """x in a dtype: itself where it has the dtype already, whether weakly or not."""
    kind = type(x)
    if kind in _IS_PYTHON_SCALAR:
        return promoted_literal(x, dtype, weak)
    aval = x.aval if kind is Array or kind is Tracer else aval_of(x)
    if aval.dtype == dtype:
        return x
    return o.convert_element_type(x, dtype, weak)


def strong(x: Any, dtype: np.dtype | None = None) -> Any:
    """x in a dtype (by default its own), not weak."""
    if type(x) in _IS_PYTHON_SCALAR:
        return scalar_literal(x, dtype or _DTYPE_OF_SCALAR[config.enable_x64][type(x)][0])
    aval = aval_of(x)
    if dtype is None or aval.dtype == dtype:
        return o.convert_element_type(x, aval.dtype, False) if aval.weak_type else x
    return o.convert_element_type(x, dtype, False)


def promote(name: str, *xs: Any) -> list[Any]:
    """The operands in the dtype to which they promote."""
    dtype, weak = result_type(*[dtype_and_weak(name, x, i) for i, x in enumerate(xs)])
    return [cast(x, dtype, weak) for x in xs]


def promote_inexact(name: str, *xs: Any) -> list[Any]:
    """The operands in the floating or complex dtype to which they promote; integers become floats."""
    dtype, weak = result_type(*[dtype_and_weak(name, x, i) for i, x in enumerate(xs)])
    dtype = dtypes.canonicalize(dtypes.to_inexact(dtype))
    return [cast(x, dtype, weak) for x in xs]


def broadcast_shapes(name: str, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape to which shapes broadcast by NumPy's rule; ValueError with all of them where they do not."""
    first = shapes[0]
    if all(s == first for s in shapes):
        return first
    ndim = max(map(len, shapes))
    result = [1] * ndim
    for shape in shapes:
        for d, n in enumerate(shape, ndim - len(shape)):
            if n != 1:
                if result[d] not in (1, n):
                    raise IncompatibleShapesError(
                        f"{called(name)}: incompatible shapes for broadcasting: {', '.join(map(str, shapes))}")
                result[d] = n
    return tuple(result)


def broadcast_to_one_shape(name: str, xs: Sequence[Any]) -> Sequence[Any]:
    """The operands with equal shapes, those that are scalars aside."""
    shapes = [shape_of(x) for x in xs]
    arrays = [s for s in shapes if s]
    if not arrays or all(s == arrays[0] for s in arrays):
        return xs
    shape = broadcast_shapes(name, arrays)
    return [x if not s or s == shape else o.broadcast(x, shape) for x, s in zip(xs, shapes)]


def canonical_axis(axis: Any, ndim: int, name: str = "axis", argument: str = "axis") -> int:
    """An axis counted from the front; AxisError, which is a ValueError and an IndexError, where out of range."""
    axis = as_index(axis, name, argument)
    if not -ndim <= axis < ndim:
        raise AxisError(f"{called(name)}: {argument} {axis} is out of bounds for an array of {ndim} dimensions")
    return axis + ndim if axis < 0 else axis


def canonical_axes(axes: Any, ndim: int, name: str, argument: str = "axis") -> tuple[int, ...]:
    """Axes, given as None (all), one or several, counted from the front; ValueError where two are the same."""
    if axes is None:
        return tuple(range(ndim))
    given = tuple(axes) if isinstance(axes, (tuple, list)) else (axes,)
    found = tuple([canonical_axis(a, ndim, name, argument) for a in given])
    if len(set(found)) != len(found):
        raise ValueError(f"{called(name)}: duplicate value in {argument}: {given}")
    return found


def as_index(x: Any, name: str, argument: str) -> int:
    """A Python int of what is one, or is a concrete integer."""
    if type(x) is int:
        return x
    if type(x) is not Tracer:
        try:
            return x.__index__()
        except (AttributeError, TypeError):
            raise TypeError(f"{called(name)}: {argument} must be an integer, got {x!r} of type "
                            f"{type(x).__name__}") from None
    return x.__index__()


def as_shape(shape: Any, name: str, argument: str = "shape") -> tuple[int, ...]:
    """A tuple of ints of a shape given as an int or a sequence; IncompatibleShapesError where one is negative."""
    if type(shape) is tuple and all([type(n) is int for n in shape]):
        found = shape
    elif isinstance(shape, (tuple, list)) or (isinstance(shape, (np.ndarray, Array)) and len(np.shape(shape)) == 1):
        found = tuple([as_index(n, name, argument) for n in shape])
    else:
        found = (as_index(shape, name, argument),)
    if any([n < 0 for n in found]):
        raise IncompatibleShapesError(f"{called(name)}: {argument} must not have negative dimensions, got {found}")
    return found


def concrete(x: Any, name: str, argument: str) -> np.ndarray:
    """The NumPy value of an argument whose contents decide the result's shape; a typed error for a tracer."""
    if type(x) is Tracer:
        from ._tracer_conversions import concretized
        return concretized(x, f"{name}'s {argument}")
    return np.asarray(x)


def require_no_out(name: str, out: Any) -> None:
    """NotImplementedError where an output array is given."""
    if out is not None:
        raise NotImplementedError(f"{called(name)}: arrays are immutable, so out must be None, got "
                                  f"{type(out).__name__}")


def with_parameters(f: Callable[..., Any], *names: str) -> Callable[..., Any]:
    """Give a generated function names for its first parameters, by which they may be passed, and that at no cost."""
    code = f.__code__
    f.__code__ = code.replace(co_posonlyargcount=0, co_varnames=(*names, *code.co_varnames[len(names):]))
    return f


def named(f: Callable[..., Any], name: str, module: str, doc: str) -> Callable[..., Any]:
    """Give a generated function its public name, and its docstring the example in the table."""
    f.__name__ = f.__qualname__ = name
    f.__module__ = module
    f.__doc__ = with_example(doc, module, name)
    return f
