"""Jacobians and Hessians: jacfwd, jacrev and hessian."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, wraps
from math import prod
from typing import Any

import numpy as np

from ._calls import function_name, require_callable, resolve_argnums
from ._forward import push
from ._reverse import chosen_types, partial_function, pull
from ._vmap import vmap
from .ir import aval_of, dtypes, tree
from .ir import ops as o


def jacfwd(fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False,
           holomorphic: bool = False) -> Callable[..., Any]:
    """The Jacobian of a function, column by column, in forward mode: best where it is tall.

    Args:
        fun: a function of arrays, or trees of arrays.
        argnums: the positions of the arguments to differentiate by.
        has_aux: whether fun returns a pair of the output and auxiliary data.
        holomorphic: whether fun is holomorphic.

    Returns:
        A function of the same arguments that returns, for each array of the output, the tree of arguments with arrays
        of the output's shape followed by the argument's.

    >>> import glax, glax.numpy as gnp
    >>> glax.jacfwd(lambda x: x ** 2)(gnp.arange(3.))
    Array([[0., 0., 0.],
           [0., 2., 0.],
           [0., 0., 4.]], dtype=float32)
    """
    return _forward("jacfwd", fun, argnums, has_aux, holomorphic)


def _forward(name: str, fun: Callable[..., Any], argnums: int | Sequence[int], has_aux: bool,
             holomorphic: bool) -> Callable[..., Any]:
    require_callable(name, fun)
    what = f"{name} of {function_name(fun)}"

    @wraps(fun, assigned=("__name__", "__qualname__", "__module__", "__doc__"), updated=())
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        positions = resolve_argnums(what, argnums, len(args))
        chosen = tuple(args[i] for i in positions)
        _check_arguments(what, positions, chosen, holomorphic, forward=True, allow_int=False)
        of_chosen = partial_function(fun, positions, args, kwargs)
        basis, leaves, in_tree = _standard_basis(chosen)

        def along(direction: Any) -> tuple[Any, Any]:
            _, *rest = push(what, of_chosen, chosen, direction, has_aux)
            return tuple(rest)

        tangent, *aux = vmap(along, out_axes=(-1, None) if has_aux else (-1,))(basis)
        _check_outputs(what, tangent, holomorphic, forward=True)
        jac = tree.map_tree(lambda y: _columns(y, leaves, in_tree), tangent)
        jac = _as_argnums(jac, tangent, isinstance(argnums, int))
        return (jac, aux[0]) if has_aux else jac

    return jacobian


def jacrev(fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False,
           holomorphic: bool = False, allow_int: bool = False) -> Callable[..., Any]:
    """The Jacobian of a function, row by row, in reverse mode: best where it is wide.

    Args:
        fun: a function of arrays, or trees of arrays.
        argnums: the positions of the arguments to differentiate by.
        has_aux: whether fun returns a pair of the output and auxiliary data.
        holomorphic: whether fun is holomorphic.
        allow_int: whether integer arguments are allowed; their derivatives are of dtype float0.

    Returns:
        A function of the same arguments that returns, for each array of the output, the tree of arguments with arrays
        of the output's shape followed by the argument's.

    >>> import glax, glax.numpy as gnp
    >>> glax.jacrev(lambda x: x.sum() * x)(gnp.arange(2.))
    Array([[1., 0.],
           [1., 2.]], dtype=float32)
    """
    return _reverse("jacrev", fun, argnums, has_aux, holomorphic, allow_int)


def _reverse(name: str, fun: Callable[..., Any], argnums: int | Sequence[int], has_aux: bool, holomorphic: bool,
             allow_int: bool) -> Callable[..., Any]:
    require_callable(name, fun)
    what = f"{name} of {function_name(fun)}"

    @wraps(fun, assigned=("__name__", "__qualname__", "__module__", "__doc__"), updated=())
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        positions = resolve_argnums(what, argnums, len(args))
        chosen = tuple(args[i] for i in positions)
        _check_arguments(what, positions, chosen, holomorphic, forward=False, allow_int=allow_int)
        pulled = pull(what, partial_function(fun, positions, args, kwargs), chosen, has_aux,
                      [f"args[{i}]" for i in positions])
        _check_outputs(what, pulled.out, holomorphic, forward=False)
        basis, leaves, out_tree = _standard_basis(pulled.out)
        rows = vmap(partial(pulled.backward, pulled.residuals))(basis)
        rows = rows[0] if isinstance(argnums, int) else rows
        jac = _transposed(rows, leaves, out_tree)
        return (jac, pulled.aux) if has_aux else jac

    return jacobian


def hessian(fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False,
            holomorphic: bool = False) -> Callable[..., Any]:
    """The Hessian of a function: the forward-mode Jacobian of its reverse-mode Jacobian.

    Args:
        fun: a function of arrays, or trees of arrays.
        argnums: the positions of the arguments to differentiate by.
        has_aux: whether fun returns a pair of the output and auxiliary data.
        holomorphic: whether fun is holomorphic.

    >>> import glax, glax.numpy as gnp
    >>> glax.hessian(lambda x: (x ** 3).sum())(gnp.arange(2.))
    Array([[0., 0.],
           [0., 6.]], dtype=float32)
    """
    return _forward("hessian", _reverse("hessian", fun, argnums, has_aux, holomorphic, False), argnums, has_aux,
                    holomorphic)


def _check_arguments(what: str, positions: Sequence[int], chosen: Sequence[Any], holomorphic: bool, forward: bool,
                     allow_int: bool) -> None:
    for where, dtype in chosen_types(what, positions, chosen):
        _check_kind(where, dtype, holomorphic, may_be_complex=not forward)
        if not dtypes.is_inexact(dtype) and not allow_int:
            raise TypeError(f"{where}; a Jacobian is by floating-point arguments")


def _check_outputs(what: str, out: Any, holomorphic: bool, forward: bool) -> None:
    for path, x in tree.flatten_with_path(out)[0]:
        dtype = x.dtype if getattr(x, "dtype", None) == dtypes.float0 else aval_of(x).dtype
        where = f"{what}: output{tree.keystr(path)} has dtype {dtype.name}"
        _check_kind(where, dtype, holomorphic, may_be_complex=forward)
        if not forward and not dtypes.is_inexact(dtype):
            raise TypeError(f"{where}; a Jacobian is of floating-point outputs")


def _check_kind(where: str, dtype: np.dtype, holomorphic: bool, may_be_complex: bool) -> None:
    if holomorphic and not dtypes.is_complex(dtype):
        raise TypeError(f"{where}; with holomorphic=True it must be complex")
    if not holomorphic and dtypes.is_complex(dtype) and not may_be_complex:
        raise TypeError(f"{where}; for a holomorphic function pass holomorphic=True")


def _standard_basis(values: Any) -> tuple[Any, list[Any], Any]:
    """For all elements of a tree of arrays, a tree that is 1 there and 0 elsewhere, stacked along a first axis."""
    leaves, treedef = tree.flatten(values)
    avals = [aval_of(x) for x in leaves]
    total = sum(a.size for a in avals)
    start, parts = 0, []
    for aval in avals:
        part = np.zeros((total, aval.size), aval.dtype)
        part[np.arange(start, start + aval.size), np.arange(aval.size)] = 1
        parts.append(part.reshape(total, *aval.shape))
        start += aval.size
    return tree.unflatten(treedef, parts), leaves, treedef


def _pieces(x: Any, leaves: Sequence[Any], axis: int) -> list[Any]:
    """An array cut along an axis into the elements of each leaf."""
    sizes = tuple(prod(aval_of(leaf).shape) for leaf in leaves)
    return o.split(x, sizes, axis) if len(sizes) > 1 else [x]


def _columns(y: Any, leaves: Sequence[Any], in_tree: Any) -> Any:
    shape = aval_of(y).shape[:-1]
    pieces = _pieces(y, leaves, len(shape))
    return tree.unflatten(in_tree, [o.reshape(p, (*shape, *aval_of(x).shape)) for p, x in zip(pieces, leaves)])


def _as_argnums(jac: Any, out: Any, single: bool) -> Any:
    """Out of a tuple of one argument, the argument, where argnums was an int."""
    if not single:
        return jac
    out_tree = tree.flatten(out)[1]
    return tree.unflatten(out_tree, [parts[0] for parts in out_tree.flatten_up_to(jac)])


def _transposed(rows: Any, leaves: Sequence[Any], out_tree: Any) -> Any:
    """From a tree of arguments stacked over all outputs' elements to a tree of outputs of trees of arguments."""
    arg_leaves, arg_tree = tree.flatten(rows)
    cut = [_pieces(x, leaves, 0) for x in arg_leaves]
    per_output = []
    for position, leaf in enumerate(leaves):
        shape = aval_of(leaf).shape
        arrays = [o.reshape(parts[position], (*shape, *aval_of(parts[position]).shape[1:])) for parts in cut]
        per_output.append(tree.unflatten(arg_tree, arrays))
    return tree.unflatten(out_tree, per_output)


jacobian = jacrev
