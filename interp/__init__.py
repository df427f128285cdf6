"""The reference meaning of every operation, on NumPy values.

Rules assume that floating-point warnings are off: evaluate_jaxpr sees to it, and so must whoever calls them singly.
"""

from . import (
    call,
    checks,
    control,
    convert,
    custom,
    effects,
    elementwise,
    indexing,
    linear,
    random,
    reduction,
    shape,
)
from .effects import calls_host
from .evaluate import Runner, evaluate_jaxpr, run_jaxpr, run_jaxpr_with, step_jaxpr

__all__ = [
    "Runner", "call", "calls_host", "checks", "control", "convert", "custom", "effects", "elementwise",
    "evaluate_jaxpr", "indexing", "linear", "random", "reduction", "run_jaxpr", "run_jaxpr_with", "shape", "step_jaxpr",
]
