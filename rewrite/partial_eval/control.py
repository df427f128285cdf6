"""Partial evaluation of control flow: the known part runs first, and saves no more than the rest needs.

A choice saves what the branch taken needs. A scan saves once what does not change from step to step, does not save
again what it takes or gives anyway, and stacks the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...ir import Atom, Eqn, Jaxpr, ShapedArray, Var, abstract_eval, assemble, partial_eval_rule, splice
from ...ir import ops as o
from ...ir.types import shaped_array
from ..dce import dce
from ..programs import any_of, chosen, cut, either, others, program_of, rearranged, with_inputs
from ..without_effects import without_effects
from .transform import Fresh, Parts, Split, partial_eval

# ---- cond ------------------------------------------------------------------------------------------------------


@partial_eval_rule.register(o.Cond)
def _split_cond(op: o.Cond, eqn: Eqn, unknown: Sequence[bool], fresh: Fresh) -> Parts:
    if unknown[0]:
        return [], [eqn], [True] * len(eqn.outputs)
    flags = unknown[1:]
    splits = [partial_eval(branch, flags) for branch in op.branches]
    waiting = any_of([split.unknown_outputs for split in splits])
    splits = [split if split.unknown_outputs == waiting else partial_eval(branch, flags, waiting)
              for branch, split in zip(op.branches, splits)]
    index, now_operands = eqn.inputs[0], others(eqn.inputs[1:], flags)
    passed = sorted({a.index for split in splits for a in split.residuals if _is_input(split.known, a)})
    slots = _Slots(splits)
    now_op = o.Cond(tuple([slots.known_branch(split, eqn) for split in splits]))
    types = abstract_eval(now_op, index.aval, *[a.aval for a in now_operands])
    saved = [fresh(aval) for aval in types[len(types) - len(slots.types):]]
    now = Eqn(now_op, (index, *now_operands), (*others(eqn.outputs, waiting), *saved), eqn.source)
    passed_avals = [now_operands[i].aval for i in passed]
    later_op = o.Cond(tuple([slots.unknown_branch(split, passed, passed_avals) for split in splits]))
    later = Eqn(later_op, (index, *[now_operands[i] for i in passed], *saved, *chosen(eqn.inputs[1:], flags)),
                tuple(chosen(eqn.outputs, waiting)), eqn.source)
    return [now] if now.outputs or now_op.effects else [], [later], waiting


def _is_input(jaxpr: Jaxpr, a: Atom) -> bool:
    return type(a) is Var and a.index < len(jaxpr.in_binders)


class _Slots:
    """Places for what the branch taken saves: branches share those of one type, and fill with zeros what they lack."""

    def __init__(self, splits: Sequence[Split]):
        self.types: list[ShapedArray] = []
        self.of: dict[int, list[int | None]] = {}
        places: dict[tuple, list[int]] = {}
        for split in splits:
            used: dict[tuple, int] = {}
            self.of[id(split)] = [None if _is_input(split.known, a) else self._place(a.aval, places, used)
                                  for a in split.residuals]

    def _place(self, aval: ShapedArray, places: dict[tuple, list[int]], used: dict[tuple, int]) -> int:
        """The first slot of a type that a branch has not used."""
        key = (aval.shape, aval.dtype)
        count = used.get(key, 0)
        used[key] = count + 1
        fitting = places.setdefault(key, [])
        if count == len(fitting):
            fitting.append(len(self.types))
            self.types.append(aval.strip_weak_type())
        return fitting[count]

    def known_branch(self, split: Split, eqn: Eqn) -> Jaxpr:
        """A branch's known part, which fills every slot."""
        def run(*xs):
            outs, residuals = cut(splice(split.known, xs), len(split.known.outs) - split.residual_count)
            values = {slot: x for slot, x in zip(self.of[id(split)], residuals) if slot is not None}
            return outs + [values[i] if i in values else o.full(aval.shape, 0, aval.dtype)
                           for i, aval in enumerate(self.types)]

        return program_of(run, split.known.in_avals, eqn.source)

    def unknown_branch(self, split: Split, passed: Sequence[int], passed_avals: Sequence[ShapedArray]) -> Jaxpr:
        """A branch's unknown part, from known operands that some branch needs, slots, and unknown operands."""
        operands = {a.index: k for k, a in enumerate(split.residuals) if _is_input(split.known, a)}
        slots = {slot: k for k, slot in enumerate(self.of[id(split)]) if slot is not None}
        ins = [operands.get(i, aval) for i, aval in zip(passed, passed_avals)]
        ins += [slots.get(i, aval) for i, aval in enumerate(self.types)]
        return with_inputs(split.unknown, [*ins, *range(split.residual_count, len(split.unknown.in_binders))])


# ---- scan ------------------------------------------------------------------------------------------------------


def split_loop_body(body: Jaxpr, unknown: Sequence[bool], first: int, count: int) -> tuple[Split, list[bool]]:
    """A loop's body in two, and which parts of its carry, at these positions, are unknown at some step."""
    carry = list(unknown[first:first + count])
    while True:
        flags = [*unknown[:first], *carry, *unknown[first + count:]]
        split = partial_eval(body, flags, carry + [False] * (len(body.outs) - count))
        if split.unknown_outputs[:count] == carry:
            return split, carry
        carry = either(carry, split.unknown_outputs[:count])


@partial_eval_rule.register(o.Scan)
def _split_scan(op: o.Scan, eqn: Eqn, unknown: Sequence[bool], fresh: Fresh) -> Parts:
    start, n = op.num_consts, op.num_carry
    split, carry = split_loop_body(op.jaxpr, unknown, start, n)
    flags = [*unknown[:start], *carry, *unknown[start + n:]]
    consts, init, xs = cut(others(eqn.inputs, flags), start - sum(flags[:start]), n - sum(carry))
    hoisted, step, once, fixed = _hoist(op, split.known, len(consts), split.residual_count)
    eqns, atoms = _placed(hoisted, consts, fresh)
    invariant, step_consts = cut(atoms, once.count(True))
    known_outs = others(eqn.outputs, split.unknown_outputs)
    step, stacks = _stacked(op, step, fixed, len(init), xs, known_outs, fresh)
    new_outs = [a for a, is_new in stacks if is_new]
    now = Eqn(replace(op, jaxpr=step, num_consts=len(step_consts), num_carry=len(init)),
              (*step_consts, *init, *xs), (*known_outs, *new_outs), eqn.source)
    if now.outputs or now.op.effects:
        eqns = [*eqns, now]
    later_consts, later_init, later_xs = cut(chosen(eqn.inputs, flags), sum(flags[:start]), sum(carry))
    inputs = (*invariant, *later_consts, *later_init, *[a for a, _ in stacks], *later_xs)
    body = _unknown_body(split, once, len(later_consts) + len(later_init))
    later = Eqn(replace(op, jaxpr=body, num_consts=len(invariant) + len(later_consts), num_carry=len(later_init)),
                inputs, tuple(chosen(eqn.outputs, split.unknown_outputs)), eqn.source)
    return eqns, [later], split.unknown_outputs


def _hoist(op: o.Scan, known: Jaxpr, num_consts: int, residual_count: int) -> tuple[Jaxpr, Jaxpr, list[bool], int]:
    """Take out of a step what depends on constants only.

    Returns the program to run once, from the constants to the residuals that do not change and then what each step
    needs; the step, from the latter; which residuals do not change; and how many outputs the step had without them.
    """
    fixed = len(known.outs) - residual_count
    if op.effects:
        whole = rearranged(known, range(len(known.in_binders)))
        nothing = program_of(lambda *xs: xs, known.in_avals[:num_consts])
        return nothing, whole, [False] * residual_count, fixed
    others_unknown = [False] * num_consts + [True] * (len(known.in_binders) - num_consts)
    split = partial_eval(known, others_unknown, [True] * fixed + [False] * residual_count)
    return split.known, split.unknown, [not flag for flag in split.unknown_outputs[fixed:]], fixed


def _placed(jaxpr: Jaxpr, inputs: Sequence[Atom], fresh: Fresh) -> tuple[list[Eqn], list[Atom]]:
    """A program's equations with its inputs bound to atoms, and what its results are then."""
    env = list(inputs)

    def put(a: Atom) -> Atom:
        return env[a.index] if type(a) is Var else a

    eqns = []
    for op, ins, outs, source in jaxpr.eqns:
        new_ins, new_outs = tuple(map(put, ins)), tuple([fresh(v.aval) for v in outs])
        env.extend(new_outs)
        eqns.append(Eqn(op, new_ins, new_outs, source))
    return eqns, list(map(put, jaxpr.outs))


def _stacked(op: o.Scan, step: Jaxpr, fixed: int, num_carry: int, xs: Sequence[Atom], known_outs: Sequence[Var],
             fresh: Fresh) -> tuple[Jaxpr, list[tuple[Atom, bool]]]:
    """A step that gives the residuals which change, those aside that are slices of what the scan takes or gives.

    Returns it, and for each residual the array of its values, and whether that is a new result.
    """
    first_x = len(step.in_binders) - len(xs)
    at_hand: dict[Atom, Atom] = dict(zip(step.in_binders[first_x:], xs))
    for a, out in zip(step.outs[num_carry:fixed], known_outs[num_carry:]):
        at_hand.setdefault(a, out)
    stacks, new = [], []
    for a in step.outs[fixed:]:
        found = at_hand.get(a)
        if found is None:
            new.append(a)
            found = fresh(shaped_array((op.length, *a.aval.shape), a.aval.dtype, a.aval.weak_type))
            stacks.append((found, True))
        else:
            stacks.append((found, False))
    return assemble(step.in_binders, step.eqns, [*step.outs[:fixed], *new]), stacks


def _unknown_body(split: Split, once: Sequence[bool], before_xs: int) -> Jaxpr:
    """The unknown part of a step: unchanging residuals are its first inputs, the others come before its slices."""
    residuals = range(split.residual_count)
    rest = range(split.residual_count, len(split.unknown.in_binders))
    return rearranged(split.unknown, [*chosen(residuals, once), *rest[:before_xs], *others(residuals, once),
                                      *rest[before_xs:]])


# ---- while -----------------------------------------------------------------------------------------------------


@partial_eval_rule.register(o.While)
def _split_while(op: o.While, eqn: Eqn, unknown: Sequence[bool], fresh: Fresh) -> Parts:
    """The known part of the carry is computed now; the unknown part waits, and goes through the known one again."""
    of_cond, of_body, init = cut(unknown, op.cond_consts, op.body_consts)
    split, carry = split_loop_body(op.body_jaxpr, [*of_body, *init], op.body_consts, len(init))
    condition = partial_eval(op.cond_jaxpr, [*of_cond, *carry])
    if condition.unknown_outputs[0] or all(carry):
        return [], [eqn], [True] * len(eqn.outputs)
    known = [not flag for flag in carry]
    now_cond, _ = dce(op.cond_jaxpr, keep_inputs=[not flag for flag in (*of_cond, *carry)])
    now_body, _ = dce(split.known, [True] * sum(known) + [False] * split.residual_count)
    now = Eqn(o.While(now_cond, now_body, of_cond.count(False), of_body.count(False)),
              tuple(others(eqn.inputs, [*of_cond, *of_body, *carry])), tuple(chosen(eqn.outputs, known)), eqn.source)
    outputs = tuple([v if flag else fresh(v.aval) for v, flag in zip(eqn.outputs, carry)])
    again = _again(op, split, [*of_body, *carry], carry) if op.effects else op
    return [now], [eqn._replace(op=again, outputs=outputs)], carry


def _again(op: o.While, split: Split, unknown: Sequence[bool], carry: Sequence[bool]) -> o.While:
    """The loop for its unknown part: what is known is computed a second time, but its effects happen once."""
    what = "the derivative of a while loop"
    known_body, known_count = without_effects(split.known, what), carry.count(False)

    def body(*xs: Any) -> list[Any]:
        known, residuals = cut(splice(known_body, others(xs, unknown)), known_count)
        later = iter(splice(split.unknown, [*residuals, *chosen(xs, unknown)]))
        now = iter(known)
        return [next(later) if flag else next(now) for flag in carry]

    return replace(op, cond_jaxpr=without_effects(op.cond_jaxpr, what),
                   body_jaxpr=program_of(body, op.body_jaxpr.in_avals))
