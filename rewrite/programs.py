"""Building programs from programs: what the rules of control flow share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..ir import Builder, Jaxpr, PlainSource, ShapedArray, Source, Var, assemble, building


def cut(items: Sequence[Any], *sizes: int) -> list[list[Any]]:
    """A sequence in pieces: some of given sizes, and what is left.

    >>> cut("abcde", 1, 2)
    [['a'], ['b', 'c'], ['d', 'e']]
    """
    pieces, start = [], 0
    for size in sizes:
        pieces.append(list(items[start:start + size]))
        start += size
    return [*pieces, list(items[start:])]


def chosen(items: Iterable[Any], flags: Iterable[bool]) -> list[Any]:
    """The items whose flag is set."""
    return [x for x, flag in zip(items, flags) if flag]


def others(items: Iterable[Any], flags: Iterable[bool]) -> list[Any]:
    """The items whose flag is not set."""
    return [x for x, flag in zip(items, flags) if not flag]


def either(a: Iterable[bool], b: Iterable[bool]) -> list[bool]:
    return [x or y for x, y in zip(a, b)]


def any_of(rows: Sequence[Sequence[bool]]) -> list[bool]:
    """For each column, whether any row has it set."""
    return [any(column) for column in zip(*rows)]


def beside(sizes: Sequence[int], flags: Sequence[bool]) -> list[int]:
    """Positions that bring each group's companions behind the group.

    A list has groups of the given sizes, followed by a companion for each of its items that is flagged.

    >>> beside([1, 2], [True, False, True])   # a, b c, a', c'
    [0, 3, 1, 2, 4]
    """
    order, start, companion = [], 0, len(flags)
    for size in sizes:
        order.extend(range(start, start + size))
        count = sum(flags[start:start + size])
        order.extend(range(companion, companion + count))
        start, companion = start + size, companion + count
    return order


def rearranged(jaxpr: Jaxpr, ins: Sequence[int], outs: Sequence[int] | None = None) -> Jaxpr:
    """The program with its inputs, and perhaps its outputs, in another order."""
    results = jaxpr.outs if outs is None else [jaxpr.outs[i] for i in outs]
    return assemble([jaxpr.in_binders[i] for i in ins], jaxpr.eqns, results)


def put_back(items: Sequence[Any], order: Sequence[int]) -> list[Any]:
    """The list of which ``items`` are those at the positions of ``order``."""
    found: list[Any] = [None] * len(order)
    for x, i in zip(items, order):
        found[i] = x
    return found


def next_index(jaxpr: Jaxpr) -> int:
    """The first number that no variable of a program has."""
    return len(jaxpr.in_binders) + sum(len(eqn.outputs) for eqn in jaxpr.eqns)


def with_inputs(jaxpr: Jaxpr, ins: Sequence[int | ShapedArray]) -> Jaxpr:
    """The program with inputs at these positions of its own, and unused ones of these types between them."""
    index, binders = next_index(jaxpr), []
    for position, want in enumerate(ins):
        binders.append(jaxpr.in_binders[want] if isinstance(want, int) else Var(index + position, want))
    return assemble(binders, jaxpr.eqns, jaxpr.outs)


def program_of(f: Callable[..., Sequence[Any]], avals: Sequence[ShapedArray],
               source: Source | PlainSource | None = None) -> Jaxpr:
    """Record a function that captures nothing; its equations have the given source."""
    builder = Builder("rewrite", source)
    with building(builder):
        return builder.close(f(*[builder.add_input(aval) for aval in avals]))[0]
