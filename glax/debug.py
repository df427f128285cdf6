"""Looking into programs while they run: print, callback and breakpoint work in staged functions."""

from __future__ import annotations

import builtins
import cmd
import linecache
import sys
from collections.abc import Callable, Sequence
from typing import Any

from ._callbacks import flat_caller
from ._calls import function_name, leaf_avals, require_callable
from ._formats import fields_of
from .ir import bind, is_value, tree
from .ir import ops as o
from .ir.functions import PythonFunction
from .ir.staging import is_library_file

__all__ = ["breakpoint", "callback", "print"]


def print(fmt: str, *args: Any, ordered: bool = False, **kwargs: Any) -> None:
    """Print values when the program runs, at the place where it stands.

    Args:
        fmt: a format string, as of str.format.
        args, kwargs: what it names: arrays, or trees of them.
        ordered: whether the program says that prints keep their order. (On the CPU they do in any case.)

    Raises:
        ValueError: fmt names an argument that is not there, or leaves one out.

    >>> import glax
    >>> @glax.jit
    ... def f(x):
    ...     glax.debug.print("x = {}, twice {y:.2f}", x, y=2 * x)
    ...     return x
    >>> y = f(3.)
    x = 3.0, twice 6.00
    """
    if not isinstance(fmt, str):
        raise TypeError(f"debug.print takes a format string first, got {fmt!r} of type {type(fmt).__name__}")
    _check_format(fmt, len(args), kwargs)
    if all(map(is_value, (*args, *kwargs.values()))):
        bind(o.DebugPrint(fmt, tuple(kwargs), ordered), *args, *kwargs.values())
        return

    def show(*args: Any, **kwargs: Any) -> None:
        builtins.print(fmt.format(*args, **kwargs), flush=True)

    callback(show, *args, ordered=ordered, **kwargs)


def _check_format(fmt: str, count: int, names: Sequence[str]) -> None:
    used = fields_of(fmt)
    missing = [x for x in used if not (x in names if isinstance(x, str) else x < count)]
    if missing:
        named = ", ".join(sorted(names)) or "none"
        wants = f"names {missing[0]!r}" if isinstance(missing[0], str) else f"takes positional argument {missing[0]}"
        raise ValueError(f"debug.print: the format string {fmt!r} {wants}, but there are {count} positional arguments, "
                         f"and named ones: {named}")
    unused = [x for x in (*range(count), *names) if x not in used]
    if unused:
        raise ValueError(f"debug.print: the format string {fmt!r} does not use the argument {unused[0]!r}")


def callback(callback: Callable[..., Any], *args: Any, ordered: bool = False, **kwargs: Any) -> None:
    """Call a Python function when the program runs, for what it shows or records.

    Args:
        callback: a function of NumPy arrays; what it returns is dropped. Its own exceptions reach the caller.
        args, kwargs: its arguments: arrays, or trees of them. Whatever else is among them is passed as it is.
        ordered: whether the program says that calls keep their order. (On the CPU they do in any case.)

    >>> import glax, glax.numpy as gnp
    >>> seen = []
    >>> def f(x):
    ...     glax.debug.callback(lambda x: seen.append(float(x)), x)
    ...     return x ** 2
    >>> y = glax.vmap(glax.grad(f))(gnp.arange(3.))
    >>> seen
    [0.0, 1.0, 2.0]
    """
    require_callable("debug.callback", callback)
    leaves, in_tree = tree.flatten((args, kwargs))
    staged = [is_value(x) for x in leaves]

    def call(*values: Any) -> None:
        given = iter(values)
        full_args, full_kwargs = tree.unflatten(in_tree, [next(given) if s else x for s, x in zip(staged, leaves)])
        callback(*full_args, **full_kwargs)

    operands = [x for x, s in zip(leaves, staged) if s]
    leaf_avals("debug.callback", operands, operands)
    flat = flat_caller(call, tree.flatten((tuple(operands), {}))[1], None, "debug.callback")
    flat.__qualname__ = function_name(callback)
    bind(o.DebugCallback(PythonFunction.of(flat), ordered), *operands)


def breakpoint(*, num_frames: int = 1) -> None:
    """Stop the program here when it runs, with a prompt at which the function's variables can be looked at.

    Args:
        num_frames: of how many of the user's frames the variables are kept, from the innermost out.

    At the prompt: an expression shows its value, ``l`` the lines around, ``vars`` the variables, ``u`` and ``d`` go to
    the caller's frame and back, ``c`` continues, ``q`` ends the program with an error.
    """
    frames = _user_frames(num_frames)
    names = [[name for name, x in values.items() if is_value(x)] for _, _, _, values in frames]
    operands = [values[name] for (_, _, _, values), kept in zip(frames, names) for name in kept]
    places = [(file, line, function) for file, line, function, _ in frames]

    def stop(*arrays: Any) -> None:
        given = iter(arrays)
        scopes = [{name: next(given) for name in kept} for kept in names]
        _Prompt(places, scopes).cmdloop()

    callback(stop, *operands, ordered=True)


def _user_frames(count: int) -> list[tuple[str, int, str, dict[str, Any]]]:
    frames = []
    frame = sys._getframe(1)
    while frame is not None and len(frames) < count:
        if not is_library_file(frame.f_code.co_filename):
            frames.append((frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name, dict(frame.f_locals)))
        frame = frame.f_back
    return frames


class _Prompt(cmd.Cmd):
    """The prompt of a breakpoint."""

    prompt = "(glax) "

    def __init__(self, places: Sequence[tuple[str, int, str]], scopes: Sequence[dict[str, Any]]):
        super().__init__()
        self.places, self.scopes, self.at = places, scopes, 0
        self.use_rawinput = sys.stdin.isatty()
        self.intro = self._where()

    def _where(self) -> str:
        file, line, function = self.places[self.at]
        return f"stopped at {file}:{line} ({function})\n-> {linecache.getline(file, line).strip()}"

    def default(self, line: str) -> bool:
        if line == "EOF":
            return True
        try:
            builtins.print(repr(eval(line, {"__builtins__": vars(builtins)}, self.scopes[self.at])), file=self.stdout)
        except Exception as error:
            builtins.print(f"{type(error).__name__}: {error}", file=self.stdout)
        return False

    def emptyline(self) -> bool:
        return False

    def do_p(self, line: str) -> bool:
        """p EXPRESSION: show a value"""
        return self.default(line)

    def do_vars(self, line: str) -> None:
        """vars: the variables of this frame"""
        for name, value in self.scopes[self.at].items():
            builtins.print(f"{name} = {value!r}", file=self.stdout)

    def do_l(self, line: str) -> None:
        """l: the lines around"""
        file, at, _ = self.places[self.at]
        for n in range(max(1, at - 5), at + 6):
            text = linecache.getline(file, n).rstrip("\n")
            if text:
                builtins.print(f"{'->' if n == at else '  '} {n:4d} {text}", file=self.stdout)

    def do_u(self, line: str) -> None:
        """u: go to the caller's frame"""
        self.at = min(self.at + 1, len(self.places) - 1)
        builtins.print(self._where(), file=self.stdout)

    def do_d(self, line: str) -> None:
        """d: go back to the inner frame"""
        self.at = max(self.at - 1, 0)
        builtins.print(self._where(), file=self.stdout)

    def do_c(self, line: str) -> bool:
        """c: continue"""
        return True

    def do_q(self, line: str) -> bool:
        """q: end the program with an error"""
        raise KeyboardInterrupt("ended at a breakpoint")
