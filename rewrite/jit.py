"""Making a program one equation, which is compiled as a whole when it is run."""

from __future__ import annotations

from ..ir import Jaxpr, stage
from ..ir.ops import jit_call
from .passes import rewrite_pass


@rewrite_pass
def jit(jaxpr: Jaxpr, function_name: str = "fn", donated: tuple[int, ...] = ()) -> Jaxpr:
    """The program that calls a program, as its only equation; it is compiled as a whole where it is run.

    ``inline`` undoes it.

    Args:
        jaxpr: the program.
        function_name: what printed programs call it; it takes no part in equality.
        donated: positions of inputs whose memory may be reused for the results.

    Returns:
        The program, of the same inputs and outputs.

    Raises:
        TypeError: ``jaxpr`` is not a Jaxpr, or ``function_name`` not a str.

    >>> import glax
    >>> from glax import rewrite
    >>> program = glax.ir.parse("{ lambda ; a:f32[]. let b:f32[] = sin a in (b,) }")
    >>> rewrite.jit(program, "sine")
    { lambda ; a:f32[]. let
        b:f32[] = jit[jaxpr={ lambda ; a:f32[]. let b:f32[] = sin a in (b,) } function_name='sine'] a
      in (b,) }
    """
    if not isinstance(function_name, str):
        raise TypeError(f"jit: function_name must be a str, got {function_name!r:.200}")
    return stage(lambda *args: jit_call(jaxpr, list(args), function_name, donated), jaxpr.in_avals, "jit")[0]
