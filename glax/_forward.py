"""Forward-mode derivatives of functions: jvp and linearize."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import rewrite
from ._calls import (
    Staged,
    apply_program,
    function_name,
    leaf_avals,
    leaf_path,
    require_callable,
    stage_function,
    unflatten_aux,
)
from .ir import aval_of, dtypes, tree
from .ir import ops as o
from .ir.types import ShapedArray

FLOAT0 = dtypes.float0


def zero_tangent(aval: ShapedArray) -> Any:
    """Zeros for a tangent: of float0 where the primal is not inexact."""
    if not aval.is_inexact:
        return np.zeros(aval.shape, FLOAT0)
    return o.full(aval.shape, 0, aval.dtype, aval.weak_type)


def spread(nonzero: Sequence[bool], given: Sequence[Any], avals: Sequence[ShapedArray]) -> list[Any]:
    """Tangents of all outputs, of which only the nonzero ones were computed."""
    values = iter(given)
    return [next(values) if flag else zero_tangent(aval) for flag, aval in zip(nonzero, avals)]


def check_tangents(name: str, tangents: Any, leaves: Sequence[Any], avals: Sequence[ShapedArray],
                   of: str = "a primal") -> None:
    """Raise unless the leaves of a tree of tangents, called by a name, fit primals (or outputs) of these types."""
    for position, (aval, tangent) in enumerate(zip(avals, leaves)):
        try:
            check_tangent(aval, tangent, of)
        except (TypeError, ValueError, OverflowError) as error:
            raise type(error)(f"{name}{leaf_path(tangents, position)}{error}") from None


def check_tangent(aval: ShapedArray, tangent: Any, of: str) -> None:
    """Raise, for a text that goes on after its name, unless a tangent fits ``of``, which is of a type.

    Raises:
        ValueError: it is of another shape.
        TypeError: it is of another dtype, or no array.
    """
    try:
        got = tangent if isinstance(tangent, np.ndarray) else aval_of(tangent)
        dtype = dtypes.tangent_dtype(aval.dtype)
        fits = got.dtype == dtype or (dtype != FLOAT0 and _weak_scalar_fits(tangent, dtype))
    except (TypeError, ValueError, OverflowError) as error:
        raise type(error)(f": {error}") from None
    if got.shape != aval.shape:
        raise ValueError(f" must have the shape {aval.shape} of its {of.split()[1]}, got {got.shape}")
    if not fits:
        raise TypeError(f" must have dtype {_dtype_name(dtype)} for {of} of dtype {aval.dtype.name}, got "
                        f"{_dtype_name(got.dtype)}")


def _dtype_name(dtype: np.dtype) -> str:
    return "float0" if dtype == FLOAT0 else dtype.name


def _weak_scalar_fits(tangent: Any, dtype: np.dtype) -> bool:
    aval = aval_of(tangent)
    if isinstance(tangent, np.ndarray) and dtypes.canonicalize(tangent.dtype) == dtype:
        return True
    return aval.weak_type and aval.is_inexact and dtypes.result_type((aval.dtype, True), (dtype, False))[0] == dtype


def as_tangent(tangent: Any, aval: ShapedArray) -> Any:
    got = aval_of(tangent)
    return tangent if got.dtype == aval.dtype else o.convert_element_type(tangent, aval.dtype)


def jvp(fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False) -> Any:
    """The value of a function and its derivative along a direction (forward mode).

    Args:
        fun: a function of arrays, or trees of arrays.
        primals: a tuple of arguments.
        tangents: a tuple of directions, like the arguments in tree and shapes. The direction of an integer argument
            has dtype float0.
        has_aux: whether fun returns a pair of the output and auxiliary data, which is not differentiated.

    Returns:
        The output and its derivative, and the auxiliary data if any.

    Raises:
        TypeError, ValueError: the tangents do not match the primals.

    >>> import glax, glax.numpy as gnp
    >>> glax.jvp(gnp.sin, (0.,), (2.,))
    (Array(0., dtype=float32, weak_type=True), Array(2., dtype=float32, weak_type=True))
    """
    require_callable("jvp", fun)
    return push(f"jvp of {function_name(fun)}", fun, primals, tangents, has_aux)


def push(what: str, fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool) -> Any:
    """As jvp, for a transformation that errors call ``what``."""
    for name, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, (tuple, list)):
            raise TypeError(f"{what}: {name} must be a tuple or a list, got {type(given).__name__}")
    primals, tangents = tuple(primals), tuple(tangents)
    leaves, in_tree = tree.flatten(primals)
    tangent_leaves, tangent_tree = tree.flatten(tangents)
    if in_tree != tangent_tree:
        raise TypeError(f"{what}: tangents must have the tree of primals: "
                        f"{tree.explain_mismatch('tangents', primals, tangents)}")
    avals = leaf_avals(what, primals, leaves, "primals")
    check_tangents(f"{what}: tangents", tangents, tangent_leaves, avals)
    staged = stage_function(lambda *xs: fun(*tree.unflatten(in_tree, xs)), avals, what, has_aux, leaves)
    nonzero = [a.is_inexact for a in avals]
    program, out_nonzero = rewrite.jvp(staged.jaxpr, [False] * len(staged.captured) + nonzero)
    moving = [as_tangent(t, a) for t, a, flag in zip(tangent_leaves, avals, nonzero) if flag]
    results = apply_program(program, [*staged.captured, *leaves, *moving])
    return _jvp_results(staged, results, out_nonzero, has_aux)


def _jvp_results(staged: Staged, results: Sequence[Any], out_nonzero: Sequence[bool], has_aux: bool) -> Any:
    total, count = len(staged.jaxpr.outs), staged.out_tree.num_leaves
    out_tangents = spread(out_nonzero, results[total:], staged.out_avals)[:count]
    out = tree.unflatten(staged.out_tree, results[:count])
    out_tangent = tree.unflatten(staged.out_tree, out_tangents)
    return (out, out_tangent, unflatten_aux(staged.aux, results[count:total])) if has_aux else (out, out_tangent)


def linearize(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The value of a function at a point, and its derivative there as a linear function.

    Calling the linear function costs no more than the derivative itself: what it needs of the point was computed.

    Args:
        fun: a function of arrays, or trees of arrays.
        primals: the point: arguments of fun.
        has_aux: whether fun returns a pair of the output and auxiliary data.

    Returns:
        The output and a function from tangents of the arguments to the tangent of the output; with has_aux, also the
        auxiliary data.

    Raises:
        TypeError: an argument, or a part of the output, is not an array or a number; or the linear function is given
            tangents of another tree or dtype than the arguments.
        ValueError: the linear function is given a tangent of another shape.

    >>> import glax, glax.numpy as gnp
    >>> y, f_jvp = glax.linearize(gnp.sin, 0.)
    >>> f_jvp(3.)
    Array(3., dtype=float32, weak_type=True)
    """
    require_callable("linearize", fun)
    what = f"linearize of {function_name(fun)}"
    leaves, in_tree = tree.flatten(primals)
    avals = leaf_avals(what, primals, leaves, "primals")
    staged = stage_function(lambda *xs: fun(*tree.unflatten(in_tree, xs)), avals, what, has_aux, leaves)
    nonzero = [a.is_inexact for a in avals]
    count = staged.out_tree.num_leaves
    linearized = rewrite.linearize(staged.jaxpr, [False] * len(staged.captured) + nonzero)
    results = apply_program(linearized.primal, [*staged.captured, *leaves])
    total = len(staged.jaxpr.outs)
    residuals = results[total:]
    out_avals = staged.out_avals

    def linear_function(*tangents: Any) -> Any:
        given, tangent_tree = tree.flatten(tangents)
        if tangent_tree != in_tree:
            raise TypeError(f"{what}: tangents must have the tree of the arguments: "
                            f"{tree.explain_mismatch('tangents', primals, tangents)}")
        check_tangents(f"{what}: tangents", tangents, given, avals)
        moving = [as_tangent(t, a) for t, a, flag in zip(given, avals, nonzero) if flag]
        outs = apply_program(linearized.linear, [*residuals, *moving])
        return tree.unflatten(staged.out_tree, spread(linearized.nonzero_outputs, outs, out_avals)[:count])

    out = tree.unflatten(staged.out_tree, results[:count])
    if has_aux:
        return out, linear_function, unflatten_aux(staged.aux, results[count:total])
    return out, linear_function
