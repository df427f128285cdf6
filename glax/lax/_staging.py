"""Staging the functions that control flow is made of: values they capture in common, and types that agree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .._calls import Staged, leaf_path, stage_function
from .._promotion import PYTHON_SCALARS, scalar_literal
from .._tracer_conversions import known_value
from ..ir import Jaxpr, ShapedArray, Tracer, aval_of, dtypes, shaped_array, splice, tree
from ..ir import ops as o
from ..ir.staging import user_source
from ..ir.tree import PyTreeDef
from ..rewrite.programs import program_of, with_inputs


def at_users_line() -> str:
    """Where in the user's code this was called, for the end of a message."""
    source = user_source()
    return f", at {source}" if source is not None else ""


def is_known(x: Any) -> bool:
    """Whether Python may look at a value: it is none that is staged, or its contents are known all the same."""
    return type(x) is not Tracer or known_value(x) is not None


def same_value(x: Any) -> tuple:
    """What two captured values have in common where they are the same one."""
    return (id(x.builder), x.atom.index) if type(x) is Tracer else ("value", id(x))


def join_captures(staged: Sequence[Staged]) -> tuple[list[Jaxpr], list[Any]]:
    """The programs of functions, made to take the values that any of them captured, each once, before the others."""
    values: dict[tuple, Any] = {}
    for part in staged:
        for x in part.captured:
            values.setdefault(same_value(x), x)
    jaxprs = []
    for part in staged:
        own = {same_value(x): position for position, x in enumerate(part.captured)}
        ins = [own.get(key, aval_of(x)) for key, x in values.items()]
        jaxprs.append(with_inputs(part.jaxpr, [*ins, *range(len(own), len(part.jaxpr.in_binders))]))
    return jaxprs, list(values.values())


def join_types(avals: Sequence[ShapedArray]) -> ShapedArray | None:
    """The type to which values of one shape promote; None where there is none."""
    first = avals[0]
    if all(a == first for a in avals):
        return first
    if any(a.shape != first.shape for a in avals):
        return None
    try:
        dtype, weak = dtypes.result_type(*[(a.dtype, a.weak_type) for a in avals])
    except dtypes.TypePromotionError:
        return None
    return shaped_array(first.shape, dtype, weak)


def adapts(aval: ShapedArray, wanted: ShapedArray) -> bool:
    """Whether a value may stand for one of another type: it has its shape and dtype, or its weak dtype gives way."""
    joined = join_types([aval, wanted])
    return joined is not None and joined.dtype == wanted.dtype and (aval.dtype == wanted.dtype or aval.weak_type)


def cast_to(x: Any, aval: ShapedArray) -> Any:
    """A value in a type of its shape."""
    if type(x) in PYTHON_SCALARS:
        return scalar_literal(x, aval.dtype, aval.weak_type)
    return x if aval_of(x) == aval else o.convert_element_type(x, aval.dtype, aval.weak_type)


def with_output_types(jaxpr: Jaxpr, avals: Sequence[ShapedArray]) -> Jaxpr:
    """The program with its results in types of their shapes."""
    if jaxpr.out_avals == list(avals):
        return jaxpr
    return program_of(lambda *xs: [cast_to(x, a) for x, a in zip(splice(jaxpr, xs), avals)], jaxpr.in_avals,
                      user_source())


def stage_body(what: str, name: str, call: Callable[..., Any], carry: Any, carry_avals: Sequence[ShapedArray],
               other_avals: Sequence[ShapedArray] = ()) -> tuple[Staged, list[ShapedArray]]:
    """Stage the body of a loop, and find the types of its carry.

    The carry begins with given types. Where the body returns others to which they promote, those are tried, until
    the body returns what it is given. A weak result gives way to a carry that is not weak; to one that is, only that
    of its own dtype does, since neither says what dtype is meant.

    Args:
        what: the loop, for messages.
        name: what messages call the carry.
        call: a function of the leaves of the carry and then others, to a pair of the next carry and any tree.
        carry: the initial carry.
        carry_avals: the types of its leaves.
        other_avals: those of the other arguments.

    Returns:
        The staged body, its results for the carry of the types found, and these.

    Raises:
        TypeError: the body returns a carry of another tree, or of other types.
    """
    count, carry_avals = len(carry_avals), list(carry_avals)
    carry_tree = tree.flatten(carry)[1]
    while True:
        staged = stage_function(call, [*carry_avals, *other_avals], what)
        require_same_tree(what, name, carry, carry_tree, staged.out_tree.children()[0])
        outs = staged.out_avals[:count]
        joined = [join_types([a, out]) or a for a, out in zip(carry_avals, outs)]
        if joined == carry_avals:
            break
        carry_avals = joined
    for position, (a, out) in enumerate(zip(carry_avals, outs)):
        if not adapts(out, a) or (a.weak_type and out.dtype != a.dtype):
            path = leaf_path(carry, position)
            raise TypeError(f"{what}: {name}{path} has type {a.short()}, but the function returns {out.short()} in its "
                            f"place; a {name} must keep its shape and dtype{at_users_line()}")
    jaxpr = with_output_types(staged.jaxpr, [*carry_avals, *staged.out_avals[count:]])
    return staged._replace(jaxpr=jaxpr), carry_avals


def require_same_tree(what: str, name: str, given: Any, wanted: PyTreeDef, found: PyTreeDef) -> None:
    if wanted != found:
        where = tree.explain_mismatch(name, wanted, found) or f"expected the tree {wanted}, got {found}"
        raise TypeError(f"{what}: the function must return a {name} of the tree it is given: {where}{at_users_line()}")
