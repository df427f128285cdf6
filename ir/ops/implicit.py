"""Solutions of linear equations, whose derivatives follow from the equation rather than from how it is solved."""

from __future__ import annotations

from dataclasses import field

from ..jaxpr import Jaxpr
from ..operation import Operation, abstract_eval, expand_rule, operation
from ..types import ShapedArray
from .call import require_call_types

__all__ = ["LinearSolve"]


@operation
class LinearSolve(Operation):
    """The x for which ``matvec`` gives b. Operands are constants, which all programs take first, and then b.

    Attributes:
        matvec: from the constants and x to b, linear in x.
        solve: from the constants and b to x, and then further outputs, which have no derivative.
        vecmat: the transpose of ``matvec``, from the constants and cotangents of b to cotangents of x.
        transpose_solve: solves with ``vecmat`` as ``solve`` does with ``matvec``; None where there is no reverse mode.
        num_consts: how many constants there are.
    """

    name = "linear_solve"
    multiple_results = True
    matvec: Jaxpr
    solve: Jaxpr
    vecmat: Jaxpr | None = None
    transpose_solve: Jaxpr | None = None
    num_consts: int = 0
    function_name: str = field(default="fn", compare=False)

    @property
    def effects(self):
        return self.solve.effects


@abstract_eval.register(LinearSolve)
def _type_of_linear_solve(op: LinearSolve, *avals: ShapedArray) -> list[ShapedArray]:
    require_call_types(f"linear_solve with {op.function_name}", op.solve, avals)
    return op.solve.out_avals


@expand_rule.register(LinearSolve)
def _expand_linear_solve(op: LinearSolve, *avals: ShapedArray) -> Jaxpr:
    return op.solve
