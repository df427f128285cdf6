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
        axes = _axes_of_leaves(what, in_axes, in_tree, len(leaves))
        # What all calls share is passed as it is, of whatever type, and Python may ask for its value.
        given = leaves if None not in axes else [x for x, d in zip(leaves, axes) if d is not None]
        dims, inner, size = _mapped_types(what, (args, kwargs), leaves, axes, axis_size)
        staged = stage_function(_of_mapped(of_leaves(fun, in_tree), leaves, axes), inner, what,
                                known=[NOT_KNOWN] * len(inner))
        out_dims = _out_dims(what, out_axes, staged)
        asked = out_dims if None not in out_dims else [True if d is None else d for d in out_dims]
        program, found = rewrite.vmap(staged.jaxpr, rewrite.BatchAxis(size, axis_name),
                                      [None] * len(staged.captured) + dims, asked)
        if asked is not out_dims:
            _require_unmapped(what, staged, out_dims, found)
        return tree.unflatten(staged.out_tree, apply_program(program, staged.captured + given))

    return mapped


def _require_axes(what: str, name: str, axes: Any) -> None:
    if type(axes) is int:
        return
    for path, d in tree.flatten_with_path(axes)[0]:
        if not isinstance(d, int) or isinstance(d, bool):
            raise TypeError(f"{what}: {name}{tree.keystr(path)} must be an int or None, got {d!r}")


def _axes_of_leaves(what: str, in_axes: Any, in_tree: tree.PyTreeDef, count: int) -> list[int | None]:
    """The axis, as it was given, of each of the leaves of (args, kwargs)."""
    if type(in_axes) is int and in_axes == 0:
        return [0] * count
    axes = tree.flatten_axes(f"{what}: in_axes", in_tree.children()[0], in_axes)
    return axes + [0] * (count - len(axes))


def _mapped_types(what: str, args: Any, leaves: list[Any], axes: list[int | None],
                  axis_size: int | None) -> tuple[list[int], list[ShapedArray], int]:
    """Of the arguments that are mapped the axis, counted from 0, and the type without it; the size of the axis."""
    shared = None in axes
    avals = leaf_avals(what, args, [0 if d is None else x for x, d in zip(leaves, axes)] if shared else leaves, CALL)
    dims, inner, sizes = [], [], set()
    for position, (d, aval) in enumerate(zip(axes, avals)):
        if d is None:
            continue
        shape = aval.shape
        if not -len(shape) <= d < len(shape):
            raise _out_of_range(what, args, position, d, aval)
        d %= len(shape)
        dims.append(d)
        sizes.add(shape[d])
        inner.append(shaped_array((*shape[:d], *shape[d + 1:]), aval.dtype, aval.weak_type))
    if axis_size is None and len(sizes) == 1:
        return dims, inner, sizes.pop()
    return dims, inner, _asked_size(what, args, avals, axes, axis_size, sizes)


def _out_of_range(what: str, args: Any, position: int, dim: int, aval: ShapedArray) -> ValueError:
    return ValueError(f"{what}: in_axes asks for axis {dim} of {leaf_path(args, position, CALL)}, which has "
                      f"{aval.ndim} dimension{'s' if aval.ndim != 1 else ''} (shape {aval.shape})")


def _asked_size(what: str, args: Any, avals: list[ShapedArray], axes: list[int | None], axis_size: int | None,
                sizes: set[int]) -> int:
    """The size that the caller asked for; an error where none was and the arguments do not have one, or others."""
    if not sizes and axis_size is None:
        raise ValueError(f"{what}: no argument is mapped, so the size of the axis is unknown; give an in_axes that is "
                         f"not None to some argument, or pass axis_size")
    if axis_size is not None and (not isinstance(axis_size, (int, np.integer)) or isinstance(axis_size, bool)):
        raise TypeError(f"{what}: axis_size must be an int, got {axis_size!r} of type {type(axis_size).__name__}")
    if axis_size is not None and axis_size < 0:
        raise ValueError(f"{what}: axis_size must not be negative, got {axis_size}")
    if axis_size is None or sizes - {axis_size}:
        found = "; ".join(f"axis {d % aval.ndim} of {leaf_path(args, i, CALL)}, of shape {aval.shape}, has "
                          f"{aval.shape[d]}" for i, (d, aval) in enumerate(zip(axes, avals)) if d is not None)
        asked = f" (axis_size is {axis_size})" if axis_size is not None else ""
        raise ValueError(f"{what}: mapped axes must have one size{asked}, but {found}")
    return axis_size


def _of_mapped(flat: Callable[..., Any], leaves: list[Any], axes: list[int | None]) -> Callable[..., Any]:
    """A function of all leaves as one of those that are mapped."""
    if None not in axes:
        return flat

    def of_mapped(*given: Any) -> Any:
        rest = iter(given)
        return flat(*[x if d is None else next(rest) for x, d in zip(leaves, axes)])

    return of_mapped


def _out_dims(what: str, out_axes: Any, staged: Staged) -> list[int | None]:
    """Where each output is to have the axis, counted from 0."""
    outs = staged.jaxpr.outs
    if type(out_axes) is int and out_axes == 0:
        return [0] * len(outs)
    dims = []
    for position, (d, atom) in enumerate(zip(tree.flatten_axes(f"{what}: out_axes", staged.out_tree, out_axes), outs)):
        ndim = atom.aval.ndim
        if d is not None and not -ndim - 1 <= d <= ndim:
            raise ValueError(f"{what}: out_axes {d} is out of range for {_output(staged, position)} of {ndim} "
                             f"dimensions before the axis is added")
        dims.append(None if d is None else d % (ndim + 1))
    return dims


def _require_unmapped(what: str, staged: Staged, asked: list[int | None], found: list[int | None]) -> None:
    for position, (d, got) in enumerate(zip(asked, found)):
        if d is None and got is not None:
            raise ValueError(f"{what}: {_output(staged, position)} depends on a mapped input, so its out_axes cannot "
                             f"be None")


def _output(staged: Staged, position: int) -> str:
    """What errors call one of the leaves of the output."""
    path = leaf_path(tree.unflatten(staged.out_tree, range(staged.out_tree.num_leaves)), position)
    return f"output{path}" if path else "the output"
