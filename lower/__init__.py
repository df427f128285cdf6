"""jaxpr -> StableHLO -> XLA executable, and the arrays that users hold."""

from . import rules
from .array import Array, from_buffer, from_numpy, from_numpy_owned
from .compiled import CompiledProgram, compile_program, executables
from .input_memory import InputMemory
from .lowering import Module, lower

__all__ = ["Array", "CompiledProgram", "InputMemory", "Module", "compile_program", "executables", "from_buffer",
           "from_numpy", "from_numpy_owned", "lower", "rules"]
