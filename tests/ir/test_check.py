"""Checking programs: what breaks a rule is an InvalidJaxpr, whatever it is."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import F32, programs
from samples import samples

import glax
from glax.ir import (
    OPERATIONS,
    ClosedJaxpr,
    Eqn,
    InvalidJaxpr,
    Jaxpr,
    Literal,
    Operation,
    ShapedArray,
    Var,
    bind,
    check,
    ops,
    parse,
    program_of_operation,
    shaped_array,
    stage,
)
from glax.ir.printer import variable_name

A = ShapedArray((3,), "float32")
I = ShapedArray((), "int32")
X, Y = Var(0, A), Var(1, A)
AT = Literal(np.zeros((1, 1), np.int32))
NUMBERS = ops.GatherDimensionNumbers((), (0,), (0,))


def crooked(shape, dtype):
    """A type that the constructor refuses to make."""
    made = object.__new__(ShapedArray)
    for name, value in (("shape", shape), ("dtype", dtype), ("weak_type", False), ("_hash", 0), ("_text", None)):
        object.__setattr__(made, name, value)
    return made


def one(op, *inputs, out=A):
    return Jaxpr([X], [Eqn(op, inputs or (X,), (Var(1, out),))], [])


def gather(numbers=NUMBERS, sizes=(1,), **given):
    return one(ops.Gather(numbers, sizes, **given), X, AT, out=ShapedArray((1,), "float32"))


check(gather())

CORRUPTED = {
    "an output numbered below 0": lambda: Jaxpr([X], [], [Var(-1, A)]),
    "an input numbered below 0": lambda: Jaxpr([Var(-1, A)], [], []),
    "a number that is none": lambda: Jaxpr([Var(0.0, A)], [], []),
    "an input that is no variable": lambda: Jaxpr([3], [], []),
    "an output that is no atom": lambda: Jaxpr([X], [], [3]),
    "no type": lambda: Jaxpr([Var(0, None)], [], []),
    "use without a type": lambda: Jaxpr([X], [], [Var(0, None)]),
    "negative dimension": lambda: Jaxpr([Var(0, crooked((-3,), np.dtype("f4")))], [], []),
    "float dimension": lambda: Jaxpr([Var(0, crooked((3.0,), np.dtype("f4")))], [], []),
    "dtype of no arrays": lambda: Jaxpr([Var(0, crooked((3,), np.dtype(object)))], [], []),
    "an operation's name for one": lambda: one("sin"),
    "an equation that is none": lambda: Jaxpr([X], [3], []),
    "a call of nothing": lambda: one(ops.Jit(None)),
    "a list of axes": lambda: one(ops.ReduceSum([0]), out=ShapedArray((), "float32")),
    "float axes": lambda: one(ops.ReduceSum((0.0,)), out=ShapedArray((), "float32")),
    "a reduction by no program": lambda: one(ops.Reduce(3, (0,)), X, Literal(np.float32(0))),
    "float offset_dims": lambda: gather(ops.GatherDimensionNumbers((1.5,), (0,), (0,))),
    "float start_index_map": lambda: gather(ops.GatherDimensionNumbers((), (0,), (0.0,))),
    "float slice_sizes": lambda: gather(sizes=(1.0,)),
    "a mode by its name": lambda: gather(mode="clip"),
    "unpaired batching dimensions": lambda: gather(ops.GatherDimensionNumbers((), (), (0,), (0,), ())),
    "a dtype's number": lambda: one(ops.ConvertElementType(4, False)),
    "float padding": lambda: one(ops.Pad(((0.0, 0, 0),)), X, Literal(np.float32(0))),
    "padding of two numbers": lambda: one(ops.Pad(((0, 0),)), X, Literal(np.float32(0))),
    "a bool for an integer": lambda: one(ops.IntegerPow(True)),
    "a float dimension to sort": lambda: one(ops.Sort(0.0, True, 1)),
    "too many operands": lambda: one(ops.Sin(), X, X),
    "too few operands": lambda: one(ops.Add(), X),
    "inputs in a list": lambda: Jaxpr([X], [Eqn(ops.Sin(), [X], (Y,))], []),
    "a sub-program that is ill typed": lambda: one(ops.Jit(Jaxpr([X], [], [Y]))),
    "a constant that is none": lambda: ClosedJaxpr(Jaxpr([X], [], []), ["a"]),
    "a constant of another shape": lambda: ClosedJaxpr(Jaxpr([X], [], []), [np.zeros(2, "f4")]),
    "effects that are none": lambda: Jaxpr([X], [], [], 3),
    "scatter windows beyond the updates": lambda: one(
        ops.ScatterAdd(ops.ScatterDimensionNumbers((9,), (), (0,))), X, Literal(np.zeros(1, np.int32)), X),
    "scatter beyond the operand": lambda: one(
        ops.ScatterAdd(ops.ScatterDimensionNumbers((0,), (), (9,))), X, Literal(np.zeros(1, np.int32)), X),
}


@pytest.mark.parametrize("make", CORRUPTED.values(), ids=CORRUPTED)
def test_what_breaks_a_rule_is_invalid(make):
    with pytest.raises(InvalidJaxpr):
        check(make())


def test_messages_name_what_is_wrong():
    for make, message in (
            ("a list of axes", r"\(reduce_sum\): ReduceSum.axes must be tuple\[int, ...\], got \[0\] of type"),
            ("float start_index_map", r"got a GatherDimensionNumbers of which .*start_index_map must be tuple\[int"),
            ("too many operands", "sin takes 1 operand, got 2"), ("too few operands", "add takes 2 operands, got 1"),
            ("an output numbered below 0", "output 0 uses <-1>, which is not bound"),
            ("a constant that is none", "constant 0: expected an array or a number, got 'a'")):
        with pytest.raises(InvalidJaxpr, match=message):
            check(CORRUPTED[make]())


@pytest.mark.parametrize("given", [None, 3, "{ lambda ; . let in () }"])
def test_what_is_no_program_at_all_is_a_type_error(given):
    with pytest.raises(TypeError, match="check takes a Jaxpr or a ClosedJaxpr, got"):
        check(given)


def test_a_program_with_a_negative_number_prints():
    assert str(Jaxpr([X], [], [Var(-1, A)])) == "{ lambda ; a:f32[3]. let in (<-1>,) }"
    assert variable_name(None) == "<None>"


@pytest.mark.parametrize("shape, error, message", [
    ((1.5,), TypeError, "must be a sequence of integers"), (("3",), TypeError, "must be a sequence of integers"),
    (3, TypeError, "must be a sequence of integers"), ((-3,), ValueError, "no negative dimension"),
])
def test_types_have_shapes_of_integers(shape, error, message):
    with pytest.raises(error, match=message):
        ShapedArray(shape, "float32")


def test_interned_types_are_exact():
    with pytest.raises(TypeError, match="must be a sequence of integers"):
        shaped_array((12345.0,), np.dtype("f4"))
    with pytest.raises(TypeError, match="must be a dtype"):
        shaped_array((12345,), "float32")
    assert type(shaped_array((np.int64(12345),), np.dtype("f4")).shape[0]) is int


def test_operand_counts_are_named_where_an_operation_is_staged():
    for op, count, message in ((ops.Sin(), 2, "sin takes 1 operand, got 2"),
                               (ops.Add(), 3, "add takes 2 operands, got 3"),
                               (ops.Logaddexp(), 1, "logaddexp takes 2 operands, got 1"),
                               (ops.SelectN(), 0, "select_n takes at least 1 operand, got 0"),
                               (ops.DynamicUpdateSlice(), 1, "dynamic_update_slice takes at least 2 operands, got 1")):
        with pytest.raises(TypeError, match=message):
            stage(lambda x, op=op, count=count: [bind(op, *[x] * count)], [A])


JUNK = [None, -1, 3, 1.5, "a", [0], (0.0,), (), (-1,), (7,), np.dtype("f4"), A, X, Var(-1, A), Var(5, I), Var(0, None),
        Literal(np.float32(1)), Jaxpr([X], [], [X]), Jaxpr([], [], [Y]), ops.Sin(), ops.Jit(None), True, NUMBERS]


def corrupted(rng, program):
    """The program with something in it replaced by junk."""
    eqns, ins, outs = list(program.eqns), list(program.in_binders), list(program.outs)
    how = rng.randrange(6) if eqns else 4 + rng.randrange(2)
    if how == 4 and ins:
        ins[rng.randrange(len(ins))] = rng.choice(JUNK)
    elif how >= 4:
        outs.append(rng.choice(JUNK))
    else:
        k = rng.randrange(len(eqns))
        op, inputs, outputs, source = eqns[k]
        if how == 0:
            op = with_field(rng, op)
        elif how == 1:
            inputs = replaced(rng, inputs)
        elif how == 2:
            outputs = replaced(rng, outputs)
        else:
            op = rng.choice([rng.choice(eqns).op, rng.choice(JUNK)])
        eqns[k] = Eqn(op, inputs, outputs, source)
    return Jaxpr(ins, eqns, outs)


def with_field(rng, op):
    """The operation with junk in a field, or in a program that is in one."""
    from dataclasses import fields, replace
    names = [f.name for f in fields(op) if f.compare and f.type != "Any"]
    if not names:
        return op
    if rng.random() < .5 and op.has_sub_jaxprs():
        return op.map_jaxprs(lambda sub: corrupted(rng, sub))
    name = rng.choice(names)
    value = getattr(op, name)
    if isinstance(value, tuple) and value and rng.random() < .5:
        return replace(op, **{name: replaced(rng, value)})
    return replace(op, **{name: rng.choice(JUNK)})


def replaced(rng, items):
    """The items with one of them replaced by junk, or dropped, or one more."""
    made = list(items)
    k = rng.randrange(len(made) + 1)
    made[k:k + rng.randrange(2)] = [rng.choice(JUNK)] * rng.randrange(2)
    return tuple(made)


def check_or_refuse(make):
    """A program passes, and then it prints and parses, or it is invalid."""
    try:
        program = make()
        check(program)
    except InvalidJaxpr:
        return
    assert parse(str(program)) == program


@given(programs(dtype=F32, smooth=False, whiles=True), st.integers(0, 2**32))
def test_corrupted_programs_are_refused_or_pass(case, seed):
    rng = random.Random(seed)
    for _ in range(10):
        check_or_refuse(lambda: corrupted(rng, case[0]))


def test_corrupted_operations_are_refused_or_pass():
    rng = random.Random(0)
    with glax.enable_x64(True):
        for sample in samples():
            program = program_of(sample)
            for _ in range(2):
                check_or_refuse(lambda program=program: corrupted(rng, program))


def program_of(sample):
    return program_of_operation(sample.op, [shaped_array(x.shape, x.dtype) for x in sample.operands])


@pytest.fixture
def registered():
    """Operations defined in a test are forgotten after it."""
    before = dict(OPERATIONS)
    yield
    OPERATIONS.clear()
    OPERATIONS.update(before)


def test_an_operation_defined_in_a_function_is_checked_as_far_as_its_annotations_are_found(registered):
    from glax.ir import abstract_eval, operation

    class Local:
        """No annotation can be resolved to this."""

    @operation
    class OfLocal(Operation):
        name = "of_local_for_test_check"
        value: "Local"

    @abstract_eval.register(OfLocal)
    def type_of(op, x):
        return x

    check(one(OfLocal(3)))
    with pytest.raises(InvalidJaxpr, match="of_local_for_test_check takes 1 operand, got 2"):
        check(one(OfLocal(3), X, X))
