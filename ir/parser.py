"""Reading programs from the text that the printer writes."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import MISSING, fields
from enum import Enum
from typing import Any

import ml_dtypes
import numpy as np

from . import dtypes
from .check import check
from .collector import without_collector
from .errors import JaxprSyntaxError
from .jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal, Var
from .operation import OPERATIONS, Operation
from .parameters import PARAMETER_CLASSES, parameter_fault
from .types import ShapedArray, shaped_array

_TOKEN = re.compile(r"""
    (?P<space>\s+|\#[^\n]*)
  | (?P<bytes>0x[0-9a-f]*x)
  | (?P<number>[-+]?(?:inf\b|nan\b|\d+(?:\.\d*)?(?:e[-+]?\d+)?|\.\d+(?:e[-+]?\d+)?))
  | (?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
  | (?P<name>[A-Za-z_][A-Za-z_0-9]*)
  | (?P<mark>[{}()\[\];:.,=*])
""", re.VERBOSE)

_INFINITY = float("inf")
_ESCAPE = re.compile(r"\\(x[0-9a-f]{2}|u[0-9a-f]{4}|U00(?:0[0-9a-f]|10)[0-9a-f]{4}|.|$)", re.DOTALL)
_ESCAPED = {"\\": "\\", "'": "'", '"': '"', "n": "\n", "r": "\r", "t": "\t"}


@without_collector
def parse(text: str, checked: bool = True) -> Jaxpr | ClosedJaxpr:
    """The program that a text stands for: a ClosedJaxpr where the text gives constants, a Jaxpr otherwise.

    Args:
        text: a program as it is printed.
        checked: whether the program must be well formed, as ``check`` has it. What reads programs that are known to be
            takes half the time without.

    Raises:
        JaxprSyntaxError: the text is not a program; the message says where and what was expected.
        InvalidJaxpr: it is one whose types, say, do not fit.

    >>> from glax.ir import parse
    >>> parse("{ lambda ; a:f32[3]. let b:f32[3] = sin a in (b,) }")
    { lambda ; a:f32[3]. let b:f32[3] = sin a in (b,) }
    """
    parser = _Parser(text)
    try:
        jaxpr, consts = parser.program()
    except RecursionError:
        raise parser.error("programs, tuples or arrays are nested too deeply to be read") from None
    parser.expect_end()
    program = ClosedJaxpr(jaxpr, consts) if consts else jaxpr
    if checked:
        check(program)
    return program


class _Parser:
    def __init__(self, text: str):
        if not isinstance(text, str):
            raise TypeError(f"parse takes a string, got {type(text).__name__}")
        self.text = text
        self.tokens: list[tuple[str, str, int]] = []
        self.at = 0
        position = 0
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None:
                raise self._error_at(position, f"unexpected character {text[position]!r}")
            if match.lastgroup != "space":
                self.tokens.append((match.lastgroup, match.group(), position))
            position = match.end()

    def _error_at(self, position: int, message: str) -> JaxprSyntaxError:
        line = self.text.count("\n", 0, position) + 1
        column = position - (self.text.rfind("\n", 0, position) + 1) + 1
        shown = self.text.split("\n")[line - 1]
        return JaxprSyntaxError(f"line {line}, column {column}: {message}\n  {shown}\n  {' ' * (column - 1)}^")

    def error(self, message: str) -> JaxprSyntaxError:
        return self._error_at(self.tokens[self.at][2] if self.at < len(self.tokens) else len(self.text), message)

    def peek(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def kind(self) -> str:
        return self.tokens[self.at][0] if self.at < len(self.tokens) else "end"

    def next(self, kind: str, what: str) -> str:
        if self.kind() != kind:
            raise self.error(f"expected {what}, found {self.peek() or 'the end'!r}")
        self.at += 1
        return self.tokens[self.at - 1][1]

    def expect(self, mark: str) -> None:
        if self.peek() != mark:
            raise self.error(f"expected {mark!r}, found {self.peek() or 'the end'!r}")
        self.at += 1

    def accept(self, mark: str) -> bool:
        if self.peek() != mark or self.kind() == "string":
            return False
        self.at += 1
        return True

    def expect_end(self) -> None:
        if self.kind() != "end":
            raise self.error(f"expected the end, found {self.peek()!r}")

    def program(self) -> tuple[Jaxpr, list[Any]]:
        self.expect("{")
        self.expect("lambda")
        scope: dict[str, Var] = {}
        binders: list[Var] = []
        consts: list[Any] = []
        while not self.accept(";"):
            v = self.binder(scope)
            self.expect("=")
            binders.append(v)
            consts.append(self.array(v.aval))
        while not self.accept("."):
            binders.append(self.binder(scope))
        self.expect("let")
        eqns = []
        while not self.accept("in"):
            eqns.append(self.equation(scope))
        outs = self.sequence("(", ")", lambda: self.atom(scope))
        self.expect("}")
        return Jaxpr(binders, eqns, outs), consts

    def binder(self, scope: dict[str, Var]) -> Var:
        name = self.next("name", "a variable")
        if name in scope:
            raise self.error(f"the variable {name} is bound twice")
        self.expect(":")
        v = scope[name] = Var(len(scope), self.aval())
        return v

    def equation(self, scope: dict[str, Var]) -> Eqn:
        # The names are bound once the equation's inputs have been read: it cannot use what it defines.
        names: list[tuple[str, ShapedArray]] = []
        if not self.accept("_"):
            while self.peek() != "=":
                name = self.next("name", "a variable or '='")
                self.expect(":")
                names.append((name, self.aval()))
        self.expect("=")
        op = self.operation()
        inputs = []
        while not self._equation_ends():
            inputs.append(self.atom(scope))
        outputs = []
        for name, aval in names:
            if name in scope:
                raise self.error(f"the variable {name} is bound twice")
            v = scope[name] = Var(len(scope), aval)
            outputs.append(v)
        return Eqn(op, tuple(inputs), tuple(outputs))

    def _equation_ends(self) -> bool:
        following = self.tokens[self.at + 1][1] if self.at + 1 < len(self.tokens) else ""
        if self.kind() == "end" or self.peek() == "in" and following == "(":
            return True
        return self.kind() == "name" and (following == ":" or self.peek() == "_" and following == "=") and (
            self.peek() not in ("inf", "nan", "True", "False"))

    def atom(self, scope: dict[str, Var]) -> Atom:
        if self.kind() == "name" and self.peek() not in ("True", "False"):
            name = self.next("name", "a variable")
            if name not in scope:
                self.at -= 1
                raise self.error(f"the variable {name} is not bound here")
            return scope[name]
        return self.literal()

    def literal(self) -> Literal:
        start = self.at
        self.skip_array()
        self.expect(":")
        aval = self.aval()
        end, self.at = self.at, start
        value = self.array(aval)
        self.at = end
        return Literal(value, aval)

    def aval(self) -> ShapedArray:
        name = self.next("name", "a type such as f32[3]")
        try:
            dtype = dtypes.from_short_name(name)
        except (ValueError, TypeError, KeyError):
            self.at -= 1
            raise self.error(f"{name!r} is not a dtype") from None
        weak = self.accept("*")
        return shaped_array(tuple(self.sequence("[", "]", self.dimension)), dtype, weak)

    def dimension(self) -> int:
        size = self.integer()
        if size < 0:
            self.at -= 1
            raise self.error(f"a dimension must not be negative, got {size}")
        return size

    def sequence(self, start: str, end: str, item: Callable[[], Any]) -> list[Any]:
        self.expect(start)
        items = []
        while not self.accept(end):
            items.append(item())
            if not self.accept(","):
                self.expect(end)
                break
        return items

    def integer(self) -> int:
        return self._read_number(self.next("number", "an integer"), int)

    def skip_array(self) -> None:
        """Move past an array's text, whose type comes after it."""
        if self.peek() in ("[", "("):
            self.sequence(self.peek(), "]" if self.peek() == "[" else ")", self.skip_array)
        elif self.kind() in ("bytes", "number") or self.peek() in ("True", "False"):
            self.at += 1
        else:
            raise self.error(f"expected a number or an array, found {self.peek() or 'the end'!r}")

    def array(self, aval: ShapedArray) -> np.ndarray:
        start = self.at
        try:
            if self.kind() == "bytes":
                return _from_bytes(self.next("bytes", "bytes")[2:-1], aval)
            return _from_numbers(self.nested(aval.dtype), aval)
        except (ValueError, TypeError, OverflowError) as error:
            if isinstance(error, JaxprSyntaxError):
                raise
            self.at = start
            raise self.error(f"not an array of type {aval.short()}: {error}") from None

    def nested(self, dtype: np.dtype) -> Any:
        if self.peek() == "[":
            return self.sequence("[", "]", lambda: self.nested(dtype))
        if self.peek() == "(":
            return self.complex_number()
        if dtypes.is_bool(dtype):
            if self.peek() not in ("True", "False"):
                raise self.error(f"expected True or False, found {self.peek() or 'the end'!r}")
            return self.next("name", "a bool") == "True"
        return self.integer() if dtypes.is_integer(dtype) else self.real()

    def complex_number(self) -> complex:
        parts = self.sequence("(", ")", self.real)
        if len(parts) != 2:
            raise self.error("a complex number has two parts")
        return complex(*parts)

    def real(self) -> float:
        return self._read_number(self.next("number", "a number"), float)

    def _read_number(self, text: str, kind: type[int] | type[float]) -> int | float:
        """A number; text that Python does not read, or that has no place among the floats, is an error."""
        try:
            number = kind(text)
        except ValueError:
            number = None
        if number is None or kind is float and number in (_INFINITY, -_INFINITY) and "inf" not in text:
            self.at -= 1
            raise self.error(f"not {'an integer' if kind is int else 'a float64'} that can be read: {text:.50}")
        return number

    def operation(self) -> Operation:
        name = self.next("name", "an operation")
        cls = OPERATIONS.get(name)
        if cls is None:
            self.at -= 1
            raise self.error(f"there is no operation named {name!r}")
        given = self.parameters() if self.peek() == "[" else {}
        return self._made(cls, name, given)

    def _made(self, cls: type, name: str, given: dict[str, Any]) -> Any:
        """An operation or a dataclass of given fields."""
        known = [f.name for f in fields(cls)]
        unknown = sorted(set(given) - set(known))
        if unknown:
            raise self.error(f"{name} has no parameter {unknown[0]!r}; it has {known}")
        missing = [f.name for f in fields(cls) if f.name not in given and f.default is f.default_factory is MISSING]
        if missing:
            raise self.error(f"{name} needs the parameter {missing[0]!r}")
        try:
            made = cls(**given)
        except (TypeError, ValueError) as error:
            raise self.error(f"{name}: {error}") from None
        fault = parameter_fault(made)
        if fault:
            raise self.error(fault)
        return made

    def parameters(self) -> dict[str, Any]:
        self.expect("[")
        given = {}
        while not self.accept("]"):
            name = self.next("name", "a parameter")
            if name in given:
                raise self.error(f"the parameter {name} is given twice")
            self.expect("=")
            given[name] = self.parameter()
        return given

    def parameter(self) -> Any:
        kind, text = self.kind(), self.peek()
        if kind == "string":
            return self.string()
        if text == "{":
            jaxpr, consts = self.program()
            if consts:
                raise self.error("a sub-program has no constants of its own")
            return jaxpr
        if text == "(":
            return tuple(self.sequence("(", ")", self.parameter))
        if kind == "number":
            return self._number(self.next("number", "a number"))
        name = self.next("name", "a value")
        if name in ("None", "True", "False"):
            return {"None": None, "True": True, "False": False}[name]
        if name == "complex" and self.peek() == "(":
            return self.complex_number()
        if name in PARAMETER_CLASSES:
            return self.parameter_object(PARAMETER_CLASSES[name])
        if self.peek() in ("[", "*"):
            self.at -= 1
            return self.aval()
        try:
            return dtypes.from_short_name(name)
        except (ValueError, TypeError, KeyError):
            self.at -= 1
            raise self.error(f"{name!r} is not a value of a parameter") from None

    def string(self) -> str:
        text = self.next("string", "a string")
        try:
            return _ESCAPE.sub(_unescaped, text[1:-1])
        except ValueError as error:
            self.at -= 1
            raise self.error(str(error)) from None

    def _number(self, text: str) -> int | float:
        return self._read_number(text, int if re.fullmatch(r"[-+]?\d+", text) else float)

    def parameter_object(self, cls: type) -> Any:
        if not issubclass(cls, Enum):
            return self._made(cls, cls.__name__, self.parameters())
        self.expect(".")
        name = self.next("name", f"a member of {cls.__name__}")
        if name not in cls.__members__:
            self.at -= 1
            raise self.error(f"{cls.__name__} has no member {name!r}; it has {list(cls.__members__)}")
        return cls[name]


def _through_objects(dtype: np.dtype) -> bool:
    """Whether NumPy cannot read Python numbers into an array of the dtype (the small floats and integers)."""
    return dtype.type.__module__ == ml_dtypes.__name__ or dtype.kind == "V"


def _from_numbers(nested: Any, aval: ShapedArray) -> np.ndarray:
    whole = dtypes.is_integer(aval.dtype)
    array = np.asarray(nested, object if whole or _through_objects(aval.dtype) else None)
    if not array.size:
        return np.zeros(array.shape, aval.dtype).reshape(aval.shape)
    if array.shape != aval.shape:
        raise ValueError(f"found shape {array.shape}")
    if whole:
        info = dtypes.iinfo(aval.dtype)
        if array.min() < int(info.min) or array.max() > int(info.max):
            raise ValueError(f"a number is out of the range from {info.min} to {info.max}")
    if any(isinstance(x, complex) for x in array.flat) and not dtypes.is_complex(aval.dtype):
        raise ValueError("found a complex number")
    with np.errstate(all="ignore"):
        made = array.astype(aval.dtype)
    if aval.is_inexact and (np.isfinite(made) != np.isfinite(np.asarray(nested))).any():
        raise ValueError("a number is out of range")
    return made


def _from_bytes(digits: str, aval: ShapedArray) -> np.ndarray:
    raw = bytes.fromhex(digits)
    wanted = aval.size * aval.dtype.itemsize
    if len(raw) != wanted:
        raise ValueError(f"it takes {wanted} bytes, found {len(raw)}")
    if dtypes.is_bool(aval.dtype) and any(byte > 1 for byte in raw):
        raise ValueError("a bool is a byte of 00 or 01")
    return np.frombuffer(raw, aval.dtype).reshape(aval.shape)


def _unescaped(match: re.Match[str]) -> str:
    code = match.group(1)
    if code in _ESCAPED:
        return _ESCAPED[code]
    if len(code) < 2:
        raise ValueError(f"{match.group()!r} is no escape sequence of a string")
    return chr(int(code[1:], 16))
