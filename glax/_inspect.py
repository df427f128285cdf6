"""Looking at functions without running them: make_jaxpr and eval_shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np

from ._calls import CALL, function_name, leaf_avals, of_leaves, require_callable, stage_function, type_of_leaf
from ._promotion import as_index
from ._static import as_tuple, check_positions, require_hashable, resolve_positions, split_static
from .ir import ClosedJaxpr, ShapedArray, tree


class ShapeDtypeStruct:
    """The shape and dtype of an array, without its values.

    Args:
        shape: a sequence of ints.
        dtype: anything np.dtype takes.
        weak_type: whether the dtype is that of a Python scalar.

    >>> import glax
    >>> glax.ShapeDtypeStruct((2, 3), "float32")
    ShapeDtypeStruct(shape=(2, 3), dtype=float32)
    """

    __slots__ = ("shape", "dtype", "weak_type")

    def __init__(self, shape: Sequence[int], dtype: Any, *, weak_type: bool = False):
        if dtype is None:
            raise ValueError("ShapeDtypeStruct: dtype must not be None")
        if isinstance(shape, str | bytes) or not hasattr(shape, "__iter__"):
            raise TypeError(f"ShapeDtypeStruct: shape must be a sequence of integers, got {shape!r:.200} of type "
                            f"{type(shape).__name__}")
        self.shape = tuple([as_index(n, "ShapeDtypeStruct", "shape") for n in shape])
        try:
            self.dtype = np.dtype(dtype)
        except TypeError:
            raise TypeError(f"ShapeDtypeStruct: dtype must be a dtype, got {dtype!r:.200} of type "
                            f"{type(dtype).__name__}") from None
        self.weak_type = weak_type

    @property
    def size(self) -> int:
        return ShapedArray(self.shape, self.dtype).size

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a ShapeDtypeStruct without dimensions")
        return self.shape[0]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShapeDtypeStruct):
            return NotImplemented
        return (self.shape, self.dtype, self.weak_type) == (other.shape, other.dtype, other.weak_type)

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype, self.weak_type))

    def __repr__(self) -> str:
        weak = ", weak_type=True" if self.weak_type else ""
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype.name}{weak})"


def make_jaxpr(fun: Callable[..., Any], static_argnums: int | Sequence[int] = (),
               return_shape: bool = False) -> Callable[..., Any]:
    """A function that returns the program of fun for given arguments.

    Args:
        fun: a function of arrays, or trees of arrays.
        static_argnums: positions of arguments that are passed to fun as they are.
        return_shape: whether to return also a tree of the output's ShapeDtypeStructs.

    Returns:
        A function of arguments (or ShapeDtypeStructs) that returns a ClosedJaxpr.

    Raises:
        TypeError: an argument, or a part of the output, is not an array or a number.
        NonHashableStaticError: a static argument cannot be hashed.

    >>> import glax, glax.numpy as gnp
    >>> glax.make_jaxpr(lambda x: gnp.sin(x) * 2)(1.)
    { lambda ; a:f32*[]. let b:f32*[] = sin a c:f32*[] = mul b 2.0:f32*[] in (c,) }
    """
    require_callable("make_jaxpr", fun)
    what = f"make_jaxpr of {function_name(fun)}"
    static = as_tuple(what, "static_argnums", static_argnums, int)
    check_positions(what, "static_argnums", fun, static)

    @wraps(fun, assigned=("__name__", "__qualname__", "__module__", "__doc__"), updated=())
    def jaxpr_maker(*args: Any, **kwargs: Any) -> Any:
        for i in resolve_positions(what, "static_argnums", static, len(args)):
            require_hashable(what, f"at position {i}", args[i])
        call, dynamic = split_static(what, fun, static, args)
        leaves, in_tree = tree.flatten((dynamic, kwargs))
        avals = leaf_avals(what, (dynamic, kwargs), leaves, CALL, type_of_leaf)
        staged = stage_function(of_leaves(call, in_tree), avals, what)
        closed = ClosedJaxpr(staged.jaxpr, staged.captured)
        if not return_shape:
            return closed
        return closed, tree.unflatten(staged.out_tree, [shape_of(a) for a in staged.out_avals])

    return jaxpr_maker


def shape_of(aval: ShapedArray) -> ShapeDtypeStruct:
    return ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak_type)


def eval_shape(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The shapes and dtypes of what a function returns, without computing anything.

    Args:
        fun: a function of arrays, or trees of arrays.
        args, kwargs: arguments, or anything with a shape and a dtype in their places.

    Returns:
        The output's tree of ShapeDtypeStructs.

    >>> import glax, glax.numpy as gnp
    >>> glax.eval_shape(gnp.dot, glax.ShapeDtypeStruct((2, 3), "float32"), gnp.ones((3, 4)))
    ShapeDtypeStruct(shape=(2, 4), dtype=float32)
    """
    require_callable("eval_shape", fun)
    what = f"eval_shape of {function_name(fun)}"
    leaves, in_tree = tree.flatten((args, kwargs))
    avals = leaf_avals(what, (args, kwargs), leaves, CALL, type_of_leaf)
    staged = stage_function(of_leaves(fun, in_tree), avals, what)
    return tree.unflatten(staged.out_tree, [shape_of(a) for a in staged.out_avals])
