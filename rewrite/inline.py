"""Inlining: calls replaced by what they call."""

from __future__ import annotations

from collections.abc import Callable

from ..ir import Builder, Jaxpr, Operation, Var, building
from ..ir import ops as o
from .passes import rewrite_pass


@rewrite_pass
def inline(jaxpr: Jaxpr, which: Callable[[Operation], bool] = lambda op: type(op) is o.Jit) -> Jaxpr:
    """The program with the equations of called programs in the place of their calls, at every depth.

    Args:
        jaxpr: the program.
        which: a function from a jit operation to whether its calls are replaced; all are by default. Calls of other
            kinds, such as those with a rule by the user, stay, and what they call is inlined inside them.

    Returns:
        The program, of the same inputs and outputs.

    Raises:
        TypeError: ``jaxpr`` is not a Jaxpr.

    >>> import glax
    >>> from glax import rewrite
    >>> program = glax.make_jaxpr(lambda x: glax.jit(glax.numpy.sin)(x) * x)(1.).jaxpr
    >>> rewrite.inline(program)
    { lambda ; a:f32*[]. let
        b:f32*[] = sin a
        c:f32*[] = mul b a
      in (c,) }
    """
    builder = Builder("inline")
    with building(builder):
        env = [builder.add_input(v.aval) for v in jaxpr.in_binders]
        for op, inputs, _, source in jaxpr.eqns:
            operands = [env[a[0]] if type(a) is Var else a for a in inputs]
            if type(op) is o.Jit and which(op):
                env.extend(builder.splice(inline(op.jaxpr, which), operands))
                continue
            builder.source = source
            out = builder.emit(op.map_jaxprs(lambda sub: inline(sub, which)) if op.has_sub_jaxprs() else op, operands)
            env.extend(out) if op.multiple_results else env.append(out)
        return builder.close([env[a[0]] if type(a) is Var else a for a in jaxpr.outs])[0]
