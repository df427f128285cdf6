"""Making arrays: of other values, filled, or of number sequences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .._called import called
from .._promotion import (
    PYTHON_SCALARS,
    as_index,
    as_shape,
    broadcast_shapes,
    broadcast_to_one_shape,
    canonical_axis,
    concrete,
    dtype_and_weak,
    promote_inexact,
    scalar_literal,
    shape_of,
    strong,
    type_of,
)
from ..ir import IncompatibleShapesError, Literal, Tracer, dtypes, shaped_array
from ..ir import ops as o
from ..ir.dtypes import result_type
from ..ir.staging import current_builder, require_no_mask
from ..lax import shape as lax_shape
from ..lax._arguments import integers
from ..lax._names import dtype_of
from ..lower import Array, from_numpy_owned


def asarray(a: Any, dtype: Any = None, order: str | None = None, *, copy: bool | None = None,
            device: Any = None) -> Any:
    """An array of numbers, of a NumPy array, or of nested sequences of numbers and arrays.

    Args:
        a: the values. Of a Python scalar the dtype is weak; of anything else it is the one NumPy gives, with 32 bits
            for Python numbers (64 where ``config.enable_x64``).
        dtype: a dtype to convert to.
        order: None, 'C', 'K' or 'A' (arrays have no memory order here).
        copy: None, True, or False to refuse what needs a copy.
        device: where to put the array: None or a device.

    >>> import glax.numpy as xp
    >>> xp.asarray([1, 2.5])
    Array([1. , 2.5], dtype=float32)
    """
    if (type(a) is Tracer or type(a) is Array) and dtype is None and copy is not True and device is None:
        return a
    if copy is False and not isinstance(a, (Array, Tracer)):
        raise ValueError(f"asarray: copy=False, but a value of type {type(a).__name__} is always copied")
    return array(a, dtype, copy=bool(copy), order=order or "K", device=device)


def array(object: Any, dtype: Any = None, copy: bool = True, order: str | None = "K", ndmin: int = 0, *,
          device: Any = None, out_sharding: Any = None) -> Any:
    """An array of numbers, of a NumPy array, or of nested sequences; see ``asarray``.

    >>> import glax.numpy as xp
    >>> xp.array([[1, 2], [3, 4]])
    Array([[1, 2],
           [3, 4]], dtype=int32)
    """
    if order not in (None, "C", "K", "A"):
        raise NotImplementedError(f"array: order must be None, 'C', 'K' or 'A', got {order!r}")
    if object is None:
        raise ValueError(f"{called('array')}: None is not a value that arrays hold")
    wanted = None if dtype is None else dtype_of(dtype, "array")
    result = _array(object, wanted)
    missing = (ndmin if type(ndmin) is int else as_index(ndmin, "array", "ndmin")) - len(result.aval.shape)
    if missing > 0:
        result = o.expand_dims(result, tuple(range(missing)))
    if device is not None and type(result) is Array:
        from .._values import device_put
        result = device_put(result, device)
    return result


def _array(x: Any, dtype: np.dtype | None) -> Any:
    kind = type(x)
    if kind is Array or kind is Tracer:
        if dtype is None or (dtype == x.aval.dtype and not x.aval.weak_type):
            return _copied(x)
        return o.convert_element_type(x, dtype, False)
    if kind is Literal:
        return _array(_scalar(x.value, x.aval.dtype, x.aval.weak_type), dtype)
    if kind in PYTHON_SCALARS:
        found, weak = (dtype, False) if dtype is not None else dtype_and_weak("array", x)
        return _scalar(_scalar_value(x, found), found, weak)
    if isinstance(x, (list, tuple)):
        return _array_of_sequence(x, dtype)
    if isinstance(x, (np.ndarray, np.generic)):
        _require_numbers(x)
        return _array_of_numpy(x, dtype)
    own = getattr(x, "__glax_array__", None)
    if own is not None:
        return _array(own(), dtype)
    if hasattr(x, "__array__") or _has_buffer(x):
        found = np.asarray(x)
        _require_numbers(found)
        return _array_of_numpy(found, dtype)
    if isinstance(x, PYTHON_SCALARS):
        return _array(next(k for k in (bool, int, float, complex) if isinstance(x, k))(x), dtype)
    if isinstance(x, Sequence) and not isinstance(x, (str, bytes)):
        return _array_of_sequence(list(x), dtype)
    if hasattr(x, "__index__"):
        return _array(x.__index__(), dtype)
    raise TypeError(f"{called('array')}: {x!r:.200} of type {type(x).__name__} is not a number, an array or a nested "
                    f"sequence of them")


def _has_buffer(x: Any) -> bool:
    return isinstance(x, (memoryview, bytearray)) or (hasattr(x, "tobytes") and hasattr(x, "typecode"))


def _copied(x: Any) -> Any:
    if type(x) is Tracer or x._value is None:
        return x
    return from_numpy_owned(x._value, x.aval)


def _require_numbers(x: Any) -> None:
    require_no_mask(x)
    try:
        dtypes.check_array_dtype(x.dtype, "array")
    except TypeError:
        raise TypeError(f"{called('array')}: values of dtype {x.dtype} are not supported; arrays hold bools and "
                        f"numbers") from None


def _scalar_value(x: Any, dtype: np.dtype) -> np.ndarray:
    if dtypes.is_inexact(dtype) or dtypes.is_bool(dtype) or type(x) is bool:
        if isinstance(x, complex) and not dtypes.is_complex(dtype) and not dtypes.is_bool(dtype):
            x = x.real
        return np.asarray(x).astype(dtype) if not dtypes.is_bool(dtype) else np.asarray(bool(x))
    return np.asarray(x.real if isinstance(x, complex) else x).astype(dtype) if not isinstance(x, int) else np.asarray(
        x, dtype)


def _scalar(value: np.ndarray, dtype: np.dtype, weak: bool) -> Any:
    """A scalar array; while staging, a literal of the program rather than one more input of it."""
    builder = current_builder()
    if builder is None:
        return from_numpy_owned(value, shaped_array((), dtype, weak))
    return builder.lift(Literal(value, shaped_array((), dtype, weak)))


def _array_of_numpy(x: Any, dtype: np.dtype | None) -> Any:
    found = dtypes.canonicalize(x.dtype) if dtype is None else dtype
    if x.ndim == 0:
        return _scalar(_converted(np.asarray(x), found), found, False)
    from ..lower import from_numpy
    return from_numpy(x if x.dtype == found else _converted(x, found))


def _converted(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    from ..interp.convert import convert
    with np.errstate(all="ignore"):
        if dtypes.is_integer(x.dtype) and dtypes.is_integer(dtype):
            return x.astype(dtype)
        return np.array(convert(x, dtype))


def _leaves(x: Any) -> Iterator[Any]:
    for item in x:
        if isinstance(item, (list, tuple)):
            yield from _leaves(item)
        else:
            yield item


def _array_of_sequence(x: Sequence[Any], dtype: np.dtype | None) -> Any:
    leaves = list(_leaves(x))
    if any(type(leaf) is Tracer for leaf in leaves):
        return _stacked(x, dtype or _common_dtype(leaves))
    plain = all(type(leaf) in PYTHON_SCALARS for leaf in leaves)
    if not plain and any(leaf is None or isinstance(leaf, (str, bytes)) for leaf in leaves):
        bad = next(leaf for leaf in leaves if leaf is None or isinstance(leaf, (str, bytes)))
        raise TypeError(f"{called('array')}: {bad!r:.200} of type {type(bad).__name__} is not a number")
    found = dtype or (_common_dtype(leaves) if leaves else dtypes.python_scalar_dtype(float))
    if plain and dtypes.is_integer(found) and all(type(leaf) in (int, bool) for leaf in leaves):
        value = np.array(x, found)  # which checks that each int fits
    else:
        value = np.array(x)
        _require_numbers(value)
        value = _converted(value, found)
    return from_numpy_owned(value, shaped_array(value.shape, found))


def _common_dtype(leaves: Sequence[Any]) -> np.dtype:
    pairs = {dtype_and_weak("array", leaf if type(leaf) in PYTHON_SCALARS or hasattr(leaf, "dtype") else array(leaf))
             for leaf in leaves}
    return dtypes.canonicalize(result_type(*sorted(pairs, key=str))[0])


def _stacked(x: Any, dtype: np.dtype) -> Any:
    if not isinstance(x, (list, tuple)):
        return strong(x, dtype)
    parts = [_stacked(item, dtype) for item in x]
    shapes = {shape_of(part) for part in parts}
    if len(shapes) > 1:
        raise ValueError(f"{called('array')}: the items of a sequence must have one shape, got "
                         f"{', '.join(map(str, shapes))}")
    return lax_shape.stack(parts) if parts else array([], dtype)


def copy(a: Any, order: str | None = None) -> Any:
    """A copy of an array.

    >>> import glax.numpy as xp
    >>> xp.copy(xp.arange(3))
    Array([0, 1, 2], dtype=int32)
    """
    type_of("copy", a)
    return array(a)


# ---- filled arrays


def _dtype_or_float(dtype: Any) -> np.dtype:
    return dtypes.python_scalar_dtype(float) if dtype is None else dtype_of(dtype, "zeros")


def zeros(shape: Any, dtype: Any = None, *, device: Any = None) -> Any:
    """Zeros, of float32 unless a dtype is given.

    >>> import glax.numpy as xp
    >>> xp.zeros(2)
    Array([0., 0.], dtype=float32)
    """
    return lax_shape.filled("zeros", shape, 0, _dtype_or_float(dtype))


def ones(shape: Any, dtype: Any = None, *, device: Any = None) -> Any:
    """Ones, of float32 unless a dtype is given. shape is an int or ints.

    >>> import glax.numpy as xp
    >>> xp.ones(2)
    Array([1., 1.], dtype=float32)
    """
    return lax_shape.filled("ones", shape, 1, _dtype_or_float(dtype))


def empty(shape: Any, dtype: Any = None, *, device: Any = None) -> Any:
    """An array whose contents are unspecified (zeros, here).

    >>> import glax.numpy as xp
    >>> xp.empty(2)
    Array([0., 0.], dtype=float32)
    """
    return lax_shape.filled("empty", shape, 0, _dtype_or_float(dtype))


def full(shape: Any, fill_value: Any, dtype: Any = None, *, device: Any = None) -> Any:
    """An array filled with a value, which is broadcast to the shape.

    >>> import glax.numpy as xp
    >>> xp.full((2,), 7)
    Array([7, 7], dtype=int32, weak_type=True)
    """
    return _filled("full", shape, fill_value, dtype)


def _filled(name: str, shape: Any, fill_value: Any, dtype: Any) -> Any:
    if isinstance(fill_value, (list, tuple)):
        fill_value = array(fill_value)
    if not type_of(name, fill_value, 1).shape:
        return lax_shape.filled(name, shape, fill_value, dtype)
    x = fill_value if dtype is None else array(fill_value, dtype)
    given, wanted = shape_of(x), as_shape(shape, name)
    if broadcast_shapes(name, [given, wanted]) != wanted:
        raise ValueError(f"{name}: a fill_value of shape {given} does not broadcast to shape {wanted}")
    return o.broadcast(asarray(x), wanted)


def _like(name: str, a: Any, value: Any, dtype: Any, shape: Any) -> Any:
    aval = type_of(name, a)
    new_shape = aval.shape if shape is None else shape
    result = _filled(name, new_shape, value, aval.dtype if dtype is None else dtype)
    return o.convert_element_type(result, aval.dtype, True) if dtype is None and aval.weak_type else result


def zeros_like(a: Any, dtype: Any = None, shape: Any = None, *, device: Any = None) -> Any:
    """Zeros of the shape and dtype of a, or of those given.

    >>> import glax.numpy as xp
    >>> xp.zeros_like(xp.arange(2), dtype=float)
    Array([0., 0.], dtype=float32)
    """
    return _like("zeros_like", a, 0, dtype, shape)


def ones_like(a: Any, dtype: Any = None, shape: Any = None, *, device: Any = None) -> Any:
    """Ones of the shape and dtype of a, or of those given.

    >>> import glax.numpy as xp
    >>> xp.ones_like(xp.arange(2))
    Array([1, 1], dtype=int32)
    """
    return _like("ones_like", a, 1, dtype, shape)


def empty_like(prototype: Any, dtype: Any = None, shape: Any = None, *, device: Any = None) -> Any:
    """An array of the shape and dtype of another whose contents are unspecified (zeros, here).

    >>> import glax.numpy as xp
    >>> xp.empty_like(xp.arange(2))
    Array([0, 0], dtype=int32)
    """
    return _like("empty_like", prototype, 0, dtype, shape)


def full_like(a: Any, fill_value: Any, dtype: Any = None, shape: Any = None, *, device: Any = None) -> Any:
    """An array of the shape and dtype of a, or of those given, filled with a value.

    >>> import glax.numpy as xp
    >>> xp.full_like(xp.arange(2), 7.9)
    Array([7, 7], dtype=int32)
    """
    return _like("full_like", a, fill_value, dtype, shape)


# ---- sequences of numbers


def arange(start: Any, stop: Any = None, step: Any = None, dtype: Any = None, *, device: Any = None) -> Any:
    """The numbers from start (0 where only one number is given) up to stop, excluded, in steps.

    Args:
        start, stop, step: concrete numbers; their number decides the shape.
        dtype: by default the one to which the arguments promote.

    >>> import glax.numpy as xp
    >>> xp.arange(1, 7, 2)
    Array([1, 3, 5], dtype=int32)
    """
    if start is None:
        raise TypeError("arange: start must be a number, got None")
    given = [x for x in (start, stop, step) if x is not None]
    found = result_type(*[dtype_and_weak("arange", x, i) for i, x in enumerate(given)])[0]
    dtype = dtypes.canonicalize(found) if dtype is None else dtype_of(dtype, "arange")
    names = ("stop" if stop is None else "start", "stop", "step")
    values = [None if x is None else concrete(x, "arange", name)[()] for x, name in zip((start, stop, step), names)]
    if any(v is not None and np.ndim(v) for v in values):
        raise ValueError("arange: start, stop and step must be scalars")
    first, last, by = (0, values[0], 1) if stop is None else (values[0], values[1], 1 if step is None else values[2])
    if by == 0:
        raise ValueError("arange: step must not be 0")
    if stop is None and step is not None:
        by = values[2]
    if dtypes.is_integer(found) and dtypes.is_integer(dtype):
        size = max(0, -(-(int(last) - int(first)) // int(by)))
        if first == 0 and by == 1 and current_builder() is not None:
            return o.iota(dtype, (size,), 0)
    value = np.arange(first, last, by)
    return from_numpy_owned(value.astype(dtype), shaped_array(value.shape, dtype))


def linspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None,
             axis: int = 0, *, device: Any = None) -> Any:
    """num numbers evenly spaced from start to stop, along a new axis where these are arrays.

    >>> import glax.numpy as xp
    >>> xp.linspace(0, 1, 5)
    Array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)
    """
    num = as_index(num, "linspace", "num")
    if num < 0:
        raise ValueError(f"{called('linspace')}: num must not be negative, got {num}")
    low, high = promote_inexact("linspace", start, stop)
    computed = type_of("linspace", low).dtype
    wanted = computed if dtype is None else dtype_of(dtype, "linspace")
    axis = canonical_axis(axis, 1 + max(len(shape_of(low)), len(shape_of(high))), called("linspace"))
    low, high = broadcast_to_one_shape("linspace", [strong(low), strong(high)])
    shape = max(shape_of(low), shape_of(high), key=len)
    low, high = (o.broadcast(x, shape) for x in (low, high))
    steps = num - 1 if endpoint else num
    t = (np.arange(num) / max(steps, 1)).astype(dtypes.real_part_dtype(computed)).astype(computed)
    column = (num,) + (1,) * len(shape)
    full_shape = (num, *shape)
    t, rest = (o.broadcast(np.reshape(v, column), full_shape) for v in (t, (1 - t).astype(computed)))
    lows, highs = (o.broadcast(x, full_shape) for x in (low, high))
    zero = computed.type(0)
    # An end that is infinite takes no part where its weight is 0.
    ends = [o.select_n(o.eq(w, zero), o.mul(x, w), o.broadcast(zero, full_shape)) for x, w in (
        (lows, rest), (highs, t))]
    result = o.add(*ends)
    if dtypes.is_integer(wanted):
        result = o.floor(result)
    result = strong(result, wanted)
    if axis:
        from .shaping import moveaxis
        result = moveaxis(result, 0, axis)
    if not retstep:
        return result
    return result, o.div(o.sub(high, low), scalar_literal(steps, computed)) if steps else array(np.nan, computed)


def logspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None,
             axis: int = 0) -> Any:
    """base to the powers of ``linspace(start, stop, num)``. The numbers are floats unless a dtype is given; without
    endpoint, the last one is left out.

    >>> import glax.numpy as xp
    >>> xp.logspace(0, 2, 3).round(3)
    Array([  1.,  10., 100.], dtype=float32)
    """
    from .arithmetic import power
    result = power(base, linspace(start, stop, num, endpoint, axis=axis))
    return result if dtype is None else strong(result, dtype_of(dtype, "logspace"))


def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Any:
    """num numbers from start to stop with a constant ratio between neighbours. Those of different signs give NaN;
    without endpoint, stop is left out.

    >>> import glax.numpy as xp
    >>> xp.geomspace(1.0, 8.0, 4).round(3)
    Array([1., 2., 4., 8.], dtype=float32)
    """
    from .arithmetic import sign
    from .ufuncs import exp, log, multiply
    start, stop = promote_inexact("geomspace", start, stop)
    if dtypes.is_complex(type_of("geomspace", start).dtype):
        first = log(start)
        result = exp(linspace(first, first + log(stop / start), num, endpoint, axis=axis))
    else:
        signs = sign(start)
        logs = linspace(log(multiply(start, signs)), log(multiply(stop, signs)), num, endpoint, axis=axis)
        result = multiply(o.expand_dims(signs, (axis % (len(shape_of(signs)) + 1),)) if shape_of(signs) else signs,
                          exp(logs))
    return result if dtype is None else strong(result, dtype_of(dtype, "geomspace"))


# ---- matrices and grids


def eye(N: int, M: int | None = None, k: int = 0, dtype: Any = None, *, device: Any = None) -> Any:
    """Ones on a diagonal (the k-th above the main one) of an N by M matrix, zeros elsewhere.

    >>> import glax.numpy as xp
    >>> xp.eye(2)
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    rows, columns, k = _matrix_sizes("eye", N, M, k)
    dtype = _dtype_or_float(dtype)
    if current_builder() is None:
        return from_numpy_owned(np.eye(rows, columns, k).astype(dtype), shaped_array((rows, columns), dtype))
    return o.convert_element_type(_on_diagonal("eq", rows, columns, k), dtype)


def _matrix_sizes(name: str, N: Any, M: Any, k: Any) -> tuple[int, int, int]:
    """The numbers of rows and columns, and of the diagonal; ValueError for a negative number of either."""
    rows, columns, k = (as_index(n, name, what) for n, what in ((N, "N"), (N if M is None else M, "M"), (k, "k")))
    if rows < 0 or columns < 0:
        raise IncompatibleShapesError(f"{called(name)}: N and M must not be negative, got {rows} and {columns}")
    return rows, columns, k


def _on_diagonal(test: str, rows: int, columns: int, k: int) -> Any:
    shape, i32 = (rows, columns), np.dtype(np.int32)
    row = o.add(o.iota(i32, shape, 0), np.int32(k))
    return getattr(o, test)(row, o.iota(i32, shape, 1))


def identity(n: int, dtype: Any = None) -> Any:
    """The identity matrix of n rows. Of float32 unless a dtype is given.

    >>> import glax.numpy as xp
    >>> xp.identity(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return eye(n, dtype=dtype)


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Any:
    """Ones at and below a diagonal of an N by M matrix, zeros elsewhere. M is N where it is None, k is 0 for the main
    diagonal and positive above it; float32 unless a dtype is given.

    >>> import glax.numpy as xp
    >>> xp.tri(2, 3).tolist()
    [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]
    """
    rows, columns, k = _matrix_sizes("tri", N, M, k)
    dtype = _dtype_or_float(dtype)
    if current_builder() is None:
        return from_numpy_owned(np.tri(rows, columns, k).astype(dtype), shaped_array((rows, columns), dtype))
    return o.convert_element_type(_on_diagonal("ge", rows, columns, k), dtype)


def _triangle(name: str, m: Any, k: int, keep_lower: bool) -> Any:
    m = asarray(m)
    shape = m.aval.shape
    if len(shape) < 2:
        raise ValueError(f"{name}: an array of at least 2 dimensions is needed, got shape {shape}")
    mask = o.broadcast(_on_diagonal("ge", *shape[-2:], as_index(k, name, "k") - (not keep_lower)), shape)
    zeros_ = o.broadcast(np.zeros((), m.aval.dtype)[()], shape)
    return o.select_n(mask, zeros_, m) if keep_lower else o.select_n(mask, m, zeros_)


def tril(m: Any, k: int = 0) -> Any:
    """m with the elements above a diagonal of its last two dimensions replaced by zeros.

    >>> import glax.numpy as xp
    >>> xp.tril(xp.ones((2, 2)))
    Array([[1., 0.],
           [1., 1.]], dtype=float32)
    """
    return _triangle("tril", m, k, True)


def triu(m: Any, k: int = 0) -> Any:
    """m with the elements below a diagonal of its last two dimensions replaced by zeros. k is 0 for the main diagonal,
    positive above it and negative below.

    >>> import glax.numpy as xp
    >>> xp.triu(xp.array([[1, 2], [3, 4]])).tolist()
    [[1, 2], [0, 4]]
    """
    return _triangle("triu", m, k, False)


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """The matrix of powers of a vector, a column for each. N columns, as many as elements unless given; the highest
    power comes first unless increasing is true.

    >>> import glax.numpy as xp
    >>> xp.vander(xp.array([1, 2, 3])).tolist()
    [[1, 1, 1], [4, 2, 1], [9, 3, 1]]
    """
    x = asarray(x)
    if len(x.aval.shape) != 1:
        raise ValueError(f"vander: a vector is needed, got shape {x.aval.shape}")
    n = x.aval.shape[0] if N is None else as_index(N, "vander", "N")
    if n < 0:
        raise ValueError(f"vander: N must not be negative, got {n}")
    from .arithmetic import power
    from .shaping import stack
    columns = [power(x, k) for k in range(n)]
    return stack(columns if increasing else columns[::-1], axis=1) if n else zeros((x.aval.shape[0], 0), x.aval.dtype)


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> list[Any]:
    """Grids of coordinates from vectors, one for each; with 'xy' the first two dimensions are swapped. Where sparse is
    true, each has size 1 in all dimensions but its own. ValueError for an indexing other than 'xy' and 'ij'.

    >>> import glax.numpy as xp
    >>> x, y = xp.meshgrid(xp.arange(2), xp.arange(3))
    >>> x.tolist(), y.tolist()
    ([[0, 1], [0, 1], [0, 1]], [[0, 0], [1, 1], [2, 2]])
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing must be 'xy' or 'ij', got {indexing!r}")
    vectors = [asarray(x) for x in xi]
    if any(len(v.aval.shape) > 1 for v in vectors):
        raise ValueError("meshgrid: all arguments must be vectors or scalars")
    n = len(vectors)
    places = list(range(n))
    if indexing == "xy" and n >= 2:
        places[:2] = 1, 0
    sizes = [v.aval.size for v in vectors]
    shape = [1] * n
    for place, size in zip(places, sizes):
        shape[place] = size
    results = []
    for vector, place, size in zip(vectors, places, sizes):
        flat = o.reshape(vector, (size,))
        own = tuple(shape) if not sparse else tuple(size if d == place else 1 for d in range(n))
        results.append(o.broadcast_in_dim(flat, own, (place,)))
    return results


def indices(dimensions: Sequence[int], dtype: Any = None, sparse: bool = False) -> Any:
    """Arrays of the indices along each dimension of a shape, stacked, or as a tuple where sparse. int32 unless a dtype
    is given; where sparse, each has size 1 in all dimensions but its own.

    >>> import glax.numpy as xp
    >>> xp.indices((2, 3)).shape, [x.shape for x in xp.indices((2, 3), sparse=True)]
    ((2, 2, 3), [(2, 1), (1, 3)])
    """
    dtype = dtype_of(int if dtype is None else dtype, "indices")
    sizes = integers(dimensions, "indices", "dimensions")
    if sparse:
        return tuple(o.iota(dtype, tuple(n if d == i else 1 for d, n in enumerate(sizes)),
                            i) for i in range(len(sizes)))
    grids = [o.iota(dtype, sizes, i) for i in range(len(sizes))]
    return lax_shape.stack(grids) if grids else zeros((0,), dtype)


def fromfunction(function: Any, shape: Sequence[int], *, dtype: Any = float, **kwargs: Any) -> Any:
    """A function of the grids of indices of a shape. dtype is that of the indices; kwargs are handed to the function.

    >>> import glax.numpy as xp
    >>> xp.fromfunction(lambda i, j: 10 * i + j, (2, 2), dtype=int).tolist()
    [[0, 1], [10, 11]]
    """
    dtype, shape = dtype_of(dtype, "fromfunction"), as_shape(shape, "fromfunction")
    grids = [o.iota(dtype, shape, d) for d in range(len(shape))]
    return function(*grids, **kwargs)

