"""The static parameters of operations: the classes they may have in text, and whether they are what fields say.

Constructing an operation checks nothing, as staging makes one for each equation; ``check`` and ``parse`` do.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from .jaxpr import Jaxpr
from .operation import Operation
from .types import ShapedArray, type_fault

_NUMBERS: dict[type, tuple[type, ...]] = {
    int: (int, np.integer), float: (int, float, np.integer, np.floating),
    complex: (int, float, complex, np.number)}


PARAMETER_CLASSES: dict[str, type] = {}


def register_parameter_class(cls: type) -> type:
    """Let a dataclass or an enum stand among an operation's static parameters in text, by its name.

    Args:
        cls: the class.

    Returns:
        The class, so that this serves as a decorator.
    """
    PARAMETER_CLASSES[cls.__name__] = cls
    return cls


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
