"""Calls whose derivatives or batching their author has written.

The author's rules are programs too, fields of the call. A rule that calls the very function whose rule it is holds a
``Recursive`` in the place of the inner call's rules, so that programs stay finite.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NoReturn

from ..functions import PythonFunction
from ..jaxpr import Jaxpr
from ..operation import Operation, abstract_eval, expand_rule, operation
from ..parameters import register_parameter_class
from ..types import ShapedArray
from .call import require_call_types

__all__ = ["CustomJvpCall", "CustomVjpCall", "CustomVmapCall", "LinearCall", "Recursive", "RuleFailure"]


@register_parameter_class
@dataclass(frozen=True, slots=True)
class Recursive:
    """In the place of a rule within a rule: the rules of the call that many rules further out, 0 being the nearest."""

    depth: int


@register_parameter_class
@dataclass(frozen=True)
class RuleFailure:
    """In the place of a rule that could not be staged: using it raises what staging it raised.

    Args:
        message: what went wrong. The exception itself does not travel between processes.
    """

    message: str

    @classmethod
    def of(cls, error: Exception) -> RuleFailure:
        made = cls(f"{type(error).__name__}: {error}")
        object.__setattr__(made, "error", error)
        return made

    def raise_error(self) -> NoReturn:
        raise self.__dict__.get("error") or TypeError(self.message)

    def __reduce__(self) -> tuple:
        return RuleFailure, (self.message,)


Rule = Jaxpr | Recursive | RuleFailure
Batching = tuple[int, str | None, tuple[int | None, ...]]


@operation
class CustomJvpCall(Operation):
    """A call of a program with a rule for its derivative.

    The operands are constants, by which the call has no derivative, and arguments.

    Attributes:
        jaxpr: from the constants and arguments to the outputs.
        rule: from the constants, the arguments and the tangents of the inexact ones, to the outputs and the tangents
            of the inexact ones.
        num_consts: how many constants there are.
        vmaps: vectorisations that jaxpr has been through and the rule has not yet: size, name, and the operands'
            mapped axes. Outputs have each axis first.
        function_name: a name, which takes no part in equality.
    """

    name = "custom_jvp_call"
    multiple_results = True
    jaxpr: Jaxpr
    rule: Rule
    num_consts: int = 0
    vmaps: tuple[Batching, ...] = ()
    function_name: str = field(default="fn", compare=False)

    @property
    def effects(self):
        return self.jaxpr.effects


@operation
class CustomVjpCall(Operation):
    """A call of a program with rules for its reverse derivative; operands and fields as of CustomJvpCall.

    Attributes:
        forward: from the operands to the outputs and residuals.
        backward: from the constants, the residuals and the cotangents of the inexact outputs, to cotangents of the
            inexact arguments.
    """

    name = "custom_vjp_call"
    multiple_results = True
    jaxpr: Jaxpr
    forward: Rule
    backward: Rule
    num_consts: int = 0
    vmaps: tuple[Batching, ...] = ()
    function_name: str = field(default="fn", compare=False)

    @property
    def effects(self):
        return self.jaxpr.effects


@operation
class LinearCall(Operation):
    """A call that is linear in its operands from a position on, and whose transpose is given.

    Attributes:
        forward: from the residuals and the linear operands to the outputs; None for the transpose of ``backward``.
        backward: from the residuals and cotangents of the outputs to cotangents of the linear operands.
        num_residuals: how many operands come before the linear ones.
    """

    name = "linear_call"
    multiple_results = True
    forward: Jaxpr | None
    backward: Jaxpr
    num_residuals: int = 0
    function_name: str = field(default="fn", compare=False)


@operation
class CustomVmapCall(Operation):
    """A call of a program with a rule for vectorising it.

    Attributes:
        rule: a function (size, which operands are mapped, operands mapped along axis 0) -> (outputs, which outputs
            are mapped along axis 0).
    """

    name = "custom_vmap_call"
    multiple_results = True
    jaxpr: Jaxpr
    rule: PythonFunction
    function_name: str = field(default="fn", compare=False)

    @property
    def effects(self):
        return self.jaxpr.effects


@abstract_eval.register(CustomJvpCall, CustomVjpCall, CustomVmapCall)
def _type_of_custom_call(op: CustomJvpCall, *avals: ShapedArray) -> list[ShapedArray]:
    require_call_types(f"{op.name} of {op.function_name}", op.jaxpr, avals)
    return op.jaxpr.out_avals


@abstract_eval.register(LinearCall)
def _type_of_linear_call(op: LinearCall, *avals: ShapedArray) -> list[ShapedArray]:
    what = f"linear_call of {op.function_name}"
    count = op.num_residuals
    if op.forward is not None:
        require_call_types(what, op.forward, avals)
        return op.forward.out_avals
    wanted = [*op.backward.in_avals[:count], *op.backward.out_avals]
    for position, (want, got) in enumerate(zip(wanted, avals, strict=True)):
        if (want.shape, want.dtype) != (got.shape, got.dtype):
            raise TypeError(f"{what}: operand {position} must be {want.short()}, got {got.short()}")
    return op.backward.in_avals[count:]


@expand_rule.register(CustomJvpCall, CustomVjpCall, CustomVmapCall)
def _expand_custom_call(op: CustomJvpCall, *avals: ShapedArray) -> Jaxpr:
    return op.jaxpr
