"""Transposes of control flow: the same choices, and the steps backwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NoReturn

from ...ir import LinearInput, Zero, aval_of, bind, current_builder, instantiate, splice, transpose_rule
from ...ir import ops as o
from ..partial_eval import partial_eval
from ..partial_eval.control import split_loop_body
from ..programs import any_of, chosen, cut, either, others, program_of
from .transform import transpose


def linears(args: Sequence[Any]) -> list[bool]:
    return [type(x) is LinearInput for x in args]


def nonzeros(cts: Sequence[Any]) -> list[bool]:
    return [type(ct) is not Zero for ct in cts]


def at_flags(results: Sequence[Any], flags: Sequence[bool]) -> list[Any]:
    """A result for each flag that is set, None for the others."""
    given = iter(results)
    return [next(given) if flag else None for flag in flags]


@transpose_rule.register(o.Cond)
def _transpose_of_cond(op: o.Cond, cts: Sequence[Any], args: Sequence[Any]) -> list[Any]:
    index, *operands = args
    if type(index) is LinearInput:
        raise TypeError("cannot transpose cond by its index")
    linear, nonzero = linears(operands), nonzeros(cts)
    found = [transpose(branch, linear, nonzero, instantiate_outputs=False) for branch in op.branches]
    kept = any_of([flags for _, flags in found])
    branches = [program if flags == kept else transpose(branch, linear, nonzero, kept)[0]
                for branch, (program, flags) in zip(op.branches, found)]
    results = bind(o.Cond(tuple(branches)), index, *others(operands, linear), *chosen(cts, nonzero))
    return [None, *at_flags(at_flags(results, kept), linear)]


@transpose_rule.register(o.Scan)
def _transpose_of_scan(op: o.Scan, cts: Sequence[Any], args: Sequence[Any]) -> list[Any]:
    start, n = op.num_consts, op.num_carry
    linear = linears(args)
    if not all(linear[start:start + n]):
        _, carry = split_loop_body(op.jaxpr, linear, start, n)
        if not all(carry):
            return _transpose_in_two(op, cts, args)
        linear[start:start + n] = carry
    return _transpose_linear_scan(op, cts, args, linear)


def _transpose_in_two(op: o.Scan, cts: Sequence[Any], args: Sequence[Any]) -> list[Any]:
    """Run what of a scan depends on no linear argument, such as a counter in its carry, and transpose the rest."""
    linear = linears(args)
    whole = program_of(lambda *xs: bind(op, *xs), [x.aval if flag else aval_of(x) for x, flag in zip(args, linear)])
    split = partial_eval(whole, linear)
    residuals = splice(split.known, others(args, linear))[len(split.known.outs) - split.residual_count:]
    moving = chosen(cts, split.unknown_outputs)
    wanted = [False] * split.residual_count + [True] * sum(linear)
    backward, kept = transpose(split.unknown, wanted, nonzeros(moving), instantiate_outputs=False)
    results = splice(backward, [*residuals, *chosen(moving, nonzeros(moving))])
    return at_flags(at_flags(results, kept), linear)


def _transpose_linear_scan(op: o.Scan, cts: Sequence[Any], args: Sequence[Any], linear: Sequence[bool]) -> list[Any]:
    """A scan the other way, whose carry is the cotangents of the carry and the sums of those of the constants.

    A part of the carry for which there is no cotangent at any step is left out.
    """
    body, start, n = op.jaxpr, op.num_consts, op.num_carry
    num_linear_consts, num_linear_xs = sum(linear[:start]), sum(linear[start + n:])
    ct_carry, ct_ys = cut(cts, n)
    moving, given = nonzeros(ct_carry), nonzeros(ct_ys)
    while True:
        wanted = [False] * num_linear_consts + moving + [False] * num_linear_xs
        backward, kept = transpose(body, linear, moving + given, wanted)
        kept_consts, found, kept_xs = cut(kept, num_linear_consts, n)
        if found == moving:
            break
        moving = either(moving, found)
    consts, _, xs = cut(args, start, n)
    const_flags, xs_flags = linear[:start], linear[start + n:]
    fixed, slices = others(consts, const_flags), others(xs, xs_flags)
    sums = [o.full(x.aval.shape, 0, x.aval.dtype) for x in chosen(chosen(consts, const_flags), kept_consts)]
    operands = [*fixed, *sums, *map(instantiate, chosen(ct_carry, moving)), *chosen(ct_ys, given), *slices]
    sizes = (len(fixed), len(sums), sum(moving), sum(given))

    def step(*inputs: Any) -> list[Any]:
        fixed, sums, ct_carry, ct_ys, slices = cut(inputs, *sizes)
        of_consts, rest = cut(splice(backward, [*fixed, *slices, *ct_carry, *ct_ys]), len(sums))
        return [*map(o.add, sums, of_consts), *rest]

    types = [*others(body.in_avals[:start], const_flags), *[aval_of(x) for x in sums],
             *chosen(body.out_avals[:n], moving), *chosen(body.out_avals[n:], given),
             *others(body.in_avals[start + n:], xs_flags)]
    back = replace(op, jaxpr=program_of(step, types, current_builder().source), reverse=not op.reverse,
                   num_consts=len(fixed), num_carry=len(sums) + sum(moving))
    of_consts, of_init, of_xs = cut(bind(back, *operands), len(sums), sum(moving))
    results = [*at_flags(at_flags(of_consts, kept_consts), const_flags), *at_flags(of_init, moving),
               *at_flags(at_flags(of_xs, kept_xs), xs_flags)]
    return [ct if type(x) is LinearInput else None for ct, x in zip(results, args)]


@transpose_rule.register(o.While)
def _transpose_of_while(op: o.While, cts: Sequence[Any], args: Sequence[Any]) -> NoReturn:
    source = current_builder().source
    where = f" at {source.file}:{source.line}" if hasattr(source, "file") else ""
    raise ValueError(
        f"the while loop{where} cannot be differentiated in reverse: how many steps it takes is not known beforehand, "
        f"and so is not how much it would have to keep of them. Use lax.fori_loop with bounds that are Python ints, "
        f"lax.scan, or lax.while_loop(..., max_steps=...); forward mode (jvp, jacfwd) works as it is")
