"""What a program is: types, frozen jaxprs, operations and their typing rules, staging."""

from . import ops
from .check import check
from .errors import (
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
from .functions import PythonFunction
from .jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal, PlainSource, Source, Var, assemble, rewritten
from .operation import (
    INTERPRETATIONS,
    OPERATIONS,
    Interpretation,
    Operation,
    abstract_eval,
    dce_rule,
    evaluate,
    expand_rule,
    jvp_rule,
    lower_rule,
    operation,
    partial_eval_rule,
    simplify_rule,
    transpose_rule,
    vmap_rule,
)
from .parameters import register_parameter_class
from .parser import parse
from .printer import print_closed_jaxpr, print_jaxpr
from .staging import (
    Builder,
    Tracer,
    aval_of,
    bind,
    building,
    current_builder,
    install_runner,
    is_value,
    literal_of,
    not_staging,
    program_of_operation,
    register_value_type,
    splice,
    stage,
    stage_closed,
)
from .types import NO_EFFECTS, Effect, ShapedArray, Typed, shaped_array
from .zeros import LinearInput, Zero, add_tangents, instantiate

__all__ = [
    "Atom", "Builder", "ClosedJaxpr", "ConcretizationTypeError", "Effect", "Eqn", "GlaxError", "INTERPRETATIONS",
    "IncompatibleShapesError", "Interpretation", "InvalidJaxpr", "Jaxpr", "JaxprSyntaxError", "LinearInput",
    "Literal", "MissingRule", "NO_EFFECTS", "NonConcreteBooleanIndexError", "NonHashableStaticError", "OPERATIONS",
    "Operation", "PlainSource", "PythonFunction", "ShapedArray", "Source", "Tracer", "TracerArrayConversionError",
    "TracerBoolConversionError", "TracerError", "TracerIntegerConversionError", "Typed", "UnexpectedTracerError",
    "Var", "Zero", "abstract_eval", "add_tangents", "assemble", "aval_of", "bind", "building", "check",
    "current_builder", "dce_rule", "evaluate", "expand_rule", "install_runner", "instantiate", "is_value",
    "jvp_rule", "literal_of", "lower_rule", "not_staging", "operation", "ops", "parse", "partial_eval_rule",
    "print_closed_jaxpr", "print_jaxpr", "program_of_operation", "register_parameter_class", "register_value_type",
    "rewritten", "shaped_array", "simplify_rule", "splice", "stage", "stage_closed", "transpose_rule", "vmap_rule",
]
