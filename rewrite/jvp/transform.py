"""Forward-mode differentiation of programs."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir import Builder, Jaxpr, Operation, Tracer, Var, Zero, building, instantiate, jvp_rule, rewritten, splice
from ...ir.operation import expand_rule
from ...ir.staging import aval_of
from ..passes import for_each, require_inexact, rewrite_pass
from ..weakness import with_weakness_of


@rewrite_pass
def jvp(jaxpr: Jaxpr, nonzero: Sequence[bool],
        instantiate_outputs: bool | Sequence[bool] = False) -> tuple[Jaxpr, list[bool]]:
    """The program that computes a program's outputs and their derivative along a direction (forward mode).

    Args:
        jaxpr: the program.
        nonzero: a flag for each input: True where the input has a tangent, which becomes an input of the result; False
            where its tangent is zero, of which no equation is made. Only inputs of inexact (floating or complex) dtypes
            can have tangents.
        instantiate_outputs: what to do for an inexact output whose tangent is zero: give an array of zeros (True), or
            leave the tangent out (False). One flag for all outputs, or one for each. Outputs of other dtypes never have
            tangents.

    Returns:
        A pair of a program and a list of flags. The program takes all inputs and then the tangents of the nonzero ones,
        and gives all outputs and then the tangents of those outputs whose flag is True.

    Raises:
        TypeError: ``jaxpr`` is not a Jaxpr, or ``nonzero`` flags an input that is not inexact.
        ValueError: ``nonzero`` does not have one flag for each input.
        NotImplementedError: an operation has no derivative, or (MissingRule) no rule in ``glax.ir.jvp_rule``.

    >>> import glax
    >>> from glax import rewrite
    >>> program = glax.ir.parse("{ lambda ; a:f32[] b:f32[]. let c:f32[] = sin a d:f32[] = mul c b in (d,) }")
    >>> rewrite.jvp(program, [True, False])
    ({ lambda ; a:f32[] b:f32[] c:f32[]. let
        d:f32[] = sin a
        e:f32[] = cos a
        f:f32[] = mul c e
        g:f32[] = mul d b
        h:f32[] = mul f b
      in (g, h) }, [True])
    """
    require_inexact("jvp: nonzero", jaxpr, nonzero)
    builder = Builder("jvp")
    with building(builder):
        env: list = [builder.add_input(v.aval) for v in jaxpr.in_binders]
        tangents: list = [builder.add_input(v.aval) if flag else Zero(v.aval)
                          for v, flag in zip(jaxpr.in_binders, nonzero, strict=True)]
        rules = jvp_rule
        for op, inputs, outputs, source in jaxpr.eqns:
            builder.source = rewritten(source, "jvp")
            primals_in, tangents_in, any_nonzero = [], [], False
            for a in inputs:
                if type(a) is Var:
                    index = a[0]
                    primals_in.append(env[index])
                    tangent = tangents[index]
                    tangents_in.append(tangent)
                    if type(tangent) is not Zero:
                        any_nonzero = True
                else:
                    primals_in.append(Tracer(builder, a, a.aval))
                    tangents_in.append(Zero(a.aval))
            if any_nonzero:
                out, tangent = rules[type(op)](op, primals_in, tangents_in)
                if op.multiple_results:
                    env.extend(out)
                    tangents.extend(tangent)
                else:
                    env.append(out)
                    tangents.append(tangent)
            else:
                out = builder.emit(op, primals_in)
                env.extend(out) if op.multiple_results else env.append(out)
                tangents.extend([Zero(v.aval) for v in outputs])
        outs, out_tangents, out_nonzero = [], [], []
        for a, wanted in zip(jaxpr.outs, for_each(instantiate_outputs, jaxpr.outs)):
            known, tangent = (env[a[0]], tangents[a[0]]) if type(a) is Var else (a, Zero(a.aval))
            outs.append(with_weakness_of(a.aval, known))
            keep = type(tangent) is not Zero or (wanted and a.aval.is_inexact)
            out_nonzero.append(keep)
            if keep:
                out_tangents.append(with_weakness_of(a.aval, instantiate(tangent)))
        return builder.close(outs + out_tangents)[0], out_nonzero


def jvp_by_expansion(op: Operation, primals: Sequence, tangents: Sequence):
    """The rule of an operation that stands for a program: that of the program."""
    program = expand_rule(op, *map(aval_of, primals))
    nonzero = [type(t) is not Zero for t in tangents]
    rewritten_program, out_nonzero = jvp(program, nonzero)
    return split_outputs(op, splice_moving(rewritten_program, primals, tangents), program, out_nonzero)


def splice_moving(program: Jaxpr, primals: Sequence, tangents: Sequence) -> list:
    return splice(program, [*primals, *(t for t in tangents if type(t) is not Zero)])


def split_outputs(op: Operation, results: Sequence, program: Jaxpr, out_nonzero: Sequence[bool]):
    """The outputs and tangents of a call of a program made by jvp, the missing tangents put back as zeros."""
    count = len(program.outs)
    given = iter(results[count:])
    out_tangents = [next(given) if flag else Zero(aval) for flag, aval in zip(out_nonzero, program.out_avals)]
    if op.multiple_results:
        return list(results[:count]), out_tangents
    return results[0], out_tangents[0]


jvp_rule.by_expansion = jvp_by_expansion
