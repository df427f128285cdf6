"""jaxpr -> jaxpr: differentiation, vectorisation, partial evaluation, and clean-ups."""

from .inline import inline
from .jit import jit
from .jvp import jvp
from .linearize import linearize
from .partial_eval import partial_eval
from .transpose import transpose
from .vjp import vjp
from .vmap import BatchAxis, vmap

__all__ = ["BatchAxis", "inline", "jit", "jvp", "linearize", "partial_eval", "transpose", "vjp", "vmap"]
