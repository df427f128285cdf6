"""Python functions among the static parameters of operations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

from .parameters import register_parameter_class

_BY_LABEL: WeakValueDictionary[str, Any] = WeakValueDictionary()
_LABELS: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
_COUNTS: Counter[str] = Counter()


@register_parameter_class
@dataclass(frozen=True, eq=False)
class PythonFunction:
    """A Python function among an operation's static parameters, known by a name that is its own in this process.

    Read back from text or a pickle where no function of that name is in use, it cannot be called.
    """

    label: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "fun", _BY_LABEL.get(self.label))

    @classmethod
    def of(cls, fun: Callable[..., Any]) -> PythonFunction:
        try:
            label = _LABELS.get(fun)
        except TypeError:
            label = None
        name = f"{getattr(fun, '__module__', '')}.{getattr(fun, '__qualname__', type(fun).__qualname__)}"
        if label is None:
            _COUNTS[name] += 1
            label = name if _COUNTS[name] == 1 else f"{name}#{_COUNTS[name]}"
        made = cls(label)
        object.__setattr__(made, "fun", fun)
        try:
            _LABELS[fun] = label
            _BY_LABEL[label] = fun
        except TypeError:  # what can be no key or has no weak references is known to this object only
            return made
        return made

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.fun is None:
            raise TypeError(f"the Python function {self.label} did not come along with the program that was read")
        return self.fun(*args, **kwargs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PythonFunction) and self.label == other.label and self.fun is other.fun

    def __hash__(self) -> int:
        return hash(self.label)

    def __reduce__(self) -> tuple:
        return PythonFunction, (self.label,)
