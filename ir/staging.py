"""Staging: running a function once to record its program.

There is one tracer class. While a builder is active in a thread, every operation is recorded in it, constants
included. Builders nest: a tracer of an outer builder met by an inner one becomes an explicit input of the inner
program (closure conversion), so nothing of an outer program can leak into an inner one unseen.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, NoReturn

import numpy as np

from . import dtypes
from .collector import without_collector
from .errors import UnexpectedTracerError
from .jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal, PlainSource, Source, Var, assemble
from .operation import OPERATIONS, Operation, abstract_eval, require_operand_count
from .types import ShapedArray, Typed, shaped_array


class _Current(threading.local):
    builder: Builder | None = None


current = _Current()

threads_staging: set[int] = set()
"""The threads, by their idents, that stage. Where there are none, nobody need ask for the thread's own builder."""


class Tracer(Typed):
    """A value that is being staged: an atom of the program that a builder records.

    Attributes:
        builder: the Builder whose program it belongs to.
        atom: the Var or Literal that stands for it there.
        aval: its type.

    >>> from glax.ir import Builder, ShapedArray
    >>> Builder().add_input(ShapedArray((3,), "float32"))
    Tracer<f32[3]>
    """

    __slots__ = ("builder", "atom", "aval", "__weakref__")
    __array_priority__ = 1000

    def __init__(self, builder: Builder, atom: Atom, aval: ShapedArray):
        self.builder = builder
        self.atom = atom
        self.aval = aval

    def __repr__(self) -> str:
        return f"Tracer<{self.aval.short()}>"

    def __copy__(self) -> Tracer:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Tracer:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"a staged value of type {self.aval.short()} cannot be pickled while staging "
                        f"{self.builder.what}: it has no contents yet. Pickle what the finished function returns.")


class _LookUp:
    """The marker for: find the user's line for each equation."""


LOOK_UP = _LookUp()


class Builder:
    """A program being recorded.

    Args:
        what: the transformation and function being staged, for errors.
        source: the source given to every equation; LOOK_UP finds the user's line for each.

    >>> from glax.ir import Builder, ShapedArray, building
    >>> from glax.ir.ops import sin
    >>> builder = Builder("an example")
    >>> with building(builder):
    ...     x = builder.add_input(ShapedArray((3,), "float32"))
    ...     program, captured = builder.close([sin(x)])
    >>> program
    { lambda ; a:f32[3]. let b:f32[3] = sin a in (b,) }
    """

    __slots__ = ("what", "source", "parent", "eqns", "count", "inputs", "captured", "capture_keys", "open",
                 "known", "answers")

    def __init__(self, what: str = "staging",
                 source: Source | PlainSource | _LookUp | None = LOOK_UP):
        self.what = what
        self.source = source
        self.parent: Builder | None = None
        self.eqns: list[Eqn] = []
        self.count = 0
        self.inputs: list[Var] = []
        self.captured: list[tuple[Var, Any]] = []
        self.capture_keys: dict[object, Tracer] = {}
        self.open = True
        self.known: Sequence[Any] | None = None
        self.answers: dict[int, Any] = {}

    def add_input(self, aval: ShapedArray) -> Tracer:
        """Add an input of a type to the program; the tracer that stands for it."""
        var = self._new_var(aval)
        self.inputs.append(var)
        return Tracer(self, var, aval)

    def _new_var(self, aval: ShapedArray) -> Var:
        index = self.count
        self.count = index + 1
        return Var(index, aval)

    def emit(self, op: Operation, operands: Sequence[Any]) -> Any:
        """Record one equation; a Tracer, or a list of them where the operation has multiple results."""
        inputs = []
        for x in operands:
            inputs.append(x.atom if type(x) is Tracer and x.builder is self else self.atom(x))
        try:
            out = abstract_eval[type(op)](op, *[a.aval for a in inputs])
        except TypeError:
            require_operand_count(op, len(inputs))
            raise
        source = self.source
        if source is LOOK_UP:
            source = user_source()
        if op.multiple_results:
            variables = tuple([self._new_var(aval) for aval in out])
            self.eqns.append(Eqn(op, tuple(inputs), variables, source))
            return [Tracer(self, v, v.aval) for v in variables]
        index = self.count
        self.count = index + 1
        var = Var(index, out)
        self.eqns.append(Eqn(op, tuple(inputs), (var,), source))
        return Tracer(self, var, out)

    def atom(self, x: Any) -> Atom:
        """The atom that stands for any operand in this program."""
        return self.lift(x).atom

    def lift(self, x: Any) -> Tracer:
        """The tracer of this program that stands for x: a tracer, a literal, or a captured value."""
        kind = type(x)
        if kind is Tracer:
            return x if x.builder is self else self._capture_tracer(x)
        if kind is Literal:
            return Tracer(self, x, x.aval)
        literal = literal_of(x)
        if literal is not None:
            return Tracer(self, literal, literal.aval)
        return self._capture(("value", id(x)), aval_of(x), x)

    def _capture_tracer(self, tracer: Tracer) -> Tracer:
        require_open(tracer, self)
        if type(tracer.atom) is Literal:
            return Tracer(self, tracer.atom, tracer.aval)
        return self._capture((id(tracer.builder), tracer.atom.index), tracer.aval, tracer)

    def _capture(self, key: object, aval: ShapedArray, value: Any) -> Tracer:
        found = self.capture_keys.get(key)
        if found is None:
            var = self._new_var(aval)
            self.captured.append((var, value))
            found = self.capture_keys[key] = Tracer(self, var, aval)
        return found

    @without_collector
    def splice(self, jaxpr: Jaxpr, operands: Sequence[Any]) -> list[Tracer]:
        """Record all equations of a jaxpr, its inputs bound to the operands; the tracers of its results."""
        env: list[Atom | None] = [self.atom(x) for x in operands]
        if len(env) != len(jaxpr.in_binders):
            raise TypeError(f"a program of {len(jaxpr.in_binders)} inputs was given {len(env)} operands")
        for position, (_, aval) in enumerate(jaxpr.in_binders):
            if env[position].aval is not aval:
                env[position] = self._fitted(env[position], aval, position)
        count = self.count
        append = self.eqns.append
        put = env.append
        for op, inputs, outputs, source in jaxpr.eqns:
            new_outputs = []
            new_inputs = tuple([env[a[0]] if type(a) is Var else a for a in inputs])
            for var in outputs:
                new = Var(count, var[1])
                count += 1
                put(new)
                new_outputs.append(new)
            append(Eqn(op, new_inputs, tuple(new_outputs), source))
        self.count = count
        outs = [env[a[0]] if type(a) is Var else a for a in jaxpr.outs]
        return [Tracer(self, a, a.aval) for a in outs]

    def _fitted(self, atom: Atom, aval: ShapedArray, position: int) -> Atom:
        """The atom with the weakness of an input's type, whose shape and dtype it must have."""
        got = atom.aval
        if got == aval:
            return atom
        if (got.shape, got.dtype) != (aval.shape, aval.dtype):
            raise TypeError(f"input {position} of a program must be {aval.short()}, got {got.short()}")
        if type(atom) is Literal:
            return Literal(atom.value, aval)
        var = self._new_var(aval)
        convert = OPERATIONS["convert_element_type"](aval.dtype, aval.weak_type)
        self.eqns.append(Eqn(convert, (atom,), (var,), user_source() if self.source is LOOK_UP else self.source))
        return var

    def close(self, outs: Sequence[Any]) -> tuple[Jaxpr, list[Any]]:
        """The finished program and the captured values, which are its leading inputs."""
        return self.close_atoms([self.atom(x) for x in outs]), [value for _, value in self.captured]

    @without_collector
    def close_atoms(self, out_atoms: Sequence[Atom]) -> Jaxpr:
        variables = [var for var, _ in self.captured]
        if variables:
            jaxpr = assemble(variables + self.inputs, self.eqns, out_atoms)
        else:
            jaxpr = Jaxpr(self.inputs, self.eqns, out_atoms)
        self.open = False
        return jaxpr

    def finish(self) -> None:
        """End the recording, and let go of the tracers of captured values, which keep the builder in turn."""
        self.open = False
        self.capture_keys = {}


def require_open(tracer: Tracer, builder: Builder | None) -> None:
    """Raise unless the tracer belongs to a program that encloses the one being built."""
    owner = tracer.builder
    while builder is not None:
        if builder is owner and owner.open:
            return
        builder = builder.parent
    made = next((e.source for e in owner.eqns if tracer.atom in e.outputs), None)
    where = f", made at {made}" if made else ""
    raise UnexpectedTracerError(
        f"a value of type {tracer.aval.short()}{where} while staging {owner.what} was used after that staging had "
        f"finished. A function that is staged must return its results, and must not keep them in a variable outside.")


class building:
    """``with building(builder):`` makes a builder the one that records this thread's operations.

    At the end the enclosing builder, if any, goes on recording, and this one's tracers cannot be used any more.

    >>> from glax.ir import Builder, building, current_builder
    >>> with building(Builder("an example")) as builder:
    ...     print(current_builder() is builder)
    True
    """

    __slots__ = ("builder",)

    def __init__(self, builder: Builder):
        self.builder = builder

    def __enter__(self) -> Builder:
        self.builder.parent = current.builder
        threads_staging.add(threading.get_ident())
        current.builder = self.builder
        return self.builder

    def __exit__(self, kind: object, error: BaseException | None, traceback: TracebackType | None) -> None:
        current.builder = self.builder.parent
        if self.builder.parent is None:
            threads_staging.discard(threading.get_ident())
        self.builder.finish()
        if error is not None:
            note_users_line(error, traceback, self.builder.what)


def current_builder() -> Builder | None:
    """The builder that records this thread's operations; None where operations run at once.

    >>> from glax.ir import Builder, building, current_builder
    >>> with building(Builder("an example")):
    ...     print(current_builder().what)
    an example
    >>> print(current_builder())
    None
    """
    return current.builder


def splice(jaxpr: Jaxpr, operands: Sequence[Any]) -> list[Tracer]:
    """Record a program's equations in the one being built, its inputs bound to operands, perhaps of other weakness.

    Args:
        jaxpr: the program.
        operands: a value for each input, of its shape and dtype.

    Returns:
        A tracer for each result.

    Raises:
        TypeError: there are too many or too few operands, or one is of another shape or dtype.
        AttributeError: nothing is being staged.

    >>> from glax.ir import ShapedArray, parse, splice, stage
    >>> program = parse("{ lambda ; a:f32[]. let b:f32[] = sin a in (b,) }")
    >>> stage(lambda x: splice(program, splice(program, [x])), [ShapedArray((), "float32")])[0]
    { lambda ; a:f32[]. let
        b:f32[] = sin a
        c:f32[] = sin b
      in (c,) }
    """
    return current.builder.splice(jaxpr, operands)


class not_staging:
    """``with not_staging():`` runs operations at once, even inside a function that is being staged.

    >>> from glax.ir import Builder, building, current_builder, not_staging
    >>> with building(Builder("an example")), not_staging():
    ...     print(current_builder())
    None
    """

    __slots__ = ("saved",)

    def __enter__(self) -> None:
        self.saved = current.builder
        current.builder = None

    def __exit__(self, *error: object) -> None:
        current.builder = self.saved
        if self.saved is not None:
            threads_staging.add(threading.get_ident())


def stage(f: Callable[..., Sequence[Any]], avals: Sequence[ShapedArray],
          what: str = "a function", known: Sequence[Any] | None = None) -> tuple[Jaxpr, list[Any]]:
    """Record a function from flat values to a flat sequence of values.

    Args:
        f: the function.
        avals: the types of its arguments.
        what: what is being staged, for errors.
        known: the arguments' values, where there are any, to answer Python's questions about them with.

    Returns:
        A pair of the program and a list of the values it captured, which are to be passed before its other arguments:
        arrays, and tracers of the enclosing programs.

    Raises:
        UnexpectedTracerError: a value of a staging that is over is used.

    >>> from glax.ir import ShapedArray, stage
    >>> from glax.ir.ops import sin
    >>> stage(lambda x: [sin(x)], [ShapedArray((3,), "float32")])[0]
    { lambda ; a:f32[3]. let b:f32[3] = sin a in (b,) }
    """
    builder = Builder(what)
    builder.known = known
    with building(builder):
        return builder.close(f(*[builder.add_input(aval) for aval in avals]))


def stage_closed(f: Callable[..., Sequence[Any]], avals: Sequence[ShapedArray],
                 what: str = "a function") -> ClosedJaxpr:
    """Like stage, for a function that captures no tracers.

    Args:
        f: the function, from flat values to a flat sequence of values.
        avals: the types of its arguments.
        what: what is being staged, for errors.

    Returns:
        A ClosedJaxpr, with the captured arrays as its constants.

    >>> import numpy as np
    >>> from glax.ir import ShapedArray, stage_closed
    >>> from glax.ir.ops import add
    >>> table = np.array([1, 2], np.int32)
    >>> stage_closed(lambda x: [add(x, table)], [ShapedArray((2,), "int32")])
    { lambda a:i32[2] = [1, 2] ; b:i32[2]. let c:i32[2] = add b a in (c,) }
    """
    jaxpr, captured = stage(f, avals, what)
    return ClosedJaxpr(jaxpr, captured)


def bind(op: Operation, *operands: Any) -> Any:
    """Apply an operation: record it where a function is being staged, run it where none is.

    Args:
        op: the operation.
        operands: values or tracers.

    Returns:
        The result, or a list of results where the operation has ``multiple_results``.

    Raises:
        TypeError: the operands do not fit the operation. So may a ValueError say, and MissingRule that it has no rule.

    >>> import glax
    >>> from glax.ir import bind, ops
    >>> bind(ops.ReduceSum((0,)), glax.numpy.arange(4))
    Array(6, dtype=int32)
    """
    builder = current.builder
    if builder is None:
        return _run_now(op, operands)
    return builder.emit(op, operands)


def program_of_operation(op: Operation, avals: Sequence[ShapedArray]) -> Jaxpr:
    """The program that applies one operation to inputs of these types.

    >>> from glax.ir import ShapedArray, ops, program_of_operation
    >>> program_of_operation(ops.Sin(), [ShapedArray((3,), "float32")])
    { lambda ; a:f32[3]. let b:f32[3] = sin a in (b,) }
    """
    def apply(*operands: Any) -> list[Any]:
        out = bind(op, *operands)
        return list(out) if op.multiple_results else [out]

    return stage(apply, avals, op.name)[0]


def _no_runner(op: Operation, operands: Sequence[Any]) -> Any:
    raise RuntimeError("no evaluator is installed; import glax before running operations on values")


_run_now: Callable[[Operation, Sequence[Any]], Any] = _no_runner


def install_runner(runner: Callable[[Operation, Sequence[Any]], Any]) -> None:
    """Say how an operation on values runs when nothing is being staged; importing glax does.

    Args:
        runner: called as ``runner(op, operands)``; it returns what ``bind`` does.
    """
    global _run_now
    _run_now = runner


# Values: what may be an operand, and its type.

_AVAL_OF: dict[type, Callable[[Any], ShapedArray]] = {}


def register_value_type(kind: type, aval_of_value: Callable[[Any], ShapedArray]) -> None:
    """Let values of a Python type be operands.

    Args:
        kind: the type; subclasses are not included.
        aval_of_value: a function from a value to its ShapedArray.
    """
    _AVAL_OF[kind] = aval_of_value


register_value_type(Tracer, lambda x: x.aval)
register_value_type(Literal, lambda x: x.aval)
register_value_type(np.ndarray, lambda x: shaped_array(x.shape, dtypes.canonicalize(dtypes.check_array_dtype(x.dtype))))
for _python_type in (bool, int, float, complex):
    register_value_type(_python_type, lambda x: literal_of(x).aval)


def is_value(x: Any) -> bool:
    """Whether x can be an operand: an array, a number or a tracer.

    >>> from glax.ir import is_value
    >>> is_value(1.5), is_value([1.5])
    (True, False)
    """
    return type(x) in _AVAL_OF or isinstance(x, (np.generic, np.ndarray, *_PYTHON_SCALARS))


def aval_of(x: Any) -> ShapedArray:
    """The type of an operand.

    Raises:
        TypeError: x cannot be an operand.
        ValueError: x is a masked array.

    >>> from glax.ir import aval_of
    >>> aval_of(1.5)
    ShapedArray(float32[], weak_type=True)
    """
    found = _AVAL_OF.get(type(x))
    if found is not None:
        return found(x)
    if isinstance(x, (np.generic, np.ndarray)):
        require_no_mask(x)
        return shaped_array(x.shape, dtypes.canonicalize(dtypes.check_array_dtype(x.dtype)))
    if isinstance(x, (int, float, complex)):
        return literal_of(x).aval
    raise TypeError(f"expected an array or a number, got {x!r:.200} of type {type(x).__name__}")


def require_no_mask(x: Any) -> None:
    """Raise ValueError for NumPy's masked arrays."""
    if isinstance(x, np.ma.MaskedArray):
        raise ValueError("masked arrays are not taken, as their mask would be lost; pass x.filled(value)")


def avals_of(xs: Sequence[Any]) -> list[ShapedArray]:
    """The types of operands."""
    known = _AVAL_OF
    return [known[type(x)](x) if type(x) in known else aval_of(x) for x in xs]


_SCALARS: dict[tuple, Literal] = {}
_PYTHON_SCALARS = (bool, int, float, complex)


def literal_of(x: Any) -> Literal | None:
    """The literal for a Python or NumPy scalar; None for values that are not written in place.

    >>> from glax.ir import literal_of
    >>> literal_of(1.5)
    Literal(array(1.5, dtype=float32), f32*[])
    >>> print(literal_of([1.5]))
    None
    """
    kind = type(x)
    if kind in _PYTHON_SCALARS:
        # What is equal to another in spite of a sign is left out of the cache: zero, and complex numbers, whose parts
        # may be zero. So is NaN, which is never found again.
        key = (kind, x, dtypes.config.enable_x64) if x and kind is not complex else None
        found = _SCALARS.get(key) if key else None
        if found is None:
            value, weak = dtypes.coerce_scalar(x)
            array = np.asarray(value)
            found = Literal(array, shaped_array((), array.dtype, weak))
            if key and x == x and len(_SCALARS) < 10_000:
                _SCALARS[key] = found
        return found
    if isinstance(x, np.generic) or (kind is np.ndarray and x.ndim == 0):
        dtype = dtypes.canonicalize(dtypes.check_array_dtype(x.dtype))
        return Literal(np.asarray(x, dtype), shaped_array((), dtype))
    if isinstance(x, _PYTHON_SCALARS):
        return literal_of(next(k for k in _PYTHON_SCALARS if isinstance(x, k))(x))
    return None


# Sources: the user's line.

_INTERNAL_FILES: dict[str, bool] = {}
_ROOMS = ("ir", "rewrite", "interp", "lower", "glax")


def is_library_file(filename: str) -> bool:
    internal = _INTERNAL_FILES.get(filename)
    if internal is None:
        internal = _INTERNAL_FILES[filename] = _belongs_to_the_library(filename)
    return internal


def _library_folders() -> tuple[str, ...]:
    import os
    folder = os.path.dirname(os.path.abspath(__file__))
    root = os.path.dirname(folder)
    names = _ROOMS if os.path.basename(root) != "glax" else ("",)
    return tuple(os.path.join(root, name, "") if name else os.path.join(root, "") for name in names)


_LIBRARY_FOLDERS = _library_folders()


def _belongs_to_the_library(filename: str) -> bool:
    return filename.startswith(_LIBRARY_FOLDERS)


def user_source() -> Source | None:
    """The innermost frame outside the library."""
    frame = sys._getframe(2)
    known = _INTERNAL_FILES
    while frame is not None:
        code = frame.f_code
        internal = known.get(code.co_filename)
        if internal is None:
            internal = is_library_file(code.co_filename)
        if not internal:
            return tuple.__new__(Source, (code, frame.f_lasti, None))
        frame = frame.f_back
    return None


class _UsersLine(str):
    """A note on an error that says where in the user's code it arose."""

    __slots__ = ()


def note_users_line(error: BaseException, traceback: TracebackType | None, what: str) -> None:
    """Add to an error that ended a staging where in the user's code it arose, and what was being staged.

    Only to one that the library raised itself. Of nested stagings the innermost that a frame of the user's takes part
    in says it, and none where the message has the line already.
    """
    if not isinstance(error, Exception) or any(type(note) is _UsersLine for note in getattr(error, "__notes__", ())):
        return
    found, raised_by_user = None, True
    while traceback is not None:
        raised_by_user = not is_library_file(traceback.tb_frame.f_code.co_filename)
        if raised_by_user:
            found = traceback
        traceback = traceback.tb_next
    if found is None or raised_by_user:
        return
    code = found.tb_frame.f_code
    where = f"{code.co_filename}:{found.tb_lineno}"
    if f"{where} (" not in str(error):
        error.add_note(_UsersLine(f"at {where} ({code.co_name}), while staging {what}"))
