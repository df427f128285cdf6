"""Keeping what a select does not take from spoiling derivatives.

Where a function is infinite or NaN at elements that a select does not take, its derivative there is too, and times a
cotangent of zero that is NaN. So what is computed for the sake of a select's case alone is given, at the other
elements, a constant in the place of its operands, by a select of its own: of its result nothing changes that is
taken, and the transpose of the new select puts zeros in the place of whatever the derivative is at the others.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from ..ir import Atom, Builder, Eqn, Jaxpr, Literal, Var, building, dtypes, evaluate, rewritten
from ..ir import ops as o
from .demand import ALL, NOTHING, Demand, Need, implies
from .passes import rewrite_pass

# Operations whose derivative is a constant or zero, so that values that are not finite do not spoil it.
HARMLESS = (
    o.Neg, o.Add, o.Sub, o.Real, o.Imag, o.Conj, o.Complex, o.ConvertElementType, o.ReducePrecision, o.StopGradient,
    o.OptimizationBarrier, o.Sign, o.Floor, o.Ceil, o.Round, o.Nextafter, o.SelectN, o.Comparison, o.IsFinite, o.Name)
_CANDIDATES = (1, .5, 2, 0, -1, -2, 3, .25)


@rewrite_pass
def safe_where(jaxpr: Jaxpr) -> Jaxpr:
    """A program of the same values whose derivatives are those of the cases that its selects take, at every depth.

    What is guarded is elementwise: from an operation that mixes elements, such as a sum, to the select. A value that
    is also used outside the case is guarded where the case uses it.

    Args:
        jaxpr: the program.

    Returns:
        The program, of the same inputs and outputs.

    Raises:
        TypeError: ``jaxpr`` is not a Jaxpr.

    >>> from glax.ir import ShapedArray, stage
    >>> from glax.ir.ops import eq, log, select_n
    >>> from glax.rewrite import safe_where
    >>> program, _ = stage(lambda x: [select_n(eq(x, 0.), log(x), 0.)], [ShapedArray((), "float32")])
    >>> safe_where(program)
    { lambda ; a:f32[]. let
        b:bool[] = eq a 0.0:f32*[]
        c:f32[] = select_n b a 1.0:f32*[]
        d:f32[] = log c
        e:f32[] = select_n b d 0.0:f32*[]
      in (e,) }
    """
    inner = [eqn._replace(op=eqn.op.map_jaxprs(safe_where)) if eqn.op.has_sub_jaxprs() else eqn
             for eqn in jaxpr.eqns]
    jaxpr = Jaxpr(jaxpr.in_binders, inner, jaxpr.outs, jaxpr.effects)
    if not any(isinstance(eqn.op, o.SelectN) for eqn in inner):
        return jaxpr
    guards = _Guards(jaxpr)
    if not guards.wanted:
        return jaxpr
    return _Writer(jaxpr, guards).write()


class _Guards:
    """Which operands of which equations are to be guarded, and for which elements."""

    def __init__(self, jaxpr: Jaxpr):
        self.jaxpr = jaxpr
        self.demand = Demand(jaxpr)
        self.wanted: dict[tuple[int, int], Need] = {}
        risky_values: set[int] = set()
        for position in reversed(range(len(jaxpr.eqns))):
            eqn, need = jaxpr.eqns[position], self.demand.of_eqn[position]
            if need in (ALL, NOTHING):
                continue
            if not isinstance(eqn.op, HARMLESS) or any(v.index in risky_values for v in eqn.outputs):
                risky_values.update(a.index for a in eqn.inputs if type(a) is Var)
                self._guard_operands(position, eqn, need)

    def _guard_operands(self, position: int, eqn: Eqn, need: Need) -> None:
        if not any(v.aval.is_inexact for v in eqn.outputs):
            return
        if isinstance(eqn.op, o.SelectN) and self.demand.is_guard(eqn, need):
            return
        fixed = not isinstance(eqn.op, o.Elementwise)
        for k, a in enumerate(eqn.inputs):
            if type(a) is Literal or not a.aval.is_inexact:
                continue
            if fixed and a.aval.shape == () and _shape_of(need) != ():
                continue
            if not implies(self.demand.of_value[a.index], need):
                self.wanted[position, k] = need


def _shape_of(need: Need) -> tuple[int, ...]:
    """The shape of the elements that conditions tell apart."""
    return next((a.aval.shape for clause in need for a, _ in clause if a.aval.shape != ()), ())


class _Writer:
    """Writes the program with its guards: an equation comes after those of the conditions it is guarded with."""

    def __init__(self, jaxpr: Jaxpr, guards: _Guards):
        self.jaxpr, self.guards = jaxpr, guards
        self.defining = {v.index: position for position, eqn in enumerate(jaxpr.eqns) for v in eqn.outputs}
        self.builder = Builder("safe_where")
        self.env: dict[int, Any] = {}
        self.made: dict[object, Any] = {}
        self.constants: dict[Need, float] = {}
        effectful = [p for p, eqn in enumerate(jaxpr.eqns) if eqn.op.effects]
        self.effect_before = dict(zip(effectful[1:], effectful))

    def write(self) -> Jaxpr:
        with building(self.builder):
            for v in self.jaxpr.in_binders:
                self.env[v.index] = self.builder.add_input(v.aval)
            done: set[int] = set()
            for position in range(len(self.jaxpr.eqns)):
                self._write_with_what_it_needs(position, done)
            return self.builder.close([self._value(a) for a in self.jaxpr.outs])[0]

    def _write_with_what_it_needs(self, position: int, done: set[int]) -> None:
        pending = [position]
        while pending:
            at = pending[-1]
            missing = [] if at in done else [p for p in self._needed(at) if p not in done]
            if missing:
                pending.extend(reversed(missing))
                continue
            pending.pop()
            if at not in done:
                done.add(at)
                self._write_equation(at)

    def _needed(self, position: int) -> list[int]:
        eqn = self.jaxpr.eqns[position]
        atoms = list(eqn.inputs)
        for k in range(len(eqn.inputs)):
            need = self.guards.wanted.get((position, k), NOTHING)
            atoms.extend(a for clause in need for a, _ in clause)
        found = [self.defining[a.index] for a in atoms if type(a) is Var and a.index in self.defining]
        return found + [self.effect_before[position]] if position in self.effect_before else found

    def _write_equation(self, position: int) -> None:
        op, inputs, outputs, source = self.jaxpr.eqns[position]
        self.builder.source = rewritten(source, "safe_where")
        operands = [self._operand(position, k, a) for k, a in enumerate(inputs)]
        self.builder.source = source
        out = self.builder.emit(op, operands)
        for v, x in zip(outputs, out if op.multiple_results else (out,)):
            self.env[v.index] = x

    def _value(self, a: Atom) -> Any:
        return self.env[a.index] if type(a) is Var else a

    def _operand(self, position: int, k: int, a: Atom) -> Any:
        need = self.guards.wanted.get((position, k))
        if need is None:
            return self._value(a)
        return self._once((a, need), lambda: self._guarded(a, need))

    def _once(self, key: object, make: Any) -> Any:
        found = self.made.get(key)
        if found is None:
            found = self.made[key] = make()
        return found

    def _guarded(self, a: Atom, need: Need) -> Any:
        """The operand where it is needed, and a constant elsewhere."""
        x = self._value(a)
        safe = o.number(self._constant(need), x)
        if len(need) == 1 and len(next(iter(need))) == 1:
            ((selector, case),) = next(iter(need))
            count = max(self.guards.demand.cases.get(selector, 2), case + 1)
            return o.select_n(self._value(selector), *[x if k == case else safe for k in range(count)])
        return o.select_n(self._mask(need), safe, x)

    def _mask(self, need: Need) -> Any:
        clauses = sorted([sorted(clause, key=_order) for clause in need], key=lambda c: list(map(_order, c)))
        return self._once(need, lambda: reduce(o.or_, [
            self._once(frozenset(clause), lambda c=clause: reduce(o.and_, [self._holds(*one) for one in c]))
            for clause in clauses]))

    def _holds(self, selector: Atom, case: int) -> Any:
        x = self._value(selector)
        if selector.aval.dtype != bool:
            return self._once((selector, case), lambda: o.eq(x, np.int32(case)))
        return x if case else self._once((selector, case), lambda: o.not_(x))

    def _constant(self, need: Need) -> float:
        """A number at which all that has this need is finite, if one of a few is."""
        if need not in self.constants:
            finite = (c for c in _CANDIDATES if self._is_finite_at(need, c))
            self.constants[need] = next(finite, _CANDIDATES[0])
        return self.constants[need]

    def _is_finite_at(self, need: Need, constant: float) -> bool:
        demand, known = self.guards.demand, {}

        def sample(a: Atom) -> np.ndarray:
            if type(a) is Literal:
                return _element(a)
            return known.get(a.index, np.asarray(constant).astype(a.aval.dtype))

        with np.errstate(all="ignore"):
            for eqn, of_eqn in zip(self.jaxpr.eqns, demand.of_eqn):
                if of_eqn == need and isinstance(eqn.op, o.Elementwise) and len(eqn.outputs) == 1:
                    value = np.asarray(evaluate(eqn.op, *map(sample, eqn.inputs)))
                    if dtypes.is_inexact(value.dtype) and not np.isfinite(value.astype(np.complex128)).all():
                        return False
                    known[eqn.outputs[0].index] = value
        return True


def _order(condition: tuple[Atom, int]) -> tuple:
    a, case = condition
    return (0, a.index, case) if type(a) is Var else (1, a.value.tobytes(), case)


def _element(a: Literal) -> np.ndarray:
    """One element of a constant."""
    return a.value if a.aval.shape == () else a.value.reshape(-1)[:1].reshape(()) if a.value.size else np.zeros(
        (), a.aval.dtype)
