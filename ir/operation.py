"""Operations (the rows of the grid) and interpretations (its columns).

An operation is a frozen dataclass whose fields are its static parameters. An interpretation is a generic function
dispatched by multipledispatch on the operation's class, so that a rule given for a base class serves the whole
family. Looking a rule up is done once per operation class and kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cache
from operator import attrgetter
from typing import Any, ClassVar

from multipledispatch import Dispatcher

from .errors import MissingRule
from .jaxpr import Jaxpr
from .types import NO_EFFECTS, Effect


class Operation:
    """Base of all operations.

    Class attributes:
        name: what programs print.
        multiple_results: whether its functions take and give sequences of outputs rather than one.
        effects: what running it does beyond computing its outputs.
        compared: the names of the fields that take part in equality.
        values_of: a function from an operation to the values of those fields.

    >>> from glax.ir import ops
    >>> ops.ReduceSum(axes=(0,)), ops.ReduceSum.name, list(ops.ReduceSum((0,)).sub_jaxprs())
    (ReduceSum(axes=(0,)), 'reduce_sum', [])
    """

    __slots__ = ()
    name: ClassVar[str]
    multiple_results: ClassVar[bool] = False
    effects: frozenset[Effect] = NO_EFFECTS
    field_names: ClassVar[tuple[str, ...]] = ()
    compared: ClassVar[tuple[str, ...]] = ()
    values_of: ClassVar[Callable[[Operation], Any]] = staticmethod(lambda op: ())

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other):
            return NotImplemented
        return bool(self.values_of(self) == self.values_of(other))

    def __hash__(self) -> int:
        return hash((self.name, self.values_of(self)))

    def __repr__(self) -> str:
        shown = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields(self))
        return f"{type(self).__name__}({shown})"

    def __reduce__(self):
        return _operation_named, (self.name, tuple([getattr(self, f.name) for f in fields(self)]))

    def sub_jaxprs(self) -> Iterator[Jaxpr]:
        """The programs among the parameters."""
        for name in self.field_names:
            value = getattr(self, name)
            for item in value if isinstance(value, tuple) else (value,):
                if isinstance(item, Jaxpr):
                    yield item

    def has_sub_jaxprs(self) -> bool:
        """Whether there is a program among the parameters."""
        return next(self.sub_jaxprs(), None) is not None

    def map_jaxprs(self, change: Callable[[Jaxpr], Jaxpr]) -> Operation:
        """This operation with every program among its parameters changed by ``change``."""
        changed = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Jaxpr):
                changed[field.name] = change(value)
            elif isinstance(value, tuple) and any(isinstance(item, Jaxpr) for item in value):
                changed[field.name] = tuple(change(i) if isinstance(i, Jaxpr) else i for i in value)
        return replace(self, **changed) if changed else self


OPERATIONS: dict[str, type[Operation]] = {}


def operation(cls: type) -> type:
    """Class decorator: make an operation of a class with a ``name`` and typed fields, and register its name.

    An operation without fields has one instance; instances with equal fields are equal. Python's own equality and
    representation of dataclasses are not used, as making them would take most of the package's import time.

    Args:
        cls: a subclass of Operation.

    Returns:
        The operation's class, a frozen dataclass where there are fields.

    Raises:
        ValueError: another class has the name already.

    >>> from glax.ir import operation, ops
    >>> @operation
    ... class Shifted(ops.Unary):
    ...     name = "shifted"
    ...     by: int
    >>> Shifted(3), Shifted(3) == Shifted(by=3)
    (Shifted(by=3), True)
    """
    cls.__doc__ = cls.__doc__ or cls.name
    if cls.__dict__.get("__annotations__"):
        made = dataclass(frozen=True, slots=True, eq=False, repr=False, match_args=False)(cls)
        made.compared = tuple(f.name for f in fields(made) if f.compare)
        made.values_of = staticmethod(attrgetter(*made.compared) if made.compared else lambda op: ())
    else:
        made = _singleton(cls)
    made.field_names = tuple(f.name for f in fields(made))
    known = OPERATIONS.get(made.name)
    if known is not None and (known.__module__, known.__qualname__) != (made.__module__, made.__qualname__):
        raise ValueError(f"an operation named {made.name!r} exists: {known}")
    OPERATIONS[made.name] = made
    return made


def _singleton(cls: type) -> type:
    """A class with one instance and no fields."""
    instance = object.__new__(cls)
    cls.__dataclass_fields__ = {}
    cls.__new__ = staticmethod(lambda klass: instance)
    cls.__eq__, cls.__hash__ = object.__eq__, object.__hash__
    return cls


def _operation_named(name: str, values: tuple) -> Operation:
    """Unpickle an operation: found by its name, so that those defined in a script or a notebook travel too."""
    found = OPERATIONS.get(name)
    if found is None:
        raise LookupError(f"no operation {name!r} is registered in this process; import the module that defines it")
    return found(*values)


class Interpretation:
    """A column of the grid: one rule per operation, found by the operation's class.

    Args:
        name: what errors and ``glax.rules()`` call it.
        signature: how its rules are called.

    Rules are registered with ``register`` at any time. An operation without a rule, but with one in
    ``expand_rule``, is interpreted by what it expands to.

    >>> import numpy as np
    >>> from glax.ir import evaluate, ops
    >>> evaluate(ops.ReduceSum((0,)), np.array([1, 2], np.int32))
    np.int32(3)
    >>> print(evaluate.find(ops.Logaddexp))
    None
    """

    def __init__(self, name: str, signature: str):
        self.name = name
        self.signature = signature
        self.__doc__ = f"{name}{signature}\n\nBy one rule for each class of operations; register(cls) adds one."
        self.dispatcher = Dispatcher(name)
        self.by_expansion: Callable[..., Any] | None = None
        self.resolved: dict[type, Callable[..., Any]] = {}
        INTERPRETATIONS[name] = self

    def register(self, *op_types: type) -> Callable[[Callable], Callable]:
        """Decorator: the function is the rule of these operation classes and of their subclasses."""
        def keep(rule: Callable) -> Callable:
            for op_type in op_types:
                self.dispatcher.add((op_type,), rule)
            self.resolved.clear()
            return rule
        return keep

    def find(self, op_type: type) -> Callable[..., Any] | None:
        """The rule registered for a class or the nearest of its bases, None where there is none."""
        return self.dispatcher.dispatch(op_type)

    def __getitem__(self, op_type: type) -> Callable[..., Any]:
        """The rule for an operation class; MissingRule where there is none."""
        rule = self.resolved.get(op_type)
        return self._resolve(op_type) if rule is None else rule

    def _resolve(self, op_type: type) -> Callable[..., Any]:
        if not issubclass(op_type, Operation):
            raise TypeError(f"{self.name}: expected an Operation, got an object of type {op_type.__name__}")
        rule = self.find(op_type)
        if rule is None and self.by_expansion is not None and expand_rule.find(op_type) is not None:
            rule = self.by_expansion
        if rule is None:
            raise MissingRule(
                f"the operation {op_type.name!r} ({op_type.__name__}) has no rule in {self.name}; register one with "
                f"@glax.ir.{self.name}.register({op_type.__name__}) on a function {self.signature}, or give "
                f"glax.ir.expand_rule a function from its operands to the program it stands for")
        self.resolved[op_type] = rule
        return rule

    def __call__(self, op: Operation, *args: Any) -> Any:
        return self[type(op)](op, *args)


INTERPRETATIONS: dict[str, Interpretation] = {}

abstract_eval = Interpretation("abstract_eval", "(op, *avals) -> aval, or a list of avals for multiple_results")
expand_rule = Interpretation("expand_rule", "(op, *avals) -> Jaxpr that computes the same")
evaluate = Interpretation("evaluate", "(op, *numpy_values) -> value, or a list of values for multiple_results")
jvp_rule = Interpretation("jvp_rule", "(op, primals, tangents) -> (out, tangent), or two lists for multiple_results")
vmap_rule = Interpretation("vmap_rule", "(op, axis, args, dims) -> (out, dim), or two lists for multiple_results")
transpose_rule = Interpretation("transpose_rule", "(op, cotangents, args) -> one cotangent or None per argument")
partial_eval_rule = Interpretation(
    "partial_eval_rule", "(op, eqn, unknown, fresh) -> (known eqns, unknown eqns, which outputs are unknown)")
dce_rule = Interpretation("dce_rule", "(op, eqn, used_outputs) -> Eqn that computes the used outputs, or None")
simplify_rule = Interpretation("simplify_rule", "(op, *atoms) -> an atom that equals the result, or None")
lower_rule = Interpretation("lower_rule", "(op, write, eqn, *operand_names) -> name of the result, or a list of names")


def require_operand_count(op: Operation, count: int) -> None:
    """Raise TypeError where an operation does not take so many operands, by the signature of its typing rule."""
    rule = abstract_eval.find(type(op)) or expand_rule.find(type(op))
    least, most = (0, None) if rule is None else _operand_counts(rule)
    if count < least or most is not None and count > most:
        wanted = f"at least {least}" if most is None else f"{least}" if least == most else f"{least} to {most}"
        raise TypeError(f"{op.name} takes {wanted} operand{'' if wanted.endswith(' 1') or wanted == '1' else 's'}, "
                        f"got {count}") from None


@cache
def _operand_counts(rule: Callable[..., Any]) -> tuple[int, int | None]:
    """The least and the greatest number of operands that a typing rule takes; None for any number."""
    import inspect
    given = list(inspect.signature(rule).parameters.values())[1:]
    places = [p for p in given if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    least = sum(p.default is p.empty for p in places)
    return least, None if any(p.kind is p.VAR_POSITIONAL for p in given) else len(places)
