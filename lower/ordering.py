"""Putting the effects of a program in order.

XLA orders calls of the host only by the data that flows between them. So a program with effects is rewritten to hand
an int32 from each call to the next, through calls, branches and loops.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..ir import Builder, Jaxpr, Operation, Tracer, Var, bind, building, splice, stage
from ..ir import ops as o
from ..ir.loop_state import scan_with_state, while_with_state
from ..ir.operation import expand_rule
from ..ir.ops.effects import TOKEN


def with_ordered_effects(jaxpr: Jaxpr) -> Jaxpr:
    """A program whose effects happen once each and in order, however it is compiled."""
    if not jaxpr.effects:
        return jaxpr
    threaded = _threaded(jaxpr)
    return stage(lambda *args: splice(threaded, [np.int32(0), *args])[1:], jaxpr.in_avals, "ordering")[0]


def _threaded(jaxpr: Jaxpr) -> Jaxpr:
    """The program that also takes, and gives, the value that hands on the order."""
    builder = Builder("ordering")
    with building(builder):
        token = builder.add_input(TOKEN)
        env: list[Any] = [builder.add_input(v.aval) for v in jaxpr.in_binders]
        for op, inputs, _, source in jaxpr.eqns:
            builder.source = source
            operands = [env[a[0]] if type(a) is Var else Tracer(builder, a, a.aval) for a in inputs]
            if op.effects:
                token, *outs = _rule(op)(op, token, operands)
                env.extend(outs)
            else:
                out = builder.emit(op, operands)
                env.extend(out) if op.multiple_results else env.append(out)
        return builder.close([token, *(env[a[0]] if type(a) is Var else a for a in jaxpr.outs)])[0]


Threading = Callable[[Any, Any, list[Any]], list[Any]]


def _rule(op: Operation) -> Threading:
    for kind, rule in _RULES.items():
        if isinstance(op, kind):
            return rule
    return _by_expansion if expand_rule.find(type(op)) is not None else _as_it_is


def _host_call(op: o.HostCall, token: Any, operands: list[Any]) -> list[Any]:
    return bind(replace(op, threaded=True), token, *operands)


def _jit(op: o.Jit, token: Any, operands: list[Any]) -> list[Any]:
    return bind(replace(op, jaxpr=_threaded(op.jaxpr), donated=()), token, *operands)


def _cond(op: o.Cond, token: Any, operands: list[Any]) -> list[Any]:
    index, *rest = operands
    return bind(o.Cond(tuple(map(_threaded, op.branches))), index, token, *rest)


def _scan(op: o.Scan, token: Any, operands: list[Any]) -> list[Any]:
    return scan_with_state(op, _threaded(op.jaxpr), [token], operands)


def _while(op: o.While, token: Any, operands: list[Any]) -> list[Any]:
    condition = _threaded(op.cond_jaxpr) if op.cond_jaxpr.effects else None
    return while_with_state(op, condition, _threaded(op.body_jaxpr), [token], operands)


def _by_expansion(op: Operation, token: Any, operands: list[Any]) -> list[Any]:
    program = expand_rule(op, *[x.aval for x in operands])
    return splice(_threaded(program), [token, *operands])


def _as_it_is(op: Operation, token: Any, operands: list[Any]) -> list[Any]:
    out = bind(op, *operands)
    return [token, *out] if op.multiple_results else [token, out]


_RULES: dict[type[Operation], Threading] = {
    o.HostCall: _host_call, o.Jit: _jit, o.Cond: _cond, o.Scan: _scan, o.While: _while}
