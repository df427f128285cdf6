"""The class that users test for: an instance of it is any array, whether a value or staged."""

from __future__ import annotations

from typing import Any

from ..ir import Tracer
from ..lower import Array


class _ArrayLike(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        kind = type(instance)
        return kind is Array or kind is Tracer

    def __subclasscheck__(cls, subclass: type) -> bool:
        return subclass is Array or subclass is Tracer or super().__subclasscheck__(subclass)

    def __getattr__(cls, name: str) -> Any:
        return getattr(Array, name)


class ndarray(metaclass=_ArrayLike):
    """The class of arrays, for isinstance and annotations: values and staged values are its instances.

    >>> import glax.numpy as xp
    >>> isinstance(xp.ones(2), xp.ndarray)
    True
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("ndarray is not called directly: make an array with numpy.array or numpy.zeros of this package")
