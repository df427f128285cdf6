"""Programs as values: variables, literals, equations, jaxprs.

Variables are numbered in binding order, so programs that differ only in names are equal, hash alike and print
alike. Sources (where an equation came from) take no part in equality.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from pyrsistent import PVector, pvector

from .errors import InvalidJaxpr
from .types import NO_EFFECTS, Effect, ShapedArray, shaped_array

if TYPE_CHECKING:
    from .operation import Operation


class Var(NamedTuple):
    """A variable of a jaxpr: its place in binding order, and its type.

    >>> from glax.ir import parse
    >>> parse("{ lambda ; a:f32[]. let in (a,) }").in_binders[0]
    Var(index=0, aval=ShapedArray(float32[]))
    """

    index: int
    aval: ShapedArray


class Literal:
    """A constant written in place. Compared by dtype, weakness, shape and bytes: 0.0 is not -0.0, a NaN is itself.

    Args:
        value: an array or a number; it is copied if it could be written to.
        aval: its type; by default that of ``np.asarray(value)``, not weak.

    Raises:
        ValueError: the value is not of the shape of ``aval``.

    >>> import numpy as np
    >>> from glax.ir import Literal
    >>> Literal(np.float32(0.)), Literal(np.float32(0.)) == Literal(np.float32(-0.))
    (Literal(array(0., dtype=float32), f32[]), False)
    """

    __slots__ = ("value", "aval", "_key")
    value: np.ndarray
    aval: ShapedArray

    def __init__(self, value: object, aval: ShapedArray | None = None):
        array = _frozen(np.asarray(value, None if aval is None else aval.dtype))
        setter = object.__setattr__
        aval = aval or shaped_array(array.shape, array.dtype, False)
        if aval.shape != array.shape:
            raise ValueError(f"a literal of type {aval.short()} was given a value of shape {array.shape}")
        setter(self, "value", array)
        setter(self, "aval", aval)
        setter(self, "_key", (aval, array.tobytes()))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Literal is immutable")

    def __eq__(self, other: object) -> bool:
        return self is other or (type(other) is Literal and self._key == other._key)

    def __hash__(self) -> int:
        return hash(self._key)

    def __reduce__(self):
        return Literal, (self.value, self.aval)

    def __repr__(self) -> str:
        return f"Literal({self.value!r}, {self.aval.short()})"


Atom = Var | Literal


class Source(NamedTuple):
    """Where an equation came from: a code object and an instruction of it, and the rewrite that produced it.

    ``file`` and ``line`` are looked up when they are asked for. Pickling gives a PlainSource.
    """

    code: object
    instruction: int
    rewrite: str | None = None

    @property
    def file(self) -> str:
        return self.code.co_filename

    @property
    def line(self) -> int:
        lines = list(self.code.co_positions())
        at = self.instruction // 2
        return (lines[at][0] if at < len(lines) else None) or self.code.co_firstlineno

    def __str__(self) -> str:
        made = f", by {self.rewrite}" if self.rewrite else ""
        return f"{self.file}:{self.line} ({self.code.co_name}){made}"

    def __reduce__(self):
        return PlainSource, (self.file, self.line, self.code.co_name, self.rewrite)


class PlainSource(NamedTuple):
    """A Source that has travelled between processes.

    >>> from glax.ir import PlainSource
    >>> print(PlainSource("model.py", 3, "loss", "jvp"))
    model.py:3 (loss), by jvp
    """

    file: str
    line: int
    function: str
    rewrite: str | None = None

    def __str__(self) -> str:
        made = f", by {self.rewrite}" if self.rewrite else ""
        return f"{self.file}:{self.line} ({self.function}){made}"


_REWRITE_NAMES: dict[tuple[str | None, str], str] = {}


def rewritten(source: Source | PlainSource | None, rewrite: str) -> Source | PlainSource | None:
    """The source of an equation that a rewrite makes of one with the given source; None where there is none.

    >>> from glax.ir import PlainSource, rewritten
    >>> print(rewritten(rewritten(PlainSource("model.py", 3, "loss"), "jvp"), "vmap"))
    model.py:3 (loss), by jvp, vmap
    """
    if source is None:
        return None
    key = (source[-1], rewrite)
    name = _REWRITE_NAMES.get(key)
    if name is None:
        name = _REWRITE_NAMES[key] = rewrite if key[0] is None else f"{key[0]}, {rewrite}"
    return tuple.__new__(type(source), (*source[:-1], name))


class Eqn(NamedTuple):
    """One equation: ``outputs = op(*inputs)``. Its source takes no part in equality.

    >>> from glax.ir import parse
    >>> eqn = parse("{ lambda ; a:f32[]. let b:f32[] = mul a 2.0:f32[] in (b,) }").eqns[0]
    >>> eqn.op, eqn.inputs[1], eqn.outputs
    (Mul(), Literal(array(2., dtype=float32), f32[]), (Var(index=1, aval=ShapedArray(float32[])),))
    """

    op: Operation
    inputs: tuple[Atom, ...]
    outputs: tuple[Var, ...]
    source: Source | PlainSource | None = None

    def __eq__(self, other: object) -> bool:
        return type(other) is Eqn and self[:3] == other[:3]

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self[:3])


class Jaxpr:
    """A program: ``lambda in_binders. let eqns in outs``, closed over nothing.

    Attributes:
        in_binders: the input variables, numbered from 0.
        eqns: the equations, a persistent vector, in an order that defines before use.
        outs: the results, each a variable or a literal.
        effects: the effects of all equations.

    Equal programs hash alike, whatever names their author used; ``fingerprint`` is the same in every process. Making
    one checks next to nothing; ``check`` does.

    >>> import glax
    >>> program = glax.make_jaxpr(lambda x: x * 2)(1.).jaxpr
    >>> program.in_avals, len(program.eqns), program.outs
    ([ShapedArray(float32[], weak_type=True)], 1, (Var(index=1, aval=ShapedArray(float32[], weak_type=True)),))
    >>> program == glax.ir.parse(str(program))
    True
    """

    __slots__ = ("in_binders", "eqns", "outs", "effects", "_hash", "_fingerprint", "__weakref__")
    in_binders: tuple[Var, ...]
    eqns: PVector[Eqn]
    outs: tuple[Atom, ...]
    effects: frozenset[Effect]

    def __init__(self, in_binders: Iterable[Var], eqns: Iterable[Eqn], outs: Iterable[Atom],
                 effects: frozenset[Effect] | None = None):
        setter = object.__setattr__
        setter(self, "in_binders", tuple(in_binders))
        setter(self, "eqns", pvector(eqns))
        setter(self, "outs", tuple(outs))
        setter(self, "effects", effects_of(self.eqns) if effects is None else effects)
        setter(self, "_hash", None)
        setter(self, "_fingerprint", None)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Jaxpr is immutable")

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(other) is not Jaxpr:
            return NotImplemented
        return (hash(self) == hash(other) and self.in_binders == other.in_binders and self.outs == other.outs
                and len(self.eqns) == len(other.eqns) and all(a == b for a, b in zip(self.eqns, other.eqns)))

    def __hash__(self) -> int:
        if self._hash is None:
            object.__setattr__(self, "_hash", hash((self.in_binders, tuple(map(hash, self.eqns)), self.outs)))
        return self._hash

    def __reduce__(self):
        return Jaxpr, (self.in_binders, tuple(self.eqns), self.outs, self.effects)

    @property
    def in_avals(self) -> list[ShapedArray]:
        return [v.aval for v in self.in_binders]

    @property
    def out_avals(self) -> list[ShapedArray]:
        return [a.aval for a in self.outs]

    @property
    def fingerprint(self) -> str:
        """A hex digest of the program's content, the same in every process and on every machine."""
        if self._fingerprint is None:
            from .printer import fingerprint
            object.__setattr__(self, "_fingerprint", fingerprint(self))
        return self._fingerprint

    def count(self) -> int:
        """How many equations there are, those of sub-programs included."""
        return sum(1 + sum(sub.count() for sub in eqn.op.sub_jaxprs()) for eqn in self.eqns)

    def __str__(self) -> str:
        from .printer import print_jaxpr
        return print_jaxpr(self)

    __repr__ = __str__


class ClosedJaxpr:
    """A program with values for its leading inputs, the constants that its Python function captured.

    Attributes:
        jaxpr: the program; its first ``len(consts)`` inputs stand for the constants.
        consts: the values. NumPy arrays that could be written to are copied.

    Raises:
        ValueError: there are more constants than inputs.

    >>> import glax, numpy as np
    >>> table = np.array([1, 2], np.int32)
    >>> glax.make_jaxpr(lambda x: x + table)(table)
    { lambda a:i32[2] = [1, 2] ; b:i32[2]. let c:i32[2] = add b a in (c,) }
    """

    __slots__ = ("jaxpr", "consts", "__weakref__")
    jaxpr: Jaxpr
    consts: tuple[object, ...]

    def __init__(self, jaxpr: Jaxpr, consts: Sequence[object] = ()):
        if len(consts) > len(jaxpr.in_binders):
            raise ValueError(f"a program of {len(jaxpr.in_binders)} inputs was given {len(consts)} constants")
        object.__setattr__(self, "jaxpr", jaxpr)
        object.__setattr__(self, "consts", tuple([_frozen(c) for c in consts]))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a ClosedJaxpr is immutable")

    def _const_keys(self) -> tuple[Literal, ...]:
        return tuple(Literal(np.array(c, copy=True), v.aval) for c, v in zip(self.consts, self.jaxpr.in_binders))

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(other) is not ClosedJaxpr:
            return NotImplemented
        return self.jaxpr == other.jaxpr and self._const_keys() == other._const_keys()

    def __hash__(self) -> int:
        return hash((self.jaxpr, self._const_keys()))

    def __reduce__(self):
        return ClosedJaxpr, (self.jaxpr, self.consts)

    @property
    def eqns(self) -> PVector[Eqn]:
        return self.jaxpr.eqns

    @property
    def effects(self) -> frozenset[Effect]:
        return self.jaxpr.effects

    @property
    def in_avals(self) -> list[ShapedArray]:
        return self.jaxpr.in_avals[len(self.consts):]

    @property
    def out_avals(self) -> list[ShapedArray]:
        return self.jaxpr.out_avals

    def __str__(self) -> str:
        from .printer import print_closed_jaxpr
        return print_closed_jaxpr(self)

    __repr__ = __str__


def require_jaxpr(what: str, program: object) -> None:
    """Raise TypeError unless a function that takes programs was given one."""
    if type(program) is not Jaxpr:
        hint = "; pass its .jaxpr, whose leading inputs stand for its consts" if type(program) is ClosedJaxpr else ""
        raise TypeError(f"{what} takes a Jaxpr, got an object of type {type(program).__name__}{hint}")


def _frozen(value: object) -> object:
    """A copy of a NumPy array whose memory may be written to, by way of another array too; anything else as it is."""
    if not isinstance(value, np.ndarray):
        return value
    owner = value
    while isinstance(owner, np.ndarray) and not owner.flags.writeable:
        owner = owner.base
    if owner is None or _is_read_only(owner):
        return value
    copied = value.copy()
    copied.flags.writeable = False
    return copied


def _is_read_only(owner: object) -> bool:
    """Whether memory can be written to by nobody: not where a NumPy array that may be written to owns it."""
    if isinstance(owner, np.ndarray):
        return False
    try:
        return memoryview(owner.obj if type(owner) is memoryview else owner).readonly
    except TypeError:
        return False


def effects_of(eqns: Iterable[Eqn]) -> frozenset[Effect]:
    found = NO_EFFECTS
    try:
        for eqn in eqns:
            if eqn.op.effects is not NO_EFFECTS:
                found = found | eqn.op.effects
    except (AttributeError, TypeError) as error:
        raise InvalidJaxpr(f"{eqn!r:.200} is not an equation whose operation has effects: {error}") from error
    return found


def assemble(in_vars: Sequence[Var], eqns: Iterable[Eqn], outs: Sequence[Atom]) -> Jaxpr:
    """A jaxpr of variables numbered afresh, in binding order, from equations that use any unique numbers.

    Equations up to the first number that changes are kept as they are.

    Args:
        in_vars: the inputs.
        eqns: the equations, in an order that defines before use.
        outs: the results.

    Returns:
        The program. Its effects are those of the equations.

    >>> from glax.ir import Eqn, ShapedArray, Var, assemble
    >>> from glax.ir.ops import Sin
    >>> x, y = Var(7, ShapedArray((), "float32")), Var(3, ShapedArray((), "float32"))
    >>> assemble([x], [Eqn(Sin(), (x,), (y,))], [y])
    { lambda ; a:f32[]. let b:f32[] = sin a in (b,) }
    """
    renamed: dict[int, Var] = {}
    changed = False
    for position, var in enumerate(in_vars):
        if var.index != position:
            changed = True
            var = Var(position, var.aval)
        renamed[in_vars[position].index] = var
    position = len(in_vars)
    new_eqns = []
    for eqn in eqns:
        op, inputs, outputs, source = eqn
        if not changed:
            if [v[0] for v in outputs] == list(range(position, position + len(outputs))):
                new_eqns.append(eqn)
                position += len(outputs)
                continue
            changed = True
        new_inputs = tuple([renamed.get(a[0], a) if type(a) is Var else a for a in inputs])
        new_outputs = []
        for var in outputs:
            new = var if var[0] == position else Var(position, var[1])
            renamed[var[0]] = new
            position += 1
            new_outputs.append(new)
        new_eqns.append(Eqn(op, new_inputs, tuple(new_outputs), source))
    return Jaxpr([renamed[v.index] for v in in_vars], new_eqns,
                 [renamed.get(a[0], a) if type(a) is Var else a for a in outs])
