"""Derivatives of custom calls and of checkpoints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...ir import PythonFunction, Zero, aval_of, bind, instantiate, jvp_rule, splice, stage
from ...ir import ops as o
from ..custom_rules import jvp_program, vjp_programs
from ..vmap.batching import insert_axis
from .transform import jvp, jvp_by_expansion, split_outputs


def _refuse_constants_with_tangents(op: Any, tangents: Sequence[Any]) -> None:
    if any(type(t) is not Zero for t in tangents[:op.num_consts]):
        kind = op.name.removesuffix("_call")
        raise TypeError(f"{kind} function {op.function_name}: differentiation by a value that the function closes over "
                        f"is not possible, since its rule is about its arguments only. Pass the value as an argument")


def _moving(op: Any, operands: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
    """A tangent for each inexact argument."""
    pairs = list(zip(operands, tangents))[op.num_consts:]
    return [instantiate(t) for x, t in pairs if aval_of(x).is_inexact]


def _tangents_of(avals: Sequence[Any], given: Sequence[Any]) -> list[Any]:
    values = iter(given)
    return [next(values) if a.is_inexact else Zero(a) for a in avals]


@jvp_rule.register(o.CustomJvpCall)
def _jvp_of_custom_jvp(op: o.CustomJvpCall, primals: list, tangents: list) -> tuple[list, list]:
    _refuse_constants_with_tangents(op, tangents)
    results = splice(jvp_program(op), [*primals, *_moving(op, primals, tangents)])
    count = len(op.jaxpr.outs)
    return results[:count], _tangents_of(op.jaxpr.out_avals, results[count:])


@jvp_rule.register(o.CustomVjpCall)
def _jvp_of_custom_vjp(op: o.CustomVjpCall, primals: list, tangents: list) -> tuple[list, list]:
    """Outputs by the forward rule; tangents by a linear call, whose transpose is the backward rule."""
    _refuse_constants_with_tangents(op, tangents)
    forward, backward = vjp_programs(op)
    results = splice(forward, primals)
    count = len(op.jaxpr.outs)
    residuals = [*primals[:op.num_consts], *results[count:]]
    call = o.LinearCall(None, backward, len(residuals), op.function_name)
    given = bind(call, *residuals, *_moving(op, primals, tangents))
    return results[:count], _tangents_of(op.jaxpr.out_avals, given)


@jvp_rule.register(o.LinearCall)
def _jvp_of_linear_call(op: o.LinearCall, primals: list, tangents: list) -> tuple[list, list]:
    n = op.num_residuals
    if any(type(t) is not Zero for t in tangents[:n]):
        return jvp_by_expansion(op, primals, tangents)
    moving = [instantiate(t) for t in tangents[n:]]
    return bind(op, *primals), bind(op, *primals[:n], *moving)


@jvp_rule.register(o.CustomVmapCall)
def _jvp_of_custom_vmap(op: o.CustomVmapCall, primals: list, tangents: list) -> tuple[list, list]:
    nonzero = [type(t) is not Zero for t in tangents]
    program, out_nonzero = jvp(op.jaxpr, nonzero)
    call = replace(op, jaxpr=program, rule=_derivative_of_vmap_rule(op, nonzero, out_nonzero))
    results = bind(call, *primals, *(t for t in tangents if type(t) is not Zero))
    return split_outputs(op, results, op.jaxpr, out_nonzero)


def _derivative_of_vmap_rule(op: o.CustomVmapCall, nonzero: list[bool], out_nonzero: list[bool]) -> PythonFunction:
    """The vectorisation rule of a call's derivative: the derivative of the call's vectorisation rule."""
    count = len(nonzero)

    def rule(size: int, mapped: Sequence[bool], args: Sequence[Any]) -> tuple[list[Any], list[bool]]:
        is_mapped = iter(mapped[count:])
        of_tangents = [next(is_mapped) if flag else False for flag in nonzero]
        both = [a or b for a, b in zip(mapped, of_tangents)]
        ready = [_at_front(x, m, want, size) for x, m, want in zip(args, mapped, both)]
        moving = [_at_front(x, m, want, size) for x, m, want in zip(
            args[count:], mapped[count:], [b for b, flag in zip(both, nonzero) if flag])]
        out_mapped: list[bool] = []

        def batched(*xs: Any) -> list[Any]:
            outs, flags = op.rule(size, both, xs)
            out_mapped[:] = flags
            return list(outs)

        program, captured = stage(batched, [aval_of(x) for x in ready], f"the vmap rule of {op.function_name}")
        derivative, kept = jvp(program, [False] * len(captured) + nonzero, instantiate_outputs=True)
        results = splice(derivative, [*captured, *ready, *moving])
        outs, given = results[:len(program.outs)], iter(results[len(program.outs):])
        tangents = [next(given) if flag else None for flag in kept]
        wanted = [(t, m) for t, m, flag in zip(tangents, out_mapped, out_nonzero) if flag]
        return outs + [t for t, _ in wanted], out_mapped + [m for _, m in wanted]

    rule.__qualname__ = f"jvp({op.rule.label})"
    return PythonFunction.of(rule)


def _at_front(x: Any, mapped: bool, wanted: bool, size: int) -> Any:
    return insert_axis(x, size, 0) if wanted and not mapped else x


@jvp_rule.register(o.Checkpoint)
def _jvp_of_checkpoint(op: o.Checkpoint, primals: list, tangents: list) -> tuple[list, list]:
    program, out_nonzero = jvp(op.jaxpr, [type(t) is not Zero for t in tangents])
    results = bind(replace(op, jaxpr=program), *primals, *(t for t in tangents if type(t) is not Zero))
    return split_outputs(op, results, op.jaxpr, out_nonzero)


@jvp_rule.register(o.Name)
def _jvp_of_name(op: o.Name, primals: list, tangents: list) -> tuple[Any, Any]:
    return bind(op, *primals), tangents[0]
