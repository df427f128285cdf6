"""Programs as text, in JAX's syntax. ``parse(print(jaxpr)) == jaxpr`` for every jaxpr.

    { lambda ; a:f32[3]. let b:f32[3] = sin a in (b,) }
"""

from __future__ import annotations

from dataclasses import Field, fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np

from . import dtypes
from .collector import without_collector
from .jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal, Var
from .operation import Operation
from .types import ShapedArray

_MOST_ELEMENTS_WRITTEN_OUT = 64
_ONE_LINE = 100
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


_RESERVED = frozenset({"in", "inf", "nan", "let", "lambda"})


def variable_name(index: int) -> str:
    """a, b, ..., z, ba, bb, ...: the index in base 26, with an underscore after a word of the syntax.

    >>> [variable_name(i) for i in (0, 25, 26, 27)]
    ['a', 'z', 'ba', 'bb']

    What is no index, in a program that breaks the rules, is shown as it is.
    """
    if not isinstance(index, int) or index < 0:
        return f"<{index!r}>"
    name = _LETTERS[index % 26]
    while index := index // 26:
        name = _LETTERS[index % 26] + name
    return name + "_" if name in _RESERVED else name


@without_collector
def print_jaxpr(jaxpr: Jaxpr, *, sources: bool = False, names: bool = True) -> str:
    """The text of a program, which ``parse`` reads back.

    Args:
        jaxpr: the program.
        sources: add to each equation a comment with where it came from.
        names: show the names of called functions, which are no part of the program.

    >>> import glax
    >>> program = glax.rewrite.jit(glax.ir.parse("{ lambda ; a:f32[]. let b:f32[] = sin a in (b,) }"), "sine")
    >>> print(glax.ir.print_jaxpr(program, names=False))
    { lambda ; a:f32[]. let
        b:f32[] = jit[jaxpr={ lambda ; a:f32[]. let b:f32[] = sin a in (b,) }] a
      in (b,) }
    """
    return "\n".join(_Printer(sources, names).jaxpr_lines(jaxpr, ()))


@without_collector
def print_closed_jaxpr(closed: ClosedJaxpr, *, sources: bool = False, names: bool = True) -> str:
    """The text of a program with the values of its constants, which ``parse`` reads back.

    Args:
        closed: the program.
        sources: add to each equation a comment with where it came from.
        names: show the names of called functions, which are no part of the program.

    >>> from glax.ir import parse, print_closed_jaxpr
    >>> print(print_closed_jaxpr(parse("{ lambda a:f32[] = 2.0 ; b:f32[]. let c:f32[] = mul a b in (c,) }")))
    { lambda a:f32[] = 2.0 ; b:f32[]. let c:f32[] = mul a b in (c,) }
    """
    return "\n".join(_Printer(sources, names).jaxpr_lines(closed.jaxpr, closed.consts))


def fingerprint(jaxpr: Jaxpr) -> str:
    """A digest of the text without names."""
    import hashlib  # here, as it takes longer to load than the rest of this module
    return hashlib.sha256(print_jaxpr(jaxpr, names=False).encode()).hexdigest()


class _Printer:
    def __init__(self, sources: bool, names: bool):
        self.sources = sources
        self.names = names

    def jaxpr_lines(self, jaxpr: Jaxpr, consts: tuple) -> list[str]:
        bound = [f"{variable_name(v.index)}:{v.aval.short()} = {array_text(np.asarray(c))}"
                 for v, c in zip(jaxpr.in_binders, consts)]
        binders = [f"{variable_name(v.index)}:{v.aval.short()}" for v in jaxpr.in_binders[len(consts):]]
        head = "{ lambda " + "".join(f"{c} " for c in bound) + "; " + " ".join(binders) + ". let"
        if not bound and not binders:
            head = "{ lambda ; . let"
        tail = f"in ({', '.join(map(self.atom, jaxpr.outs))}{',' if len(jaxpr.outs) == 1 else ''}) }}"
        equations = [line for eqn in jaxpr.eqns for line in self.eqn_lines(eqn)]
        if not equations:
            return [f"{head} {tail}" if head.endswith("let") else f"{head}{tail}"]
        if len(equations) == 1 and len(head) + len(equations[0]) + len(tail) < _ONE_LINE and "#" not in equations[0]:
            return [f"{head} {equations[0]} {tail}"]
        return [head, *(f"    {line}" for line in equations), f"  {tail}"]

    def eqn_lines(self, eqn: Eqn) -> list[str]:
        outs = " ".join(f"{variable_name(v.index)}:{v.aval.short()}" for v in eqn.outputs) or "_"
        params = self.param_lines(eqn.op)
        inputs = "".join(f" {self.atom(a)}" for a in eqn.inputs)
        comment = f"  # {eqn.source}" if self.sources and eqn.source else ""
        if len(params) == 1 and not params[0][1:]:
            bracket = f"[{params[0][0]}]"
            return [f"{outs} = {eqn.op.name}{bracket}{inputs}{comment}"]
        if not params:
            return [f"{outs} = {eqn.op.name}{inputs}{comment}"]
        if all(len(p) == 1 for p in params) and sum(len(p[0]) for p in params) < _ONE_LINE:
            return [f"{outs} = {eqn.op.name}[{' '.join(p[0] for p in params)}]{inputs}{comment}"]
        inner = [f"  {line}" for param in params for line in param]
        return [f"{outs} = {eqn.op.name}[{comment}", *inner, f"]{inputs}"]

    def param_lines(self, op: Operation) -> list[list[str]]:
        """The lines of each static parameter."""
        shown = []
        for field in fields(op):
            if not field.compare and not self.names or _is_default(field, getattr(op, field.name)):
                continue
            lines = self.value_lines(getattr(op, field.name))
            shown.append([f"{field.name}={lines[0]}", *lines[1:]])
        return shown

    def value_lines(self, value: Any) -> list[str]:
        if isinstance(value, Jaxpr):
            return self.jaxpr_lines(value, ())
        if isinstance(value, tuple) and any(isinstance(item, Jaxpr) for item in value):
            inner = [f"  {line}" for item in value for line in _with_comma(self.value_lines(item))]
            return ["(", *inner, ")"]
        return [value_text(value)]

    def atom(self, a: Atom) -> str:
        if type(a) is Var:
            return variable_name(a.index)
        return literal_text(a)


def _is_default(field: Field, value: Any) -> bool:
    """Whether a parameter has its default value, which is not written."""
    return type(value) is type(field.default) and value == field.default


def _with_comma(lines: list[str]) -> list[str]:
    return [*lines[:-1], lines[-1] + ","]


def literal_text(literal: Literal) -> str:
    return f"{array_text(literal.value)}:{literal.aval.short()}"


def value_text(value: Any) -> str:
    """A static parameter as text that the parser reads back."""
    if value is None or isinstance(value, (bool, str)):
        return repr(value)
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (complex, np.complexfloating)):
        return f"complex{number_text(np.asarray(value)[()])}"
    if isinstance(value, (float, np.floating)):
        return number_text(np.asarray(value)[()])
    if isinstance(value, np.dtype):
        return dtypes.short_name(value)
    if isinstance(value, ShapedArray):
        return value.short()
    if isinstance(value, tuple):
        return f"({', '.join(map(value_text, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, Literal):
        return literal_text(value)
    if is_dataclass(value):
        shown = [f for f in fields(value) if not _is_default(f, getattr(value, f.name))]
        inner = " ".join(f"{f.name}={value_text(getattr(value, f.name))}" for f in shown)
        return f"{type(value).__name__}[{inner}]"
    raise TypeError(f"a static parameter of type {type(value).__name__} has no text: {value!r}")


def array_text(array: np.ndarray) -> str:
    """Nested lists of numbers; bytes in hexadecimal for large arrays and exotic NaNs."""
    if array.size > _MOST_ELEMENTS_WRITTEN_OUT or _has_exotic_nan(array) or (array.size == 0 and array.ndim > 1):
        return f"0x{np.ascontiguousarray(array).tobytes().hex()}x"
    if array.ndim == 0:
        return number_text(array[()])
    return f"[{', '.join(array_text(row) for row in array)}]"


def number_text(value: Any) -> str:
    if isinstance(value, (np.bool_, bool)):
        return str(bool(value))
    dtype = np.asarray(value).dtype
    if dtypes.is_integer(dtype):
        return str(int(value))
    if dtypes.is_complex(dtype):
        return f"({_float_text(value.real)},{_float_text(value.imag)})"
    return _float_text(value)


def _float_text(value: Any) -> str:
    wide = float(value)
    if wide != wide:
        return "nan"
    if wide in (float("inf"), float("-inf")):
        return "inf" if wide > 0 else "-inf"
    if isinstance(value, np.float32):
        return repr(float(str(value)))
    return repr(wide)


def _has_exotic_nan(array: np.ndarray) -> bool:
    """Whether there is a NaN whose bits are not those that reading ``nan`` gives."""
    if not dtypes.is_inexact(array.dtype):
        return False
    mask = array != array
    if not mask.any():
        return False
    if dtypes.is_complex(array.dtype):
        return any(_has_exotic_nan(np.asarray(part)) for part in (array.real, array.imag))
    canonical = np.asarray(float("nan"), array.dtype).tobytes()
    return any(element.tobytes() != canonical for element in array[mask])
