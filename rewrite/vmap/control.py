"""Batching of control flow.

Where all calls of a batch go the same way, control flow stays as it is. Where they do not, all ways are gone and each
row keeps the results of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...ir import Jaxpr, aval_of, bind, splice, vmap_rule
from ...ir import ops as o
from ..programs import any_of, cut, either, program_of
from .batching import BatchAxis, Dim, batched_at, move_axis
from .sequential import one_call_after_another
from .transform import vmap


def mapped(dims: Sequence[Dim]) -> list[bool]:
    return [d is not None for d in dims]


def first_where(flags: Sequence[bool]) -> list[Dim]:
    """The mapped axis first where there is to be one."""
    return [0 if flag else None for flag in flags]


def batched_to(program: tuple[Jaxpr, list[Dim]], wanted: Sequence[Dim], jaxpr: Jaxpr, axis: BatchAxis,
               dims: Sequence[Dim]) -> Jaxpr:
    """A batched program with its outputs' axes where they are wanted: the given one, if it has them there."""
    return program[0] if program[1] == list(wanted) else vmap(jaxpr, axis, dims, wanted)[0]


def rows_of(flags: Any, like: Any) -> Any:
    """A value per row, repeated along the other dimensions of an array."""
    shape = aval_of(like).shape
    return flags if shape == aval_of(flags).shape else o.broadcast_in_dim(flags, shape, (0,))


@vmap_rule.register(o.Cond)
def _vmap_of_cond(op: o.Cond, axis: BatchAxis, args: Sequence[Any], dims: Sequence[Dim]) -> tuple[list, list]:
    if dims[0] is not None:
        if op.effects:
            return one_call_after_another(op, axis, args, dims)
        return _all_branches(op, axis, args, dims)
    found = [vmap(branch, axis, dims[1:], [True] * len(branch.outs)) for branch in op.branches]
    wanted = first_where(any_of([mapped(out_dims) for _, out_dims in found]))
    branches = [batched_to(program, wanted, branch, axis, dims[1:]) for branch, program in zip(op.branches, found)]
    return bind(o.Cond(tuple(branches)), *args), wanted


def _all_branches(op: o.Cond, axis: BatchAxis, args: Sequence[Any], dims: Sequence[Dim]) -> tuple[list, list]:
    """Run every branch on all rows, and select.

    The derivative of a branch at rows that do not take it may be infinite or NaN, and times a cotangent of zero that
    is NaN. So each branch takes its operands through a select which gives them no derivative in those rows: the
    transposed select puts zeros in the place of whatever the branch computed. For this, operands that all rows share
    are repeated for each, and only then summed.
    """
    last = len(op.branches) - 1
    index = o.clamp(np.int32(0), args[0], np.int32(last))
    outs_of = []
    for position, branch in enumerate(op.branches):
        taken = o.eq(index, np.int32(position))
        guarded = [_guarded(taken, x, d, axis) for x, d in zip(args[1:], dims[1:])]
        program, _ = vmap(branch, axis, [d for _, d in guarded], [0] * len(branch.outs))
        outs_of.append(splice(program, [x for x, _ in guarded]))
    which = o.eq(index, np.int32(1)) if last == 1 else index
    outs = [cases[0] if last == 0 else o.select_n(rows_of(which, cases[0]), *cases) for cases in zip(*outs_of)]
    return outs, [0] * len(outs)


def _guarded(taken: Any, x: Any, dim: Dim, axis: BatchAxis) -> tuple[Any, Dim]:
    if not aval_of(x).is_inexact:
        return x, dim
    x = batched_at(x, dim, axis, 0)
    return o.select_n(rows_of(taken, x), o.stop_gradient(x), x), 0


@vmap_rule.register(o.Scan)
def _vmap_of_scan(op: o.Scan, axis: BatchAxis, args: Sequence[Any], dims: Sequence[Dim]) -> tuple[list, list]:
    """The mapped axis is first in the carry and in slices, so second in arrays that are sliced."""
    n = op.num_carry
    const_dims, init_dims, xs_dims = cut(dims, op.num_consts, n)
    consts, init, xs = cut(args, op.num_consts, n)
    slice_dims, carry = first_where(mapped(xs_dims)), mapped(init_dims)
    while True:
        body_dims = [*const_dims, *first_where(carry), *slice_dims]
        program = vmap(op.jaxpr, axis, body_dims, [True] * len(op.jaxpr.outs))
        found = mapped(program[1])
        if either(carry, found[:n]) == carry:
            break
        carry = either(carry, found[:n])
    wanted = first_where(carry + found[n:])
    body = batched_to(program, wanted, op.jaxpr, axis, body_dims)
    init = [batched_at(x, d, axis, 0) if flag else x for x, d, flag in zip(init, init_dims, carry)]
    xs = [x if d is None else move_axis(x, d, 1) for x, d in zip(xs, xs_dims)]
    outs = bind(replace(op, jaxpr=body), *consts, *init, *xs)
    return outs, [None if d is None else int(i >= n) for i, d in enumerate(wanted)]


@vmap_rule.register(o.While)
def _vmap_of_while(op: o.While, axis: BatchAxis, args: Sequence[Any], dims: Sequence[Dim]) -> tuple[list, list]:
    """Rows that are done keep their carry until all are; a carry that no step changes needs no row of its own.

    Steps with effects must not be taken by rows that are done, so such loops run one after another.
    """
    if op.effects:
        return one_call_after_another(op, axis, args, dims)
    cond_dims, body_dims, init_dims = cut(dims, op.cond_consts, op.body_consts)
    of_cond, of_body, init = cut(args, op.cond_consts, op.body_consts)
    binders = op.body_jaxpr.in_binders[op.body_consts:]
    changing = [out != binder for out, binder in zip(op.body_jaxpr.outs, binders)]
    carry = mapped(init_dims)
    while True:
        carry_dims = first_where(carry)
        condition, (cond_dim,) = vmap(op.cond_jaxpr, axis, [*cond_dims, *carry_dims], [True])
        program = vmap(op.body_jaxpr, axis, [*body_dims, *carry_dims], [True] * len(carry))
        found = either(carry, changing if cond_dim is not None else mapped(program[1]))
        if found == carry:
            break
        carry = found
    body = batched_to(program, carry_dims, op.body_jaxpr, axis, [*body_dims, *carry_dims])
    init = [batched_at(x, d, axis, 0) if flag else x for x, d, flag in zip(init, init_dims, carry)]
    if cond_dim is None:
        return bind(o.While(condition, body, len(of_cond), len(of_body)), *of_cond, *of_body, *init), carry_dims
    consts = [*of_cond, *of_body]
    avals = [aval_of(x) for x in (*consts, *init)]
    again = program_of(lambda *xs: [o.reduce_or(splice(condition, xs)[0], (0,))], [a for a in condition.in_avals])
    step = program_of(_frozen_where_done(condition, body, len(of_cond), len(of_body), changing), avals)
    return bind(o.While(again, step, len(of_cond), len(consts)), *of_cond, *consts, *init), carry_dims


def _frozen_where_done(condition: Jaxpr, body: Jaxpr, cond_consts: int, body_consts: int, changing: Sequence[bool]):
    """A step for the rows that go on."""
    def step(*xs: Any) -> list[Any]:
        of_cond, of_body, carry = cut(xs, cond_consts, body_consts)
        goes_on = splice(condition, [*of_cond, *carry])[0]
        after = splice(body, [*of_body, *carry])
        return [o.select_n(rows_of(goes_on, new), old, new) if change else old
                for old, new, change in zip(carry, after, changing)]
    return step
