"""jaxpr -> jaxpr: differentiation, vectorisation, partial evaluation, and clean-ups."""

from .checkify import checkify
from .clean_up import clean_up
from .cse import cse
from .dce import dce
from .fold import fold
from .inline import inline
from .jit import jit
from .jvp import jvp
from .linearize import linearize
from .partial_eval import partial_eval
from .safe_where import safe_where
from .simplify import simplify
from .transpose import transpose
from .vjp import vjp
from .vmap import BatchAxis, vmap

__all__ = [
    "BatchAxis", "checkify", "clean_up", "cse", "dce", "fold", "inline", "jit", "jvp", "linearize",
    "partial_eval", "safe_where", "simplify", "transpose", "vjp", "vmap",
]
