"""Whether the static parameters of operations are of the types that their fields say.

Constructing an operation checks nothing, as staging makes one for each equation; ``check`` and ``parse`` do.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from .jaxpr import Jaxpr
from .operation import Operation, abstract_eval, expand_rule
from .types import ShapedArray, type_fault

_NUMBERS: dict[type, tuple[type, ...]] = {
    int: (int, np.integer), float: (int, float, np.integer, np.floating),
    complex: (int, float, complex, np.number)}


def parameter_fault(holder: Any) -> str | None:
    """What is wrong with a field of an operation, or of a dataclass among its parameters; None where nothing is."""
    hints = _field_types(type(holder))
    for field in fields(holder):
        value = getattr(holder, field.name)
        if not _fits(value, hints.get(field.name, Any)):
            inner = parameter_fault(value) if _has_fields(value) else None
            shown = f"{value!r:.200}"
            return f"{type(holder).__name__}.{field.name} must be {_text(field.type)}, got " + (
                f"a {type(value).__name__} of which {inner}" if inner else f"{shown} of type {type(value).__name__}")
    return None


@cache
def _field_types(cls: type) -> dict[str, Any]:
    """The annotations of a class. Those that name what is not to be found, as in a class within a function, are left
    out: their fields hold anything."""
    try:
        return get_type_hints(cls)
    except (NameError, TypeError):
        return {}


def _has_fields(value: Any) -> bool:
    return is_dataclass(value) and not isinstance(value, (type, Operation))


def _text(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", repr(annotation))


def _fits(value: Any, annotation: Any) -> bool:
    if annotation is Any:
        return _is_hashable(value)
    if annotation is None or annotation is NoneType:
        return value is None
    if annotation in _NUMBERS:
        return isinstance(value, _NUMBERS[annotation]) and not isinstance(value, (bool, np.bool_))
    origin = get_origin(annotation)
    if origin in (Union, UnionType):
        return any(_fits(value, choice) for choice in get_args(annotation))
    if origin is tuple:
        return isinstance(value, tuple) and _items_fit(value, get_args(annotation))
    if annotation is ShapedArray:
        return type_fault(value) is None
    if not isinstance(annotation, type):
        return _is_hashable(value)
    if not isinstance(value, annotation):
        return False
    return parameter_fault(value) is None if _has_fields(value) else isinstance(value, Jaxpr) or _is_hashable(value)


def _items_fit(items: tuple, types: tuple) -> bool:
    if len(types) == 2 and types[1] is Ellipsis:
        return all(_fits(item, types[0]) for item in items)
    return len(items) == len(types) and all(map(_fits, items, types))


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def operand_fault(op: Operation, count: int) -> str | None:
    """What is wrong with a number of operands, by the signature of the operation's typing rule; None where nothing."""
    rule = abstract_eval.find(type(op)) or expand_rule.find(type(op))
    least, most = _operand_counts(rule) if rule is not None else (0, None)
    if count >= least and (most is None or count <= most):
        return None
    wanted = f"at least {least}" if most is None else f"{least}" if least == most else f"{least} to {most}"
    return f"{op.name} takes {wanted} operand{'' if wanted in ('1', 'at least 1') else 's'}, got {count}"


@cache
def _operand_counts(rule: Callable[..., Any]) -> tuple[int, int | None]:
    """The least and the greatest number of operands that a typing rule takes; None for any number."""
    given = list(inspect.signature(rule).parameters.values())[1:]
    places = [p for p in given if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    least = sum(p.default is p.empty for p in places)
    return least, None if any(p.kind is p.VAR_POSITIONAL for p in given) else len(places)
