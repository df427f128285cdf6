"""Choosing among functions: cond and switch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._calls import Staged, function_name, leaf_avals, leaf_path, require_callable, stage_function
from .._promotion import type_of
from ..ir import ShapedArray, dtypes, is_value, tree
from ..ir import ops as o
from ..ir.config import config
from ._arguments import as_result, entries
from ._staging import adapts, at_users_line, is_known, join_captures, join_types, with_output_types


class _NotGiven:
    def __repr__(self) -> str:
        return "<not given>"


NOT_GIVEN = _NotGiven()
_INT32 = np.dtype(np.int32)


def cond(pred: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any], *operands: Any,
         operand: Any = NOT_GIVEN) -> Any:
    """The result of one of two functions, as a predicate says; only that one runs.

    Where vmap maps the predicate both run for all rows, and each row takes its own result. The function that a row
    does not take has no part in its derivative, even where that would be infinite or NaN.

    Args:
        pred: a scalar; a number is true where it is not 0.
        true_fun, false_fun: functions of the operands. Their results must agree in tree, shapes and dtypes.
        operands: arrays, or trees of arrays.
        operand: one operand, by keyword.

    Raises:
        TypeError: pred is not a scalar, or the results do not agree.

    >>> from glax import lax
    >>> lax.cond(True, lambda x: x + 1., lambda x: x, 1.)
    Array(2., dtype=float32, weak_type=True)
    """
    require_callable("cond", true_fun, "true_fun")
    require_callable("cond", false_fun, "false_fun")
    operands = _all_operands("cond", operands, operand)
    aval = type_of("cond", pred)
    if aval.shape != () or dtypes.kind(aval.dtype) not in "biuf":
        raise TypeError(f"cond: pred must be a scalar, a bool or a real number, got {aval.short()}{at_users_line()}")
    if config.disable_jit and is_known(pred):
        return (true_fun if pred else false_fun)(*operands)
    chosen = pred if aval.dtype == bool else o.ne(pred, np.zeros((), aval.dtype)[()])
    index = np.int32(chosen) if isinstance(chosen, (bool, np.bool_)) else o.convert_element_type(chosen, _INT32)
    return _choose("cond", ("false_fun", "true_fun"), index, (false_fun, true_fun), operands)


def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any, operand: Any = NOT_GIVEN) -> Any:
    """The result of one of several functions, as an index says; only that one runs.

    Args:
        index: an integer scalar. Below 0 it chooses the first function, beyond the end the last.
        branches: functions of the operands. Their results must agree in tree, shapes and dtypes.
        operands: arrays, or trees of arrays.
        operand: one operand, by keyword.

    Raises:
        TypeError: index is not an integer scalar, or the results do not agree.
        ValueError: there are no branches.

    >>> from glax import lax
    >>> [int(lax.switch(i, [lambda: 1, lambda: 2, lambda: 3])) for i in (-4, 1, 9)]
    [1, 2, 3]
    """
    branches = entries(branches, "switch", "branches", "a sequence of functions")
    for i, f in enumerate(branches):
        require_callable("switch", f, f"branches[{i}]")
    if not branches:
        raise ValueError("switch: branches must hold at least one function")
    operands = _all_operands("switch", operands, operand)
    aval = type_of("switch", index)
    if aval.shape != () or not dtypes.is_integer(aval.dtype):
        raise TypeError(f"switch: index must be an integer scalar, got {aval.short()}{at_users_line()}")
    last = len(branches) - 1
    if last == 0:
        return tree.map_tree(_as_given, branches[0](*tree.map_tree(_as_given, operands)))
    if config.disable_jit and is_known(index):
        return branches[min(max(int(index), 0), last)](*operands)
    names = [f"branch {i}" for i in range(len(branches))]
    return _choose("switch", names, _as_int32(index, aval, last), branches, operands)


def _as_given(leaf: Any) -> Any:
    return as_result(leaf) if is_value(leaf) else leaf


def _as_int32(index: Any, aval: ShapedArray, last: int) -> Any:
    """An index as an int32, limited first where it would not fit."""
    if type(index) is int:
        return np.int32(min(max(index, 0), last))
    if aval.dtype == _INT32:
        return index
    kind = aval.dtype.type
    limited = o.clamp(kind(0), index, kind(min(last, int(dtypes.iinfo(aval.dtype).max))))
    return o.convert_element_type(limited, _INT32)


def _all_operands(what: str, operands: tuple, operand: Any) -> tuple:
    if operand is NOT_GIVEN:
        return operands
    if operands:
        raise TypeError(f"{what}: operand by keyword was given together with {len(operands)} positional operands")
    return (operand,)


def _choose(what: str, names: Sequence[str], index: Any, funs: Sequence[Callable[..., Any]], operands: tuple) -> Any:
    leaves, in_tree = tree.flatten(operands)
    avals = leaf_avals(what, operands, leaves)
    staged = [stage_function(lambda *xs, f=f: f(*tree.unflatten(in_tree, xs)), avals,
                             f"{name} of {what} ({function_name(f)})") for name, f in zip(names, funs)]
    out_tree = staged[0].out_tree
    for name, part in zip(names, staged):
        if part.out_tree != out_tree:
            where = tree.explain_mismatch("output", out_tree, part.out_tree)
            raise TypeError(f"{what}: {names[0]} and {name} must return one tree; from the first to the second: "
                            f"{where or f'{out_tree} became {part.out_tree}'}{at_users_line()}")
    types = [_joined_output(what, names, staged, i) for i in range(out_tree.num_leaves)]
    jaxprs, captured = join_captures([s._replace(jaxpr=with_output_types(s.jaxpr, types)) for s in staged])
    return tree.unflatten(out_tree, o.cond(jaxprs, index, [*captured, *leaves]))


def _joined_output(what: str, names: Sequence[str], staged: Sequence[Staged], position: int) -> ShapedArray:
    """The type of an output; TypeError where two functions give types of which neither gives way."""
    found = [part.out_avals[position] for part in staged]
    joined = join_types(found)
    if joined is not None and all(adapts(a, joined) for a in found):
        return joined
    out_tree = staged[0].out_tree
    other = next(i for i, a in enumerate(found) if a.shape != found[0].shape or a.dtype != found[0].dtype)
    path = leaf_path(tree.unflatten(out_tree, range(out_tree.num_leaves)), position)
    raise TypeError(f"{what}: functions must return equal types, but output{path} of {names[0]} is {found[0].short()} "
                    f"and that of {names[other]} is {found[other].short()}{at_users_line()}")
