"""Writing StableHLO as text: the module, its functions, and the names of values.

Text is the quickest way to build a module (jaxlib's bindings cost several times more an operation), and what is
written is what a person reads.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..ir import Jaxpr, Literal, ShapedArray, Var, lower_rule
from ..ir import dtypes
from .constants import constant_text

_ELEMENT_TYPES: dict[np.dtype, str] = {}
_TYPES: dict[ShapedArray, str] = {}


def element_type(dtype: np.dtype) -> str:
    """The MLIR name of a dtype: f32, i8, ui8, complex<f32>, i1 for bool, f8E4M3FN, ..."""
    found = _ELEMENT_TYPES.get(dtype)
    if found is None:
        found = _ELEMENT_TYPES[dtype] = _element_type(dtype)
    return found


def _element_type(dtype: np.dtype) -> str:
    short = dtypes.short_name(dtype)
    if short == "bool":
        return "i1"
    if dtypes.is_complex(dtype):
        return f"complex<f{dtype.itemsize * 4}>"
    if short.startswith("u"):
        return f"ui{short[1:]}"
    if short.startswith("f8_") or short.startswith("f4_") or short.startswith("f6_"):
        bits, form = short.split("_")
        return bits + form.upper()
    return short


def tensor_type(aval: ShapedArray) -> str:
    """The MLIR type of an array: tensor<2x3xf32>."""
    found = _TYPES.get(aval)
    if found is None:
        dims = "".join(f"{n}x" for n in aval.shape)
        if len(_TYPES) > 50_000:
            _TYPES.clear()
        found = _TYPES[aval] = f"tensor<{dims}{element_type(aval.dtype)}>"
    return found


class FunctionWriter:
    """Writes the body of one function.

    Rules receive it as ``write``. ``write.value("stablehlo.sine %0 : tensor<f32>")`` adds a line and gives the new
    value's name; ``write.values(text, n)`` does so for a line with n results.
    """

    def __init__(self, module: ModuleWriter):
        self.module = module
        self.lines: list[str] = []
        self.count = 0
        self.constants: dict[Literal, str] = {}

    def value(self, text: str) -> str:
        name = f"%{self.count}"
        self.count += 1
        self.lines.append(f"{name} = {text}")
        return name

    def values(self, text: str, result_count: int) -> list[str]:
        name = f"%{self.count}"
        self.count += 1
        if result_count == 0:
            self.lines.append(text)
            return []
        if result_count == 1:
            self.lines.append(f"{name} = {text}")
            return [name]
        self.lines.append(f"{name}:{result_count} = {text}")
        return [f"{name}#{i}" for i in range(result_count)]

    def literal(self, literal: Literal) -> str:
        """The name of a constant; equal ones are written once a function."""
        name = self.constants.get(literal)
        if name is None:
            text = f"stablehlo.constant {constant_text(literal.value)} : {tensor_type(literal.aval)}"
            name = self.constants[literal] = self.value(text)
        return name

    def scalar(self, value: object, dtype: np.dtype) -> str:
        """The name of a scalar constant."""
        return self.literal(Literal(np.asarray(value, dtype)))

    def broadcast(self, name: str, aval: ShapedArray, shape: tuple[int, ...]) -> str:
        """A scalar repeated to a shape; a value of that shape as it is."""
        if aval.shape == shape:
            return name
        target = tensor_type(ShapedArray(shape, aval.dtype))
        return self.value(f"stablehlo.broadcast_in_dim {name}, dims = [] : ({tensor_type(aval)}) -> {target}")

    def call(self, jaxpr: Jaxpr, operands: Sequence[str], name: str = "fn") -> list[str]:
        """Call a program as a private function of the module; equal programs share one."""
        symbol = self.module.function(jaxpr, name)
        types = ", ".join(map(tensor_type, jaxpr.in_avals))
        results = ", ".join(map(tensor_type, jaxpr.out_avals))
        return self.values(f"func.call @{symbol}({', '.join(operands)}) : ({types}) -> ({results})", len(jaxpr.outs))

    def program(self, jaxpr: Jaxpr, operands: Sequence[str]) -> list[str]:
        """Write all equations of a program, its inputs bound to names; the names of its results."""
        env: list[str] = list(operands)
        for eqn in jaxpr.eqns:
            op, inputs, _, _ = eqn
            names = [env[a[0]] if type(a) is Var else self.literal(a) for a in inputs]
            out = lower_rule[type(op)](op, self, eqn, *names)
            env.extend(out) if op.multiple_results else env.append(out)
        return [env[a[0]] if type(a) is Var else self.literal(a) for a in jaxpr.outs]

    def region(self, jaxpr: Jaxpr, operands: Sequence[str]) -> tuple[list[str], list[str]]:
        """The lines and results of a program written inside a region, where values around it are visible.

        Names go on counting, so they are unique in the function; constants made inside are not used outside.
        """
        saved_lines, saved_constants = self.lines, self.constants
        self.lines, self.constants = [], {}
        try:
            results = self.program(jaxpr, operands)
            return self.lines, results
        finally:
            self.lines, self.constants = saved_lines, saved_constants


class ModuleWriter:
    """Writes a module: a public main function and the private ones it calls."""

    def __init__(self):
        self.functions: list[str] = []
        self.symbols: dict[Jaxpr, str] = {}
        self.names: dict[str, int] = {}
        self.host_callbacks: list = []

    def function(self, jaxpr: Jaxpr, name: str) -> str:
        """The symbol of a private function for a program, written at its first use."""
        symbol = self.symbols.get(jaxpr)
        if symbol is None:
            symbol = self.symbols[jaxpr] = self._unique(name)
            self._write(jaxpr, symbol, "private", [""] * len(jaxpr.in_binders))
        return symbol

    def main(self, jaxpr: Jaxpr, donated: Sequence[int] = ()) -> None:
        self.names["main"] = 1
        attributes = [" {jax.buffer_donor = true}" if i in donated else "" for i in range(len(jaxpr.in_binders))]
        self._write(jaxpr, "main", "public", attributes)

    def _unique(self, name: str) -> str:
        cleaned = "".join(c if c.isalnum() and c.isascii() or c == "_" else "_" for c in name) or "fn"
        seen = self.names.get(cleaned, 0)
        self.names[cleaned] = seen + 1
        return f"{cleaned}_{seen}" if seen else cleaned

    def _write(self, jaxpr: Jaxpr, symbol: str, visibility: str, attributes: Sequence[str]) -> None:
        write = FunctionWriter(self)
        arguments = [f"%arg{i}" for i in range(len(jaxpr.in_binders))]
        results = write.program(jaxpr, arguments)
        declared = ", ".join(f"{a}: {tensor_type(v.aval)}{extra}"
                             for a, v, extra in zip(arguments, jaxpr.in_binders, attributes))
        types = ", ".join(map(tensor_type, jaxpr.out_avals))
        body = "\n    ".join(write.lines)
        end = f"return {', '.join(results)} : {types}" if results else "return"
        self.functions.append(
            f"  func.func {visibility} @{symbol}({declared}) -> ({types}) {{\n    {body}\n    {end}\n  }}")

    def text(self, name: str = "program") -> str:
        return "module @" + self._unique(name) + " {\n" + "\n".join(reversed(self.functions)) + "\n}\n"
