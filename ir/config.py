"""Settings: process-wide values that a thread may override for a while.

The one object is `config`. Class attributes hold the process-wide values and instance attributes of a
`threading.local` hold the overrides, so that reading `config.enable_x64` is one attribute read in any thread.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from contextlib import ContextDecorator
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np

__all__ = ["Config", "config", "enable_x64"]

_PREFIXES = ("jax_", "glax_")
_TRUE, _FALSE = ("1", "true", "yes", "y", "on", "t"), ("0", "false", "no", "n", "off", "f", "")
_MATMUL_PRECISIONS = ("default", "high", "highest", "bfloat16", "tensorfloat32", "float32")
_DOT_ALGORITHMS = (
    "ANY_F8_ANY_F8_F32", "ANY_F8_ANY_F8_F32_FAST_ACCUM", "ANY_F8_ANY_F8_ANY", "ANY_F8_ANY_F8_ANY_FAST_ACCUM",
    "F16_F16_F16", "F16_F16_F32", "BF16_BF16_BF16", "BF16_BF16_F32", "BF16_BF16_F32_X3", "BF16_BF16_F32_X6",
    "BF16_BF16_F32_X9", "TF32_TF32_F32", "TF32_TF32_F32_X3", "F32_F32_F32", "F64_F64_F64",
)  # fmt: skip
_MISSING = object()
# Settings that change how programs are staged or run, and hardly ever differ from their defaults. One attribute says
# whether any may, for where every read counts.
_HEEDED_BY_RUNNING = ("disable_jit", "debug_nans", "debug_infs", "numpy_dtype_promotion", "default_matmul_precision")


@dataclass(frozen=True, slots=True)
class Field:
    """One setting: its default, the values it may take (None: a bool) and what it does."""

    default: Any
    choices: tuple[Any, ...] | None
    doc: str

    def checked(self, name: str, value: Any) -> Any:
        """The value to store for `name`; TypeError or ValueError when `value` does not fit."""
        if self.choices is None:
            if not isinstance(value, bool | np.bool_):
                raise TypeError(f"config.{name}: expected a bool, got {value!r} of type {type(value).__name__}")
            return bool(value)
        if not isinstance(value, str | None):
            raise TypeError(f"config.{name}: expected one of {self.choices}, got {type(value).__name__} {value!r}")
        if value not in self.choices:
            raise ValueError(f"config.{name}: expected one of {self.choices}, got {value!r}")
        return value


def _bool_from_env(variable: str) -> bool:
    text = os.environ.get(variable, "").strip().lower()
    if text not in _TRUE + _FALSE:
        raise ValueError(f"environment variable {variable}: expected one of {_TRUE + _FALSE}, got {text!r}")
    return text in _TRUE


FIELDS: dict[str, Field] = {
    "enable_x64": Field(_bool_from_env("GLAX_ENABLE_X64"), None, "Keep 64-bit dtypes instead of narrowing them to 32."),
    "check_rewrites": Field(False, None, "Check every jaxpr that a rewrite returns."),
    "debug_nans": Field(False, None, "Raise FloatingPointError when an operation yields a NaN."),
    "debug_infs": Field(False, None, "Raise FloatingPointError when an operation yields an infinity."),
    "disable_jit": Field(False, None, "Run the body of jit and of control flow in Python, value by value."),
    "numpy_dtype_promotion": Field("standard", ("standard", "strict"), "Which dtypes mix without an explicit cast."),
    "default_matmul_precision": Field(
        None, (None, *_MATMUL_PRECISIONS, *_DOT_ALGORITHMS), "Precision of products that name none."
    ),
}


def _take_slow_path(values: Mapping[str, Any]) -> bool:
    """Whether one of these settings changes how programs are staged or run; one that is not there does not."""
    return any(values.get(name, FIELDS[name].default) != FIELDS[name].default for name in _HEEDED_BY_RUNNING)


def _field_name(name: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"config: the name of a setting is a str, got {type(name).__name__} {name!r}")
    bare = next((name[len(prefix) :] for prefix in _PREFIXES if name.startswith(prefix)), name)
    if bare in FIELDS:
        return bare
    import difflib
    near = difflib.get_close_matches(bare, FIELDS, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"the settings are {', '.join(FIELDS)}"
    raise AttributeError(f"config has no setting {name!r}; {hint}")


class Config(threading.local):
    """The settings; read them as attributes, change them with `update` or, for a while, with `override`.

    `slow_path` is no setting: it is true where one that changes how programs are staged or run may be on.

    >>> from glax.ir.config import config
    >>> config.disable_jit
    False
    >>> with config.override(disable_jit=True):
    ...     config.disable_jit
    True
    """

    enable_x64: bool
    check_rewrites: bool
    debug_nans: bool
    debug_infs: bool
    disable_jit: bool
    numpy_dtype_promotion: str
    default_matmul_precision: str | None
    slow_path: bool = False

    def __setattr__(self, name: str, value: Any) -> None:
        """`config.name = value` is `config.update(name, value)`."""
        self.update(name, value)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"config.{name} cannot be deleted; use config.update to change it")

    def __repr__(self) -> str:
        return f"Config({', '.join(f'{name}={getattr(self, name)!r}' for name in FIELDS)})"

    def update(self, name: str, value: Any) -> None:
        """Set a value for the whole process; a thread inside an override of that setting keeps the override.

        `name` may carry a leading ``jax_`` or ``glax_``. Raises AttributeError for an unknown name, TypeError or
        ValueError for a value that the setting cannot take.

        >>> from glax.ir.config import config
        >>> config.update("jax_debug_nans", False)
        """
        field = _field_name(name)
        setattr(Config, field, FIELDS[field].checked(field, value))
        Config.slow_path = _take_slow_path(vars(Config))

    def override(self, **fields: Any) -> Override:
        """A context manager (and decorator) that sets values for the current thread only.

        >>> from glax.ir.config import config
        >>> with config.override(enable_x64=True, debug_nans=True):
        ...     config.enable_x64, config.debug_nans
        (True, True)
        """
        names = {name: _field_name(name) for name in fields}
        return Override({names[n]: FIELDS[names[n]].checked(names[n], value) for n, value in fields.items()})


for _name, _field in FIELDS.items():
    setattr(Config, _name, _field.default)
    for _prefix in _PREFIXES:  # a property, because a __getattr__ would double the cost of every read
        setattr(Config, _prefix + _name, property(attrgetter(_name)))

config = Config()

threads_overriding: set[int] = set()
"""The threads, by their idents, in which a setting is overridden. Where there are none, the attributes of Config hold,
and to read those of a class takes a third of the time."""


def _settle(overridden: dict[str, Any]) -> None:
    """Make what follows from a thread's overrides follow from them, after they changed."""
    overridden.pop("slow_path", None)
    if _take_slow_path(overridden):
        overridden["slow_path"] = True
    (threads_overriding.add if overridden else threads_overriding.discard)(threading.get_ident())


class _Saved(threading.local):
    """What overrides have replaced in a thread, the last first to come back."""

    def __init__(self) -> None:
        self.values: list[dict[str, Any]] = []


class Override(ContextDecorator):
    """Values that hold in a thread between entry and exit; the same object may be entered again, and in any thread."""

    __slots__ = ("_saved", "_values")

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values
        self._saved = _Saved()

    def _recreate_cm(self) -> Override:
        return Override(self._values)

    def __enter__(self) -> None:
        current = config.__dict__
        self._saved.values.append({name: current.get(name, _MISSING) for name in self._values})
        current.update(self._values)
        _settle(current)

    def __exit__(self, *exc_info: object) -> None:
        current = config.__dict__
        for name, value in self._saved.values.pop().items():
            if value is _MISSING:
                current.pop(name, None)
            else:
                current[name] = value
        _settle(current)


def enable_x64(new_val: bool = True) -> Override:
    """A context manager (and decorator) under which this thread keeps, or narrows, 64-bit dtypes.

    >>> from glax.ir.config import config, enable_x64
    >>> with enable_x64(True):
    ...     config.enable_x64
    True
    """
    return config.override(enable_x64=new_val)
