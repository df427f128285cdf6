"""Running programs on NumPy values, one operation after another."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Generator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..ir import Eqn, Jaxpr, Operation, ShapedArray, Var, evaluate, expand_rule, shaped_array
from ..ir.jaxpr import require_jaxpr

Runner = Callable[[Operation, list[Any]], Any]


class _Step(NamedTuple):
    """An equation in terms of slots of the environment. ``inputs`` and ``output`` are a slot where there is one."""

    op: Operation
    kind: type[Operation]
    arity: int
    inputs: Any
    output: Any
    dead: tuple[int, ...]


class _Plan(NamedTuple):
    """What a program comes to: values of the slots that are constant, steps, and the slots of the results."""

    slots: list[Any]
    steps: list[_Step]
    outs: list[int]


_PLANS: dict[int, tuple[weakref.ref, _Plan]] = {}


def _plan_of(jaxpr: Jaxpr) -> _Plan:
    key = id(jaxpr)
    found = _PLANS.get(key)
    if found is not None and found[0]() is jaxpr:
        return found[1]
    plan = _make_plan(jaxpr)
    _PLANS[key] = weakref.ref(jaxpr, lambda _: _PLANS.pop(key, None)), plan
    return plan


def _make_plan(jaxpr: Jaxpr) -> _Plan:
    highest = len(jaxpr.in_binders) - 1
    for eqn in jaxpr.eqns:
        for v in eqn[2]:
            if v[0] > highest:
                highest = v[0]
    slots: list[Any] = [None] * (highest + 1)

    def slots_of(atoms: Sequence[Any]) -> list[int]:
        found = []
        for atom in atoms:
            if type(atom) is Var:
                found.append(atom[0])
            else:
                found.append(len(slots))
                slots.append(atom.value)
        return found

    steps = []
    outs = slots_of(jaxpr.outs)
    needed = set(outs)
    for op, inputs, outputs, _ in reversed(jaxpr.eqns):
        read, written = slots_of(inputs), [v[0] for v in outputs]
        dead = tuple([i for i in {*read, *written} if i not in needed and i <= highest])
        needed.update(read)
        arity = len(read)
        steps.append(_Step(op, type(op), arity, read[0] if arity == 1 else read,
                           written if op.multiple_results else written[0], dead))
    steps.reverse()
    return _Plan(slots, steps, outs)


def evaluate_jaxpr(jaxpr: Jaxpr, *args: Any, run: Runner | None = None) -> list[np.ndarray]:
    """The results of a program on NumPy values.

    Args:
        jaxpr: the program.
        args: one array (or NumPy scalar) per input, of exactly its shape and dtype.
        run: called as ``run(op, values)`` for each equation in place of the rules in ``glax.ir.evaluate``; it returns
            the value, or the list of values of an operation with multiple results, or ``NotImplemented`` to have the
            operation run as usual. In the latter case it is also called for the equations of programs within.

    Returns:
        One array per result. It may share memory with an argument, so neither is to be written to.

    Raises:
        TypeError: where the arguments do not fit the inputs.
        MissingRule: where an operation has neither a rule nor an expansion.

    >>> import numpy as np
    >>> from glax.interp import evaluate_jaxpr
    >>> from glax.ir import ShapedArray, stage
    >>> from glax.ir.ops import add
    >>> program, _ = stage(lambda x: [add(x, x)], [ShapedArray((2,), "float32")])
    >>> evaluate_jaxpr(program, np.array([1, 2], np.float32))
    [array([2., 4.], dtype=float32)]
    """
    values = checked_arguments(jaxpr, args)
    with np.errstate(all="ignore"):
        results = run_jaxpr(jaxpr, values) if run is None else run_jaxpr_with(jaxpr, values, run)
    return [x if type(x) is np.ndarray else np.asarray(x) for x in results]


def checked_arguments(jaxpr: Jaxpr, args: Sequence[Any]) -> list[np.ndarray]:
    """The arguments as arrays; TypeError where they are too many or few, or not of the inputs' shapes and dtypes."""
    require_jaxpr("evaluate_jaxpr", jaxpr)
    binders = jaxpr.in_binders
    if len(args) != len(binders):
        raise TypeError(f"a program of {len(binders)} inputs was given {len(args)} arguments")
    values = []
    for position, ((_, aval), x) in enumerate(zip(binders, args)):
        if type(x) is not np.ndarray:
            x = np.asarray(x)
        if x.shape != aval.shape or x.dtype != aval.dtype:
            raise TypeError(f"input {position} of the program must be {aval.short()}, got an array of shape {x.shape} "
                            f"and dtype {x.dtype}")
        values.append(x)
    return values


def run_jaxpr(jaxpr: Jaxpr, values: Sequence[Any]) -> list[Any]:
    """The results of a program whose arguments are known to fit; rules for calls and control flow use this.

    Args:
        jaxpr: the program.
        values: an array or NumPy scalar for each input. Nothing is checked, and floating-point warnings are not
            silenced.

    Returns:
        A list with a value for each result, as the rules give them: arrays or NumPy scalars.

    Raises:
        MissingRule: an operation has neither a rule nor an expansion.

    >>> import numpy as np
    >>> from glax.interp import run_jaxpr
    >>> from glax.ir import parse
    >>> run_jaxpr(parse("{ lambda ; a:i32[2]. let b:i32[2] = neg a in (b,) }"), [np.array([1, 2], np.int32)])
    [array([-1, -2], dtype=int32)]
    """
    slots, steps, outs = _plan_of(jaxpr)
    env = slots.copy()
    env[:len(values)] = values
    rules = evaluate.resolved
    for op, kind, arity, inputs, output, dead in steps:
        rule = rules.get(kind)
        if rule is None:
            rule = evaluate[kind]
        if arity == 2:
            i, j = inputs
            result = rule(op, env[i], env[j])
        elif arity == 1:
            result = rule(op, env[inputs])
        else:
            result = rule(op, *[env[i] for i in inputs])
        if type(output) is int:
            env[output] = result
        else:
            for i, value in zip(output, result):
                env[i] = value
        for i in dead:
            env[i] = None
    return [env[i] for i in outs]


def run_jaxpr_with(jaxpr: Jaxpr, values: Sequence[Any], run: Runner | None) -> list[Any]:
    """The results of a program whose arguments are known to fit, its operations run by ``run`` where it is given.

    Args:
        jaxpr: the program.
        values: as for run_jaxpr.
        run: as for evaluate_jaxpr.

    Returns:
        A list with a value for each result.

    Raises:
        MissingRule: an operation that ``run`` leaves alone has neither a rule nor an expansion.

    >>> import numpy as np
    >>> from glax.interp import run_jaxpr_with
    >>> from glax.ir import parse
    >>> def run(op, values):
    ...     print("running", op.name)
    ...     return NotImplemented
    >>> program = parse("{ lambda ; a:i32[2]. let b:i32[2] = neg a in (b,) }")
    >>> run_jaxpr_with(program, [np.array([1, 2], np.int32)], run)
    running neg
    [array([-1, -2], dtype=int32)]
    """
    if run is None:
        return run_jaxpr(jaxpr, values)
    slots, steps, outs = _plan_of(jaxpr)
    env = slots.copy()
    env[:len(values)] = values
    for op, _, arity, inputs, output, dead in steps:
        result = _run_one(op, [env[inputs]] if arity == 1 else [env[i] for i in inputs], run)
        if type(output) is int:
            env[output] = result
        else:
            for i, value in zip(output, result):
                env[i] = value
        for i in dead:
            env[i] = None
    return [env[i] for i in outs]


def _run_one(op: Operation, values: list[Any], run: Runner) -> Any:
    result = run(op, values)
    if result is not NotImplemented:
        return result
    rule = evaluate[type(op)]
    return rule(op, *values, run=run) if _takes_run(rule) else rule(op, *values)


@lru_cache(1024)
def _takes_run(rule: Callable[..., Any]) -> bool:
    """Whether a rule runs programs within its operation, and takes the hook to run them with."""
    try:
        return "run" in inspect.signature(rule).parameters
    except (TypeError, ValueError):  # a builtin without a signature
        return False


@lru_cache(4096)
def _expansion(op: Operation, avals: tuple[ShapedArray, ...]) -> Jaxpr:
    return expand_rule[type(op)](op, *avals)


def _evaluate_expansion(op: Operation, *values: Any, run: Runner | None = None) -> Any:
    """Run the program that an operation without a rule stands for."""
    jaxpr = _expansion(op, tuple([shaped_array(x.shape, x.dtype) for x in values]))
    results = run_jaxpr_with(jaxpr, values, run)
    return results if op.multiple_results else results[0]


evaluate.by_expansion = _evaluate_expansion


def step_jaxpr(jaxpr: Jaxpr, *args: Any) -> Generator[tuple[Eqn, list[Any], list[Any]], None, list[np.ndarray]]:
    """Run a program an equation at a time: a generator of (equation, input values, output values).

    Nothing is computed beyond the equation last yielded. The results are the generator's return value. Arguments and
    errors are those of evaluate_jaxpr.

    >>> import numpy as np
    >>> from glax.interp import step_jaxpr
    >>> from glax.ir import ShapedArray, stage
    >>> from glax.ir.ops import mul, neg
    >>> program, _ = stage(lambda x: [neg(mul(x, x))], [ShapedArray((), "int32")])
    >>> for eqn, inputs, outputs in step_jaxpr(program, np.int32(3)):
    ...     print(eqn.op.name, *inputs, "->", *outputs)
    mul 3 3 -> 9
    neg 9 -> -9
    """
    env: dict[int, Any] = dict(enumerate(checked_arguments(jaxpr, args)))

    def read(atom: Any) -> Any:
        return env[atom.index] if type(atom) is Var else atom.value

    for eqn in jaxpr.eqns:
        inputs = [read(a) for a in eqn.inputs]
        with np.errstate(all="ignore"):
            result = evaluate[type(eqn.op)](eqn.op, *inputs)
        outputs = list(result) if eqn.op.multiple_results else [result]
        env.update((v.index, x) for v, x in zip(eqn.outputs, outputs))
        yield eqn, inputs, outputs
    return [np.asarray(read(a)) for a in jaxpr.outs]
