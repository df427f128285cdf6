"""Structured control flow: operations that choose among programs, or repeat one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..jaxpr import Jaxpr
from ..operation import Operation, abstract_eval, operation
from ..staging import bind
from ..types import NO_EFFECTS, Effect, ShapedArray, shaped_array
from .call import require_call_types

__all__ = ["Cond", "Scan", "While", "cond", "scan", "while_loop"]


def joined_effects(programs: Iterable[Jaxpr]) -> frozenset[Effect]:
    """The effects that any of the programs has."""
    found = NO_EFFECTS
    for program in programs:
        if program.effects:
            found = found | program.effects
    return found


@operation
class Cond(Operation):
    """The results of one of several programs: operands are an int32 scalar, which chooses, and then the inputs of all.

    An index below 0 chooses the first program, one beyond the end the last.
    """

    name = "cond"
    multiple_results = True
    branches: tuple[Jaxpr, ...]

    @property
    def effects(self):
        return joined_effects(self.branches)


@operation
class While(Operation):
    """A carry that a program is applied to for as long as another says so.

    Operands are the constants of the condition, those of the body, and the initial carry. The condition maps its
    constants and the carry to a bool, the body its constants and the carry to the next carry.
    """

    name = "while"
    multiple_results = True
    cond_jaxpr: Jaxpr
    body_jaxpr: Jaxpr
    cond_consts: int
    body_consts: int

    @property
    def effects(self):
        return joined_effects((self.cond_jaxpr, self.body_jaxpr))


@operation
class Scan(Operation):
    """A program applied along the leading axis of arrays, with a carry that goes from step to step.

    Operands are constants, the initial carry, and arrays with a leading axis of the given length. The program maps
    constants, carry and a slice of each array to the next carry and a slice of each further result. With ``reverse``
    the steps go from the last slice to the first. ``unroll`` steps are written out in each turn of the compiled loop.
    """

    name = "scan"
    multiple_results = True
    jaxpr: Jaxpr
    length: int
    reverse: bool
    num_consts: int
    num_carry: int
    unroll: int

    @property
    def effects(self):
        return self.jaxpr.effects


def _require_same(name: str, what: str, wanted: Sequence[ShapedArray], found: Sequence[ShapedArray]) -> None:
    """Types agree in number, shapes and dtypes (weakness may differ)."""
    if len(wanted) != len(found):
        raise TypeError(f"{name}: {what} must be {len(wanted)} values, got {len(found)}")
    for position, (a, b) in enumerate(zip(wanted, found)):
        if a is not b and (a.shape != b.shape or a.dtype != b.dtype):
            raise TypeError(f"{name}: {what} {position} must be {a.short()}, got {b.short()}")


@abstract_eval.register(Cond)
def _type_of_cond(op: Cond, *avals: ShapedArray) -> list[ShapedArray]:
    if not op.branches:
        raise TypeError("cond takes at least one branch")
    index, *operands = avals or [None]
    if index is None or index.shape != () or index.dtype != np.int32:
        raise TypeError(f"cond takes an index of type i32[], got {index.short() if index else 'nothing'}")
    outs = op.branches[0].out_avals
    for branch in op.branches:
        require_call_types("cond", branch, tuple(operands))
        _require_same("cond", "output", outs, branch.out_avals)
    weak = [all(flags) for flags in zip(*[[a.weak_type for a in b.out_avals] for b in op.branches])]
    return [shaped_array(a.shape, a.dtype, w) for a, w in zip(outs, weak)]


@abstract_eval.register(While)
def _type_of_while(op: While, *avals: ShapedArray) -> list[ShapedArray]:
    first, second = op.cond_consts, op.cond_consts + op.body_consts
    carry = avals[second:]
    require_call_types("while: condition", op.cond_jaxpr, (*avals[:first], *carry))
    require_call_types("while: body", op.body_jaxpr, (*avals[first:second], *carry))
    _require_same("while", "result of the condition", [shaped_array((), np.dtype(bool))], op.cond_jaxpr.out_avals)
    bound = op.body_jaxpr.in_avals[op.body_consts:]
    _require_same("while", "carry", bound, op.body_jaxpr.out_avals)
    return bound


@abstract_eval.register(Scan)
def _type_of_scan(op: Scan, *avals: ShapedArray) -> list[ShapedArray]:
    if op.length < 0 or op.unroll < 1:
        raise ValueError(f"scan: length must not be negative, nor unroll less than 1, got {op.length} and {op.unroll}")
    start = op.num_consts + op.num_carry
    for position, x in enumerate(avals[start:]):
        if x.shape[:1] != (op.length,):
            raise TypeError(f"scan: array {position} must have a leading axis of {op.length}, got {x.short()}")
    slices = [shaped_array(x.shape[1:], x.dtype, x.weak_type) for x in avals[start:]]
    require_call_types("scan", op.jaxpr, (*avals[:start], *slices))
    bound, outs = op.jaxpr.in_avals[op.num_consts:start], op.jaxpr.out_avals
    _require_same("scan", "carry", bound, outs[:op.num_carry])
    return bound + [shaped_array((op.length, *y.shape), y.dtype, y.weak_type) for y in outs[op.num_carry:]]


def cond(branches: Sequence[Jaxpr], index: Any, operands: Sequence[Any]) -> list[Any]:
    """The results of the branch at an index, an int32 scalar, applied to operands; all branches take and give the same
    types.
    """
    return bind(Cond(tuple(branches)), index, *operands)


def while_loop(cond_jaxpr: Jaxpr, body_jaxpr: Jaxpr, cond_consts: Sequence[Any], body_consts: Sequence[Any],
               carry: Sequence[Any]) -> list[Any]:
    """The carry after body_jaxpr was applied to it for as long as cond_jaxpr says so, each with its own constants
    before it.
    """
    op = While(cond_jaxpr, body_jaxpr, len(cond_consts), len(body_consts))
    return bind(op, *cond_consts, *body_consts, *carry)


def scan(jaxpr: Jaxpr, length: int, consts: Sequence[Any], carry: Sequence[Any], xs: Sequence[Any],
         reverse: bool = False, unroll: int = 1) -> list[Any]:
    """A program applied to each of the slices of xs along their leading axis, with a carry from step to step.

    Args:
        jaxpr: from constants, carry and a slice of each of xs, to the next carry and a slice of each further result.
        length: the size of the leading axis.
        consts: values that every step is given.
        carry: the initial carry.
        xs: arrays with a leading axis of that length.
        reverse: whether to go from the last slice to the first.
        unroll: how many steps are written out in each turn of the compiled loop.

    Returns:
        The last carry, and then the further results, stacked along a leading axis.

    >>> from glax.ir import ShapedArray, ops, parse, stage
    >>> step = parse("{ lambda ; a:f32[] b:f32[]. let c:f32[] = add a b in (c, c) }")
    >>> avals = [ShapedArray((), "float32"), ShapedArray((5,), "float32")]
    >>> stage(lambda total, xs: ops.scan(step, 5, [], [total], [xs]), avals)[0].out_avals
    [ShapedArray(float32[]), ShapedArray(float32[5])]
    """
    return bind(Scan(jaxpr, length, reverse, len(consts), len(carry), unroll), *consts, *carry, *xs)
