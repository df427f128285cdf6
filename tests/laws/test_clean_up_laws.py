"""The clean-ups keep the meaning, over every operation: of literals, in another order, with other parameters."""

from itertools import combinations

import numpy as np
import pytest
from exactness import assert_same_bits, check_exact_clean_ups, subsets, with_weak_operands
from samples import samples

import glax
from glax import rewrite, testing
from glax.interp import evaluate_jaxpr
from glax.ir import Eqn, InvalidJaxpr, Literal, Var, abstract_eval, assemble, check, program_of_operation, shaped_array
from glax.rewrite.fold import NEVER_FOLDED

SAMPLES = [s for s in samples() if not s.op.effects]


@pytest.fixture(autouse=True)
def x64():
    with glax.enable_x64(True), np.errstate(all="ignore"):
        yield


def program_of(sample):
    return program_of_operation(sample.op, [shaped_array(x.shape, x.dtype) for x in sample.operands])


def with_literals(program, values):
    """A program of no inputs, whose equation has literals for all operands."""
    literals = {v.index: Literal(x) for v, x in zip(program.in_binders, values)}
    eqns = [e._replace(inputs=tuple(literals[a.index] for a in e.inputs)) for e in program.eqns]
    return assemble([], eqns, program.outs)


def applied(avals, calls):
    """A program that applies each of some operations to inputs at some positions, and gives all the results."""
    count = len(avals)
    inputs, eqns, outs = [Var(k, aval) for k, aval in enumerate(avals)], [], []
    for op, positions in calls:
        results = abstract_eval(op, *[avals[k] for k in positions])
        made = [Var(count + k, aval) for k, aval in enumerate(results if op.multiple_results else [results])]
        eqns.append(Eqn(op, tuple(inputs[k] for k in positions), tuple(made), None))
        outs += made
        count += len(made)
    program = assemble(inputs, eqns, outs)
    check(program)
    return program


def has_type(op, avals):
    try:
        abstract_eval(op, *avals)
    except (TypeError, ValueError, InvalidJaxpr):
        return False
    return True


def orders(sample):
    """The operands as they are, and with each two of a type exchanged."""
    avals = [shaped_array(x.shape, x.dtype) for x in sample.operands]
    usual = list(range(len(avals)))
    yield usual
    for i, j in combinations(usual, 2):
        if avals[i] == avals[j]:
            other = list(usual)
            other[i], other[j] = j, i
            if has_type(sample.op, [avals[k] for k in other]):
                yield other


def alike():
    """For each list of types, the operations of all samples that have it, and operands of one of them."""
    groups = {}
    for s in SAMPLES:
        key = tuple(shaped_array(x.shape, x.dtype) for x in s.operands)
        groups.setdefault(key, []).append(s)
    return [pytest.param(list({s.op: None for s in group}), group[0].operands, id=",".join(a.short() for a in avals))
            for avals, group in groups.items() if len({s.op for s in group}) > 1]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.id)
def test_clean_ups_of_an_operation_of_literals(sample):
    program = with_literals(program_of(sample), sample.operands)
    check(program)
    wanted = [np.asarray(x) for x in evaluate_jaxpr(program_of(sample), *sample.operands)]
    folded = rewrite.fold(program)
    found = [np.asarray(x) for x in evaluate_jaxpr(folded)]
    for a, b in zip(found, wanted, strict=True):
        assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes()), f"fold gives {a}, not {b}\n{folded}"
    grows = sum(x.size for x in wanted) > max(1, sum(x.size for x in sample.operands))
    assert bool(folded.eqns) == (grows or isinstance(sample.op, NEVER_FOLDED)), folded
    testing.check_clean_ups(program, [])


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.id)
def test_clean_ups_of_an_operation_in_other_orders(sample):
    avals = [shaped_array(x.shape, x.dtype) for x in sample.operands]
    program = applied(avals, [(sample.op, order) for order in orders(sample)] * 2)
    testing.check_clean_ups(program, sample.operands)
    check_exact_clean_ups(program, sample.operands)
    distinct = len(program.eqns) // 2
    assert len(rewrite.cse(program).eqns) == distinct, f"cse keeps {distinct} equations that differ of\n{program}"


@pytest.mark.parametrize("operations, operands", alike())
def test_clean_ups_of_operations_on_the_same_operands(operations, operands):
    """With other parameters too: two in a row of one class are not the same."""
    avals = [shaped_array(x.shape, x.dtype) for x in operands]
    testing.check_clean_ups(applied(avals, [(op, range(len(avals))) for op in operations]), operands)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.id)
def test_clean_ups_keep_weak_types(sample):
    for program in with_weak_operands(sample):
        if any(a.weak_type for a in program.in_avals):
            check_exact_clean_ups(program, sample.operands)


SEVERAL = [s for s in SAMPLES if s.op.multiple_results]


def donated(program):
    """The numbers of the inputs that a program of one equation, if any, gives away."""
    return {eqn.inputs[i].index for eqn in program.eqns for i in getattr(eqn.op, "donated", ())}


def inputs_used(program):
    return {a.index for eqn in program.eqns for a in eqn.inputs}


@pytest.mark.parametrize("sample", SEVERAL, ids=lambda s: s.id)
def test_what_is_left_of_an_operation_gives_the_same_results(sample):
    """Whichever results are used: with the operands that they need, and of those the donated ones."""
    program = program_of(sample)
    wanted = evaluate_jaxpr(program, *sample.operands)
    for used in subsets(len(program.outs)):
        left, has_input = rewrite.dce(program, used)
        check(left)
        assert all(has_input) and left.in_avals == program.in_avals
        kept = [x for x, flag in zip(wanted, used) if flag]
        assert_same_bits(f"dce {used}", evaluate_jaxpr(left, *sample.operands), kept, left)
        assert donated(left) == donated(program) & inputs_used(left), left
        fewer, has_input = rewrite.dce(program, used, keep_inputs=False)
        check(fewer)
        given = [x for x, flag in zip(sample.operands, has_input) if flag]
        assert_same_bits(f"dce {used} of inputs", evaluate_jaxpr(fewer, *given), kept, fewer)
