"""Reverse-mode derivatives of functions: vjp, grad, value_and_grad and linear_transpose."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Any, NamedTuple

import numpy as np

from . import rewrite
from ._calls import (
    apply_program,
    function_name,
    leaf_avals,
    require_callable,
    resolve_argnums,
    stage_function,
    type_of_leaf,
    unflatten_aux,
)
from ._forward import as_tangent, check_tangents, spread
from .ir import Jaxpr, ShapedArray, bind, dtypes, splice, stage, tree
from .ir import ops as o
from .ir.tree import PyTreeDef
from .tree_util import Partial


class _Backward(NamedTuple):
    """A backward program with its trees and types: a function of residuals and a cotangent.

    It is compared by content, so that equal functions pulled back twice are the same static part of a pytree.
    """

    program: Jaxpr
    out_tree: PyTreeDef
    out_avals: tuple[ShapedArray, ...]
    nonzero_outputs: tuple[bool, ...]
    in_tree: PyTreeDef
    in_avals: tuple[ShapedArray, ...]
    nonzero_inputs: tuple[bool, ...]
    what: str

    def __call__(self, residuals: Sequence[Any], cotangent: Any) -> tuple:
        leaves, ct_tree = tree.flatten(cotangent)
        if ct_tree != self.out_tree:
            raise ValueError(f"{self.what}: the cotangent must have the tree of the output: "
                             f"{tree.explain_mismatch('cotangent', self.out_tree, ct_tree)}")
        try:
            check_tangents(f"{self.what}: the cotangent", cotangent, leaves, self.out_avals, "an output")
        except (TypeError, OverflowError) as error:
            raise ValueError(str(error)) from None
        return tree.unflatten(self.in_tree, self.flat(residuals, leaves))

    def flat(self, residuals: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        moving = [as_tangent(ct, a) for ct, a, flag in zip(cotangents, self.out_avals, self.nonzero_outputs) if flag]
        return spread(self.nonzero_inputs, apply_program(self.program, [*residuals, *moving]), self.in_avals)


class Pulled(NamedTuple):
    """A function's output at a point, and its reverse there."""

    leaves: list[Any]
    aux: Any
    backward: _Backward
    residuals: list[Any]

    @property
    def out(self) -> Any:
        return tree.unflatten(self.backward.out_tree, self.leaves)


def pull(what: str, fun: Callable[..., Any], args: Sequence[Any], has_aux: bool, parts: Sequence[str] | str = "args",
         ) -> Pulled:
    """Stage a function at a point, split it into forward and backward, and run forward.

    Errors call the transformation ``what``, and the arguments what leaf_avals does by ``parts``.
    """
    leaves, in_tree = tree.flatten(tuple(args))
    avals = leaf_avals(what, args, leaves, parts)
    staged = stage_function(lambda *xs: fun(*tree.unflatten(in_tree, xs)), avals, what, has_aux, leaves)
    nonzero = [a.is_inexact for a in avals]
    count, total = staged.out_tree.num_leaves, len(staged.jaxpr.outs)
    program = _without_derivatives_from(count, staged.jaxpr)
    pullback = rewrite.vjp(program, [False] * len(staged.captured) + nonzero)
    results = apply_program(pullback.forward, [*staged.captured, *leaves])
    backward = _Backward(pullback.backward, staged.out_tree, tuple(staged.out_avals[:count]),
                         tuple(pullback.nonzero_outputs[:count]), in_tree, tuple(avals), tuple(nonzero), what)
    aux = unflatten_aux(staged.aux, results[count:total]) if has_aux else None
    return Pulled(results[:count], aux, backward, results[total:])


def _without_derivatives_from(count: int, jaxpr: Jaxpr) -> Jaxpr:
    """The program with its outputs from a position on, the auxiliary ones, taken out of differentiation."""
    if len(jaxpr.outs) == count:
        return jaxpr

    def stopped(*args: Any) -> list[Any]:
        outs = splice(jaxpr, args)
        return outs[:count] + [bind(o.StopGradient(), x) for x in outs[count:]]

    return stage(stopped, jaxpr.in_avals, "auxiliary data")[0]


def vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The value of a function at a point, and its vector-Jacobian product there (reverse mode).

    Args:
        fun: a function of arrays, or trees of arrays.
        primals: the point: arguments of fun.
        has_aux: whether fun returns a pair of the output and auxiliary data, which is not differentiated.

    Returns:
        The output and a function from a cotangent, like the output in tree and shapes, to a tuple of cotangents of
        the arguments; with has_aux, also the auxiliary data. The function is a pytree of its residuals.

    Raises:
        TypeError: an argument, or a part of the output, is not an array or a number.
        ValueError: the function is given a cotangent that is not like the output; the message names the place.

    >>> import glax
    >>> y, f_vjp = glax.vjp(lambda x, y: x * y, 2., 3.)
    >>> [float(ct) for ct in f_vjp(1.)]
    [3.0, 2.0]
    """
    require_callable("vjp", fun)
    pulled = pull(f"vjp of {function_name(fun)}", fun, primals, has_aux, "primals")
    back = Partial(pulled.backward, pulled.residuals)
    return (pulled.out, back, pulled.aux) if has_aux else (pulled.out, back)


def value_and_grad(fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False,
                   holomorphic: bool = False, allow_int: bool = False) -> Callable[..., Any]:
    """A function that returns the value and the gradient of a scalar function.

    Args:
        fun: a function whose output is a scalar (or a pair of one and auxiliary data, with has_aux).
        argnums: the positions of the arguments to differentiate by. An int gives a gradient like that argument, a
            sequence a tuple of gradients.
        has_aux: whether fun returns auxiliary data.
        holomorphic: whether fun is holomorphic: complex argument and output, and a complex derivative.
        allow_int: whether integer arguments are allowed; their gradients are of dtype float0.

    Returns:
        A function of the same arguments that returns (value, gradient), or ((value, aux), gradient).

    >>> import glax
    >>> value, slope = glax.value_and_grad(lambda x: x ** 3)(2.)
    >>> float(value), float(slope)
    (8.0, 12.0)
    """
    return _value_and_grad("value_and_grad", fun, argnums, has_aux, holomorphic, allow_int)


def grad(fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False,
         holomorphic: bool = False, allow_int: bool = False) -> Callable[..., Any]:
    """A function that returns the gradient of a scalar function.

    Args:
        fun: a function whose output is a scalar (or a pair of one and auxiliary data, with has_aux).
        argnums: the positions of the arguments to differentiate by. An int gives a gradient like that argument, a
            sequence a tuple of gradients.
        has_aux: whether fun returns auxiliary data; the result is then (gradient, aux).
        holomorphic: whether fun is holomorphic: complex argument and output, and a complex derivative.
        allow_int: whether integer arguments are allowed; their gradients are of dtype float0.

    Raises:
        TypeError: an argument is not of a floating-point dtype, or the output is not a scalar of one.

    >>> import glax
    >>> float(glax.grad(lambda x: x ** 3)(2.))
    12.0
    """
    both = _value_and_grad("grad", fun, argnums, has_aux, holomorphic, allow_int)

    @wraps(fun, assigned=("__name__", "__qualname__", "__module__", "__doc__"), updated=())
    def gradient(*args: Any, **kwargs: Any) -> Any:
        value, slope = both(*args, **kwargs)
        return (slope, value[1]) if has_aux else slope

    return gradient


def _value_and_grad(name: str, fun: Callable[..., Any], argnums: int | Sequence[int], has_aux: bool,
                    holomorphic: bool, allow_int: bool) -> Callable[..., Any]:
    require_callable(name, fun)
    what = f"{name} of {function_name(fun)}"

    @wraps(fun, assigned=("__name__", "__qualname__", "__module__", "__doc__"), updated=())
    def value_and_gradient(*args: Any, **kwargs: Any) -> Any:
        positions = resolve_argnums(what, argnums, len(args))
        chosen = [args[i] for i in positions]
        _check_arguments(what, positions, chosen, holomorphic, allow_int)
        pulled = pull(what, partial_function(fun, positions, args, kwargs), chosen, has_aux)
        aval = _check_scalar_output(what, pulled.backward, holomorphic)
        one = np.ones((), aval.dtype)
        slopes = tree.unflatten(pulled.backward.in_tree, pulled.backward.flat(pulled.residuals, [one]))
        slope = slopes[0] if isinstance(argnums, int) else tuple(slopes)
        return ((pulled.out, pulled.aux), slope) if has_aux else (pulled.out, slope)

    return value_and_gradient


def partial_function(fun: Callable[..., Any], positions: Sequence[int], args: Sequence[Any],
                     kwargs: dict[str, Any]) -> Callable[..., Any]:
    """The function of the arguments at some positions, the others given."""
    def of_chosen(*chosen: Any) -> Any:
        full = list(args)
        for i, x in zip(positions, chosen):
            full[i] = x
        return fun(*full, **kwargs)

    return of_chosen


def chosen_types(what: str, positions: Sequence[int], chosen: Sequence[Any]) -> Iterator[tuple[str, np.dtype]]:
    """For each array among the chosen arguments, how errors begin that say its dtype, and the dtype."""
    names = [f"args[{i}]" for i in positions]
    leaves = tree.flatten_with_path(tuple(chosen))[0]
    for (path, _), aval in zip(leaves, leaf_avals(what, tuple(chosen), [x for _, x in leaves], names)):
        yield f"{what}: {names[path[0].idx]}{tree.keystr(path[1:])} has dtype {aval.dtype.name}", aval.dtype


def _check_arguments(what: str, positions: Sequence[int], chosen: Sequence[Any], holomorphic: bool,
                     allow_int: bool) -> None:
    for where, dtype in chosen_types(what, positions, chosen):
        if holomorphic and not dtypes.is_complex(dtype):
            raise TypeError(f"{where}; with holomorphic=True arguments must be complex")
        if not dtypes.is_inexact(dtype) and not allow_int:
            raise TypeError(f"{where}; a gradient is by floating-point arguments. Convert it, or pass "
                            f"allow_int=True for a gradient of dtype float0")


def _check_scalar_output(what: str, backward: _Backward, holomorphic: bool) -> ShapedArray:
    if backward.out_tree.num_leaves != 1 or not tree.is_leaf_def(backward.out_tree):
        raise TypeError(f"{what}: the function must return a scalar, got the tree {backward.out_tree}; with auxiliary "
                        f"data, pass has_aux=True")
    (aval,) = backward.out_avals
    if aval.shape != ():
        raise TypeError(f"{what}: the function must return a scalar, got an array of shape {aval.shape}; sum it, or "
                        f"use jacrev")
    if holomorphic and not dtypes.is_complex(aval.dtype):
        raise TypeError(f"{what}: with holomorphic=True the output must be complex, got {aval.dtype.name}")
    if not holomorphic and not dtypes.is_float(aval.dtype):
        hint = "; for a holomorphic function pass holomorphic=True" if dtypes.is_complex(aval.dtype) else ""
        raise TypeError(f"{what}: the output must be real and floating-point, got {aval.dtype.name}{hint}")
    return aval


def linear_transpose(fun: Callable[..., Any], *primals: Any) -> Callable[[Any], tuple]:
    """The transpose of a linear function.

    Args:
        fun: a function that is linear in all its arguments together.
        primals: arguments, or ShapeDtypeStructs: only their types matter.

    Returns:
        A function from a cotangent of the output to a tuple of cotangents of the arguments.

    >>> import glax
    >>> [float(x) for x in glax.linear_transpose(lambda x, y: 2. * x - y, 1., 1.)(3.)]
    [6.0, -3.0]
    """
    require_callable("linear_transpose", fun)
    what = f"linear_transpose of {function_name(fun)}"
    leaves, in_tree = tree.flatten(primals)
    avals = leaf_avals(what, primals, leaves, of=type_of_leaf)
    if not all(a.is_inexact for a in avals):
        raise TypeError(f"{what}: arguments must be floating-point, got {[a.short() for a in avals]}")
    staged = stage_function(lambda *xs: fun(*tree.unflatten(in_tree, xs)), avals, what)
    captured = len(staged.captured)
    program, _ = rewrite.transpose(staged.jaxpr, [False] * captured + [True] * len(avals))
    backward = _Backward(program, staged.out_tree, tuple(staged.out_avals), (True,) * len(staged.out_avals), in_tree,
                         tuple(avals), (True,) * len(avals), what)
    return Partial(backward, staged.captured)
