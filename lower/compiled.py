"""Programs compiled by XLA, found by their content."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..ir import Jaxpr
from ..ir.jaxpr import require_jaxpr
from . import jaxlib_adapter as xla
from .array import Array, from_buffer
from .executable_cache import ExecutableCache
from .lowering import lower

executables = ExecutableCache()


class CompiledProgram:
    """An executable with the types of its results.

    Calling it with a list of Arrays of the types of the program's inputs runs it, and gives a list of Arrays. Donated
    arguments are deleted.

    Attributes:
        executable: XLA's executable.
        out_avals: the types of the results.
        donated: positions of arguments whose memory is given up.

    >>> import glax, glax.numpy as gnp
    >>> run = glax.lower.compile_program(glax.ir.parse("{ lambda ; a:f32[2]. let b:f32[2] = mul a a in (b,) }"))
    >>> run([gnp.array([1., 3.])]), run.out_avals
    ([Array([1., 9.], dtype=float32)], (ShapedArray(float32[2]),))
    """

    __slots__ = ("executable", "_handlers", "_run", "in_avals", "out_avals", "donated")

    def __init__(self, executable: xla.Executable, in_avals: Sequence, out_avals: Sequence, donated: tuple[int, ...]):
        self.executable = executable
        self.in_avals, self.out_avals = tuple(in_avals), tuple(out_avals)
        self._handlers = xla.result_handlers(out_avals)
        self._run = self.runner(lambda buffers: list(map(from_buffer, buffers, out_avals)))
        self.donated = donated

    def __call__(self, arrays: Sequence[Array]) -> list[Array]:
        self._check(arrays)
        return self.run(arrays)

    def run(self, arrays: Sequence[Array]) -> list[Array]:
        """As a call, for arrays that are known to fit: of others XLA sees only whether they have as many bytes."""
        results = self._run([x._buffer if x._buffer is not None else x.buffer() for x in arrays])
        for position in self.donated:
            arrays[position].delete()
        return results

    def runner(self, finish: Callable[[list[xla.Buffer]], Any]) -> Callable[[Sequence[xla.Buffer]], Any]:
        """A function that runs the program on a list of buffers, and returns what finish makes of those of its results.

        It neither looks at the buffers' types nor deletes donated arguments.
        """
        return xla.runner(self.executable, self._handlers, finish)

    def _check(self, arrays: Sequence[Array]) -> None:
        types = ", ".join(aval.short() for aval in self.in_avals)
        what = f"a compiled program is called with one list of {len(self.in_avals)} Arrays, of types ({types})"
        if not isinstance(arrays, (list, tuple)):
            raise TypeError(f"{what}, got a {type(arrays).__name__}")
        for position, x in enumerate(arrays):
            if type(x) is not Array:
                raise TypeError(f"{what}, got a {type(x).__name__} at {position}; from_numpy makes an Array of it")
        if len(arrays) != len(self.in_avals):
            raise TypeError(f"{what}, got {len(arrays)}")
        for position, (x, wanted) in enumerate(zip(arrays, self.in_avals)):
            if (x.shape, x.dtype) != (wanted.shape, wanted.dtype):
                raise TypeError(f"{what}, got {x.aval.short()} at {position}")


def compile_program(jaxpr: Jaxpr, donated: tuple[int, ...] = (), name: str = "program",
                    options: xla.CompileOptions = xla.DEFAULT_OPTIONS) -> CompiledProgram:
    """The compiled form of a program; equal programs share one executable, in this process and through the disk.

    Args:
        jaxpr: the program.
        donated: positions of inputs whose memory may be reused; those arrays are deleted by a call.
        name: the module's name, which takes no part in finding it again.
        options: how to compile it.

    Returns:
        A CompiledProgram, to be called with a list of Arrays.

    Raises:
        MissingRule: an operation has neither a rule in ``glax.ir.lower_rule`` nor an expansion.

    >>> import glax, glax.numpy as gnp
    >>> program = glax.ir.parse("{ lambda ; a:f32[2]. let b:f32[2] = neg a in (b,) }")
    >>> glax.lower.compile_program(program)([gnp.array([1., 2.])])
    [Array([-1., -2.], dtype=float32)]
    """
    require_jaxpr("compile_program", jaxpr)

    def build():
        module = lower(jaxpr, name, donated)
        return (module.text, module.host_callbacks) if module.host_callbacks else module.text

    def fingerprint() -> str:
        return f"{jaxpr.fingerprint} donated {donated}"

    executable = executables.get((jaxpr, donated, options), fingerprint, build, options)
    return CompiledProgram(executable, jaxpr.in_avals, jaxpr.out_avals, donated)
