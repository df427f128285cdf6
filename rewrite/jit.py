"""Making a program one equation, which is compiled as a whole when it is run."""

from __future__ import annotations

from ..ir import Jaxpr, stage
from ..ir.ops import jit_call
from .passes import rewrite_pass


@rewrite_pass
def jit(jaxpr: Jaxpr, function_name: str = "fn", donated: tuple[int, ...] = ()) -> Jaxpr:
    """The program that calls a program.

    Args:
        jaxpr: the program.
        function_name: what printed programs call it.
        donated: positions of inputs whose memory may be reused for the results.
    """
    return stage(lambda *args: jit_call(jaxpr, list(args), function_name, donated), jaxpr.in_avals, "jit")[0]
