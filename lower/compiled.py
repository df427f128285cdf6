"""Programs compiled by XLA, found by their content."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir import Jaxpr
from . import jaxlib_adapter as xla
from .array import Array, from_buffer
from .executable_cache import ExecutableCache
from .lowering import lower

executables = ExecutableCache()


class CompiledProgram:
    """An executable with the types of its results.

    Calling it with Arrays of the types of the program's inputs runs it, and gives a list of Arrays.
    """

    __slots__ = ("executable", "handlers", "out_avals", "donated")

    def __init__(self, executable: xla.Executable, out_avals: Sequence, donated: tuple[int, ...]):
        self.executable = executable
        self.handlers = xla.result_handlers(out_avals)
        self.out_avals = tuple(out_avals)
        self.donated = donated

    def __call__(self, arrays: Sequence[Array]) -> list[Array]:
        buffers = [x._buffer if x._buffer is not None else x.buffer() for x in arrays]
        results = xla.execute(self.executable, self.handlers, buffers)
        for position in self.donated:
            arrays[position].delete()
        return list(map(from_buffer, results, self.out_avals))


def compile_program(jaxpr: Jaxpr, donated: tuple[int, ...] = (), name: str = "program",
                    options: xla.CompileOptions = xla.DEFAULT_OPTIONS) -> CompiledProgram:
    """The compiled form of a program; equal programs share one executable, in this process and through the disk.

    Args:
        jaxpr: the program.
        donated: positions of inputs whose memory may be reused; those arrays are deleted by a call.
        name: the module's name, which takes no part in finding it again.
        options: how to compile it.
    """
    def build():
        module = lower(jaxpr, name, donated)
        return (module.text, module.host_callbacks) if module.host_callbacks else module.text

    def fingerprint() -> str:
        return f"{jaxpr.fingerprint} donated {donated}"

    executable = executables.get((jaxpr, donated, options), fingerprint, build, options)
    return CompiledProgram(executable, jaxpr.out_avals, donated)
