"""Calls: operations that stand for a program."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from ..jaxpr import Jaxpr
from ..operation import Operation, abstract_eval, expand_rule, operation
from ..staging import bind
from ..types import ShapedArray

__all__ = ["Jit", "jit_call"]


@operation
class Jit(Operation):
    """A call of a program that is compiled as one when it is run. Names take no part in equality."""

    name = "jit"
    multiple_results = True
    jaxpr: Jaxpr
    donated: tuple[int, ...] = ()
    inline: bool = False
    function_name: str = field(default="fn", compare=False)

    @property
    def effects(self):
        return self.jaxpr.effects


def require_call_types(name: str, jaxpr: Jaxpr, avals: tuple[ShapedArray, ...]) -> None:
    """A call's operands have the shapes and dtypes of the program's inputs (weakness may differ)."""
    wanted = jaxpr.in_avals
    if len(wanted) != len(avals):
        raise TypeError(f"{name}: a program of {len(wanted)} inputs was given {len(avals)}")
    for position, (want, got) in enumerate(zip(wanted, avals)):
        if want is not got and (want.shape != got.shape or want.dtype != got.dtype):
            raise TypeError(f"{name}: input {position} must be {want.short()}, got {got.short()}")


@abstract_eval.register(Jit)
def _type_of_jit(op: Jit, *avals: ShapedArray) -> list[ShapedArray]:
    require_call_types(f"jit of {op.function_name}", op.jaxpr, avals)
    return op.jaxpr.out_avals


@expand_rule.register(Jit)
def _expand_jit(op: Jit, *avals: ShapedArray) -> Jaxpr:
    return op.jaxpr


def jit_call(jaxpr: Jaxpr, operands: list[Any], function_name: str = "fn", donated: tuple[int, ...] = (),
             inline: bool = False) -> list[Any]:
    """The results of a program applied to operands, as one equation, which is compiled as a whole where it is run."""
    return bind(Jit(jaxpr, donated, inline, function_name), *operands)
