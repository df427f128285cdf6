"""Comparisons to the bit and to the weakness of types, where glax.testing allows for rounding."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
from sample_values import Sample

from glax import rewrite
from glax.interp import evaluate_jaxpr
from glax.ir import Eqn, InvalidJaxpr, Jaxpr, ShapedArray, check, dtypes, program_of_operation, shaped_array

CLEAN_UPS: dict[str, Callable[[Jaxpr], Jaxpr]] = {
    "inline": rewrite.inline, "fold": rewrite.fold, "simplify": rewrite.simplify, "cse": rewrite.cse,
    "dce": lambda j: rewrite.dce(j)[0], "clean_up": rewrite.clean_up}


def bits(x: Any) -> bytes:
    """The bytes of an array, all NaN written alike."""
    x = np.array(x)
    if dtypes.is_complex(x.dtype):
        return bits(np.stack([x.real, x.imag]))
    if dtypes.is_inexact(x.dtype):
        x[x != x] = np.nan
    return x.tobytes()


def assert_same_bits(law: str, got: Sequence[Any], wanted: Sequence[Any], program: Any = "") -> None:
    """Raise unless arrays agree in types and bits, signs of zero included; any NaN is like any other."""
    assert len(got) == len(wanted), f"{law}: {len(got)} results, not {len(wanted)}\n{program}"
    for position, (a, b) in enumerate(zip(map(np.asarray, got), map(np.asarray, wanted))):
        same = (a.shape, a.dtype) == (b.shape, b.dtype) and bits(a) == bits(b)
        assert same, f"{law}: result {position} is {a.dtype}{list(a.shape)}\n{a}\nnot {b.dtype}\n{b}\n{program}"


def assert_types(law: str, got: Sequence[ShapedArray], wanted: Sequence[ShapedArray], program: Any = "") -> None:
    """Raise unless types are the same, weak ones weak."""
    got, wanted = ([a.short() for a in avals] for avals in (got, wanted))
    assert got == wanted, f"{law}: the types are {got}, not {wanted}\n{program}"


def check_exact_clean_ups(program: Jaxpr, args: Sequence[np.ndarray]) -> None:
    """The clean-ups change neither bits nor types."""
    wanted = evaluate_jaxpr(program, *args)
    for name, one in CLEAN_UPS.items():
        done = one(program)
        check(done)
        assert_types(name, done.in_avals + done.out_avals, program.in_avals + program.out_avals, f"{program}\n{done}")
        assert_same_bits(name, evaluate_jaxpr(done, *args), wanted, f"{program}\n{done}")


def with_weak_operands(sample: Sample) -> Iterator[Jaxpr]:
    """The operation of a sample with no operand, all, and each alone of a weak type, as far as it takes them."""
    count = len(sample.operands)
    flags = {(False,) * count, (True,) * count, *(tuple(k == i for k in range(count)) for i in range(count))}
    for weak in sorted(flags):
        avals = [shaped_array(x.shape, x.dtype, w) for x, w in zip(sample.operands, weak)]
        try:
            yield program_of_operation(sample.op, avals)
        except (TypeError, ValueError, InvalidJaxpr):
            if not any(weak):
                raise


def all_equations(program: Jaxpr) -> Iterator[Eqn]:
    """The equations of a program and of those within it."""
    for eqn in program.eqns:
        yield eqn
        for sub in eqn.op.sub_jaxprs():
            yield from all_equations(sub)


def subsets(count: int, most: int = 8) -> list[tuple[bool, ...]]:
    """Flags of every subset of so many things, of the last ones where there are more than a few."""
    return list(product((False, True), repeat=count))[-2**most:]
