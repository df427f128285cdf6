"""Reading programs: what is not a program is a JaxprSyntaxError, whatever is wrong with it."""

import random
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import F32, programs
from samples import samples

import glax
from glax.ir import (
    ClosedJaxpr,
    Eqn,
    InvalidJaxpr,
    Jaxpr,
    JaxprSyntaxError,
    ShapedArray,
    Var,
    ops,
    parse,
    program_of_operation,
    shaped_array,
)

F = ShapedArray((3,), "float32")
TOKEN = re.compile(r"\s+|\w+|.", re.DOTALL)
STRANGE = [*"{}()[]:;.,=*_'\"\\#\0\né-", "", "0x0x", "0xzzx", "1e999", "-3", "1.5", "9" * 5000, "nan", "inf", "None",
           "True", "lambda", "in", "let", "f32", "f32[3]", "jit", "scan", "sin", "GatherScatterMode", "PythonFunction",
           "GatherDimensionNumbers", "complex"]


def wrapped(equation):
    return f"{{ lambda ; a:f32[3]. let {equation} in (a,) }}"


MALFORMED = {
    "unfinished": "{ \n",
    "empty": "",
    "no such member": wrapped("b:f32[3] = gather[mode=GatherScatterMode.X] a a"),
    "missing fields": wrapped("b:f32[3] = gather[dimension_numbers=GatherDimensionNumbers[] slice_sizes=(1,)] a a"),
    "unknown field": wrapped("b:f32[3] = gather[dimension_numbers=GatherDimensionNumbers[x=1] slice_sizes=(1,)] a a"),
    "member of a dataclass": wrapped("b:f32[3] = gather[dimension_numbers=GatherDimensionNumbers.x] a a"),
    "enum without a member": wrapped("b:f32[3] = gather[mode=GatherScatterMode] a a"),
    "unfinished escape": wrapped(r"b:f32[3] = name[label='\x'] a"),
    "unknown escape": wrapped(r"b:f32[3] = name[label='\q'] a"),
    "escape beyond Unicode": wrapped(r"b:f32[3] = name[label='\U00110000'] a"),
    "unclosed string": wrapped("b:f32[3] = name[label='a] a"),
    "odd bytes": wrapped("b:f32[3] = add a 0x0x:f32[3]"),
    "bytes that are not hexadecimal": wrapped("b:f32[3] = add a 0xfx:f32[3]"),
    "bytes of another length": wrapped("b:f32[3] = add a 0xffx:f32[3]"),
    "bytes that are no bools": wrapped("b:bool[1] = not 0x02x:bool[1]"),
    "a number for a program": wrapped(
        "b:f32[3] = scan[jaxpr=3 length=1 reverse=False num_consts=0 num_carry=1 unroll=1] a"),
    "a float for an integer": wrapped("b:f32[3] = dynamic_slice[slice_sizes=(1.0,)] a 0:i32[]"),
    "a parameter given twice": wrapped("b:f32[3] = name[label='a' label='b'] a"),
    "a parameter missing": wrapped("b:f32[3] = name a"),
    "programs nested deeply": "{ lambda ; . let _ = jit[jaxpr=" * 3000,
    "brackets nested deeply": wrapped("b:f32[3] = add a " + "[" * 100_000),
    "tuples nested deeply": wrapped("b:f32[3] = name[label=" + "(" * 100_000),
    "negative dimension": "{ lambda ; a:f32[-3]. let in (a,) }",
    "dimension that is no integer": "{ lambda ; a:f32[1.5]. let in (a,) }",
    "number beyond float64": wrapped("b:f32[3] = add a 1e999:f32[]"),
    "number beyond float32": wrapped("b:f32[3] = add a 1e39:f32[]"),
    "number beyond bfloat16": "{ lambda ; . let in (1e39:bf16[],) }",
    "parameter beyond float64": wrapped("b:f32[3] = gather[fill_value=1e999] a a"),
    "number of 5000 digits": wrapped(f"b:f32[3] = add a {'9' * 5000}:f32[]"),
    "integer of 5000 digits": wrapped(f"b:f32[3] = name[label={'9' * 5000}] a"),
    "number beyond int8": "{ lambda ; . let in (128:i8[],) }",
    "number beyond int4": "{ lambda ; . let in (8:i4[],) }",
    "number for a bool": "{ lambda ; . let in (1:bool[],) }",
    "bool for a number": "{ lambda ; . let in (True:f32[],) }",
    "complex for a real number": "{ lambda ; . let in ((1.0,2.0):f32[],) }",
    "ragged array": "{ lambda ; . let in ([[1.0], [1.0, 2.0]]:f32[2,1],) }",
    "array deeper than NumPy's": "{ lambda ; . let in (" + "[" * 70 + "1.0" + "]" * 70 + ":f32[1],) }",
    "more after the end": "{ lambda ; . let in () } }",
}


@pytest.mark.parametrize("text", MALFORMED.values(), ids=MALFORMED)
def test_malformed_text_is_a_syntax_error(text):
    with pytest.raises(JaxprSyntaxError, match=r"^line \d+, column \d+: "):
        parse(text)


def test_errors_say_where_and_what():
    with pytest.raises(JaxprSyntaxError, match=r"line 2, column 1: expected 'lambda', found 'the end'"):
        parse("{\f\r \n")
    with pytest.raises(JaxprSyntaxError, match=r"has no member 'X'; it has \['CLIP', 'FILL_OR_DROP'"):
        parse(MALFORMED["no such member"])
    with pytest.raises(JaxprSyntaxError, match=r"Scan.jaxpr must be Jaxpr, got 3 of type int"):
        parse(MALFORMED["a number for a program"])


def test_only_text_is_parsed():
    with pytest.raises(TypeError, match="parse takes a string, got int"):
        parse(3)


@pytest.mark.parametrize("label", ["", "'", '"', "\\", "'\"\\", "\n\r\t\0\x7f", "é\u2028", "\ud800", "\U0001f600"])
def test_strings_round_trip(label):
    program = Jaxpr([Var(0, F)], [Eqn(ops.Name(label), (Var(0, F),), (Var(1, F),))], [])
    assert parse(str(program)) == program


@pytest.mark.parametrize("value", [True, False, 1, 0, -2.5, 0.0, -0.0, np.inf, np.nan, 1 + 2j, complex(-0.0, np.inf),
                                   complex(1, np.nan), None])
def test_numbers_among_parameters_round_trip(value):
    numbers = ops.GatherDimensionNumbers((), (0,), (0,))
    op = ops.Gather(numbers, (1,), fill_value=value)
    again = parse(str(Jaxpr([], [Eqn(op, (), ())], [])), checked=False).eqns[0].op
    assert again == op and hash(again) == hash(op) and type(again.fill_value) is type(value)
    assert str(again.fill_value) == str(value)


def test_fill_values_differ_by_their_sign_of_zero():
    numbers = ops.GatherDimensionNumbers((), (0,), (0,))
    assert ops.Gather(numbers, (1,), fill_value=0.0) != ops.Gather(numbers, (1,), fill_value=-0.0)


def text_of(sample):
    return str(program_of_operation(sample.op, [shaped_array(x.shape, x.dtype) for x in sample.operands]))


def mutated(rng, text):
    """Text with a token or a character replaced, doubled, dropped, or exchanged with another."""
    parts = list(text) if rng.random() < .3 else TOKEN.findall(text)
    for _ in range(rng.randint(1, 3)):
        i, j = rng.randrange(len(parts)), rng.randrange(len(parts))
        how = rng.randrange(5)
        if how == 0:
            parts[i] = rng.choice(STRANGE)
        elif how == 1:
            parts[i] = parts[i] * 2
        elif how == 2:
            parts[i] = ""
        elif how == 3:
            parts[i], parts[j] = parts[j], parts[i]
        else:
            parts[i] = parts[j]
    return "".join(parts)


def parse_or_refuse(text):
    """Mutated text is refused as such, or it is a program that prints and parses."""
    try:
        program = parse(text, checked=False)
    except JaxprSyntaxError:
        return
    again = parse(str(program), checked=False)
    if isinstance(program, ClosedJaxpr):
        assert again.jaxpr == program.jaxpr
    else:
        assert again == program, text
    try:
        parse(text)
    except InvalidJaxpr:
        pass


@given(programs(dtype=F32, smooth=False, whiles=True), st.integers(0, 2**32))
def test_mutated_programs_are_refused_or_read(case, seed):
    rng, text = random.Random(seed), str(case[0])
    for _ in range(10):
        parse_or_refuse(mutated(rng, text))


def test_mutated_operations_are_refused_or_read():
    rng = random.Random(0)
    with glax.enable_x64(True):
        texts = sorted({text_of(s) for s in samples()}, key=len)
    for text in texts:
        parse_or_refuse(mutated(rng, text))


def test_constants_are_read_with_their_program():
    closed = ClosedJaxpr(Jaxpr([Var(0, F)], [], [Var(0, F)]), [np.arange(3, dtype="float32")])
    assert parse(str(closed)) == closed


@pytest.mark.parametrize("text, said", [
    ("{ lambda ; a:f32[3]. let b:f32[3] = sin a a in (b,) }", "sin takes 1 operand, got 2"),
    ("{ lambda ; a:f32[3]. let b:f32[4] = sin a in (b,) }", "f32[3]"),
    ("{ lambda ; a:f32[3]. let b:f32[3] = mul a a c:f32[3] = jit[jaxpr={ lambda ; a:f32[3]. let b:i32[3] = sin a "
     "in (b,) } function_name='f'] b in (c,) }", "f32[3]"),
])
def test_programs_must_be_well_formed(text, said):
    with pytest.raises(InvalidJaxpr, match=re.escape(said)):
        parse(text)
    assert parse(text, checked=False).eqns
