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
        which: whether to inline a call; all jit calls by default.
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
            out = builder.emit(op.map_jaxprs(lambda sub: inline(sub, which)) if has_sub_jaxprs(op) else op, operands)
            env.extend(out) if op.multiple_results else env.append(out)
        return builder.close([env[a[0]] if type(a) is Var else a for a in jaxpr.outs])[0]



def has_sub_jaxprs(op: Operation) -> bool:
    return next(op.sub_jaxprs(), None) is not None
