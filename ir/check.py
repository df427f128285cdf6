"""Checking that a program keeps the rules of the IR."""

from __future__ import annotations

from .errors import InvalidJaxpr, MissingRule
from .jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal, Var, effects_of
from .operation import Operation, abstract_eval, require_operand_count
from .parameters import parameter_fault
from .printer import print_jaxpr, variable_name
from .types import ShapedArray, type_fault


def check(program: Jaxpr | ClosedJaxpr) -> None:
    """Raise InvalidJaxpr unless a program is well formed.

    Variables are bound once, before they are used, and numbered in binding order; the types of equations' outputs are
    those that the typing rules give; static parameters are of the types that their fields say; the effects are those
    of the equations; sub-programs are well formed too. TypeError where it is given no program at all.

    >>> from glax.ir import Jaxpr, ShapedArray, Var, check
    >>> x = Var(0, ShapedArray((3,), "float32"))
    >>> check(Jaxpr([x], [], [x]))
    >>> check(Jaxpr([], [], [x]))
    Traceback (most recent call last):
        ...
    glax.ir.errors.InvalidJaxpr: output 0 uses a, which is not bound
    """
    if not isinstance(program, (Jaxpr, ClosedJaxpr)):
        raise TypeError(f"check takes a Jaxpr or a ClosedJaxpr, got {program!r:.200} of type {type(program).__name__}")
    jaxpr = program.jaxpr if isinstance(program, ClosedJaxpr) else program
    if not isinstance(jaxpr, Jaxpr):
        raise InvalidJaxpr(f"the program of a ClosedJaxpr must be a Jaxpr, got {jaxpr!r:.200}")
    bound: list[ShapedArray] = []
    for position, v in enumerate(jaxpr.in_binders):
        _bind(bound, v, f"input {position}")
    if isinstance(program, ClosedJaxpr):
        _check_consts(program)
    for position, eqn in enumerate(jaxpr.eqns):
        _check_equation(bound, eqn, position)
    for position, a in enumerate(jaxpr.outs):
        _check_atom(bound, a, f"output {position}")
    effects = effects_of(jaxpr.eqns)
    if jaxpr.effects != effects:
        raise InvalidJaxpr(f"the program claims the effects {jaxpr.effects!r:.200}, its equations have {set(effects)}")


def _check_equation(bound: list[ShapedArray], eqn: Eqn, position: int) -> None:
    if type(eqn) is not Eqn or not isinstance(eqn.op, Operation):
        raise InvalidJaxpr(f"equation {position} is not an Eqn of an Operation: {eqn!r:.200}")
    where = f"equation {position} ({eqn.op.name})"
    if not (isinstance(eqn.inputs, tuple) and isinstance(eqn.outputs, tuple)):
        raise InvalidJaxpr(f"{where} must have a tuple of inputs and one of outputs, got {eqn.inputs!r:.200} and "
                           f"{eqn.outputs!r:.200}")
    fault = parameter_fault(eqn.op)
    if fault:
        raise InvalidJaxpr(f"{where}: {fault}")
    for a in eqn.inputs:
        _check_atom(bound, a, where)
    for sub in eqn.op.sub_jaxprs():
        _check_sub_program(sub, where)
    for v in eqn.outputs:
        _require_variable(v, where)
    _check_types(eqn, where)
    for v in eqn.outputs:
        _bind(bound, v, where)


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
        try:
            aval = aval_of(c)
        except TypeError as error:
            raise InvalidJaxpr(f"constant {position}: {error}") from None
        if (aval.shape, aval.dtype) != (v.aval.shape, v.aval.dtype):
            raise InvalidJaxpr(f"constant {position} is {aval.short()}, its variable {v.aval.short()}")


def _require_variable(v: Var, where: str) -> None:
    if type(v) is not Var:
        raise InvalidJaxpr(f"{where} binds {v!r:.200}, which is not a variable")
    if type(v.index) is not int or v.index < 0:
        raise InvalidJaxpr(f"{where} binds variable number {v.index!r:.200}; numbers count from 0")
    fault = type_fault(v.aval)
    if fault:
        raise InvalidJaxpr(f"{where} binds {variable_name(v.index)} with an invalid type: {fault}")


def _bind(bound: list[ShapedArray], v: Var, where: str) -> None:
    _require_variable(v, where)
    if v.index < len(bound):
        raise InvalidJaxpr(f"{where} binds {variable_name(v.index)} a second time")
    if v.index != len(bound):
        raise InvalidJaxpr(f"{where} binds variable number {v.index} where {len(bound)} is next in binding order")
    bound.append(v.aval)


def _check_atom(bound: list[ShapedArray], a: Atom, where: str) -> None:
    if type(a) is Literal:
        fault = type_fault(a.aval)
        if fault:
            raise InvalidJaxpr(f"{where} uses a literal of an invalid type: {fault}")
        return
    if type(a) is not Var or type(a.index) is not int:
        raise InvalidJaxpr(f"{where} uses {a!r:.200}, which is neither a variable nor a literal")
    if not 0 <= a.index < len(bound):
        raise InvalidJaxpr(f"{where} uses {variable_name(a.index)}, which is not bound")
    if bound[a.index] != a.aval:
        raise InvalidJaxpr(f"{where} uses {variable_name(a.index)} as {_short(a.aval)}, which was bound as "
                           f"{bound[a.index].short()}")


def _short(aval: ShapedArray) -> str:
    return f"{aval!r:.200}" if type_fault(aval) else aval.short()


def _check_types(eqn: Eqn, where: str) -> None:
    try:
        require_operand_count(eqn.op, len(eqn.inputs))
        found = abstract_eval(eqn.op, *[a.aval for a in eqn.inputs])
    except (MissingRule, RecursionError):
        raise
    except Exception as error:  # whatever a typing rule stumbles over, the equation is not one that it can type
        raise InvalidJaxpr(f"{where} is ill typed: {str(error) or type(error).__name__}\nin {_show(eqn)}") from error
    found = list(found) if eqn.op.multiple_results else [found]
    given = [v.aval for v in eqn.outputs]
    if found != given:
        raise InvalidJaxpr(f"{where} gives {[_short(a) for a in found]}, but binds {[a.short() for a in given]}\n"
                           f"in {_show(eqn)}")


def _show(eqn: Eqn) -> str:
    try:
        return print_jaxpr(Jaxpr([], [eqn], []))
    except TypeError:  # a parameter that has no text
        return repr(eqn)
