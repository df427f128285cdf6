"""Loops: scan, map, while_loop and fori_loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isqrt
from typing import Any

from .._calls import Staged, function_name, leaf_avals, require_callable, stage_function
from .._checkpoint import checkpoint
from .._promotion import as_index, type_of
from .._running import asarray
from .._vmap import vmap
from ..ir import Jaxpr, ShapedArray, Tracer, aval_of, current_builder, dtypes, shaped_array, splice, tree
from ..ir import ops as o
from ..ir.config import config
from ..ir.staging import user_source
from ..rewrite.programs import program_of
from ._conditionals import cond
from ._staging import at_users_line, cast_to, is_known, stage_body

Function = Callable[..., Any]


def scan(f: Function, init: Any, xs: Any = None, length: int | None = None, reverse: bool = False,
         unroll: int | bool = 1) -> tuple[Any, Any]:
    """Apply a function along the leading axis of arrays, with a carry that goes from step to step.

    Compiling takes as long for a thousand steps as for one. Reverse mode keeps, of each step, what the derivative of
    a step needs and is not at hand anyway.

    Args:
        f: a function (carry, x) -> (carry, y). The carry keeps its tree, shapes and dtypes. One that starts with a
            narrower or weak dtype, such as the int 0 with sums of floats, is promoted first.
        init: the carry for the first step: an array, or a tree of arrays.
        xs: an array, or a tree of arrays, of one leading size; None for a function of the carry alone.
        length: how many steps there are, needed where xs has no arrays.
        reverse: whether to start with the last slice of xs, and to fill ys from its end.
        unroll: how many steps are written out in each turn of the compiled loop; True for all.

    Returns:
        The carry after the last step, and the ys of all steps, stacked along a new leading axis.

    Raises:
        TypeError: f returns no pair, or a carry of another tree or type.
        ValueError: sizes differ, or there is no telling how many steps there are.

    >>> import glax.numpy as gnp
    >>> from glax import lax
    >>> lax.scan(lambda total, x: (total + x, total), 0., gnp.arange(4.))
    (Array(6., dtype=float32), Array([0., 0., 1., 3.], dtype=float32))
    """
    require_callable("scan", f, "f")
    return _scan(f"scan of {function_name(f)}", "carry", f, init, xs, length, reverse, unroll)


def _scan(what: str, name: str, f: Function, init: Any, xs: Any, length: int | None, reverse: bool,
          unroll: int | bool) -> tuple[Any, Any]:
    carry_leaves, carry_tree = tree.flatten(init)
    xs_leaves, xs_tree = tree.flatten(xs)
    carry_avals = leaf_avals(f"{what}: init", init, carry_leaves)
    xs_avals = leaf_avals(f"{what}: xs", xs, xs_leaves)
    length = _length(what, xs, xs_avals, length)
    unroll = _unroll(what, unroll, length)
    if config.disable_jit and length:
        return _scan_in_python(what, f, init, xs_leaves, xs_tree, length, reverse)
    count = len(carry_leaves)

    def call(*leaves: Any) -> tuple:
        return _as_pair(what, f(tree.unflatten(carry_tree, leaves[:count]), tree.unflatten(xs_tree, leaves[count:])))

    slices = [shaped_array(a.shape[1:], a.dtype, a.weak_type) for a in xs_avals]
    staged, carry_avals = stage_body(what, name, call, init, carry_avals, slices)
    start = [cast_to(x, a) for x, a in zip(carry_leaves, carry_avals)]
    outs = o.scan(staged.jaxpr, length, staged.captured, start, xs_leaves, bool(reverse), unroll)
    return (tree.unflatten(carry_tree, outs[:count]),
            tree.unflatten(staged.out_tree.children()[1], outs[count:]))


def _as_pair(what: str, result: Any) -> tuple:
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        got = f"{type(result).__name__}{f' of {len(result)}' if isinstance(result, (tuple, list)) else ''}"
        raise TypeError(f"{what}: the function must return a pair (carry, y), got {got}{at_users_line()}")
    return tuple(result)


def _length(what: str, xs: Any, avals: list[ShapedArray], length: int | None) -> int:
    paths = [tree.keystr(path) for path, _ in tree.flatten_with_path(xs)[0]] if len(avals) > 1 else [""]
    for path, a in zip(paths, avals):
        if not a.shape:
            raise ValueError(f"{what}: xs{path} must have a leading axis, got a scalar of type "
                             f"{a.short()}{at_users_line()}")
    wanted = None if length is None else as_index(length, what, "length")
    if wanted is None and not avals:
        raise ValueError(f"{what}: xs has no arrays, so length must be given{at_users_line()}")
    wanted = avals[0].shape[0] if wanted is None else wanted
    if any(a.shape[0] != wanted for a in avals):
        sizes = ", ".join(f"xs{path} has {a.shape[0]}" for path, a in zip(paths, avals))
        given = f" equal to length {wanted}" if length is not None else ""
        raise ValueError(f"{what}: leading axes must be of one size{given}, but {sizes}{at_users_line()}")
    if wanted < 0:
        raise ValueError(f"{what}: length must not be negative, got {wanted}")
    return wanted


def _unroll(what: str, unroll: int | bool, length: int) -> int:
    steps = (length if unroll else 1) if isinstance(unroll, bool) else as_index(unroll, what, "unroll")
    if steps < 1 and not isinstance(unroll, bool):
        raise ValueError(f"{what}: unroll must be at least 1, or a bool, got {steps}")
    return max(1, min(steps, length))


def _scan_in_python(what: str, f: Function, init: Any, xs_leaves: list[Any], xs_tree: Any, length: int,
                    reverse: bool) -> tuple[Any, Any]:
    carry, rows = init, []
    for i in reversed(range(length)) if reverse else range(length):
        slices = [_row(x, i) for x in xs_leaves]
        carry, y = _as_pair(what, f(carry, tree.unflatten(xs_tree, slices)))
        rows.append(y)
    ordered = rows[::-1] if reverse else rows
    return carry, tree.map_tree(lambda *ys: o.concatenate([o.expand_dims(y, (0,)) for y in ys], 0), *ordered)


def _row(x: Any, i: int) -> Any:
    shape = aval_of(x).shape
    return o.squeeze(o.slice_(x, (i, *[0] * (len(shape) - 1)), (i + 1, *shape[1:])), (0,))


def map(f: Function, xs: Any, *, batch_size: int | None = None) -> Any:
    """Apply a function to each slice along the leading axis of arrays, one after another, and stack the results.

    Args:
        f: a function of a slice, or of a tree of slices.
        xs: an array, or a tree of arrays, of one leading size.
        batch_size: how many slices to do at a time, by vmap; one by default.

    >>> import glax.numpy as gnp
    >>> from glax import lax
    >>> lax.map(lambda x: x * x, gnp.arange(4.))
    Array([0., 1., 4., 9.], dtype=float32)
    """
    require_callable("map", f, "f")
    what = f"map of {function_name(f)}"
    if batch_size is None:
        return _map_each(what, f, xs)
    leaves, xs_tree = tree.flatten(xs)
    length = _length(what, xs, leaf_avals(f"{what}: xs", xs, leaves), None)
    size = as_index(batch_size, what, "batch_size")
    if size < 1:
        raise ValueError(f"{what}: batch_size must be at least 1, got {size}")
    whole = length - length % size
    parts = []
    if whole or not length:
        batches = [o.reshape(_rows(x, 0, whole), (whole // size, size, *aval_of(x).shape[1:])) for x in leaves]
        out = _map_each(what, vmap(f), tree.unflatten(xs_tree, batches))
        parts.append(tree.map_tree(lambda y: o.reshape(y, (whole, *aval_of(y).shape[2:])), out))
    if whole < length:
        parts.append(vmap(f)(tree.unflatten(xs_tree, [_rows(x, whole, length) for x in leaves])))
    return parts[0] if len(parts) == 1 else tree.map_tree(lambda a, b: o.concatenate([a, b], 0), *parts)


def _map_each(what: str, f: Function, xs: Any) -> Any:
    return _scan(what, "carry", lambda _, x: ((), f(x)), (), xs, None, False, 1)[1]


def _rows(x: Any, start: int, stop: int) -> Any:
    shape = aval_of(x).shape
    return o.slice_(x, (start, *[0] * (len(shape) - 1)), (stop, *shape[1:]))


def while_loop(cond_fun: Function, body_fun: Function, init_val: Any, *, max_steps: int | None = None) -> Any:
    """Apply a function to a value for as long as a condition holds.

    Args:
        cond_fun: a function from the value to a bool scalar.
        body_fun: a function from the value to the next, of the same tree, shapes and dtypes. A value that starts with
            a narrower or weak dtype is promoted first.
        init_val: the first value: an array, or a tree of arrays.
        max_steps: stop after so many steps, whatever the condition says; apply the condition to the result to learn
            whether it did. A loop with such a bound can be
            differentiated in reverse; memory for that grows with the square root of the bound, since only some values
            are kept and the steps between them are done again.

    Returns:
        The first value for which the condition does not hold, or the one after max_steps steps.

    Raises:
        TypeError: cond_fun returns no bool scalar, or body_fun a value of another tree or type.
        ValueError: a loop without max_steps is differentiated in reverse, or max_steps is negative.

    >>> from glax import lax
    >>> lax.while_loop(lambda x: x < 100, lambda x: x * 2, 3)
    Array(192, dtype=int32, weak_type=True)
    """
    require_callable("while_loop", cond_fun, "cond_fun")
    require_callable("while_loop", body_fun, "body_fun")
    what = f"while_loop of {function_name(body_fun)}"
    if max_steps is not None:
        return _bounded_while(what, cond_fun, body_fun, init_val, as_index(max_steps, what, "max_steps"))
    return _while(what, cond_fun, body_fun, init_val)


def _while(what: str, cond_fun: Function, body_fun: Function, init_val: Any) -> Any:
    if config.disable_jit:
        done, result = _while_in_python(cond_fun, body_fun, init_val)
        if done:
            return result
    leaves, in_tree = tree.flatten(init_val)
    body, avals = _stage_while_body(what, body_fun, init_val)
    condition = stage_function(lambda *xs: cond_fun(tree.unflatten(in_tree, xs)), avals, f"the condition of {what}")
    _require_condition(what, condition)
    start = [cast_to(x, a) for x, a in zip(leaves, avals)]
    outs = o.while_loop(condition.jaxpr, body.jaxpr, condition.captured, body.captured, start)
    return tree.unflatten(in_tree, outs)


def _stage_while_body(what: str, body_fun: Function, init_val: Any) -> tuple:
    leaves, in_tree = tree.flatten(init_val)
    avals = leaf_avals(f"{what}: init_val", init_val, leaves)
    return stage_body(what, "value", lambda *xs: (body_fun(tree.unflatten(in_tree, xs)), ()), init_val, avals)


def _require_condition(what: str, condition: Any) -> None:
    if not tree.is_leaf_def(condition.out_tree):
        raise TypeError(f"{what}: cond_fun must return a bool scalar, got the tree {condition.out_tree}"
                        f"{at_users_line()}")
    (aval,) = condition.out_avals
    if aval.shape != () or aval.dtype != bool:
        raise TypeError(f"{what}: cond_fun must return a bool scalar, got {aval.short()}{at_users_line()}")


def _while_in_python(cond_fun: Function, body_fun: Function, value: Any) -> tuple[bool, Any]:
    """Run a loop step by step; not done where the condition is a staged value whose contents are not known."""
    while True:
        going_on = cond_fun(value)
        if not is_known(going_on):
            return False, None
        if not going_on:
            return True, value
        value = body_fun(value)


def _bounded_while(what: str, cond_fun: Function, body_fun: Function, init_val: Any, max_steps: int) -> Any:
    """Segments of as many steps as there are segments, each done again in the backward pass, and what is left over."""
    if max_steps < 0:
        raise ValueError(f"{what}: max_steps must not be negative, got {max_steps}")
    _, avals = _stage_while_body(what, body_fun, init_val)
    leaves, in_tree = tree.flatten(init_val)
    values = [cast_to(x, a) for x, a in zip(leaves, avals)]
    if current_builder() is None:
        values = [asarray(x) for x in values]
    value = tree.unflatten(in_tree, values)

    def step(value: Any, _: None) -> tuple[Any, None]:
        return cond(cond_fun(value), body_fun, lambda same: same, value), None

    def steps(count: int) -> Function:
        return lambda value: _scan(what, "value", step, value, None, count, False, 1)[0]

    if not max_steps:
        return steps(0)(value)
    count = isqrt(max_steps)
    per_segment = max_steps // count
    segment = checkpoint(steps(per_segment), prevent_cse=False)

    def run(value: Any, _: None) -> tuple[Any, None]:
        return cond(cond_fun(value), segment, lambda same: same, value), None

    value = _scan(what, "value", run, value, None, count, False, 1)[0]
    left_over = max_steps - count * per_segment
    return steps(left_over)(value) if left_over else value


def fori_loop(lower: Any, upper: Any, body_fun: Function, init_val: Any, *, unroll: int | bool | None = None) -> Any:
    """Apply a function (i, value) -> value for each i from a lower bound up to, but without, an upper one.

    With bounds that are known when the loop is staged (Python ints), it is a scan, and so has a reverse mode. With
    bounds that are computed it is a while loop.

    Args:
        lower, upper: integer scalars of one dtype.
        body_fun: a function from the counter and the value to the next value, of the same tree, shapes and dtypes. A
            value that starts with a narrower or weak dtype is promoted first.
        init_val: the first value: an array, or a tree of arrays.
        unroll: how many steps are written out in each turn of the compiled loop, where the bounds are known.

    Raises:
        TypeError: the bounds are not integer scalars of one dtype, or body_fun returns another tree or type.
        ValueError: unroll is given and the bounds are not known.

    >>> from glax import lax
    >>> lax.fori_loop(0, 5, lambda i, total: total + i, 0)
    Array(10, dtype=int32, weak_type=True)
    """
    require_callable("fori_loop", body_fun, "body_fun")
    what = f"fori_loop of {function_name(body_fun)}"
    counter = _counter_type(what, lower, upper)
    static = not any(type(x) is Tracer for x in (lower, upper))
    if unroll is not None and not static:
        raise ValueError(f"{what}: unroll needs bounds that are known when the loop is staged, such as Python ints")
    if static and config.disable_jit:
        value = init_val
        for i in range(int(lower), int(upper)):
            value = body_fun(asarray(cast_to(i, counter)), value)
        return value
    leaves, in_tree = tree.flatten(init_val)
    avals = leaf_avals(f"{what}: init_val", init_val, leaves)
    staged, avals = stage_body(what, "value", lambda *xs: (body_fun(xs[-1], tree.unflatten(in_tree, xs[:-1])), ()),
                               init_val, avals, [counter])
    body = _counting(staged, counter, avals)
    values = [cast_to(x, a) for x, a in zip(leaves, avals)]
    if static:
        length = max(0, int(upper) - int(lower))
        turns = _unroll(what, 1 if unroll is None else unroll, length)
        carry = [cast_to(int(lower), counter), *values]
        outs = o.scan(body, length, staged.captured, carry, [], False, turns)
    else:
        start, end = cast_to(lower, counter), cast_to(upper, counter)
        again = program_of(lambda end, i, *_: [o.lt(i, end)], [counter, counter, *avals], user_source())
        outs = o.while_loop(again, body, [end], staged.captured, [start, *values])
    return tree.unflatten(in_tree, outs[1:])


def _counting(staged: Staged, counter: ShapedArray, avals: Sequence[ShapedArray]) -> Jaxpr:
    """A step that takes its counter as the first part of the carry, and adds one to it."""
    count = len(staged.captured)

    def step(*xs: Any) -> list[Any]:
        captured, (i, *values) = xs[:count], xs[count:]
        return [o.add(i, cast_to(1, counter)), *splice(staged.jaxpr, [*captured, *values, i])]

    return program_of(step, [*staged.jaxpr.in_avals[:count], counter, *avals], user_source())


def _counter_type(what: str, lower: Any, upper: Any) -> ShapedArray:
    """The type of the counter: weak where both bounds are, so that it yields to the dtypes of the value."""
    a, b = type_of(f"{what}: lower", lower), type_of(f"{what}: upper", upper)
    for name, aval in (("lower", a), ("upper", b)):
        if aval.shape != () or not dtypes.is_integer(aval.dtype):
            raise TypeError(f"{what}: {name} must be an integer scalar, got {aval.short()}{at_users_line()}")
    if a.dtype != b.dtype and not (a.weak_type or b.weak_type):
        raise TypeError(f"{what}: lower and upper must have one dtype, got {a.dtype.name} and "
                        f"{b.dtype.name}{at_users_line()}")
    return shaped_array((), b.dtype if a.weak_type else a.dtype, a.weak_type and b.weak_type)
