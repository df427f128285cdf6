"""Programs whose intermediate values are computed again for their derivatives rather than kept."""

from __future__ import annotations

from typing import Any

from ..jaxpr import Jaxpr
from ..operation import Operation, abstract_eval, expand_rule, operation
from ..staging import bind
from ..types import ShapedArray
from .call import require_call_types

__all__ = ["Checkpoint", "Name", "named"]


@operation
class Checkpoint(Operation):
    """A call of a program whose intermediate values are not kept for its derivative.

    Attributes:
        jaxpr: the program.
        policy: a function (operation, *operand types, **parameters) -> whether its results may be kept; None to keep
            the operands only.
        prevent_cse: whether to keep the compiler from merging what is computed again with what was computed before.
        differentiated: whether this call computes values again.
    """

    name = "checkpoint"
    multiple_results = True
    jaxpr: Jaxpr
    policy: Any = None
    prevent_cse: bool = True
    differentiated: bool = False

    @property
    def effects(self):
        return self.jaxpr.effects


@operation
class Name(Operation):
    """x, with a name by which the policy of a checkpoint knows it."""

    name = "name"
    label: str


@abstract_eval.register(Checkpoint)
def _type_of_checkpoint(op: Checkpoint, *avals: ShapedArray) -> list[ShapedArray]:
    require_call_types("checkpoint", op.jaxpr, avals)
    return op.jaxpr.out_avals


@expand_rule.register(Checkpoint)
def _expand_checkpoint(op: Checkpoint, *avals: ShapedArray) -> Jaxpr:
    return op.jaxpr


@abstract_eval.register(Name)
def _type_of_name(op: Name, x: ShapedArray) -> ShapedArray:
    return x


def named(x: Any, label: str) -> Any:
    """x, with a name by which the policy of a checkpoint knows it."""
    return bind(Name(label), x)
