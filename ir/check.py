"""Checking that a program keeps the rules of the IR."""

from __future__ import annotations

from .errors import InvalidJaxpr
from .jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal, Var, effects_of
from .operation import abstract_eval
from .printer import print_jaxpr, variable_name
from .types import ShapedArray


def check(program: Jaxpr | ClosedJaxpr) -> None:
    """Raise InvalidJaxpr unless a program is well formed.

    Variables are bound once, before they are used, and numbered in binding order; the types of equations' outputs are
    those that the typing rules give; the effects are those of the equations; sub-programs are well formed too.

    >>> from glax.ir import Jaxpr, ShapedArray, Var, check
    >>> x = Var(0, ShapedArray((3,), "float32"))
    >>> check(Jaxpr([x], [], [x]))
    >>> check(Jaxpr([], [], [x]))
    Traceback (most recent call last):
        ...
    glax.ir.errors.InvalidJaxpr: output 0 uses a, which is not bound
    """
    jaxpr = program.jaxpr if isinstance(program, ClosedJaxpr) else program
    if isinstance(program, ClosedJaxpr):
        _check_consts(program)
    bound: list[ShapedArray] = []
    for position, v in enumerate(jaxpr.in_binders):
        _bind(bound, v, f"input {position}")
    for position, eqn in enumerate(jaxpr.eqns):
        where = f"equation {position} ({eqn.op.name})"
        for a in eqn.inputs:
            _check_atom(bound, a, where)
        _check_types(eqn, where)
        for v in eqn.outputs:
            _bind(bound, v, where)
        for sub in eqn.op.sub_jaxprs():
            _check_sub_program(sub, where)
    for position, a in enumerate(jaxpr.outs):
        _check_atom(bound, a, f"output {position}")
    if jaxpr.effects != effects_of(jaxpr.eqns):
        raise InvalidJaxpr(f"the program claims the effects {set(jaxpr.effects)}, its equations have "
                           f"{set(effects_of(jaxpr.eqns))}")


def _check_sub_program(sub: Jaxpr, where: str) -> None:
    try:
        check(sub)
    except InvalidJaxpr as error:
        raise InvalidJaxpr(f"in the program of {where}: {error}") from None


def _check_consts(program: ClosedJaxpr) -> None:
    from .staging import aval_of
    if len(program.consts) > len(program.jaxpr.in_binders):
        raise InvalidJaxpr(f"{len(program.consts)} constants for {len(program.jaxpr.in_binders)} inputs")
    for position, (c, v) in enumerate(zip(program.consts, program.jaxpr.in_binders)):
        aval = aval_of(c)
        if (aval.shape, aval.dtype) != (v.aval.shape, v.aval.dtype):
            raise InvalidJaxpr(f"constant {position} is {aval.short()}, its variable {v.aval.short()}")


def _bind(bound: list[ShapedArray], v: Var, where: str) -> None:
    if type(v) is not Var:
        raise InvalidJaxpr(f"{where} binds {v!r}, which is not a variable")
    if v.index < len(bound):
        raise InvalidJaxpr(f"{where} binds {variable_name(v.index)} a second time")
    if v.index != len(bound):
        raise InvalidJaxpr(f"{where} binds variable number {v.index} where {len(bound)} is next in binding order")
    bound.append(v.aval)


def _check_atom(bound: list[ShapedArray], a: Atom, where: str) -> None:
    if type(a) is Literal:
        return
    if type(a) is not Var:
        raise InvalidJaxpr(f"{where} uses {a!r}, which is neither a variable nor a literal")
    if a.index >= len(bound):
        raise InvalidJaxpr(f"{where} uses {variable_name(a.index)}, which is not bound")
    if bound[a.index] != a.aval:
        raise InvalidJaxpr(f"{where} uses {variable_name(a.index)} as {a.aval.short()}, which was bound as "
                           f"{bound[a.index].short()}")


def _check_types(eqn: Eqn, where: str) -> None:
    try:
        found = abstract_eval(eqn.op, *[a.aval for a in eqn.inputs])
    except (TypeError, ValueError) as error:
        raise InvalidJaxpr(f"{where} is ill typed: {error}\nin {_show(eqn)}") from None
    found = list(found) if eqn.op.multiple_results else [found]
    given = [v.aval for v in eqn.outputs]
    if found != given:
        raise InvalidJaxpr(f"{where} gives {[a.short() for a in found]}, but binds {[a.short() for a in given]}\n"
                           f"in {_show(eqn)}")


def _show(eqn: Eqn) -> str:
    return print_jaxpr(Jaxpr([], [eqn], []))
