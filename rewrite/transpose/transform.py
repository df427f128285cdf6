"""Transposing linear programs: from cotangents of the outputs to cotangents of the inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...ir import (
    Builder,
    Eqn,
    Jaxpr,
    LinearInput,
    Operation,
    ShapedArray,
    Tracer,
    Var,
    Zero,
    building,
    instantiate,
    rewritten,
    splice,
    transpose_rule,
)
from ...ir.operation import expand_rule
from ...ir.ops import add
from ...ir.staging import aval_of
from ..passes import for_each, require_inexact, require_one_each, rewrite_pass
from ..weakness import with_weakness_of


@rewrite_pass
def transpose(jaxpr: Jaxpr, linear: Sequence[bool], nonzero_cotangents: Sequence[bool] | None = None,
              instantiate_outputs: bool | Sequence[bool] = True) -> tuple[Jaxpr, list[bool]]:
    """The transpose of a program in those of its inputs in which it is linear.

    Where the program applies a matrix to the linear inputs, the result applies the matrix transposed (for complex
    numbers too: nothing is conjugated).

    Args:
        jaxpr: a program, linear in some of its inputs for all values of the others.
        linear: for each input, whether to transpose by it.
        nonzero_cotangents: for each output, whether its cotangent is an input of the result; where it is not, it counts
            as zero. All are by default.
        instantiate_outputs: what to do for a linear input whose cotangent is zero: give an array of zeros (True), or
            leave the cotangent out (False). One flag for all linear inputs, or one for each of them.

    Returns:
        A pair of a program and a list of flags. The program takes the inputs that are not linear and then the given
        cotangents of outputs, and gives cotangents of the linear inputs; the list says for each linear input whether
        its cotangent is among them.

    Raises:
        TypeError: ``jaxpr`` is not a Jaxpr; ``linear`` flags an input that is not inexact; or an operation is not
            linear in an operand that depends on the linear inputs.
        ValueError: ``linear`` or ``nonzero_cotangents`` does not have one flag for each input or output.

    >>> import glax
    >>> from glax import rewrite
    >>> program = glax.ir.parse("{ lambda ; a:f32[] b:f32[]. let c:f32[] = mul a b d:f32[] = neg b in (c, d) }")
    >>> rewrite.transpose(program, [False, True])
    ({ lambda ; a:f32[] b:f32[] c:f32[]. let
        d:f32[] = neg c
        e:f32[] = mul a b
        f:f32[] = add d e
      in (f,) }, [True])
    >>> rewrite.transpose(program, [False, True], nonzero_cotangents=[False, True])[0]
    { lambda ; a:f32[] b:f32[]. let c:f32[] = neg b in (c,) }
    """
    given = [True] * len(jaxpr.outs) if nonzero_cotangents is None else nonzero_cotangents
    require_inexact("transpose: linear", jaxpr, linear)
    require_one_each("transpose: nonzero_cotangents", given, jaxpr.outs)
    builder = Builder("transpose")
    with building(builder):
        env: list[Any] = [LinearInput(v.aval) if flag else builder.add_input(v.aval)
                          for v, flag in zip(jaxpr.in_binders, linear, strict=True)]
        of_outputs = [builder.add_input(a.aval) if flag else None for a, flag in zip(jaxpr.outs, given, strict=True)]
        pending = _run_what_is_not_linear(builder, jaxpr, env)
        cotangents: dict[int, Any] = {}
        for a, ct in zip(jaxpr.outs, of_outputs):
            _accumulate(cotangents, env, a, ct)
        while pending:
            eqn = pending.pop()
            _transpose_equation(builder, eqn, env, cotangents)
        results = [cotangents.get(v.index, Zero(v.aval)) for v, flag in zip(jaxpr.in_binders, linear) if flag]
        keep = [wanted or type(ct) is not Zero for ct, wanted in zip(results, for_each(instantiate_outputs, results))]
        avals = [v.aval for v, flag in zip(jaxpr.in_binders, linear) if flag]
        outs = [with_weakness_of(aval, instantiate(ct)) for ct, aval, kept in zip(results, avals, keep) if kept]
        return builder.close(outs)[0], keep


def _run_what_is_not_linear(builder: Builder, jaxpr: Jaxpr, env: list[Any]) -> list[Eqn]:
    """Record the equations that do not depend on linear inputs; return the others, in order."""
    pending = []
    places: dict[ShapedArray, LinearInput] = {}
    for eqn in jaxpr.eqns:
        op, inputs, outputs, source = eqn
        operands = [env[a[0]] if type(a) is Var else a for a in inputs]
        if LinearInput in map(type, operands):
            for _, aval in outputs:
                place = places.get(aval)
                if place is None:
                    place = places[aval] = LinearInput(aval)
                env.append(place)
            pending.append(eqn)
            continue
        builder.source = rewritten(source, "transpose")
        out = builder.emit(op, operands)
        env.extend(out) if op.multiple_results else env.append(out)
    return pending


def _accumulate(cotangents: dict[int, Any], env: list[Any], a: Any, ct: Any) -> None:
    if type(a) is Var and type(ct) is not Zero and ct is not None and type(env[a[0]]) is LinearInput:
        seen = cotangents.get(a[0])
        cotangents[a[0]] = ct if seen is None else add(seen, ct)


def _transpose_equation(builder: Builder, eqn: Eqn, env: list[Any], cotangents: dict[int, Any]) -> None:
    op, inputs, outputs, source = eqn
    if op.multiple_results:
        given = [cotangents.pop(v[0], None) for v in outputs]
        if all(ct is None for ct in given):
            return
        ct = [Zero(v[1]) if ct is None else ct for v, ct in zip(outputs, given)]
    else:
        ct = cotangents.pop(outputs[0][0], None)
        if ct is None:
            return
    builder.source = rewritten(source, "transpose")
    args = [env[a[0]] if type(a) is Var else Tracer(builder, a, a.aval) for a in inputs]
    for a, arg_ct in zip(inputs, transpose_rule[type(op)](op, ct, args)):
        _accumulate(cotangents, env, a, arg_ct)


@transpose_rule.register(Operation)
def _not_linear(op: Operation, ct: Any, args: Sequence[Any]) -> list[Any]:
    if expand_rule.find(type(op)) is not None:
        return _transpose_expansion(op, ct, args)
    which = [position for position, x in enumerate(args) if type(x) is LinearInput]
    raise TypeError(f"cannot transpose {op.name}: it is not linear in operand {which[0]}, which depends on the inputs "
                    f"to transpose by" if which else f"cannot transpose {op.name}: it has no transpose rule")


def _transpose_expansion(op: Operation, ct: Any, args: Sequence[Any]) -> list[Any]:
    program = expand_rule(op, *[aval_of(x) if type(x) is not LinearInput else x.aval for x in args])
    linear = [type(x) is LinearInput for x in args]
    cts = ct if op.multiple_results else [ct]
    transposed, _ = transpose(program, linear, [type(c) is not Zero for c in cts])
    operands = [x for x in args if type(x) is not LinearInput] + [c for c in cts if type(c) is not Zero]
    results = iter(splice(transposed, operands))
    return [next(results) if flag else None for flag in linear]
