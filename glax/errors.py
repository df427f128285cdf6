"""The errors that are glax's own."""

from .ir.errors import (
    ConcretizationTypeError,
    GlaxError,
    IncompatibleShapesError,
    InvalidJaxpr,
    JaxprSyntaxError,
    MissingRule,
    NonConcreteBooleanIndexError,
    NonHashableStaticError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerError,
    TracerIntegerConversionError,
    UnexpectedTracerError,
)
from .lower.jaxlib_adapter import DeletedArrayError, XlaError

__all__ = [
    "ConcretizationTypeError", "DeletedArrayError", "GlaxError", "IncompatibleShapesError", "InvalidJaxpr",
    "JaxprSyntaxError", "MissingRule", "NonConcreteBooleanIndexError", "NonHashableStaticError",
    "TracerArrayConversionError", "TracerBoolConversionError", "TracerError", "TracerIntegerConversionError",
    "UnexpectedTracerError", "XlaError",
]
