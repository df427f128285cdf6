"""What the transformations of functions share: flattening, staging, and applying the rewritten program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ._running import asarray, run_program
from .ir import Builder, Jaxpr, aval_of, current_builder, dtypes, is_value, stage, tree
from .ir.staging import avals_of
from .ir.tree import PyTreeDef
from .ir.types import ShapedArray, shaped_array


def function_name(f: Callable[..., Any]) -> str:
    return getattr(f, "__name__", None) or type(f).__name__


def require_callable(what: str, f: Any, argument: str = "") -> None:
    """TypeError unless f is callable; ``argument`` is its name, where ``what`` takes more than one function."""
    if not callable(f):
        place = f" as {argument}" if argument else ""
        raise TypeError(f"{what} takes a function{place}, got {f!r:.200} of type {type(f).__name__}")


def type_of_leaf(x: Any) -> ShapedArray:
    """The type of an array, or of anything with a shape and a dtype."""
    if not is_value(x) and hasattr(x, "shape") and hasattr(x, "dtype"):
        return ShapedArray(x.shape, dtypes.canonicalize(x.dtype), getattr(x, "weak_type", False))
    return aval_of(x)


NOT_KNOWN = Builder("what is not known").add_input(shaped_array((), np.dtype(bool)))
"""Stands for the value of a staged argument, of any type, where others have one."""

CALL = ("args", "kwargs")
"""What errors call the parts of the tree of a call."""


def leaf_avals(what: str, args: Any, leaves: Sequence[Any], parts: Sequence[str] | str = "argument",
               of: Callable[[Any], ShapedArray] = aval_of) -> list[ShapedArray]:
    """The types of the leaves of arguments; TypeError naming by its path one that is no array.

    Args:
        what: what is called.
        args: the arguments, as a tree.
        leaves: its leaves.
        parts: what errors call args; or each entry of it, where it is a tuple of positional and keyword arguments.
        of: what gives the type of a leaf.
    """
    try:
        return avals_of(leaves) if of is aval_of else list(map(of, leaves))
    except (TypeError, ValueError, OverflowError) as error:
        for position, x in enumerate(leaves):
            try:
                of(x)
            except (TypeError, ValueError, OverflowError) as cause:
                raise type(cause)(f"{what}: {leaf_path(args, position, parts)}: {cause}") from None
        raise error


def leaf_path(values: Any, position: int, parts: Sequence[str] | str = "") -> str:
    """Where in a tree one of its leaves is, as text; ``parts`` are as for leaf_avals."""
    path = tree.flatten_with_path(values)[0][position][0]
    return parts + tree.keystr(path) if isinstance(parts, str) else parts[path[0].idx] + tree.keystr(path[1:])


def as_arrays(values: Any) -> Any:
    """A tree with its NumPy arrays and its numbers as Arrays, as a staged function would have them staged."""
    return tree.map_tree(lambda x: asarray(x) if is_value(x) else x, values)


def of_leaves(fun: Callable[..., Any], in_tree: PyTreeDef) -> Callable[..., Any]:
    """fun as a function of the leaves of its arguments; in_tree is that of (args, kwargs)."""
    def flat(*leaves: Any) -> Any:
        args, kwargs = in_tree.unflatten(leaves)
        return fun(*args, **kwargs)

    return flat


class Staged(NamedTuple):
    """A staged function.

    Attributes:
        jaxpr: its program, of the captured values and then the arguments.
        captured: arrays, and tracers of enclosing programs, that the function uses.
        out_tree: the tree of its results.
        aux: with has_aux, what the second part of its results is made of (see unflatten_aux).
    """

    jaxpr: Jaxpr
    captured: list[Any]
    out_tree: PyTreeDef
    aux: Any = None

    @property
    def out_avals(self) -> list[ShapedArray]:
        return self.jaxpr.out_avals


def stage_function(call: Callable[..., Any], avals: Sequence[ShapedArray], what: str,
                   has_aux: bool = False, known: Sequence[Any] | None = None) -> Staged:
    """Stage a function of flat arguments that returns a tree, or a tree and auxiliary data.

    The auxiliary arrays are the program's last outputs. ``known`` are the arguments' values, where Python may ask
    for them.
    """
    out: list[Any] = []

    def flat(*args: Any) -> list[Any]:
        result = call(*args)
        aux_leaves, aux = [], None
        if has_aux:
            result, aux_leaves, aux = _separate_aux(what, result)
        leaves, out_tree = tree.flatten(result)
        _require_values(what, result, leaves)
        out[:] = out_tree, aux
        return leaves + aux_leaves

    jaxpr, captured = stage(flat, avals, what, known)
    return Staged(jaxpr, captured, *out)


def _require_values(what: str, result: Any, leaves: Sequence[Any]) -> None:
    if all(map(is_value, leaves)):
        return
    for path, x in tree.flatten_with_path(result)[0]:
        if not is_value(x):
            raise TypeError(f"{what} must return arrays or numbers, in any tree; output{tree.keystr(path)} is {x!r} of "
                            f"type {type(x).__name__}")


class _Aux(NamedTuple):
    tree: PyTreeDef
    leaves: list[Any]
    staged: list[bool]


def _separate_aux(what: str, result: Any) -> tuple[Any, list[Any], _Aux]:
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        raise TypeError(f"{what} with has_aux=True must return a pair (output, auxiliary data), got "
                        f"{type(result).__name__}{f' of {len(result)}' if isinstance(result, (tuple, list)) else ''}")
    result, aux = result
    leaves, aux_tree = tree.flatten(aux)
    staged = [is_value(x) for x in leaves]
    return result, [x for x, s in zip(leaves, staged) if s], _Aux(aux_tree, leaves, staged)


def unflatten_aux(aux: _Aux, values: Sequence[Any]) -> Any:
    """The auxiliary data, its staged leaves replaced by their values."""
    given = iter(values)
    return tree.unflatten(aux.tree, [next(given) if s else x for x, s in zip(aux.leaves, aux.staged)])


def apply_program(jaxpr: Jaxpr, operands: Sequence[Any]) -> list[Any]:
    """The results of a program: recorded in the function that is being staged, computed where none is."""
    builder = current_builder()
    return run_program(jaxpr, operands) if builder is None else builder.splice(jaxpr, operands)


class NoSuchArgument(TypeError, ValueError):
    """An argument is asked for that a call does not have: JAX raises now the one, now the other of these errors."""


def resolve_argnums(what: str, argnums: Any, count: int) -> tuple[int, ...]:
    """Positions of arguments, from an int or a sequence of ints, negative ones counted from the end."""
    try:
        given = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    except TypeError:
        raise TypeError(f"{what}: argnums must be an int or a tuple of ints, got {argnums!r:.200}") from None
    for i in given:
        if not isinstance(i, int) or isinstance(i, bool):
            raise TypeError(f"{what}: argnums must be an int or a tuple of ints, got {argnums!r}")
        if not -count <= i < count:
            raise NoSuchArgument(f"{what}: argnums {argnums!r} names argument {i}, but the call has {count} positional "
                                 f"argument{'s' if count != 1 else ''}")
    resolved = tuple(i % count for i in given)
    if len(set(resolved)) != len(resolved):
        raise ValueError(f"{what}: argnums {argnums!r} names an argument twice")
    return resolved
