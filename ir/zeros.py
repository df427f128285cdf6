"""Stand-ins for values in derivative rules: symbolic zeros, and the linear arguments of a program to transpose."""

from __future__ import annotations

from typing import Any

from multipledispatch import Dispatcher

from .types import ShapedArray, Typed


class Zero:
    """A tangent or cotangent that is zero, of which no equation is ever made.

    Args:
        aval: the type of the zero.

    >>> from glax.ir import ShapedArray, Zero, add_tangents
    >>> add_tangents(Zero(ShapedArray((), "float32")), 2.)
    2.0
    """

    __slots__ = ("aval",)

    def __init__(self, aval: ShapedArray):
        self.aval = aval

    def __repr__(self) -> str:
        return f"Zero({self.aval.short()})"


class LinearInput(Typed):
    """In a transpose rule, the place of an argument with respect to which the operation is linear.

    Args:
        aval: the argument's type; there is no value.

    >>> from glax.ir import LinearInput, ShapedArray
    >>> LinearInput(ShapedArray((3,), "float32"))
    LinearInput(f32[3])
    """

    __slots__ = ("aval",)

    def __init__(self, aval: ShapedArray):
        self.aval = aval

    def __repr__(self) -> str:
        return f"LinearInput({self.aval.short()})"


def instantiate(x: Any) -> Any:
    """A value for a tangent or cotangent: zeros for a symbolic zero, anything else as it is.

    >>> import glax
    >>> glax.ir.instantiate(glax.ir.Zero(glax.ir.ShapedArray((2,), "float32")))
    Array([0., 0.], dtype=float32)
    """
    if type(x) is not Zero:
        return x
    from .ops import full
    return full(x.aval.shape, 0, x.aval.dtype, x.aval.weak_type)


add_tangents = Dispatcher("add_tangents")


@add_tangents.register(Zero, Zero)
def _both_zero(a: Zero, b: Zero) -> Any:
    return a


@add_tangents.register(Zero, object)
def _left_zero(a: Zero, b: Any) -> Any:
    return b


@add_tangents.register(object, Zero)
def _right_zero(a: Any, b: Zero) -> Any:
    return a


@add_tangents.register(object, object)
def _sum(a: Any, b: Any) -> Any:
    from .ops import add
    return add(a, b)
