"""At infinities, NaN and zeros of both signs XLA computes what the interpreter computes, for every elementwise
operation of real numbers; signs of zero are compared too."""

from itertools import product

import numpy as np
import pytest
from agreement import agree, case, program_of, run_xla

import glax
from glax.interp import evaluate_jaxpr
from glax.ir import ops as o

VALUES = np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -2.0], np.float32)
NOT_OF_ALL_ORDERS = {"polygamma"}  # an infinite order has no meaning


def operations(base):
    found = [c for c in vars(o).values() if isinstance(c, type) and "name" in c.__dict__ and issubclass(c, base)]
    return [c() for c in found if not c.__dataclass_fields__ and "f" in c.accepts and c.name not in NOT_OF_ALL_ORDERS]


def of_each(values, count):
    return [np.array(column) for column in zip(*product(values, repeat=count))]


def cases(dtype):
    values = VALUES.astype(dtype)
    made = [case(op, values) for op in operations(o.Unary)]
    made += [case(op, *of_each(values, 2)) for op in [*operations(o.Binary), o.Logaddexp()]]
    clamped = [case(o.Clamp(), *of_each(values[::3], 3)), case(o.Clamp(), *of_each(values[4:8], 3))]
    return made + clamped + [case(o.IntegerPow(y), values) for y in (-2, -1, 0, 1, 2, 3)]


def disagreement(one, got, wanted):
    """What is wrong, if anything."""
    same = agree(got, wanted)
    if same and wanted.dtype.kind == "f":
        same = (np.signbit(got) == np.signbit(wanted))[wanted == 0].all()
    return [] if same else [f"{one.op} of {one.operands}: XLA gives {got}, the interpreter {wanted}"]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_elementwise_operations_at_special_values(dtype):
    with glax.enable_x64(True), np.errstate(all="ignore"):
        every = cases(np.dtype(dtype))
        program, _ = program_of(every)
        operands = [x for one in every for x in one.operands]
        results = zip(every, run_xla(program, operands), evaluate_jaxpr(program, *operands), strict=True)
        assert not (bad := [line for result in results for line in disagreement(*result)]), "\n".join(bad)
