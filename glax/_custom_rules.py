"""What custom_jvp and custom_vjp share: calls with static arguments, and staging an author's rules beside a function.

Rules are staged when the function is called while something is being staged: values that a rule closes over become
operands of the call, and the rules are part of the program. A rule that raises does so only once it is used.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Sequence
from functools import update_wrapper
from types import MethodType
from typing import Any, NamedTuple

import numpy as np

from ._calls import function_name, leaf_avals, require_callable
from ._running import asarray
from ._static import as_tuple, infer_names_and_positions, resolve_positions, with_static
from .ir import Builder, Jaxpr, ShapedArray, Tracer, Typed, Var, aval_of, building, dtypes, is_value, tree
from .ir import ops as o
from .ir.jaxpr import assemble
from .ir.tree import PyTreeDef

MOST_NESTED = 4


class SymbolicZero(Typed):
    """A tangent or cotangent that is known to be zero, in rules with symbolic_zeros=True.

    Attributes:
        aval: the type of the zero; its shape and dtype are attributes too.
    """

    __slots__ = ("aval",)

    def __init__(self, aval: ShapedArray):
        self.aval = aval

    @classmethod
    def from_primal_value(cls, x: Any) -> SymbolicZero:
        """The zero tangent of a value."""
        return cls(aval_of(x).to_tangent())

    def __repr__(self) -> str:
        return f"SymbolicZero({self.aval.short()})"


def zero_from_primal(val: Any, symbolic_zeros: bool = False) -> Any:
    """The zero tangent of a value: a SymbolicZero, or zeros (of dtype float0 for an integer value)."""
    aval = aval_of(val).to_tangent()
    if symbolic_zeros:
        return SymbolicZero(aval)
    return np.zeros(aval.shape, aval.dtype) if aval.dtype == dtypes.float0 else o.full(aval.shape, 0, aval.dtype)


def resolve_keywords(what: str, fun: Callable[..., Any], args: tuple, kwargs: dict[str, Any]) -> tuple:
    """The arguments of a call as positional ones, keywords and defaults put in their places."""
    try:
        signature = inspect.signature(fun)
    except (ValueError, TypeError):
        if kwargs:
            raise TypeError(f"{what}: keyword arguments {sorted(kwargs)} were given to a function whose signature is "
                            f"not known; pass them by position") from None
        return args
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    if bound.kwargs:
        raise TypeError(f"{what}: the keyword-only arguments {sorted(bound.kwargs)} have no position, which the rule "
                        f"could give them; make them positional, or close over them")
    return bound.args


class Options(NamedTuple):
    """Positions of the arguments that are not differentiated by, and are passed to the rule as they are."""

    positions: tuple[int, ...]

    @classmethod
    def of(cls, what: str, fun: Callable[..., Any], argnums: Any, argnames: Any) -> Options:
        positions = as_tuple(what, "nondiff_argnums", argnums, int) or None
        names = as_tuple(what, "nondiff_argnames", argnames, str) or None
        if names and positions:
            extra, _ = infer_names_and_positions(fun, None, names)
            return cls((*positions, *extra))
        return cls(infer_names_and_positions(fun, positions, names)[0])


class WithRules:
    """Base of the functions whose rules their author gives; the class's name is what the user calls."""

    def __init__(self, fun: Callable[..., Any], nondiff_argnums: int | Sequence[int] = (),
                 nondiff_argnames: str | Sequence[str] = ()):
        kind = type(self).__name__
        require_callable(kind, fun)
        update_wrapper(self, fun)
        self.fun = fun
        self._name = function_name(fun)
        self._what = f"{kind} function {self._name}"
        self._options = Options.of(self._what, fun, nondiff_argnums, nondiff_argnames)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.fun!r}>"


class Call(NamedTuple):
    """A call of a custom function.

    Attributes:
        fun: the function of the differentiable arguments.
        static: the other arguments, in order of position.
        args: the differentiable arguments; leaves, avals and tree are theirs.
    """

    what: str
    name: str
    fun: Callable[..., Any]
    static: tuple
    args: tuple
    leaves: list[Any]
    avals: list[ShapedArray]
    tree: PyTreeDef

    def flat(self, *leaves: Any) -> Any:
        return self.fun(*tree.unflatten(self.tree, leaves))


def separate(what: str, name: str, fun: Callable[..., Any], options: Options, args: tuple) -> Call:
    positions = resolve_positions(what, "nondiff_argnums", options.positions, len(args))
    static = tuple(args[i] for i in positions)
    dynamic = tuple(x for i, x in enumerate(args) if i not in positions)
    of_dynamic = with_static(fun, positions, args) if positions else fun
    leaves, in_tree = tree.flatten(dynamic)
    return Call(what, name, of_dynamic, static, dynamic, leaves, leaf_avals(what, dynamic, leaves, "args"), in_tree)


class Program(NamedTuple):
    """A staged function: its program, of captured values and then arguments, and its output.

    Attributes:
        out: what ``shape`` in stage_flat gave beside the results.
        asked: whether Python asked for contents of staged values.
    """

    jaxpr: Jaxpr
    captured: list[Any]
    out: Any
    asked: bool


def stage_flat(flat: Callable[..., tuple[Sequence[Any], Any]], avals: Sequence[ShapedArray], what: str,
               known: Sequence[Any]) -> Program:
    """Stage a function of flat arguments that gives flat results and something about them."""
    builder = Builder(what)
    builder.known = known
    with building(builder):
        results, out = flat(*[builder.add_input(a) for a in avals])
        return Program(*builder.close(results), out, bool(builder.answers))


def stage_primal(call: Call) -> Program:
    """Stage the function of a call; ``out`` is the tree of its output."""
    return stage_flat(lambda *xs: require_values(call.what, call.flat(*xs)), call.avals, call.what, call.leaves)


def require_values(what: str, value: Any) -> tuple[list[Any], PyTreeDef]:
    """The leaves of what a function or a rule returned, which must be arrays."""
    leaves, out_tree = tree.flatten(value)
    for path, x in () if all(map(is_value, leaves)) else tree.flatten_with_path(value)[0]:
        if not is_value(x):
            raise TypeError(f"{what} must return arrays or numbers, in any tree; output{tree.keystr(path)} is {x!r} of "
                            f"type {type(x).__name__}")
    return leaves, out_tree


def run_now(what: str, result: Any) -> Any:
    """What a function called on values returned, as Arrays."""
    leaves, out_tree = require_values(what, result)
    return tree.unflatten(out_tree, map(asarray, leaves))


def aval_text(x: Any) -> str:
    return aval_of(x).short()


def as_type(x: Any, aval: ShapedArray) -> Any:
    """x with exactly the weakness of a type whose shape and dtype it has; a weak scalar also takes the dtype."""
    got = aval_of(x)
    return x if got is aval else o.convert_element_type(x, aval.dtype, aval.weak_type)


def fits(x: Any, aval: ShapedArray) -> bool:
    got = aval_of(x)
    if got.shape != aval.shape:
        return False
    return got.dtype == aval.dtype or (
        got.weak_type and dtypes.result_type((got.dtype, True), (aval.dtype, False))[0] == aval.dtype)


# Constants: what the programs of one call capture, together.


def _capture_key(x: Any) -> tuple:
    if type(x) is Tracer:
        return id(x.builder), x.atom.index
    return "value", id(x)


class Constants:
    """The values that the programs of a call capture, each once."""

    def __init__(self, values: Sequence[Any] = ()):
        self.values: list[Any] = []
        self.positions: dict[tuple, int] = {}
        self.add(values)

    def add(self, values: Sequence[Any]) -> bool:
        """Add values; whether any is new."""
        before = len(self.values)
        for x in values:
            if _capture_key(x) not in self.positions:
                self.positions[_capture_key(x)] = len(self.values)
                self.values.append(x)
        return len(self.values) > before

    def find(self, x: Any) -> int | None:
        """The position of a value: the same one, or an array of equal content."""
        found = self.positions.get(_capture_key(x))
        if found is None and type(x) is not Tracer:
            aval = aval_of(x)
            for position, value in enumerate(self.values):
                if type(value) is not Tracer and aval_of(value) == aval and (
                        np.asarray(value).tobytes() == np.asarray(x).tobytes()):
                    return position
        return found

    def program(self, jaxpr: Jaxpr, captured: Sequence[Any]) -> Jaxpr | None:
        """A program that takes all the constants in the place of those it captured; None where it has others."""
        found = [self.find(x) for x in captured]
        if None in found:
            return None
        unused = len(jaxpr.in_binders) + sum(len(eqn.outputs) for eqn in jaxpr.eqns)
        leading: list[Var] = [Var(unused + i, aval_of(x)) for i, x in enumerate(self.values)]
        if len(set(found)) != len(found):
            return None
        for v, position in zip(jaxpr.in_binders, found):
            leading[position] = v
        return assemble([*leading, *jaxpr.in_binders[len(captured):]], jaxpr.eqns, jaxpr.outs)


# Rules being staged.


class _Frame:
    """A custom call whose rules are being staged."""

    __slots__ = ("owner", "call", "primal", "constants", "elsewhere", "used", "may_recur")

    def __init__(self, owner: Any, call: Call, primal: Program, constants: Constants, may_recur: bool):
        self.owner, self.call, self.primal, self.constants = owner, call, primal, constants
        self.may_recur = may_recur
        self.used = False

    def is_of(self, owner: Any, call: Call) -> bool:
        mine = self.call
        return (self.may_recur and self.owner is owner and mine.tree == call.tree and mine.avals == call.avals
                and len(mine.static) == len(call.static) and all(map(_same, mine.static, call.static)))


def _same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if type(a) is Tracer:
        return _capture_key(a) == _capture_key(b)
    if is_value(a) and not isinstance(a, (bool, int, float, complex)):
        return False
    try:
        return bool(a == b)
    except Exception:  # an author's __eq__ may raise anything
        return False


class _Staging(threading.local):
    def __init__(self) -> None:
        self.frames: list[_Frame] = []


_staging = _Staging()


class Ruled(NamedTuple):
    """A call ready to be recorded: its program, its rules, and the constants that come before its arguments."""

    jaxpr: Jaxpr
    rules: list[Any]
    constants: list[Any]


StageRules = Callable[[Call, Program], list[Program]]


def with_rules(owner: Any, call: Call, primal: Program, rule_count: int, stage_rules: StageRules) -> Ruled:
    """The program of a call with the programs of its rules; with Recursive in their place within those very rules."""
    for depth, frame in enumerate(reversed(_staging.frames)):
        if frame.is_of(owner, call):
            jaxpr = frame.constants.program(primal.jaxpr, primal.captured)
            if jaxpr is not None and jaxpr == frame.constants.program(frame.primal.jaxpr, frame.primal.captured):
                frame.used = True
                return Ruled(jaxpr, [o.Recursive(depth)] * rule_count, frame.constants.values)
    if sum(frame.owner is owner for frame in _staging.frames) >= MOST_NESTED:
        failure = o.RuleFailure(f"the rules of {call.what} call the function within one another {MOST_NESTED} times, "
                                f"each time in another way; derivatives of a higher order are not available")
        return _without_rules(primal, [failure] * rule_count)
    return _stage_rules(owner, call, primal, rule_count, stage_rules)


def _without_rules(primal: Program, rules: list[Any]) -> Ruled:
    constants = Constants(primal.captured)
    return Ruled(constants.program(primal.jaxpr, primal.captured), rules, constants.values)


def _stage_rules(owner: Any, call: Call, primal: Program, rule_count: int, stage_rules: StageRules) -> Ruled:
    """Stage until the constants that a recursive call needs are those that the rules capture."""
    constants, may_recur = Constants(primal.captured), True
    while True:
        frame = _Frame(owner, call, primal, constants, may_recur)
        _staging.frames.append(frame)
        try:
            made = stage_rules(call, primal)
        except Exception as error:  # the author's rule may raise anything, and does so when it is used
            return _without_rules(primal, [o.RuleFailure.of(error)] * rule_count)
        finally:
            _staging.frames.pop()
        if frame.used and any(program.asked for program in made):
            # The rule took a path that depends on values: it may take another one where it is called again.
            may_recur = False
            continue
        grew = [constants.add(program.captured) for program in made]
        if not (frame.used and any(grew)):
            break
    programs = [constants.program(p.jaxpr, p.captured) for p in (primal, *made)]
    return Ruled(programs[0], programs[1:], constants.values)
