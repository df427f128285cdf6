"""Vectorising functions: vmap."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from . import rewrite
from ._calls import (
    CALL,
    NOT_KNOWN,
    Staged,
    apply_program,
    function_name,
    leaf_avals,
    leaf_path,
    of_leaves,
    require_callable,
    stage_function,
)
from .ir import tree
from .ir.types import ShapedArray, shaped_array


def vmap(fun: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0, axis_name: str | None = None,
         axis_size: int | None = None) -> Callable[..., Any]:
    """A function that does, in one call, what fun does for each index of an axis of its arguments.

    Args:
        fun: a function of arrays, or trees of arrays.
        in_axes: which axis of the arguments to map over; None for an argument that all calls share, which fun gets as
            it is, and which may be of any type. An int serves all
            arguments; a tuple has one entry an argument, each an int, None, or a tree of them that is a prefix of
            the argument's tree.
        out_axes: where the axis is put in the outputs: an int, None (for outputs that do not depend on a mapped
            argument), or a tree that is a prefix of the output's. Negative numbers count from the end.
        axis_name: a name for the axis, kept for collectives, of which there are none yet.
        axis_size: the size of the axis, needed where no argument has it.

    Returns:
        The function. Its keyword arguments are mapped over their axis 0.

    Raises:
        ValueError: sizes of mapped axes differ, an axis is out of range, or a tree of axes does not fit.

    >>> import glax, glax.numpy as gnp
    >>> glax.vmap(gnp.dot, in_axes=(0, None))(gnp.ones((2, 3)), gnp.arange(3.))
    Array([3., 3.], dtype=float32)
    """
    require_callable("vmap", fun)
    what = f"vmap of {function_name(fun)}"
    if isinstance(in_axes, list):
        in_axes = tuple(in_axes)
    if not isinstance(in_axes, (int, tuple, type(None))):
        raise TypeError(f"{what}: in_axes must be an int, None, or a tuple with an entry per argument, got "
                        f"{type(in_axes).__name__}")
    _require_axes(what, "in_axes", in_axes)
    _require_axes(what, "out_axes", out_axes)

    @wraps(fun, assigned=("__name__", "__qualname__", "__module__", "__doc__"), updated=())
    def mapped(*args: Any, **kwargs: Any) -> Any:
        if isinstance(in_axes, tuple) and len(in_axes) != len(args):
            raise ValueError(f"{what}: in_axes has {len(in_axes)} entries, but the call has {len(args)} positional "
                             f"arguments")
        leaves, in_tree = tree.flatten((args, kwargs))
        given = tree.flatten_axes(f"{what}: in_axes", in_tree.children()[0], in_axes)
        given = given + [0] * (len(leaves) - len(given))
        # What all calls share is passed as it is, of whatever type, and Python may ask for its value.
        mapped_leaves = [x for x, d in zip(leaves, given) if d is not None]
        avals = _mapped_avals(what, (args, kwargs), leaves, given)
        dims = [None if d is None else _resolved(what, (args, kwargs), i, d, avals[i]) for i, d in enumerate(given)]
        size = _axis_size(what, (args, kwargs), avals, dims, axis_size)

        inner = [_without_axis(a, d) for a, d in zip(avals, dims) if d is not None]
        staged = stage_function(_of_mapped(of_leaves(fun, in_tree), leaves, dims), inner, what,
                                known=[NOT_KNOWN] * len(inner))
        out_dims = _out_dims(what, out_axes, staged)
        in_dims = [d for d in dims if d is not None]
        program, found = rewrite.vmap(staged.jaxpr, rewrite.BatchAxis(size, axis_name),
                                      [None] * len(staged.captured) + in_dims,
                                      [True if d is None else d for d in out_dims])
        for position, (asked, got) in enumerate(zip(out_dims, found)):
            if asked is None and got is not None:
                raise ValueError(f"{what}: {_output(staged, position)} depends on a mapped input, so its out_axes "
                                 f"cannot be None")
        results = apply_program(program, [*staged.captured, *mapped_leaves])
        return tree.unflatten(staged.out_tree, results)

    return mapped


def _require_axes(what: str, name: str, axes: Any) -> None:
    if type(axes) is int:
        return
    for path, d in tree.flatten_with_path(axes)[0]:
        if not isinstance(d, int) or isinstance(d, bool):
            raise TypeError(f"{what}: {name}{tree.keystr(path)} must be an int or None, got {d!r}")


def _resolved(what: str, args: Any, position: int, dim: int, aval: ShapedArray) -> int:
    if not -aval.ndim <= dim < aval.ndim:
        raise ValueError(f"{what}: in_axes asks for axis {dim} of {leaf_path(args, position, CALL)}, which has "
                         f"{aval.ndim} dimension{'s' if aval.ndim != 1 else ''} (shape {aval.shape})")
    return dim % aval.ndim


def _axis_size(what: str, args: Any, avals: list[ShapedArray], dims: list[int | None], axis_size: int | None) -> int:
    sizes = {i: avals[i].shape[d] for i, d in enumerate(dims) if d is not None}
    if not sizes and axis_size is None:
        raise ValueError(f"{what}: no argument is mapped, so the size of the axis is unknown; give an in_axes that is "
                         f"not None to some argument, or pass axis_size")
    if axis_size is not None and (not isinstance(axis_size, (int, np.integer)) or isinstance(axis_size, bool)):
        raise TypeError(f"{what}: axis_size must be an int, got {axis_size!r} of type {type(axis_size).__name__}")
    wanted = axis_size if axis_size is not None else next(iter(sizes.values()))
    if any(n != wanted for n in sizes.values()):
        found = "; ".join(f"axis {dims[i]} of {leaf_path(args, i, CALL)}, of shape {avals[i].shape}, has {n}"
                          for i, n in sizes.items())
        asked = f" (axis_size is {axis_size})" if axis_size is not None else ""
        raise ValueError(f"{what}: mapped axes must have one size{asked}, but {found}")
    return wanted


def _mapped_avals(what: str, args: Any, leaves: list[Any], given: list[int | None]) -> list[ShapedArray | None]:
    """The types of the arguments that are mapped, None for others."""
    mapped = leaves if None not in given else [0 if d is None else x for x, d in zip(leaves, given)]
    avals = leaf_avals(what, args, mapped, CALL)
    return [None if d is None else a for a, d in zip(avals, given)]


def _of_mapped(flat: Callable[..., Any], leaves: list[Any], dims: list[int | None]) -> Callable[..., Any]:
    """A function of all leaves as one of those that are mapped."""
    if None not in dims:
        return flat

    def of_mapped(*given: Any) -> Any:
        rest = iter(given)
        return flat(*[x if d is None else next(rest) for x, d in zip(leaves, dims)])

    return of_mapped


def _without_axis(aval: ShapedArray, dim: int) -> ShapedArray:
    return shaped_array((*aval.shape[:dim], *aval.shape[dim + 1:]), aval.dtype, aval.weak_type)


def _out_dims(what: str, out_axes: Any, staged: Staged) -> list[int | None]:
    given = tree.flatten_axes(f"{what}: out_axes", staged.out_tree, out_axes)
    dims = []
    for position, (d, aval) in enumerate(zip(given, staged.out_avals)):
        if d is not None and not -aval.ndim - 1 <= d <= aval.ndim:
            raise ValueError(f"{what}: out_axes {d} is out of range for {_output(staged, position)} of {aval.ndim} "
                             f"dimensions before the axis is added")
        dims.append(None if d is None else d % (aval.ndim + 1))
    return dims


def _output(staged: Staged, position: int) -> str:
    """What errors call one of the leaves of the output."""
    path = leaf_path(tree.unflatten(staged.out_tree, range(staged.out_tree.num_leaves)), position)
    return f"output{path}" if path else "the output"
