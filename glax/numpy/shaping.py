"""Shapes: reshaping, moving axes, joining, splitting, turning."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._called import called
from .._promotion import (
    as_index,
    as_shape,
    canonical_axes,
    canonical_axis,
    concrete,
    promote,
    shape_of,
    type_of,
)
from .._promotion import (
    broadcast_shapes as _broadcast_shapes,
)
from ..ir import dtypes
from ..ir import ops as o
from ..lax import shape as lax_shape
from ..lax._arguments import entries, operand, pair
from ..lax._names import dtype_of
from .creation import array, asarray
from .key_arrays import all_keys, on_words


def shaped(name: str, a: Any) -> tuple[Any, tuple[int, ...]]:
    """An argument as an array, and its shape."""
    type_of(name, a)
    a = asarray(a)
    return a, a.aval.shape


def shape(a: Any) -> tuple[int, ...]:
    """The shape of an array, a number or nested sequences.

    >>> import glax.numpy as xp
    >>> xp.shape([[1, 2, 3]])
    (1, 3)
    """
    if isinstance(a, (list, tuple)):
        return np.shape(a)
    try:
        return type_of("shape", a).shape
    except TypeError:
        return type_of(called("shape"), a).shape


def ndim(a: Any) -> int:
    """The number of dimensions.

    >>> import glax.numpy as xp
    >>> xp.ndim([[1, 2], [3, 4]])
    2
    """
    return len(shape(a))


def size(a: Any, axis: int | Sequence[int] | None = None) -> int:
    """The number of elements, or of those along some axes. AxisError for an axis out of range.

    >>> import glax.numpy as xp
    >>> xp.size(xp.zeros((2, 3))), xp.size(xp.zeros((2, 3)), axis=1)
    (6, 3)
    """
    dims = shape(a)
    return int(np.prod([dims[d] for d in canonical_axes(axis, len(dims), "size")], dtype=np.int64))


def reshape(a: Any, shape: Any = None, order: str = "C", *, copy: bool | None = None) -> Any:
    """The same elements in another shape, of which one size may be -1: whatever is left.

    Args:
        a: an array.
        shape: an int or a sequence of ints.
        order: 'C' for row-major, 'F' for column-major.

    >>> import glax.numpy as xp
    >>> xp.reshape(xp.arange(4), (2, -1))
    Array([[0, 1],
           [2, 3]], dtype=int32)
    """
    a, old = shaped("reshape", a)
    if shape is None:
        raise TypeError("reshape: a shape is needed")
    sizes = lax_shape.resolve_sizes("reshape", old, shape)
    if order == "F":
        flipped = o.transpose(a, tuple(range(len(old)))[::-1])
        return o.transpose(o.reshape(flipped, sizes[::-1]), tuple(range(len(sizes)))[::-1])
    if order not in ("C", "A"):
        raise ValueError(f"{called('reshape')}: order must be 'C' or 'F', got {order!r}")
    return o.reshape(a, sizes)


def ravel(a: Any, order: str = "C", *, out_sharding: Any = None) -> Any:
    """The elements in one dimension. order is 'C' for row-major or 'F' for column-major.

    >>> import glax.numpy as xp
    >>> xp.ravel(xp.array([[1, 2], [3, 4]]), order="F")
    Array([1, 3, 2, 4], dtype=int32)
    """
    return reshape(a, (-1,) if size(a) or not shape(a) else (0,), "C" if order == "K" else order)


def transpose(a: Any, axes: Sequence[int] | None = None) -> Any:
    """Dimensions permuted, or reversed where no permutation is given.

    >>> import glax.numpy as xp
    >>> xp.transpose(xp.zeros((2, 3, 4))).shape, xp.transpose(xp.zeros((2, 3, 4)), (1, 0, 2)).shape
    ((4, 3, 2), (3, 2, 4))
    """
    a, dims = shaped("transpose", a)
    if axes is None:
        return o.transpose(a, tuple(range(len(dims)))[::-1])
    permutation = canonical_axes(entries(axes, "transpose", "axes"), len(dims), "transpose", "axes")
    if len(permutation) != len(dims):
        raise ValueError(f"transpose: axes {permutation} must name each of the {len(dims)} dimensions once")
    return o.transpose(a, permutation)


permute_dims = transpose


def matrix_transpose(x: Any, /) -> Any:
    """The last two dimensions swapped.

    >>> import glax.numpy as xp
    >>> xp.matrix_transpose(xp.zeros((5, 2, 3))).shape
    (5, 3, 2)
    """
    x, dims = shaped("matrix_transpose", x)
    if len(dims) < 2:
        raise ValueError(f"matrix_transpose: an array of at least 2 dimensions is needed, got shape {dims}")
    return swapaxes(x, -1, -2)


def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    """Two axes swapped.

    >>> import glax.numpy as xp
    >>> xp.swapaxes(xp.zeros((2, 3, 4)), 0, 2).shape
    (4, 3, 2)
    """
    a, dims = shaped("swapaxes", a)
    i, j = (canonical_axis(axis, len(dims), "swapaxes") for axis in (axis1, axis2))
    order = list(range(len(dims)))
    order[i], order[j] = j, i
    return o.transpose(a, tuple(order))


def moveaxis(a: Any, source: int | Sequence[int], destination: int | Sequence[int]) -> Any:
    """Axes moved to other positions; the rest keep their order.

    >>> import glax.numpy as xp
    >>> xp.moveaxis(xp.zeros((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    a, dims = shaped("moveaxis", a)
    sources = canonical_axes(source, len(dims), "moveaxis", "source")
    targets = canonical_axes(destination, len(dims), "moveaxis", "destination")
    if len(sources) != len(targets):
        raise ValueError(f"moveaxis: source and destination must name as many axes, got {source} and {destination}")
    order = [d for d in range(len(dims)) if d not in sources]
    for target, axis in sorted(zip(targets, sources)):
        order.insert(target, axis)
    return o.transpose(a, tuple(order))


def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    """An axis moved back until it lies before position start.

    >>> import glax.numpy as xp
    >>> xp.rollaxis(xp.zeros((2, 3, 4)), 2).shape
    (4, 2, 3)
    """
    n = len(type_of("rollaxis", a).shape)
    axis = canonical_axis(axis, n, "rollaxis")
    start = canonical_axis(start, n + 1, "rollaxis", "start")
    return moveaxis(a, axis, start - (axis < start))


def expand_dims(a: Any, axis: int | Sequence[int]) -> Any:
    """Axes of size 1 inserted, numbered as in the result.

    >>> import glax.numpy as xp
    >>> xp.expand_dims(xp.arange(2), (0, -1)).shape
    (1, 2, 1)
    """
    a, dims = shaped("expand_dims", a)
    given = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    return o.expand_dims(a, canonical_axes(given, len(dims) + len(given), "expand_dims"))


def squeeze(a: Any, axis: int | Sequence[int] | None = None) -> Any:
    """Axes of size 1 removed: all of them, or those given. ValueError where one of those given has another size.

    >>> import glax.numpy as xp
    >>> xp.squeeze(xp.zeros((1, 3, 1)), axis=0).shape
    (3, 1)
    """
    a, dims = shaped("squeeze", a)
    axes = [d for d, n in enumerate(dims) if n == 1] if axis is None else sorted(canonical_axes(axis, len(dims),
                                                                                                "squeeze"))
    if builtins.any(dims[d] != 1 for d in axes):
        raise ValueError(f"squeeze: axes {tuple(axes)} of shape {dims} are not all of size 1")
    return o.squeeze(a, tuple(axes))


def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """The shape to which shapes broadcast. ValueError where they do not.

    >>> import glax.numpy as xp
    >>> xp.broadcast_shapes((3, 1), (4,))
    (3, 4)
    """
    return lax_shape.broadcast_shapes(*shapes)


def broadcast_to(array: Any, shape: Any, *, out_sharding: Any = None) -> Any:
    """An array repeated to reach a shape. ValueError where it does not broadcast to it.

    >>> import glax.numpy as xp
    >>> xp.broadcast_to(xp.arange(2), (2, 2))
    Array([[0, 1],
           [0, 1]], dtype=int32)
    """
    x, old = shaped("broadcast_to", array)
    new = as_shape(shape, "broadcast_to")
    if len(old) > len(new) or builtins.any(n not in (1, m) for n, m in zip(old, new[len(new) - len(old):])):
        raise ValueError(f"{called('broadcast_to')}: an array of shape {old} does not broadcast to shape {new}")
    return o.broadcast(x, new)


def broadcast_arrays(*args: Any) -> list[Any]:
    """Arrays repeated to reach the shape to which they all broadcast. ValueError where they do not broadcast.

    >>> import glax.numpy as xp
    >>> [x.shape for x in xp.broadcast_arrays(xp.zeros((3, 1)), xp.arange(2))]
    [(3, 2), (3, 2)]
    """
    arrays = [shaped("broadcast_arrays", a)[0] for a in args]
    new = _broadcast_shapes("broadcast_arrays", [a.aval.shape for a in arrays] or [()])
    return [o.broadcast(a, new) for a in arrays]


def atleast_1d(*arys: Any) -> Any:
    """Scalars as vectors of one element; a list of results where several are given.

    >>> import glax.numpy as xp
    >>> xp.atleast_1d(3)
    Array([3], dtype=int32, weak_type=True)
    """
    results = [reshape(a, (1,)) if not shape(a) else asarray(a) for a in arys]
    return results[0] if len(results) == 1 else results


def atleast_2d(*arys: Any) -> Any:
    """Leading dimensions added to reach two.

    >>> import glax.numpy as xp
    >>> xp.atleast_2d(xp.arange(3)).shape
    (1, 3)
    """
    results = [o.expand_dims(asarray(a), tuple(range(builtins.max(0, 2 - ndim(a))))) for a in arys]
    return results[0] if len(results) == 1 else results


def atleast_3d(*arys: Any) -> Any:
    """Dimensions added to reach three: before and after a vector's, after a matrix's.

    >>> import glax.numpy as xp
    >>> xp.atleast_3d(xp.arange(3)).shape
    (1, 3, 1)
    """
    places = {0: (0, 1, 2), 1: (0, 2), 2: (2,)}
    results = [o.expand_dims(asarray(a), places.get(ndim(a), ())) for a in arys]
    return results[0] if len(results) == 1 else results


# ---- joining


def _sequence_of_arrays(name: str, arrays: Any) -> list[Any]:
    if hasattr(arrays, "aval") or isinstance(arrays, np.ndarray):
        if not shape(arrays):
            raise ValueError(f"{name}: a sequence of arrays is needed, got a scalar")
        return lax_shape.unstack(arrays)
    found = list(entries(arrays, name, "arrays", "a sequence of arrays"))
    if not found:
        raise ValueError(f"{called(name)}: at least one array is needed")
    return found


def concatenate(arrays: Any, axis: int | None = 0, dtype: Any = None) -> Any:
    """Arrays joined along an axis, or flattened and joined where axis is None; their dtypes are promoted. Random keys
    are joined with keys only.

    >>> import glax.numpy as xp
    >>> xp.concatenate([xp.arange(2), xp.ones(1)])
    Array([0., 1., 1.], dtype=float32)
    """
    xs = _sequence_of_arrays("concatenate", arrays)
    try:
        flat = xs if axis is not None else [ravel(x) for x in xs]
        promoted = [array(x, dtype) for x in flat] if dtype is not None else promote("concatenate", *flat)
    except TypeError:
        if not all_keys(xs):
            raise
        return on_words(lambda *words: concatenate(words, axis, dtype), *xs)
    xs, axis = promoted, 0 if axis is None else axis
    n = len(shape_of(xs[0]))
    if n == 0:
        raise ValueError(f"{called('concatenate')}: scalars cannot be joined; stack makes an array of them")
    axis = canonical_axis(axis, n, "concatenate")
    return asarray(xs[0]) if len(xs) == 1 else o.concatenate(xs, axis)


def concat(arrays: Sequence[Any], /, *, axis: int | None = 0) -> Any:
    """Arrays joined along an axis. They are flattened first where axis is None.

    >>> import glax.numpy as xp
    >>> xp.concat([xp.zeros((2, 3)), xp.zeros((1, 3))]).shape
    (3, 3)
    """
    return concatenate(arrays, axis)


def stack(arrays: Any, axis: int = 0, out: None = None, dtype: Any = None) -> Any:
    """Arrays of one shape joined along a new axis; their dtypes are promoted. Random keys are joined with keys only.

    >>> import glax.numpy as xp
    >>> xp.stack([xp.arange(2), xp.arange(2)], axis=1)
    Array([[0, 0],
           [1, 1]], dtype=int32)
    """
    xs = _sequence_of_arrays("stack", arrays)
    try:
        xs = [array(x, dtype) for x in xs] if dtype is not None else promote("stack", *xs)
    except TypeError:
        if not all_keys(xs):
            raise
        return on_words(lambda *words: stack(words, axis, out, dtype), *xs)
    shapes = [shape_of(x) for x in xs]
    if builtins.any(s != shapes[0] for s in shapes):
        raise ValueError(f"{called('stack')}: all arrays must have one shape, got {', '.join(map(str, shapes))}")
    return lax_shape.stack(xs, canonical_axis(axis, len(shapes[0]) + 1, "stack"))


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """The slices of an array along an axis. A tuple of arrays that lack the axis.

    >>> import glax.numpy as xp
    >>> xp.unstack(xp.array([[1, 2], [3, 4]]), axis=1)
    (Array([1, 3], dtype=int32), Array([2, 4], dtype=int32))
    """
    x, dims = shaped("unstack", x)
    if not dims:
        raise ValueError("unstack: an array of at least one dimension is needed, got a scalar")
    return tuple(lax_shape.unstack(x, axis))


def vstack(tup: Any, dtype: Any = None) -> Any:
    """Arrays joined along the first axis; vectors are rows.

    >>> import glax.numpy as xp
    >>> xp.vstack([xp.arange(3), xp.arange(3)]).shape
    (2, 3)
    """
    return concatenate([atleast_2d(x) for x in _sequence_of_arrays("vstack", tup)], 0, dtype)


def hstack(tup: Any, dtype: Any = None) -> Any:
    """Arrays joined along the second axis, vectors along their only one.

    >>> import glax.numpy as xp
    >>> xp.hstack([xp.arange(2), xp.array([7])])
    Array([0, 1, 7], dtype=int32)
    """
    xs = [atleast_1d(x) for x in _sequence_of_arrays("hstack", tup)]
    return concatenate(xs, 0 if ndim(xs[0]) == 1 else 1, dtype)


def dstack(tup: Any, dtype: Any = None) -> Any:
    """Arrays joined along the third axis.

    >>> import glax.numpy as xp
    >>> xp.dstack([xp.arange(3), xp.arange(3)]).shape
    (1, 3, 2)
    """
    return concatenate([atleast_3d(x) for x in _sequence_of_arrays("dstack", tup)], 2, dtype)


def column_stack(tup: Any) -> Any:
    """Vectors as the columns of a matrix; matrices are joined as they are.

    >>> import glax.numpy as xp
    >>> xp.column_stack([xp.arange(3), xp.arange(3)]).shape
    (3, 2)
    """
    xs = [asarray(x) for x in _sequence_of_arrays("column_stack", tup)]
    return concatenate([reshape(x, (-1, 1)) if ndim(x) < 2 else x for x in xs], 1)


def append(arr: Any, values: Any, axis: int | None = None) -> Any:
    """Values joined to the end of an array. Both are flattened where axis is None; else they have equal shapes apart
    from the axis.

    >>> import glax.numpy as xp
    >>> xp.append(xp.arange(2), 7)
    Array([0, 1, 7], dtype=int32)
    """
    return concatenate([arr, values], axis)


def block(arrays: Any) -> Any:
    """An array put together from nested lists of blocks: the innermost along the last axis.

    >>> import glax.numpy as xp
    >>> xp.block([[xp.ones((2, 2)), xp.zeros((2, 1))], [xp.zeros((1, 3))]]).shape
    (3, 3)
    """
    def depth(x: Any) -> int:
        return 1 + depth(x[0]) if isinstance(x, list) and x else 0

    def join(x: Any, level: int, rank: int) -> Any:
        if not isinstance(x, list):
            x = asarray(x)
            return o.expand_dims(x, tuple(range(builtins.max(0, rank - ndim(x)))))
        return concatenate([join(item, level + 1, rank) for item in x], axis=-(levels - level))

    levels = depth(arrays)

    def leaves(x: Any) -> list[Any]:
        return [leaf for item in x for leaf in leaves(item)] if isinstance(x, list) else [x]

    rank = builtins.max([levels, *[ndim(x) for x in leaves(arrays)]])
    return join(arrays, 0, rank)


# ---- splitting


def _split(name: str, ary: Any, indices_or_sections: Any, axis: int, equal: bool) -> list[Any]:
    ary, dims = shaped(name, ary)
    axis = canonical_axis(axis, len(dims), name)
    n = dims[axis]
    if isinstance(indices_or_sections, (tuple, list)) or ndim(indices_or_sections):
        cuts = [as_index(c, name, "indices_or_sections") for c in concrete(indices_or_sections, name,
                                                                           "indices_or_sections")]
        cuts = [builtins.min(builtins.max(c + n if c < 0 else c, 0), n) for c in cuts]
    else:
        k = as_index(indices_or_sections, name, "indices_or_sections")
        if k < 1 or (equal and n % k):
            raise ValueError(f"{called(name)}: axis {axis} of size {n} does not split into {k} equal parts")
        small, extra = divmod(n, k)
        cuts = [i * small + builtins.min(i, extra) for i in range(1, k)]
    edges = [0, *cuts, n]
    if edges == sorted(edges):
        return o.split(ary, tuple(b - a for a, b in zip(edges, edges[1:])), axis)
    return [lax_slice(ary, a, builtins.max(a, b), axis) for a, b in zip(edges, edges[1:])]


def lax_slice(x: Any, start: int, stop: int, axis: int) -> Any:
    from ..lax import slice_in_dim
    return slice_in_dim(x, start, stop, axis=axis)


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Pieces of an array along an axis: a number of equal ones, or between the indices given. ValueError where an axis
    does not divide into the number of pieces.

    >>> import glax.numpy as xp
    >>> xp.split(xp.arange(3), [1])
    [Array([0], dtype=int32), Array([1, 2], dtype=int32)]
    """
    return _split("split", ary, indices_or_sections, axis, True)


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Pieces of an array along an axis, nearly equal ones where a number is given. Where the size is no multiple of it,
    the first pieces have one element more.

    >>> import glax.numpy as xp
    >>> [len(x) for x in xp.array_split(xp.arange(5), 3)]
    [2, 2, 1]
    """
    return _split("array_split", ary, indices_or_sections, axis, False)


def vsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """Pieces along the first axis. Arguments are those of ``split``.

    >>> import glax.numpy as xp
    >>> [x.shape for x in xp.vsplit(xp.zeros((4, 2)), 2)]
    [(2, 2), (2, 2)]
    """
    return split(ary, indices_or_sections, 0)


def hsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """Pieces along the second axis, of a vector along its only one. Arguments are those of ``split``.

    >>> import glax.numpy as xp
    >>> [x.shape for x in xp.hsplit(xp.zeros((2, 6)), [1, 3])]
    [(2, 1), (2, 2), (2, 3)]
    """
    return split(ary, indices_or_sections, 0 if ndim(ary) == 1 else 1)


def dsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """Pieces along the third axis. Arguments are those of ``split``.

    >>> import glax.numpy as xp
    >>> [x.shape for x in xp.dsplit(xp.zeros((2, 3, 4)), 2)]
    [(2, 3, 2), (2, 3, 2)]
    """
    return split(ary, indices_or_sections, 2)


# ---- turning


def flip(m: Any, axis: int | Sequence[int] | None = None) -> Any:
    """Axes reversed: all of them, or those given.

    >>> import glax.numpy as xp
    >>> xp.flip(xp.array([[1, 2], [3, 4]]), axis=1).tolist()
    [[2, 1], [4, 3]]
    """
    m, dims = shaped("flip", m)
    axes = canonical_axes(axis, len(dims), "flip")
    return o.rev(m, axes) if axes else m


def fliplr(m: Any) -> Any:
    """The second axis reversed.

    >>> import glax.numpy as xp
    >>> xp.fliplr(xp.array([[1, 2], [3, 4]])).tolist()
    [[2, 1], [4, 3]]
    """
    return flip(m, 1)


def flipud(m: Any) -> Any:
    """The first axis reversed.

    >>> import glax.numpy as xp
    >>> xp.flipud(xp.array([[1, 2], [3, 4]])).tolist()
    [[3, 4], [1, 2]]
    """
    return flip(m, 0)


def rot90(m: Any, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Any:
    """An array turned by k right angles in the plane of two axes, from the first towards the second.

    >>> import glax.numpy as xp
    >>> xp.rot90(xp.array([[1, 2], [3, 4]])).tolist()
    [[2, 4], [1, 3]]
    """
    m, dims = shaped("rot90", m)
    i, j = canonical_axes(pair(axes, "rot90", "axes", "a pair of integers"), len(dims), "rot90", "axes")
    k = as_index(k, "rot90", "k") % 4
    if k == 0:
        return m
    if k == 2:
        return flip(m, (i, j))
    return swapaxes(flip(m, j), i, j) if k == 1 else flip(swapaxes(m, i, j), j)


def roll(a: Any, shift: Any, axis: int | Sequence[int] | None = None) -> Any:
    """Elements moved along axes, what falls off one end coming in at the other; flattened for it where axis is None.

    >>> import glax.numpy as xp
    >>> xp.roll(xp.arange(4), 1)
    Array([3, 0, 1, 2], dtype=int32)
    """
    a, dims = shaped("roll", a)
    if axis is None:
        return o.reshape(roll(ravel(a), shift, 0), dims)
    axes = canonical_axes(axis, len(dims), "roll") if not isinstance(axis, (tuple, list)) else tuple(
        canonical_axis(d, len(dims), "roll") for d in axis)
    shifts = shift if isinstance(shift, (tuple, list)) else (
        [shift] if not shape(shift) else lax_shape.unstack(asarray(shift)))
    if len(shifts) not in (1, len(axes)) and len(axes) != 1:
        raise ValueError(f"roll: shift and axis must have as many entries, got {len(shifts)} and {len(axes)}")
    pairs = list(zip(shifts * len(axes) if len(shifts) == 1 else shifts,
                     axes * len(shifts) if len(axes) == 1 else axes))
    for by, d in pairs:
        a = _roll_one(a, operand(by, "roll", "shift"), d)
    return a


def _roll_one(a: Any, by: Any, axis: int) -> Any:
    from ..ir import Tracer
    dims = shape_of(a)
    n = dims[axis]
    if n == 0:
        return a
    if type(by) is not Tracer:
        if not np.isfinite(np.asarray(by)):
            raise ValueError(f"roll: shift must be finite, got {by}")
        k = int(np.asarray(by)) % n
        parts = [lax_slice(a, n - k, n, axis), lax_slice(a, 0, n - k, axis)]
        return o.concatenate(parts, axis) if k else a
    from ..lax import dynamic_slice_in_dim
    from .arithmetic import remainder
    by = o.convert_element_type(by, dtypes.python_scalar_dtype(int))  # which holds the size
    return dynamic_slice_in_dim(o.concatenate([a, a], axis), n - remainder(by, n), n, axis)


def astype(x: Any, dtype: Any, /, *, copy: bool = False, device: Any = None) -> Any:
    """x converted to a dtype; complex to real keeps the real part.

    >>> import glax.numpy as xp
    >>> xp.astype(xp.array([1.7]), int)
    Array([1], dtype=int32)
    """
    x, _ = shaped("astype", x)
    new = dtypes.python_scalar_dtype(float) if dtype is None else dtype_of(dtype, "astype")
    return x if x.aval.dtype == new and not x.aval.weak_type else o.convert_element_type(x, new, False)
