"""Which elements of its values a program needs: those that the selects they go through take.

A need is a set of clauses, each a set of conditions (selector, case): an element is needed where all conditions of
some clause hold. Elementwise operations hand on what is needed of their result to their operands; whatever mixes
elements needs all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..ir import Atom, Eqn, Jaxpr, Literal, Operation, Var
from ..ir import ops as o

Condition = tuple[Atom, int]
Clause = frozenset[Condition]
Need = frozenset[Clause]

ALL: Need = frozenset([frozenset()])
NOTHING: Need = frozenset()
_MOST_CLAUSES = 8
_CALLS = (o.Jit, o.CustomJvpCall, o.CustomVjpCall, o.CustomVmapCall, o.Checkpoint, o.Name)


def is_elementwise(eqn: Eqn) -> bool:
    """Whether each element of the results depends on the same element of every operand: also calls of such programs."""
    op = eqn.op
    if op.effects:
        return False
    if isinstance(op, o.Elementwise):
        return True
    if not isinstance(op, _CALLS):
        return False
    shapes = {a.aval.shape for a in (*eqn.inputs, *eqn.outputs)} - {()}
    return len(shapes) <= 1 and all(is_elementwise(e) for e in program_of_call(op))


def program_of_call(op: Operation) -> Iterable[Eqn]:
    return () if isinstance(op, o.Name) else op.jaxpr.eqns


def union(a: Need, b: Need, cases: dict[Atom, int]) -> Need:
    """What is needed by one or the other, in few clauses; ALL where they would be many."""
    return _simplified(a | b, cases)


def both(a: Need, b: Need, cases: dict[Atom, int]) -> Need:
    """What is needed by one and the other."""
    return _simplified({x | y for x in a for y in b if _possible(x | y)}, cases)


def implies(a: Need, b: Need) -> bool:
    """Whether all that a needs is also needed by b, as far as clauses show."""
    return all(any(weaker <= clause for weaker in b) for clause in a)


def _possible(clause: Clause) -> bool:
    return len({selector for selector, _ in clause}) == len(clause)


def _simplified(clauses: Iterable[Clause], cases: dict[Atom, int]) -> Need:
    found = set(clauses)
    while True:
        found = {c for c in found if not any(other < c for other in found)}
        merged = next(_complete(found, cases), None)
        if merged is None:
            return frozenset(found) if len(found) <= _MOST_CLAUSES else ALL
        found.add(merged)


def _complete(clauses: set[Clause], cases: dict[Atom, int]) -> Iterator[Clause]:
    """Clauses of which there is one for every case of a selector, without that selector."""
    for clause in clauses:
        for selector, _ in clause:
            rest = frozenset(c for c in clause if c[0] != selector)
            if all(rest | {(selector, k)} in clauses for k in range(cases.get(selector, 2))):
                yield rest


class Demand:
    """What a program needs of its values.

    Attributes:
        of_value: for each variable's number, what is needed of it; ALL where it is not computed elementwise.
        of_eqn: for each equation, what is needed of its results together; ALL for one that mixes elements.
        elementwise: for each equation, whether it is elementwise.
    """

    def __init__(self, jaxpr: Jaxpr):
        self.cases: dict[Atom, int] = {}
        self._defining = {v.index: eqn for eqn in jaxpr.eqns for v in eqn.outputs}
        self.of_value: dict[int, Need] = {}
        self.elementwise = [is_elementwise(eqn) for eqn in jaxpr.eqns]
        self.of_eqn: list[Need] = [ALL] * len(jaxpr.eqns)
        for eqn in jaxpr.eqns:
            if isinstance(eqn.op, o.SelectN):
                self.cases[eqn.inputs[0]] = len(eqn.inputs) - 1
        for a in jaxpr.outs:
            self._add(a, ALL)
        for position in reversed(range(len(jaxpr.eqns))):
            self._hand_on(position, jaxpr.eqns[position])
        computed = {v.index for eqn, flag in zip(jaxpr.eqns, self.elementwise) if flag for v in eqn.outputs}
        self.of_value = {index: need if index in computed else ALL for index, need in self.of_value.items()}

    def _add(self, a: Atom, need: Need) -> None:
        if type(a) is Var:
            self.of_value[a.index] = union(self.of_value.get(a.index, NOTHING), need, self.cases)

    def _hand_on(self, position: int, eqn: Eqn) -> None:
        if not self.elementwise[position]:
            for a in eqn.inputs:
                self._add(a, ALL)
            return
        need = NOTHING
        for v in eqn.outputs:
            need = union(need, self.of_value.get(v.index, NOTHING), self.cases)
        self.of_eqn[position] = need
        shape = eqn.outputs[0].aval.shape if eqn.outputs else ()
        for k, a in enumerate(eqn.inputs):
            part = self.of_operand(eqn, k, need)
            self._add(a, part if a.aval.shape == shape else _of_scalars(part))

    def of_operand(self, eqn: Eqn, k: int, need: Need) -> Need:
        """What an elementwise equation needs of an operand."""
        if not isinstance(eqn.op, o.SelectN):
            return need
        if k == 0:
            return NOTHING if self.is_guard(eqn, need) else need
        return both(need, self.taken(eqn.inputs[0], k - 1), self.cases)

    def is_guard(self, eqn: Eqn, need: Need) -> bool:
        """Whether a select takes the same case wherever its result is needed, which is not everywhere."""
        return need not in (ALL, NOTHING) and any(
            self.of_operand(eqn, k, need) == need for k in range(1, len(eqn.inputs)))

    def taken(self, selector: Atom, case: int) -> Need:
        """Where a selector chooses a case, in terms of the conditions that it is made of."""
        if type(selector) is Literal:
            if selector.aval.shape == ():
                return ALL if int(selector.value) == case else NOTHING
            return frozenset([frozenset([(selector, case)])])
        eqn = self._defining.get(selector.index)
        if eqn is not None and selector.aval.dtype == bool:
            parts = eqn.inputs
            if isinstance(eqn.op, o.Not):
                return self.taken(parts[0], 1 - case)
            if isinstance(eqn.op, (o.And, o.Or)):
                join = both if isinstance(eqn.op, o.And) == (case == 1) else union
                found = join(self.taken(parts[0], case), self.taken(parts[1], case), self.cases)
                if found not in (ALL, NOTHING):
                    return found
        return frozenset([frozenset([(selector, case)])])


def _of_scalars(need: Need) -> Need:
    """What is needed of a scalar beside arrays: what its conditions that are scalars say."""
    return _simplified({frozenset([c for c in clause if c[0].aval.shape == ()]) for clause in need}, {})
