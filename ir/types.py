"""Types of array values, and the effects a program may have."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import prod
from operator import index

import numpy as np

from . import dtypes


class ShapedArray:
    """The type of an array: its shape, its dtype, and whether the dtype is weak (it came from a Python scalar).

    Instances are interned, so equal types are nearly always the same object and comparing them is cheap; equality
    is by content all the same. They are immutable.

    Raises:
        TypeError: a dimension is not an integer, or the dtype not a dtype.
        ValueError: a dimension is negative.

    >>> ShapedArray((2, 3), "float32")
    ShapedArray(float32[2,3])
    >>> ShapedArray((), "float32", weak_type=True) == ShapedArray((), "float32")
    False
    """

    __slots__ = ("shape", "dtype", "weak_type", "token", "_hash", "_text")
    shape: tuple[int, ...]
    dtype: np.dtype
    weak_type: bool
    token: object  # this instance in dictionaries: found by identity, in a third of the time of the type itself

    def __new__(cls, shape: tuple[int, ...], dtype: np.dtype | str | type, weak_type: bool = False) -> ShapedArray:
        return shaped_array(_sizes(shape), np.dtype(dtype), bool(weak_type))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a ShapedArray is immutable; make another with .update({name}=...)")

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(other) is not ShapedArray:
            return NotImplemented
        return (self.shape, self.dtype, self.weak_type) == (other.shape, other.dtype, other.weak_type)

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self):
        return shaped_array, (self.shape, self.dtype, self.weak_type)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def is_inexact(self) -> bool:
        """Whether the dtype is floating or complex, so that values have derivatives."""
        return dtypes.is_inexact(self.dtype)

    def update(self, **changes: object) -> ShapedArray:
        """This type with some of shape, dtype and weak_type replaced."""
        fields = {"shape": self.shape, "dtype": self.dtype, "weak_type": self.weak_type, **changes}
        return ShapedArray(**fields)

    def strip_weak_type(self) -> ShapedArray:
        return shaped_array(self.shape, self.dtype, False) if self.weak_type else self

    def to_tangent(self) -> ShapedArray:
        """The type of a tangent: itself when inexact, float0 otherwise."""
        return shaped_array(self.shape, dtypes.tangent_dtype(self.dtype), self.weak_type)

    def short(self) -> str:
        """The text used in printed programs: ``f32[2,3]``, with ``*`` after a weak dtype."""
        if self._text is None:
            star = "*" if self.weak_type else ""
            text = f"{dtypes.short_name(self.dtype)}{star}[{','.join(map(str, self.shape))}]"
            object.__setattr__(self, "_text", text)
        return self._text

    str_short = short

    def __repr__(self) -> str:
        weak = ", weak_type=True" if self.weak_type else ""
        return f"ShapedArray({self.dtype.name}[{','.join(map(str, self.shape))}]{weak})"


def _sizes(shape: Iterable[int]) -> tuple[int, ...]:
    try:
        return tuple(map(index, shape))
    except TypeError as error:
        raise TypeError(f"a shape must be a sequence of integers, got {shape!r:.200}: {error}") from None


_INTERNED: dict[tuple, ShapedArray] = {}
_MOST_INTERNED = 100_000


def shaped_array(shape: tuple[int, ...], dtype: np.dtype, weak_type: bool = False) -> ShapedArray:
    """The interned ShapedArray of an exact tuple of ints and an exact np.dtype (no conversions are made).

    Raises:
        TypeError: a dimension is not an integer, or the dtype not an np.dtype.
        ValueError: a dimension is negative.

    >>> import numpy as np
    >>> from glax.ir import shaped_array
    >>> shaped_array((2,), np.dtype("float32")) is shaped_array((2,), np.dtype("float32"))
    True
    """
    key = (shape, dtype, weak_type)
    found = _INTERNED.get(key)
    if found is None:
        # Checked where a type is new only: 1.0 and True are the same keys as 1, and would stand in for it everywhere.
        shape = _sizes(shape)
        if shape and min(shape) < 0:
            raise ValueError(f"a shape must have no negative dimension, got {shape}")
        if not isinstance(dtype, np.dtype):
            raise TypeError(f"the dtype of a ShapedArray must be a dtype, got {dtype!r:.200}")
        if len(_INTERNED) >= _MOST_INTERNED:
            _INTERNED.clear()
        found = object.__new__(ShapedArray)
        setter = object.__setattr__
        setter(found, "shape", shape)
        setter(found, "dtype", dtype)
        setter(found, "weak_type", weak_type)
        setter(found, "token", object())
        setter(found, "_hash", hash(key))
        setter(found, "_text", None)
        _INTERNED[key] = found
    return found


class Typed:
    """Base of what stands for a value of the type in its ``aval``: it has the type's shape, dtype, ndim and size.

    >>> from glax.ir import LinearInput, ShapedArray
    >>> LinearInput(ShapedArray((2, 3), "float32")).size
    6
    """

    __slots__ = ()
    aval: ShapedArray

    @property
    def shape(self) -> tuple[int, ...]:
        return self.aval.shape

    @property
    def dtype(self) -> np.dtype:
        return self.aval.dtype

    @property
    def weak_type(self) -> bool:
        """Whether the dtype gives way to another's in arithmetic, as a Python scalar's does."""
        return self.aval.weak_type

    @property
    def ndim(self) -> int:
        return len(self.aval.shape)

    @property
    def size(self) -> int:
        return self.aval.size


def type_fault(aval: object) -> str | None:
    """What is wrong with a value where a type is expected, None where nothing is."""
    if type(aval) is not ShapedArray:
        return f"{aval!r:.200} is not a ShapedArray"
    return _fault_of_array(aval.shape, aval.dtype, tuple(map(type, aval.shape)))


@lru_cache(maxsize=8192)
def _fault_of_array(shape: tuple, dtype: object, kinds: tuple[type, ...]) -> str | None:
    if any(kind is not int for kind in kinds) or any(n < 0 for n in shape):
        return f"the shape {shape!r} is not a tuple of integers that are not negative"
    try:
        dtypes.short_name(dtype)
    except TypeError as error:
        return str(error)
    return None


class Effect:
    """What running an equation does beyond computing its outputs. Effects are compared by class.

    >>> from glax.ir.ops import DebugEffect, DebugPrint
    >>> DebugPrint("hello").effects == {DebugEffect()}
    True
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self).__qualname__)

    def __repr__(self) -> str:
        return type(self).__name__


NO_EFFECTS: frozenset[Effect] = frozenset()
