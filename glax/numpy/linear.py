"""Products of vectors, matrices and arrays of more dimensions."""

from __future__ import annotations

from typing import Any

from .._promotion import as_index, broadcast_shapes, canonical_axes, promote, require_no_out, shape_of, strong, type_of
from ..ir import IncompatibleShapesError
from ..ir import ops as o
from ..lax._names import dtype_of
from ..lax.products import dot_general, precision_name
from .creation import asarray


def matmul(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None,
           out_sharding: Any = None) -> Any:
    """The product of matrices in the last two dimensions, the others broadcast; vectors are rows on the left, columns
    on the right.

    Args:
        a, b: arrays of at least one dimension.
        precision: a lax.Precision, its name, or a pair of them.
        preferred_element_type: the dtype to sum in, which is that of the result.

    Returns:
        The product. ValueError for scalars, TypeError where the inner sizes differ.

    >>> import glax.numpy as xp
    >>> xp.matmul(xp.eye(2), xp.array([1.0, 2.0]))
    Array([1., 2.], dtype=float32)
    """
    for position, x in enumerate((a, b)):
        if not type_of("matmul", x, position).shape:
            raise ValueError(f"matmul: argument {position} must have a dimension or more, got a scalar; use multiply")
    a, b = promote("matmul", a, b)
    a_shape, b_shape = shape_of(a), shape_of(b)
    if a_shape[-1] != b_shape[-2 if len(b_shape) > 1 else 0]:
        raise IncompatibleShapesError(f"matmul: inner sizes must be equal, got shapes {a_shape} and {b_shape}")
    if len(a_shape) <= 2 and len(b_shape) <= 2:
        numbers = (((len(a_shape) - 1,), (0,)), ((), ()))
        return dot_general(a, b, numbers, precision, preferred_element_type)
    return _batched_matmul(a, b, precision, preferred_element_type)


def _batched_matmul(a: Any, b: Any, precision: Any, preferred: Any) -> Any:
    """A batch dimension that one side lacks, or has with size 1, is a free dimension of the other side."""
    a_shape, b_shape = shape_of(a), shape_of(b)
    a_batch, b_batch = a_shape[:-2], b_shape[:-2]
    batch = broadcast_shapes("matmul", (a_batch, b_batch))
    n = len(batch)
    a_sizes, b_sizes = ((1,) * (n - len(s)) + s for s in (a_batch, b_batch))
    shared = [d for d in range(n) if a_sizes[d] == b_sizes[d]]

    def without_broadcast(x: Any, shape: tuple[int, ...], own: tuple[int, ...], sizes: tuple[int, ...]) -> tuple[Any,
                                                                                                                 list]:
        """x without batch dimensions of size 1 that the other side has larger, and the batch dimensions left."""
        kept = [d for d in range(n) if d in shared or sizes[d] != 1]
        present = [d for d in kept if d >= n - len(own)]
        kept_sizes = [sizes[d] for d in present]
        return o.reshape(x, (*kept_sizes, *shape[len(own):])), present

    shared = [d for d in shared if d >= n - min(len(a_batch), len(b_batch))]
    a, a_dims = without_broadcast(a, a_shape, a_batch, a_sizes)
    b, b_dims = without_broadcast(b, b_shape, b_batch, b_sizes)
    a_contract, b_contract = len(shape_of(a)) - 1, len(b_dims)
    numbers = (((a_contract,), (b_contract,)),
               (tuple(a_dims.index(d) for d in shared), tuple(b_dims.index(d) for d in shared)))
    result = dot_general(a, b, numbers, precision, preferred)
    order = [*shared, *[d for d in a_dims if d not in shared], *["row"][: len(a_shape) > 1],
             *[d for d in b_dims if d not in shared], *["column"][: len(b_shape) > 1]]
    wanted = [d for d in range(n) if d in order]
    wanted += [x for x in ("row", "column") if x in order]
    result = o.transpose(result, tuple(order.index(d) for d in wanted))
    tail = shape_of(result)[len(wanted) - len([x for x in wanted if isinstance(x, str)]):]
    return o.reshape(result, (*batch, *tail))


def dot(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None, out_sharding: Any = None) -> Any:
    """The sum of products over a's last and b's last but one dimension (or only one); of scalars, the product.

    >>> import glax.numpy as xp
    >>> xp.dot(xp.arange(3), xp.arange(3))
    Array(5, dtype=int32)
    """
    a, b = promote("dot", a, b)
    a_shape, b_shape = shape_of(a), shape_of(b)
    if not a_shape or not b_shape:
        result = o.mul(a, b)
        if preferred_element_type is None:
            return result
        return strong(result, dtype_of(preferred_element_type, "dot", "preferred_element_type"))
    contract = (len(a_shape) - 1,), (max(0, len(b_shape) - 2),)
    if a_shape[-1] != b_shape[contract[1][0]]:
        raise IncompatibleShapesError(f"dot: inner sizes must be equal, got shapes {a_shape} and {b_shape}")
    return dot_general(a, b, (contract, ((), ())), precision, preferred_element_type)


def vdot(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None) -> Any:
    """The sum of products of flattened arrays, the first one conjugated.

    >>> import glax.numpy as xp
    >>> xp.vdot(xp.array([1j, 2]), xp.array([1j, 3]))
    Array(7.+0.j, dtype=complex64)
    """
    from .arithmetic import conjugate
    a, b = (o.reshape(x, (x.aval.size,)) for x in (asarray(conjugate(a)), asarray(b)))
    return dot(a, b, precision=precision, preferred_element_type=preferred_element_type)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1, precision: Any = None, preferred_element_type: Any = None) -> Any:
    """The sum of products along an axis, the first array conjugated, the other dimensions broadcast.

    >>> import glax.numpy as xp
    >>> xp.vecdot(xp.array([[1, 2], [3, 4]]), xp.array([1, 10]))
    Array([21, 43], dtype=int32)
    """
    from .arithmetic import conjugate
    from .shaping import broadcast_arrays, moveaxis
    x1, x2 = promote("vecdot", conjugate(x1), x2)
    x1, x2 = (moveaxis(x, axis, -1) for x in (x1, x2))
    if shape_of(x1)[-1] != shape_of(x2)[-1]:
        raise ValueError(f"vecdot: sizes of axis {axis} must be equal, got {shape_of(x1)[-1]} and {shape_of(x2)[-1]}")
    x1, x2 = broadcast_arrays(x1, x2)
    batch = tuple(range(len(shape_of(x1)) - 1))
    last = (len(batch),)
    return dot_general(x1, x2, ((last, last), (batch, batch)), precision, preferred_element_type)


def _require_dimensions(name: str, *operands: tuple[Any, int]) -> None:
    for position, (x, least) in enumerate(operands):
        shape = type_of(name, x, position).shape
        if len(shape) < least:
            raise ValueError(f"{name}: argument {position} must have at least {least} dimensions, got shape {shape}")


def matvec(x1: Any, x2: Any, /) -> Any:
    """The product of matrices and vectors, the other dimensions broadcast. ValueError where there are too few. Shapes
    (..., m, n) and (..., n) give (..., m).

    >>> import glax.numpy as xp
    >>> xp.matvec(xp.array([[1, 2], [3, 4]]), xp.array([1, 10]))
    Array([21, 43], dtype=int32)
    """
    _require_dimensions("matvec", (x1, 2), (x2, 1))
    return matmul(x1, o.expand_dims(asarray(x2), (len(shape_of(x2)),)))[..., 0]


def vecmat(x1: Any, x2: Any, /) -> Any:
    """The product of vectors, conjugated, and matrices, the other dimensions broadcast. ValueError where there are too
    few. Shapes (..., n) and (..., n, m) give (..., m).

    >>> import glax.numpy as xp
    >>> xp.vecmat(xp.array([1, 10]), xp.array([[1, 2], [3, 4]]))
    Array([31, 42], dtype=int32)
    """
    from .arithmetic import conjugate
    _require_dimensions("vecmat", (x1, 1), (x2, 2))
    x1 = asarray(conjugate(x1))
    return matmul(o.expand_dims(x1, (len(shape_of(x1)) - 1,)), x2)[..., 0, :]


def tensordot(a: Any, b: Any, axes: Any = 2, *, precision: Any = None, preferred_element_type: Any = None,
              out_sharding: Any = None) -> Any:
    """The sum of products over axes: the last n of a and first n of b, or a pair of axes or of sequences of them.

    >>> import glax.numpy as xp
    >>> xp.tensordot(xp.ones((2, 3)), xp.ones((3, 2)), 1).shape
    (2, 2)
    """
    a, b = promote("tensordot", a, b)
    a_ndim, b_ndim = len(shape_of(a)), len(shape_of(b))
    if isinstance(axes, (tuple, list)):
        if len(axes) != 2:
            raise ValueError(f"tensordot: axes must be a number or a pair, got {axes!r}")
        left, right = (tuple(x) if isinstance(x, (tuple, list)) else (x,) for x in axes)
    else:
        n = as_index(axes, "tensordot", "axes")
        if not 0 <= n <= min(a_ndim, b_ndim):
            raise ValueError(f"tensordot: axes={n} does not fit arrays of {a_ndim} and {b_ndim} dimensions")
        left, right = tuple(range(a_ndim - n, a_ndim)), tuple(range(n))
    if len(left) != len(right):
        raise ValueError(f"tensordot: as many axes of a as of b are needed, got {left} and {right}")
    contract = canonical_axes(left, a_ndim, "tensordot", "axes"), canonical_axes(right, b_ndim, "tensordot", "axes")
    return dot_general(a, b, (contract, ((), ())), precision, preferred_element_type)


def inner(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None) -> Any:
    """The sum of products over the last dimensions. TypeError where their sizes differ.

    >>> import glax.numpy as xp
    >>> xp.inner(xp.array([[1, 2], [3, 4]]), xp.array([1, 10]))
    Array([21, 43], dtype=int32)
    """
    a, b = promote("inner", a, b)
    if not shape_of(a) or not shape_of(b):
        return o.mul(a, b)
    return tensordot(a, b, (-1, -1), precision=precision, preferred_element_type=preferred_element_type)


def outer(a: Any, b: Any, out: None = None) -> Any:
    """The products of each element of one flattened array with each of another.

    >>> import glax.numpy as xp
    >>> xp.outer(xp.arange(2), xp.arange(2))
    Array([[0, 0],
           [0, 1]], dtype=int32)
    """
    a, b = (asarray(x) for x in promote("outer", a, b))
    rows, columns = a.aval.size, b.aval.size
    shape = (rows, columns)
    return o.mul(o.broadcast_in_dim(o.reshape(a, (rows,)), shape, (0,)),
                 o.broadcast_in_dim(o.reshape(b, (columns,)), shape, (1,)))


def kron(a: Any, b: Any) -> Any:
    """The Kronecker product: each element of a times all of b, as a block. Shapes are multiplied dimension by
    dimension, leading ones of size 1 being added to the array that has fewer.

    >>> import glax.numpy as xp
    >>> xp.kron(xp.array([1, 10]), xp.array([1, 2]))
    Array([ 1,  2, 10, 20], dtype=int32)
    """
    a, b = (asarray(x) for x in promote("kron", a, b))
    n = max(len(a.aval.shape), len(b.aval.shape))
    a_shape, b_shape = ((1,) * (n - len(x.aval.shape)) + x.aval.shape for x in (a, b))
    spread = tuple(size for pair in zip(a_shape, b_shape) for size in pair)
    parts = (o.broadcast_in_dim(o.reshape(x, s), spread, tuple(range(first, 2 * n, 2)))
             for x, s, first in ((a, a_shape, 0), (b, b_shape, 1)))
    return o.reshape(o.mul(*parts), tuple(i * j for i, j in zip(a_shape, b_shape)))


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
    """The cross product of vectors of 2 or 3 components along an axis. A missing third component counts as 0; of two
    vectors of 2 components, the third component of the result is given alone.

    >>> import glax.numpy as xp
    >>> xp.cross(xp.array([1, 0, 0]), xp.array([0, 1, 0]))
    Array([0, 0, 1], dtype=int32)
    """
    from .shaping import moveaxis, stack
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = promote("cross", a, b)
    a, b = moveaxis(a, axisa, -1), moveaxis(b, axisb, -1)
    sizes = shape_of(a)[-1], shape_of(b)[-1]
    if not set(sizes) <= {2, 3}:
        raise ValueError(f"cross: vectors must have 2 or 3 components, got {sizes}")
    p, q = ([x[..., i] if i < n else None for i in range(3)] for x, n in zip((a, b), sizes))

    def minor(i: int, j: int) -> Any:
        first = None if p[i] is None or q[j] is None else p[i] * q[j]
        second = None if p[j] is None or q[i] is None else p[j] * q[i]
        if first is None:
            return -second
        return first if second is None else first - second

    if sizes == (2, 2):
        return minor(0, 1)
    return moveaxis(stack([minor(1, 2), minor(2, 0), minor(0, 1)], -1), -1, axisc)


# ---- einsum


def einsum(subscripts: Any, /, *operands: Any, out: None = None, optimize: Any = "auto", precision: Any = None,
           preferred_element_type: Any = None, _dot_general: Any = None, out_sharding: Any = None) -> Any:
    """Sums of products by Einstein's convention.

    Args:
        subscripts: a letter for each dimension of each operand, and after ``->`` those of the result; ``...`` stands
            for dimensions that are broadcast. Without ``->`` the result has the letters that occur once, in order.
            Operands may also be followed by lists of ints, as in NumPy.
        operands: arrays.
        optimize: the order of contraction: True or 'auto', 'greedy', 'optimal', False (from left to right), or a path.
        precision: a lax.Precision, its name, or a pair of them.

    Returns:
        The result. ValueError for malformed subscripts and sizes that differ.

    >>> import glax.numpy as xp
    >>> xp.einsum('ij,j->i', xp.ones((2, 3)), xp.arange(3.0))
    Array([3., 3.], dtype=float32)
    """
    require_no_out("einsum", out)
    from .einsum_contraction import contract
    precision_name(precision, "einsum")
    return contract(subscripts, operands, optimize, precision, preferred_element_type)


def einsum_path(subscripts: Any, /, *operands: Any, optimize: Any = "auto") -> tuple[list[Any], str]:
    """The order in which einsum contracts its operands, and a description of its cost. Both are those of
    numpy.einsum_path.

    >>> import glax.numpy as xp
    >>> xp.einsum_path("ij,jk,k", xp.ones((2, 2)), xp.ones((2, 2)), xp.ones(2))[0]
    ['einsum_path', (1, 2), (0, 1)]
    """
    from .einsum_contraction import path_of
    return path_of(subscripts, operands, optimize)

