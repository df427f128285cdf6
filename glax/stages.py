"""The stages between a function and an executable: traced, lowered, compiled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ._calls import CALL, Staged, leaf_avals, leaf_path
from ._inspect import shape_of
from ._running import asarray
from .ir import ClosedJaxpr, Tracer, literal_of, tree
from .ir.tree import PyTreeDef
from .lower import Array, CompiledProgram, InputMemory, compile_program, from_buffer, lower
from .lower import jaxlib_adapter as xla
from .lower.array import array_of_only

__all__ = ["Compiled", "Lowered", "MemoryStatistics", "StagedCall", "Traced"]

_put = xla.put


class StagedCall:
    """A function staged for one kind of call: its program, and its executable once it has been run."""

    __slots__ = ("jaxpr", "captured", "out_tree", "donated", "program", "executable",
                 "name", "memories", "run_buffers")

    def __init__(self, staged: Staged, donated: Sequence[int], name: str):
        self.jaxpr, self.out_tree = staged.jaxpr, staged.out_tree
        # The caller may write to a NumPy array after it was captured.
        self.captured = [asarray(x) if isinstance(x, np.ndarray) else x for x in staged.captured]
        self.donated = tuple(i + len(staged.captured) for i in donated)
        self.name = name
        self.program: CompiledProgram | None = None

    def compile(self) -> None:
        """Compile it, where that is yet to be done."""
        if self.program is not None:
            return
        program = compile_program(self.jaxpr, self.donated, self.name)
        self.executable = program.executable
        constants = [asarray(x).buffer() for x in self.captured]
        self.run_buffers = _runner(program, constants, self.out_tree)
        self.memories = list(map(InputMemory, self.jaxpr.in_avals[len(self.captured):]))
        for position in self.donated:
            self.memories[position - len(self.captured)].usable = False
        self.program = program  # the last, since other threads go by it

    def run(self, leaves: Sequence[Any]) -> Any:
        """The output for arrays of the types it was compiled for."""
        buffers, borrowed = [], []
        for x, memory in zip(leaves, self.memories):
            if type(x) is Array:
                buffers.append(x._buffer if x._buffer is not None else x.buffer())
                continue
            literal = None if type(x) is np.ndarray else literal_of(x)
            host = x if literal is None else literal.value
            slot = memory.take(host) if type(host) is np.ndarray else None
            if slot is not None:
                buffers.append(slot[0])
                borrowed.append((memory.free, slot))
            elif type(x) is np.ndarray and x.dtype == memory.aval.dtype:
                # XLA may use the caller's memory: the program is done, and its results have their own, on return.
                buffers.append(_put(x, may_alias=True, aval=memory.aval))
            else:
                buffers.append(asarray(x).buffer())
        try:
            output = self.run_buffers(buffers)
        except BaseException:
            self._give_up(leaves, only_deleted=True)
            raise
        for free, slot in borrowed:
            free.append(slot)
        if self.donated:
            self._give_up(leaves)
        return output

    def _give_up(self, leaves: Sequence[Any], only_deleted: bool = False) -> None:
        """Delete the arguments that are donated; ``only_deleted``: those that a call which failed had taken."""
        for position in self.donated:
            x = leaves[position - len(self.captured)]
            if type(x) is Array and not (only_deleted and not x.is_deleted()):
                x.delete()


def _runner(program: CompiledProgram, constants: list[xla.Buffer], out_tree: PyTreeDef) -> Callable[..., Any]:
    """A function from the buffers of a program's arguments to the tree of its results.

    Every call of a compiled function waits for it, so what is known before is settled here.
    """
    avals = program.out_avals
    if tree.is_leaf_def(out_tree):
        run = program.runner(array_of_only(*avals))
    else:
        run = program.runner(lambda results: out_tree.unflatten(map(from_buffer, results, avals)))
    if not constants:
        return run

    def run_with_constants(buffers: Sequence[xla.Buffer]) -> Any:
        try:
            return run(constants + buffers)
        except xla.DeletedArrayError:
            if any(map(xla.is_deleted, constants)):
                raise xla.DeletedArrayError("an array that the compiled function took from outside has been deleted or "
                                            "donated since; pass it as an argument") from None
            raise

    return run_with_constants


class MemoryStatistics(NamedTuple):
    """How much memory a compiled program takes, in bytes."""

    argument_size_in_bytes: int
    output_size_in_bytes: int
    temp_size_in_bytes: int
    alias_size_in_bytes: int
    generated_code_size_in_bytes: int
    peak_memory_in_bytes: int


class _Stage:
    """Base of the stages: a function for one kind of call."""

    def __init__(self, entry: StagedCall, in_tree: Any, what: str):
        self._entry, self.in_tree, self._what = entry, in_tree, what

    @property
    def out_tree(self) -> Any:
        return self._entry.out_tree

    @property
    def out_info(self) -> Any:
        """The output's tree of ShapeDtypeStructs."""
        return tree.unflatten(self._entry.out_tree, [shape_of(a) for a in self._entry.jaxpr.out_avals])


class Traced(_Stage):
    """A function staged for one kind of call."""

    @property
    def jaxpr(self) -> ClosedJaxpr:
        """Its program, with the values it captured."""
        return ClosedJaxpr(self._entry.jaxpr, self._entry.captured)

    @property
    def fun_name(self) -> str:
        return self._entry.name

    def lower(self) -> Lowered:
        """Write the program as StableHLO."""
        return Lowered(self._entry, self.in_tree, self._what)


class Lowered(_Stage):
    """A function written as a StableHLO module for one kind of call."""

    def __init__(self, entry: StagedCall, in_tree: Any, what: str):
        super().__init__(entry, in_tree, what)
        self._module = lower(entry.jaxpr, entry.name, entry.donated)

    def as_text(self, dialect: str = "stablehlo") -> str:
        """The module's text: "stablehlo", or "hlo" as XLA reads it."""
        if dialect == "stablehlo":
            return self._module.text
        if dialect == "hlo":
            return xla.stablehlo_to_hlo_text(self._module.text)
        raise ValueError(f"as_text: dialect must be 'stablehlo' or 'hlo', got {dialect!r}")

    def compile(self) -> Compiled:
        """Compile the module with XLA."""
        self._entry.compile()
        return Compiled(self._entry, self.in_tree, self._what)


class Compiled(_Stage):
    """A function compiled for one kind of call: it takes arguments of that kind only."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        leaves, in_tree = tree.flatten((args, kwargs))
        if any(type(x) is Tracer for x in (*self._entry.captured, *leaves)):
            raise TypeError(f"{self._what}: what was lowered and compiled runs on values; it can be called neither "
                            f"while a function is staged nor by a transformation. Use the jitted function there")
        if in_tree != self.in_tree:
            raise TypeError(f"{self._what}: compiled for other arguments: "
                            f"{tree.explain_mismatch('arguments', self.in_tree, in_tree)}")
        wanted = self._entry.jaxpr.in_avals[len(self._entry.captured):]
        avals = leaf_avals(self._what, (args, kwargs), leaves, CALL)
        for i, (want, got) in enumerate(zip(wanted, avals, strict=True)):
            if (want.shape, want.dtype) != (got.shape, got.dtype):
                where = leaf_path((args, kwargs), i, CALL)
                raise TypeError(f"{self._what}: compiled for {want.short()} as {where}, got {got.short()}")
        return self._entry.run(leaves)

    def as_text(self) -> str:
        """The optimised HLO."""
        return xla.optimized_text(self._entry.executable)

    def cost_analysis(self) -> dict[str, float]:
        """XLA's estimate of operations and bytes."""
        return xla.cost_analysis(self._entry.executable)

    def memory_analysis(self) -> MemoryStatistics:
        """Bytes of arguments, results, temporaries and code, under the names that JAX gives them."""
        return MemoryStatistics(**{
            "peak_memory_in_bytes" if name == "peak" else f"{name}_size_in_bytes": size
            for name, size in xla.memory_statistics(self._entry.executable).items()})
