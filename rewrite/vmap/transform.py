"""Vectorising programs: one program that does the work of many calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ir import Builder, Jaxpr, Operation, Tracer, Var, aval_of, building, rewritten, splice, vmap_rule
from ...ir.operation import expand_rule
from ...ir.types import shaped_array
from ..passes import require_one_each, rewrite_pass
from ..weakness import with_weakness_of
from .batching import BatchAxis, Dim, batched_at


@rewrite_pass
def vmap(jaxpr: Jaxpr, axis: BatchAxis, in_dims: Sequence[Dim],
         out_dims: Sequence[Dim | bool] | None = None) -> tuple[Jaxpr, list[Dim]]:
    """The program that computes what a program computes for each index of a new axis.

    Args:
        jaxpr: the program.
        axis: the size, and perhaps the name, of the new axis.
        in_dims: for each input where it has the axis, as a dimension of the batched input, from 0; None where all calls
            share the input.
        out_dims: for each output where to put the axis. None says that the output must not depend on a mapped input,
            and has no axis then; True leaves the axis where it falls, and an output that depends on no mapped input
            without one. By default every output has it first.

    Returns:
        A pair of the program, whose inputs and outputs have the axis at these places, and a list that says for each
        output where it has the axis, or None where it has none.

    Raises:
        TypeError: ``jaxpr`` is not a Jaxpr, ``axis`` not a BatchAxis of an int, or a dimension not an int.
        ValueError: an output for which ``out_dims`` says None depends on a mapped input; or ``in_dims`` or ``out_dims``
            does not have one entry for each input or output, or has one that is out of range.
        MissingRule: an operation with a mapped operand has no rule in ``glax.ir.vmap_rule``.

    >>> import glax
    >>> from glax import rewrite
    >>> program = glax.ir.parse("{ lambda ; a:f32[2] b:f32[]. let c:f32[2] = mul a b in (c,) }")
    >>> rewrite.vmap(program, rewrite.BatchAxis(3), [0, None])
    ({ lambda ; a:f32[3,2] b:f32[]. let c:f32[3,2] = mul a b in (c,) }, [0])
    >>> rewrite.vmap(program, rewrite.BatchAxis(3), [1, None], [True])[1]
    [1]
    """
    _check_arguments(jaxpr, axis, in_dims, out_dims)
    builder = Builder("vmap")
    wanted = [0] * len(jaxpr.outs) if out_dims is None else list(out_dims)
    with building(builder):
        env: list[Any] = [builder.add_input(_batched_aval(v.aval, axis, d))
                          for v, d in zip(jaxpr.in_binders, in_dims, strict=True)]
        dims: list[Dim] = list(in_dims)
        for op, inputs, outputs, source in jaxpr.eqns:
            builder.source = rewritten(source, "vmap")
            args, arg_dims, mapped = [], [], False
            for a in inputs:
                if type(a) is Var:
                    index = a[0]
                    dim = dims[index]
                    args.append(env[index])
                    arg_dims.append(dim)
                    if dim is not None:
                        mapped = True
                else:
                    args.append(Tracer(builder, a, a.aval))
                    arg_dims.append(None)
            if mapped:
                out, out_dim = vmap_rule[type(op)](op, axis, args, arg_dims)
                if op.multiple_results:
                    env.extend(out)
                    dims.extend(out_dim)
                else:
                    env.append(out)
                    dims.append(out_dim)
            else:
                out = builder.emit(op, args)
                env.extend(out) if op.multiple_results else env.append(out)
                dims.extend([None] * len(outputs))
        outs, found = [], []
        for position, (a, want) in enumerate(zip(jaxpr.outs, wanted, strict=True)):
            out, dim = (env[a[0]], dims[a[0]]) if type(a) is Var else (a, None)
            if want is None and dim is not None:
                raise ValueError(f"vmap: output {position} depends on a mapped input, so its out_axes cannot be None")
            keep = want is None or want is True
            outs.append(with_weakness_of(a.aval, out if keep else batched_at(out, dim, axis, want)))
            found.append(dim if keep else want)
        return builder.close(outs)[0], found


def _check_arguments(jaxpr: Jaxpr, axis: BatchAxis, in_dims: Sequence[Dim],
                     out_dims: Sequence[Dim | bool] | None) -> None:
    if type(axis) is not BatchAxis:
        raise TypeError(f"vmap: axis must be a BatchAxis, got {axis!r} of type {type(axis).__name__}")
    if not isinstance(axis.size, (int, np.integer)) or isinstance(axis.size, bool):
        raise TypeError(f"vmap: the size of axis must be an int, got {axis.size!r}")
    if axis.size < 0:
        raise ValueError(f"vmap: the size of axis must not be negative, got {axis.size}")
    require_one_each("vmap: in_dims", in_dims, jaxpr.in_binders)
    if out_dims is not None:
        require_one_each("vmap: out_dims", out_dims, jaxpr.outs)
    for what, dims, atoms in (("in", in_dims, jaxpr.in_binders), ("out", out_dims or (), jaxpr.outs)):
        for position, dim in enumerate(dims):
            if dim is None or dim is True:
                continue
            aval = atoms[position].aval
            if not isinstance(dim, int):
                raise TypeError(f"vmap: {what}_dims[{position}] must be an int or None, got {dim!r:.200}")
            if not 0 <= dim <= len(aval.shape):
                raise ValueError(f"vmap: {what}_dims[{position}] must be between 0 and {aval.ndim}, as the {what}put "
                                 f"without the axis is {aval.short()}, got {dim}")


def _batched_aval(aval, axis: BatchAxis, dim: Dim):
    if dim is None:
        return aval
    return shaped_array((*aval.shape[:dim], axis.size, *aval.shape[dim:]), aval.dtype, aval.weak_type)


def unbatched_aval(x: Any, dim: Dim):
    aval = aval_of(x)
    if dim is None:
        return aval
    return shaped_array((*aval.shape[:dim], *aval.shape[dim + 1:]), aval.dtype, aval.weak_type)


def vmap_by_expansion(op: Operation, axis: BatchAxis, args: Sequence[Any], dims: Sequence[Dim]) -> tuple[Any, Any]:
    """The rule of an operation that stands for a program: that of the program."""
    program = expand_rule(op, *map(unbatched_aval, args, dims))
    batched, out_dims = vmap(program, axis, dims, [True] * len(program.outs))
    outs = splice(batched, args)
    return (outs, out_dims) if op.multiple_results else (outs[0], out_dims[0])


vmap_rule.by_expansion = vmap_by_expansion
