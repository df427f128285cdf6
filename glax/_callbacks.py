"""Calling Python functions from staged programs: pure_callback and io_callback."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ._calls import CALL, function_name, leaf_avals, require_callable, type_of_leaf
from .ir import ShapedArray, bind, tree
from .ir import ops as o
from .ir.functions import PythonFunction

VMAP_METHODS = (None, "sequential", "expand_dims", "broadcast_all")


def flat_caller(fun: Callable[..., Any], in_tree: Any, out_tree: Any, what: str) -> Callable[..., list[Any]]:
    """fun as a function from flat arrays to flat arrays."""
    def call(*arrays: Any) -> list[Any]:
        args, kwargs = tree.unflatten(in_tree, arrays)
        out = fun(*args, **kwargs)
        if out_tree is None:
            return []
        leaves, got = tree.flatten(out)
        if got != out_tree:
            raise ValueError(f"{what}: the function must return the tree that was promised: "
                             f"{tree.explain_mismatch('result', out_tree, got)}")
        return leaves

    call.__qualname__ = function_name(fun)
    call.__module__ = getattr(fun, "__module__", None) or __name__
    return call


def bind_callback(what: str, fun: Callable[..., Any], result_shape_dtypes: Any, args: Sequence[Any],
                  kwargs: dict[str, Any], make: Callable[[PythonFunction, tuple[ShapedArray, ...]], Any]) -> Any:
    """Stage a call of a function of trees, and give its results as the tree that was promised."""
    require_callable(what, fun)
    leaves, in_tree = tree.flatten((tuple(args), kwargs))
    leaf_avals(what, (tuple(args), kwargs), leaves, CALL)
    promised, out_tree = tree.flatten(result_shape_dtypes)
    types = tuple(leaf_avals(what, (result_shape_dtypes,), promised, ("result_shape_dtypes",), type_of_leaf))
    function = PythonFunction.of(flat_caller(fun, in_tree, out_tree, what))
    return tree.unflatten(out_tree, bind(make(function, types), *leaves))


def pure_callback(callback: Callable[..., Any], result_shape_dtypes: Any, *args: Any, vmap_method: str | None = None,
                  **kwargs: Any) -> Any:
    """Call a Python function from a staged program, for its results only.

    Args:
        callback: a function of NumPy arrays (in the trees of the arguments) whose results depend on them only. It may
            be called any number of times, or not at all where the results are not used.
        result_shape_dtypes: a tree of arrays or ShapeDtypeStructs like the results.
        args, kwargs: its arguments.
        vmap_method: what vmap does: "sequential" calls it for each index; "expand_dims" and "broadcast_all" call it
            once with a leading axis, which is of size 1 or repeated for arguments that are not mapped.

    Returns:
        The results. The function's own exceptions reach the caller.

    Raises:
        TypeError, ValueError: the function returned other shapes, dtypes or another tree than was promised.

    >>> import numpy as np, glax
    >>> shape = glax.ShapeDtypeStruct((), "float32")
    >>> glax.jit(lambda x: glax.pure_callback(lambda x: np.sinc(x).astype("float32"), shape, x) + 1)(0.)
    Array(2., dtype=float32)
    """
    what = f"pure_callback of {function_name(callback)}"
    if vmap_method not in VMAP_METHODS:
        raise ValueError(f"{what}: vmap_method must be one of {VMAP_METHODS}, got {vmap_method!r}")
    return bind_callback(what, callback, result_shape_dtypes, args, kwargs,
                         lambda function, types: o.PureCallback(function, types, vmap_method))


def io_callback(callback: Callable[..., Any], result_shape_dtypes: Any, *args: Any, ordered: bool = False,
                **kwargs: Any) -> Any:
    """Call a Python function that reads or changes the world outside, from a staged program.

    It is called exactly once each time the program comes by, also where its results are not used.

    Args:
        callback: a function of NumPy arrays.
        result_shape_dtypes: a tree of arrays or ShapeDtypeStructs like the results; None for no results.
        args, kwargs: its arguments.
        ordered: whether the program says that calls keep their order. (On the CPU they do in any case.)

    >>> import glax
    >>> from glax.experimental import io_callback
    >>> seen = []
    >>> glax.jit(lambda x: io_callback(lambda x: seen.append(float(x)), None, x))(3.)
    >>> seen
    [3.0]
    """
    what = f"io_callback of {function_name(callback)}"
    return bind_callback(what, callback, result_shape_dtypes, args, kwargs,
                         lambda function, types: o.IoCallback(function, types, ordered))
