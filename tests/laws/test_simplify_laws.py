"""Operations of a variable and a constant stay the same to the bit, over every operation of two or more operands and
every constant that a rule may take for one that changes nothing: zeros and ones of both signs, infinities and NaN, weak
and strong."""

from itertools import product

import numpy as np
import pytest
from exactness import check_exact_clean_ups

import glax
from glax.ir import Eqn, Literal, Var, abstract_eval, assemble, check, dtypes, shaped_array
from glax.ir import ops as o

DTYPES = [np.dtype(d) for d in ("float32", "complex64", "int32", "uint8", "bool")]
REAL = (0.0, -0.0, 1.0, -1.0, 2.0, np.inf, -np.inf, np.nan)
OPERATIONS = [c() for c in vars(o).values() if isinstance(c, type) and "name" in c.__dict__
              and issubclass(c, o.Binary) and not c.__dataclass_fields__]
OPERATIONS += [o.Clamp(), o.SelectN(), o.Logaddexp(), o.IntegerPow(1), o.IntegerPow(0), o.IntegerPow(2), o.Round(0)]
OPERATIONS = list({op: None for op in OPERATIONS if op.name != "polygamma"})


@pytest.fixture(autouse=True)
def quietly():
    with glax.enable_x64(True), np.errstate(all="ignore"):
        yield


def constants(dtype):
    parts = {"c": (0.0, -0.0, 1.0, -1.0), "f": REAL}.get(dtypes.kind(dtype), (0, 1, 2))
    return [complex(*p) for p in product(parts, parts)] if dtypes.is_complex(dtype) else list(parts)


def points(dtype):
    if dtypes.is_complex(dtype):
        return np.array([complex(*p) for p in product(REAL, REAL)], dtype)
    return np.array(REAL if dtypes.kind(dtype) == "f" else constants(dtype), dtype)


def typed(op, *avals):
    try:
        return abstract_eval(op, *avals)
    except (TypeError, ValueError):
        return None


def applications(op, dtype, count):
    """An operation applied to a variable and to constants in all other places, in one program for each weakness."""
    xs = points(dtype)
    for weak in (False, True):
        variable = Var(0, shaped_array(xs.shape, dtype, weak))
        eqns = []
        for weak_constant, place in product((False, True), range(count)):
            for values in product(constants(dtype), repeat=1 if count > 1 else 0):
                constant = [Literal(np.array(v, dtype), shaped_array((), dtype, weak_constant)) for v in values]
                atoms = [variable if k == place else constant[0] for k in range(count)]
                aval = typed(op, *[a.aval for a in atoms])
                if aval is not None:
                    eqns.append(Eqn(op, tuple(atoms), (Var(1 + len(eqns), aval),)))
        if eqns:
            program = assemble([variable], eqns, [v for eqn in eqns for v in eqn.outputs])
            check(program)
            yield program, [xs]


@pytest.mark.parametrize("op", OPERATIONS, ids=str)
def test_constants_that_change_nothing_are_told_from_others(op):
    for dtype, count in product(DTYPES, (1, 2, 3)):
        for program, args in applications(op, dtype, count):
            check_exact_clean_ups(program, args)
