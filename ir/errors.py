"""The errors that are glax's own; bad values are ordinary TypeError and ValueError."""

from __future__ import annotations


class GlaxError(Exception):
    """Base of glax's own errors."""


class MissingRule(GlaxError, NotImplementedError):
    """An operation has no rule in an interpretation; the message says how to register one."""


class InvalidJaxpr(GlaxError, ValueError):
    """A program breaks a rule of the IR: scoping, single binding, types or effects."""


class JaxprSyntaxError(GlaxError, ValueError):
    """Text that is not a program.

    >>> import glax
    >>> glax.ir.parse("sin a")   # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    JaxprSyntaxError: ...
    """


class IncompatibleShapesError(GlaxError, TypeError, ValueError):
    """Operands of shapes that do not fit: a TypeError as in lax, and a ValueError as in NumPy."""


class TracerError(GlaxError, TypeError):
    """Base of the errors about staged values."""


class UnexpectedTracerError(TracerError):
    """A staged value was used after its program was finished, as when a function keeps it in a variable outside."""


class ConcretizationTypeError(TracerError):
    """A staged value was used where its contents are needed.

    >>> import glax
    >>> glax.jit(lambda x: float(x))(1.)   # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    ConcretizationTypeError: ...
    """


class TracerBoolConversionError(ConcretizationTypeError):
    """A staged value was used as a Python bool, as by ``if``; lax.cond or numpy.where choose by staged values."""


class TracerIntegerConversionError(ConcretizationTypeError):
    """A staged value was used as a Python index."""


class TracerArrayConversionError(TracerError):
    """A staged value was turned into a NumPy array."""


class NonConcreteBooleanIndexError(ConcretizationTypeError):
    """A staged boolean mask was used as an index, so the result's shape is unknown."""


class NonHashableStaticError(GlaxError, ValueError):
    """A static argument cannot be hashed."""
