"""Transposes of the linear elementwise operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...ir import LinearInput, Operation, aval_of, bind, dtypes, transpose_rule
from ...ir import ops as o


def unbroadcast(ct: Any, x: Any) -> Any:
    """A cotangent summed to the shape of an operand that was a scalar among arrays."""
    shape = aval_of(ct).shape
    return ct if x.aval.shape == shape else o.reduce_sum(ct, tuple(range(len(shape))))


def linear_operand(op_type: type[Operation], *rules: Callable[..., Any] | None) -> None:
    """Register the transposes of an elementwise operation: for each operand a rule (op, ct, *args), or None."""
    @transpose_rule.register(op_type)
    def rule(op: Operation, ct: Any, args: Sequence[Any]) -> list[Any]:
        results = []
        for part, x in zip(rules, args):
            if type(x) is not LinearInput:
                results.append(None)
            elif part is None:
                raise TypeError(f"cannot transpose {op.name} by operand {len(results)}: it is not linear in it")
            else:
                results.append(unbroadcast(part(op, ct, *args), x))
        return results


linear_operand(o.Neg, lambda op, ct, x: o.neg(ct))
linear_operand(o.Real, lambda op, ct, x: o.complex_(ct, o.number(0, ct)))
linear_operand(o.Imag, lambda op, ct, x: o.complex_(o.number(0, ct), o.neg(ct)))
linear_operand(o.Conj, lambda op, ct, x: o.conj(ct))
linear_operand(o.Complex, lambda op, ct, x, y: o.real(ct), lambda op, ct, x, y: o.neg(o.imag(ct)))
linear_operand(o.OptimizationBarrier, lambda op, ct, x: bind(op, ct))
linear_operand(o.ReducePrecision, lambda op, ct, x: bind(op, ct))
linear_operand(o.Add, lambda op, ct, x, y: ct, lambda op, ct, x, y: ct)
linear_operand(o.Sub, lambda op, ct, x, y: ct, lambda op, ct, x, y: o.neg(ct))
linear_operand(o.Div, lambda op, ct, x, y: o.div(ct, y), None)


@transpose_rule.register(o.Mul)
def _transpose_of_mul(op: o.Mul, ct: Any, args: Sequence[Any]) -> list[Any]:
    x, y = args
    if type(x) is LinearInput and type(y) is LinearInput:
        raise TypeError("cannot transpose mul: both operands depend on the inputs to transpose by")
    if type(x) is LinearInput:
        return [unbroadcast(o.mul(ct, y), x), None]
    return [None, unbroadcast(o.mul(x, ct), y)]


@transpose_rule.register(o.ConvertElementType)
def _transpose_of_convert(op: o.ConvertElementType, ct: Any, args: Sequence[Any]) -> list[Any]:
    (x,) = args
    if dtypes.is_complex(op.new_dtype) and not dtypes.is_complex(x.dtype):
        ct = o.real(ct)
    return [o.convert_element_type(ct, x.dtype, x.aval.weak_type)]


@transpose_rule.register(o.SelectN)
def _transpose_of_select(op: o.SelectN, ct: Any, args: Sequence[Any]) -> list[Any]:
    which, *cases = args
    if type(which) is LinearInput:
        raise TypeError("cannot transpose select_n by its selector")
    zero = o.number(0, ct)
    shape = aval_of(ct).shape

    def part(position: int) -> Any:
        parts = [ct if k == position else o.broadcast(zero, shape) for k in range(len(cases))]
        return unbroadcast(o.select_n(which, *parts), cases[position])

    return [None, *(part(k) if type(case) is LinearInput else None for k, case in enumerate(cases))]
