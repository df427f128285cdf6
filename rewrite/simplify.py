"""Simplification: operations that change nothing are dropped, by one rule an operation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..ir import Atom, Eqn, Jaxpr, Literal, Operation, simplify_rule
from ..ir import ops as o
from .passes import rewrite_pass
from .replacing import replace_results


@rewrite_pass
def simplify(jaxpr: Jaxpr) -> Jaxpr:
    """A program in which operations that give back one of their operands are replaced by it, at every depth.

    Which those are is said by ``glax.ir.simplify_rule``, for each operation. Values stay the same to the bit: x + 0.0
    is kept, since it turns -0.0 into 0.0. So do types: where the operand's differs from the result's, if only in being
    weak, the equation stays.

    Args:
        jaxpr: the program.

    Returns:
        The program, of the same inputs and outputs.

    Raises:
        TypeError: ``jaxpr`` is not a Jaxpr.

    >>> import glax
    >>> from glax import rewrite
    >>> program = glax.ir.parse("{ lambda ; a:f32[]. let b:f32[] = mul a 1.0:f32[] c:f32[] = add b 0.0:f32[] in (c,) }")
    >>> rewrite.simplify(program)
    { lambda ; a:f32[]. let b:f32[] = add a 0.0:f32[] in (b,) }
    """
    return replace_results(jaxpr, simplify, _operand_given_back)


def _operand_given_back(eqn: Eqn) -> list[Atom] | None:
    op, inputs, outputs, _ = eqn
    if op.multiple_results or op.effects:
        return None
    atom = simplify_rule[type(op)](op, *inputs)
    return [atom] if atom is not None and atom.aval == outputs[0].aval else None


def is_scalar(a: Atom, value: float) -> bool:
    """Whether an atom is a literal scalar of a value (with the sign of zero, in both parts of a complex 0)."""
    if type(a) is not Literal or a.aval.shape != () or a.aval.dtype.kind not in "iufc":
        return False
    parts = (a.value.real, a.value.imag) if a.aval.dtype.kind == "c" and value == 0 else (a.value.real,)
    return bool(a.value == value) and all(bool(np.signbit(p) == np.signbit(value)) for p in parts)


def is_exact_one(a: Atom) -> bool:
    """Whether an atom is a literal 1 that changes nothing as a factor.

    A complex one does: its imaginary part of 0 makes NaN of infinities, and other signs of zeros.
    """
    return a.aval.dtype.kind != "c" and is_scalar(a, 1)


def first_when(condition: Callable[[Operation, Atom], bool]) -> Callable[..., Atom | None]:
    return lambda op, x, *rest: x if condition(op, x) else None


@simplify_rule.register(Operation)
def _as_it_is(op: Operation, *atoms: Atom) -> None:
    return None


@simplify_rule.register(o.Mul)
def _times_one(op: o.Mul, x: Atom, y: Atom) -> Atom | None:
    return x if is_exact_one(y) else y if is_exact_one(x) else None


@simplify_rule.register(o.Add)
def _plus_nothing(op: o.Add, x: Atom, y: Atom) -> Atom | None:
    """Adding -0.0 changes nothing; for integers adding 0."""
    nothing = -0.0 if x.aval.dtype.kind in "fc" else 0
    return x if is_scalar(y, nothing) else y if is_scalar(x, nothing) else None


simplify_rule.register(o.Sub)(lambda op, x, y: x if is_scalar(y, 0) else None)
simplify_rule.register(o.Div)(lambda op, x, y: x if is_exact_one(y) else None)
simplify_rule.register(o.IntegerPow)(first_when(lambda op, x: op.y == 1))
simplify_rule.register(o.Reshape)(first_when(lambda op, x: op.new_sizes == x.aval.shape))
simplify_rule.register(o.BroadcastInDim)(first_when(lambda op, x: op.shape == x.aval.shape))
simplify_rule.register(o.Transpose)(first_when(lambda op, x: op.permutation == tuple(range(len(op.permutation)))))
simplify_rule.register(o.AxesReduction)(first_when(lambda op, x: not op.axes))
simplify_rule.register(o.Rev)(first_when(lambda op, x: not op.dimensions))
simplify_rule.register(o.Squeeze)(first_when(lambda op, x: not op.dimensions))
simplify_rule.register(o.Slice)(first_when(
    lambda op, x: x.aval.shape == op.limit_indices and not any(op.start_indices) and set(op.strides or (1,)) <= {1}))
simplify_rule.register(o.Pad)(first_when(lambda op, x: all(p == (0, 0, 0) for p in op.padding_config)))
simplify_rule.register(o.Concatenate)(lambda op, *xs: xs[0] if len(xs) == 1 else None)
simplify_rule.register(o.ConvertElementType)(first_when(
    lambda op, x: (op.new_dtype, op.weak_type) == (x.aval.dtype, x.aval.weak_type)))
simplify_rule.register(o.SelectN)(lambda op, which, *cases: cases[0] if all(c == cases[0] for c in cases) else None)
