"""How derivative rules are written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...ir import Operation, Zero, add_tangents, aval_of, bind, jvp_rule
from ...ir.ops import broadcast


class NotDifferentiable(NotImplementedError, ValueError):
    """A derivative was asked for that an operation does not have."""


OperandRule = Callable[..., Any]


def derivative(op_type: type[Operation], *rules: OperandRule) -> None:
    """Register the derivative of an operation with one result, a rule an operand.

    Each rule is called with (op, t, out, *operands), where t is the operand's tangent, which is not zero, and out the
    result, and gives its part of the result's tangent. Where there is none, the rule is not_differentiable(...).
    """
    @jvp_rule.register(op_type)
    def rule(op: Operation, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        out = bind(op, *primals)
        total: Any = Zero(out.aval)
        for part, t in zip(rules, tangents):
            if type(t) is not Zero:
                total = add_tangents(total, part(op, t, out, *primals))
        return out, total if type(total) is Zero else broadcast(total, out.aval.shape)


def not_differentiable(operand: str) -> OperandRule:
    """The rule of an operand that has no derivative, or none that is known: an error that names it."""
    def rule(op: Operation, *_: Any) -> Any:
        raise NotDifferentiable(f"{op.name} has no derivative by {operand}; where it is to count as a constant, wrap "
                                f"it in lax.stop_gradient")

    return rule


def linear_in_first(*op_types: type[Operation]) -> None:
    """Operations that are linear in their first operand, whose others have no tangents: apply them to the tangent."""
    for op_type in op_types:
        derivative(op_type, lambda op, t, out, x, *rest: bind(op, t, *rest))


def linear(*op_types: type[Operation]) -> None:
    """Register operations that are linear in all their operands together."""
    for op_type in op_types:
        jvp_rule.register(op_type)(_linear_rule)


def _linear_rule(op: Operation, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    from ...ir import instantiate
    return bind(op, *primals), bind(op, *map(instantiate, tangents))


def zero_derivative(*op_types: type[Operation]) -> None:
    """Register operations whose derivative is zero wherever it exists."""
    for op_type in op_types:
        jvp_rule.register(op_type)(_zero_rule)


def _zero_rule(op: Operation, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    out = bind(op, *primals)
    if op.multiple_results:
        return out, [Zero(aval_of(o)) for o in out]
    return out, Zero(out.aval)
