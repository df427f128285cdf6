"""Writing StableHLO as text: the module, its functions, and the names of values.

Text is the quickest way to build a module (jaxlib's bindings cost several times more an operation), and what is
written is what a person reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from ..ir import Jaxpr, Literal, ShapedArray, Var, dtypes, lower_rule
from ..ir.types import shaped_array
from .constants import constant_text

_ELEMENT_TYPES: dict[np.dtype, str] = {dtypes.float0: "i1", np.dtype(bool): "i1"}
_TYPES: dict[ShapedArray, str] = {}
_MOST_TYPES = 50_000


def element_type(dtype: np.dtype) -> str:
    """The MLIR name of a dtype: f32, i8, ui8, complex<f32>, i1 for bool and float0, f8E4M3FN, ..."""
    found = _ELEMENT_TYPES.get(dtype)
    if found is None:
        found = _ELEMENT_TYPES[dtype] = _element_type(dtype)
    return found


def _element_type(dtype: np.dtype) -> str:
    short = dtypes.short_name(dtype)
    if dtypes.is_complex(dtype):
        return f"complex<f{dtype.itemsize * 4}>"
    if short.startswith("u"):
        return f"ui{short[1:]}"
    if "_" in short:
        bits, form = short.split("_")
        return bits + form.upper()
    return short


def tensor_type(aval: ShapedArray) -> str:
    """The MLIR type of an array: tensor<2x3xf32>."""
    found = _TYPES.get(aval)
    if found is None:
        dims = "".join([f"{n}x" for n in aval.shape])
        if len(_TYPES) > _MOST_TYPES:
            _TYPES.clear()
        found = _TYPES[aval] = f"tensor<{dims}{element_type(aval.dtype)}>"
    return found


def function_type(inputs: Iterable[ShapedArray], outputs: Iterable[ShapedArray]) -> str:
    """The MLIR type of an operation: (tensor<f32>, tensor<f32>) -> tensor<f32>."""
    results = list(map(tensor_type, outputs))
    returned = results[0] if len(results) == 1 else f"({', '.join(results)})"
    return f"({', '.join(map(tensor_type, inputs))}) -> {returned}"


class FunctionWriter:
    """Writes the body of one function.

    Rules receive it as ``write``. ``write.value("stablehlo.sine %0 : tensor<f32>")`` adds a line and gives the new
    value's name; ``write.values(text, n)`` does so for a line with n results.

    Attributes:
        module: the module of which the function is a part.
        lines: what has been written.
    """

    __slots__ = ("module", "lines", "count", "constants", "scalars", "repeated")

    def __init__(self, module: ModuleWriter):
        self.module = module
        self.lines: list[str] = []
        self.count = 0
        self.constants: dict[Literal, str] = {}
        self.scalars: dict[str, Literal] = {}
        self.repeated: dict[tuple[str, tuple[int, ...]], str] = {}

    def value(self, text: str) -> str:
        name = f"%{self.count}"
        self.count += 1
        self.lines.append(f"{name} = {text}")
        return name

    def values(self, text: str, result_count: int) -> list[str]:
        if result_count == 0:
            self.lines.append(text)
            return []
        if result_count == 1:
            return [self.value(text)]
        name = f"%{self.count}"
        self.count += 1
        self.lines.append(f"{name}:{result_count} = {text}")
        return [f"{name}#{i}" for i in range(result_count)]

    def literal(self, literal: Literal) -> str:
        """The name of a constant; equal ones are written once a function."""
        name = self.constants.get(literal)
        if name is None:
            aval = literal.aval
            name = self.value(f"stablehlo.constant {constant_text(literal.value)} : {tensor_type(aval)}")
            self.constants[literal] = name
            if aval.shape == ():
                self.scalars[name] = literal
        return name

    def constant(self, value: object, dtype: np.dtype) -> str:
        """The name of a constant array."""
        return self.literal(Literal(np.asarray(value, dtype)))

    def scalar(self, value: object, dtype: np.dtype, shape: tuple[int, ...] = ()) -> str:
        """The name of a scalar constant, or of one repeated to a shape."""
        name = self.literal(Literal(np.asarray(value, dtype) if dtype.itemsize else np.zeros((), dtype)))
        return self.broadcast(name, shaped_array((), dtype), shape) if shape else name

    def broadcast(self, name: str, aval: ShapedArray, shape: tuple[int, ...]) -> str:
        """A scalar repeated to a shape, which is written once a function; a value of that shape as it is."""
        if aval.shape == shape:
            return name
        found = self.repeated.get((name, shape))
        if found is None:
            target = tensor_type(shaped_array(shape, aval.dtype))
            literal = self.scalars.get(name)
            if literal is None or 0 in shape:
                text = f"stablehlo.broadcast_in_dim {name}, dims = [] : ({tensor_type(aval)}) -> {target}"
            else:
                text = f"stablehlo.constant {constant_text(literal.value)} : {target}"
            found = self.repeated[name, shape] = self.value(text)
        return found

    def call(self, jaxpr: Jaxpr, operands: Sequence[str], name: str = "fn") -> list[str]:
        """Call a program as a private function of the module; equal programs share one."""
        symbol = self.module.function(jaxpr, name)
        types = function_type(jaxpr.in_avals, jaxpr.out_avals)
        return self.values(f"func.call @{symbol}({', '.join(operands)}) : {types}", len(jaxpr.outs))

    def program(self, jaxpr: Jaxpr, operands: Sequence[str]) -> list[str]:
        """Write all equations of a program, its inputs bound to names; the names of its results."""
        env: list[str] = list(operands)
        rules, literal = lower_rule.resolved, self.literal
        for eqn in jaxpr.eqns:
            op = eqn[0]
            rule = rules.get(type(op)) or lower_rule[type(op)]
            out = rule(op, self, eqn, *[env[a[0]] if type(a) is Var else literal(a) for a in eqn[1]])
            if op.multiple_results:
                env.extend(out)
            else:
                env.append(out)
        return [env[a[0]] if type(a) is Var else literal(a) for a in jaxpr.outs]

    def region(self, in_avals: Sequence[ShapedArray], out_avals: Sequence[ShapedArray],
               body: Callable[..., Sequence[str]]) -> str:
        """The text of a region, ``{ ^bb0(...): ... }``, which ``body`` writes.

        Args:
            in_avals: the types of the region's arguments.
            out_avals: the types of what it returns.
            body: called with the arguments' names while this writer writes into the region; gives the names of the
                results. It may use values from around the region where StableHLO allows that (control flow).
        """
        saved = self.lines, self.constants, self.scalars, self.repeated
        self.lines, self.constants, self.scalars, self.repeated = [], {}, {}, {}
        try:
            names = [f"%{self.count + i}" for i in range(len(in_avals))]
            self.count += len(names)
            results = list(body(*names))
            returned = f" {', '.join(results)} : {', '.join(map(tensor_type, out_avals))}" if results else ""
            text = "\n".join([*self.lines, f"stablehlo.return{returned}"]).replace("\n", "\n  ")
        finally:
            self.lines, self.constants, self.scalars, self.repeated = saved
        arguments = ", ".join([f"{n}: {tensor_type(a)}" for n, a in zip(names, in_avals)])
        label = f"\n^bb0({arguments}):" if names else ""
        return f"{{{label}\n  {text}\n}}"

    def region_of(self, jaxpr: Jaxpr) -> str:
        """The text of a region that is a program."""
        return self.region(jaxpr.in_avals, jaxpr.out_avals, lambda *names: self.program(jaxpr, names))


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
        cleaned = "".join([c if c.isalnum() and c.isascii() or c == "_" else "_" for c in name]) or "fn"
        if cleaned[0].isdigit():
            cleaned = f"fn_{cleaned}"
        unique = cleaned
        while unique in self.names:
            unique = f"{cleaned}_{self.names[cleaned]}"
            self.names[cleaned] += 1
        self.names[unique] = 1
        return unique

    def _write(self, jaxpr: Jaxpr, symbol: str, visibility: str, attributes: Sequence[str]) -> None:
        write = FunctionWriter(self)
        arguments = [f"%arg{i}" for i in range(len(jaxpr.in_binders))]
        results = write.program(jaxpr, arguments)
        declared = ", ".join(f"{a}: {tensor_type(v.aval)}{extra}"
                             for a, v, extra in zip(arguments, jaxpr.in_binders, attributes))
        types = ", ".join(map(tensor_type, jaxpr.out_avals))
        end = f"return {', '.join(results)} : {types}" if results else "return"
        body = "\n".join([*write.lines, end]).replace("\n", "\n    ")
        self.functions.append(f"  func.func {visibility} @{symbol}({declared}) -> ({types}) {{\n    {body}\n  }}")

    def text(self, name: str = "program") -> str:
        """The module, main first; its name has a scope of its own."""
        cleaned = "".join([c if c.isalnum() and c.isascii() or c == "_" else "_" for c in name])
        if not cleaned or cleaned[0].isdigit():
            cleaned = f"program_{cleaned}"
        return "module @" + cleaned + " {\n" + "\n".join(reversed(self.functions)) + "\n}\n"
