"""The laws of the library as checks: give them a program, an operation or a function of your own.

Each check raises AssertionError, saying which law failed, on which program and by how much; it returns nothing.
Derivatives are compared with differences, which tell more the wider the dtype: give float64 values (with x64 enabled)
where you can.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from . import rewrite
from ._forward import jvp as jvp_of_function
from ._reverse import vjp as vjp_of_function
from .interp import evaluate_jaxpr
from .ir import (
    Jaxpr,
    Operation,
    abstract_eval,
    aval_of,
    check,
    dtypes,
    parse,
    program_of_operation,
    shaped_array,
    tree,
)
from .lower import compile_program, from_numpy_owned
from .lower.jaxlib_adapter import FAST_OPTIONS
from .rewrite import BatchAxis

__all__ = [
    "assert_close", "check_clean_ups", "check_evaluation", "check_grads", "check_jvp", "check_lowering",
    "check_operation", "check_program", "check_second_derivatives", "check_text", "check_vjp", "check_vmap",
    "tolerance",
]

Values = Sequence[np.ndarray]

# By how many bits the narrowest float has: the step of differences, and how far they may be from a derivative. Steps
# are powers of two, as directions are multiples of 1/16, so that arguments of usual size move without rounding.
_STEPS = {64: 2.0**-17, 32: 2.0**-6, 16: 2.0**-3, 8: 0.5}
_DERIVATIVE_TOLERANCE = {64: 1e-4, 32: 2e-3, 16: 0.1, 8: 0.5}


def tolerance(dtype: np.dtype) -> float:
    """The relative and absolute difference allowed between two ways of computing the same in a dtype."""
    if not dtypes.is_inexact(dtype):
        return 0.0
    return {8: 0.5, 16: 4e-2, 32: 2e-4, 64: 1e-9}[_bits(dtype)]


def assert_close(law: str, got: Sequence[Any], wanted: Sequence[Any], program: Any = "", factor: float = 1.0) -> None:
    """Raise unless two lists of arrays agree in number, shapes, dtypes, and values within the dtypes' tolerances.

    The tolerance is relative to each element. Differences are also allowed that are a tenth of it relative to the
    largest element, or to 1 where that is less: sums that cancel leave such.
    """
    assert len(got) == len(wanted), f"{law}: {len(got)} results, expected {len(wanted)}\n{program}"
    for position, (a, b) in enumerate(zip(got, wanted)):
        a, b = np.asarray(a), np.asarray(b)
        assert a.shape == b.shape and a.dtype == b.dtype, (
            f"{law}: result {position} is {a.dtype}{list(a.shape)}, expected {b.dtype}{list(b.shape)}\n{program}")
        _assert_equal_values(law, position, a, b, tolerance(a.dtype) * factor, program)


def _assert_equal_values(law: str, position: int, a: np.ndarray, b: np.ndarray, within: float, program: Any) -> None:
    if within == 0.0:
        assert (a == b).all(), f"{law}: result {position} is\n{a}\nexpected\n{b}\n{program}"
        return
    wide = np.complex128 if dtypes.is_complex(a.dtype) else np.float64
    a, b = a.astype(wide), b.astype(wide)
    sizes = np.abs(b)
    floor = within / 10 * min(1.0, sizes[np.isfinite(b)].max(initial=0.0)) + within * 1e-5
    _assert_within(law, position, a, b, within * sizes + floor, program)


def _assert_within(law: str, position: int, a: np.ndarray, b: np.ndarray, allowed: np.ndarray, program: Any) -> None:
    """Raise unless each element is within its allowed difference; infinities and NaN are as they are."""
    with np.errstate(invalid="ignore"):
        away = np.abs(a - b)
        same = (a == b) | (away <= allowed) & np.isfinite(b) | np.isnan(a) & np.isnan(b)
    assert same.all(), (f"{law}: result {position} differs by up to {away[~same].max()}, allowed are "
                        f"{allowed[~same].min()}:\n{a}\nexpected\n{b}\n{program}")


def check_text(jaxpr: Jaxpr) -> None:
    """Printing and parsing, and pickling, give back the program, with its hash and fingerprint."""
    for how, again in (("parse of print", parse(str(jaxpr))), ("pickling", pickle.loads(pickle.dumps(jaxpr)))):
        assert again == jaxpr, f"{how} gives another program:\n{jaxpr}\n{again}"
        assert hash(again) == hash(jaxpr) and again.fingerprint == jaxpr.fingerprint, f"{how}: hash differs\n{jaxpr}"


def check_evaluation(jaxpr: Jaxpr, args: Values) -> None:
    """Evaluating leaves its arguments as they are, and gives the same again, of the types that the program says."""
    given = [np.array(x) for x in args]
    first = [np.array(x) for x in evaluate_jaxpr(jaxpr, *given)]
    for position, (x, before) in enumerate(zip(given, args)):
        assert x.tobytes() == np.asarray(before).tobytes(), f"evaluating changed argument {position}:\n{x}\n{jaxpr}"
    for position, (x, aval) in enumerate(zip(first, jaxpr.out_avals)):
        assert (x.shape, x.dtype) == (aval.shape, aval.dtype), (
            f"result {position} is {x.dtype}{list(x.shape)}, its type is {aval.short()}\n{jaxpr}")
    for position, (x, again) in enumerate(zip(first, evaluate_jaxpr(jaxpr, *given))):
        assert x.tobytes() == np.asarray(again).tobytes(), f"evaluating twice differs in result {position}\n{jaxpr}"


def check_clean_ups(jaxpr: Jaxpr, args: Values) -> None:
    """inline, fold, simplify, cse and dce keep the meaning; all but inline never grow; all are idempotent."""
    wanted = evaluate_jaxpr(jaxpr, *args)
    for name, one in (("inline", rewrite.inline), ("fold", rewrite.fold), ("simplify", rewrite.simplify),
                      ("cse", rewrite.cse), ("dce", lambda j: rewrite.dce(j)[0]), ("clean_up", rewrite.clean_up)):
        done = one(jaxpr)
        check(done)
        assert_close(name, evaluate_jaxpr(done, *args), wanted, done)
        if name not in ("inline", "clean_up"):
            assert done.count() <= jaxpr.count(), f"{name} grew the program:\n{jaxpr}\n{done}"
        if name != "clean_up":
            assert one(done) == done, f"{name} is not idempotent:\n{done}\n{one(done)}"


def check_lowering(jaxpr: Jaxpr, args: Values) -> None:
    """XLA computes what the NumPy interpreter computes."""
    arrays = [from_numpy_owned(np.array(x), v.aval) for x, v in zip(args, jaxpr.in_binders)]
    compiled = compile_program(jaxpr, options=FAST_OPTIONS)(arrays)
    assert_close("lowering", [np.asarray(x) for x in compiled], evaluate_jaxpr(jaxpr, *args), jaxpr)


def check_vmap(jaxpr: Jaxpr, args: Values, size: int = 3, in_dims: Sequence[int | None] | None = None,
               out_dims: Sequence[int] | None = None, seed: int = 0) -> None:
    """vmap is a stack of calls, for given axes, or for a sample of all of them."""
    choices = [in_dims] if in_dims is not None else _sample_of_dims([a.ndim for a in jaxpr.in_avals], seed)
    for dims in choices:
        outs_at = [out_dims] if out_dims is not None else [[0] * len(jaxpr.outs), [a.ndim for a in jaxpr.out_avals]]
        for out_at in outs_at:
            _check_one_vmap(jaxpr, args, size, dims, out_at, seed)


def _sample_of_dims(ndims: Sequence[int], seed: int, most: int = 6) -> list[tuple[int | None, ...]]:
    every = [d for d in product(*[(None, *range(n + 1)) for n in ndims]) if any(x is not None for x in d)]
    if len(every) <= most:
        return every
    rng = np.random.default_rng(seed)
    return [every[i] for i in rng.choice(len(every), most, replace=False)]


def _check_one_vmap(jaxpr: Jaxpr, args: Values, size: int, dims: Sequence[int | None], out_dims: Sequence[int],
                    seed: int) -> None:
    batched, _ = rewrite.vmap(jaxpr, BatchAxis(size), dims, out_dims)
    check(batched)
    rows = [[x if d is None else _varied(x, i, seed) for x, d in zip(args, dims)] for i in range(size)]
    stacked = [x if d is None else np.stack([row[k] for row in rows], d) for k, (x, d) in enumerate(zip(args, dims))]
    calls = [evaluate_jaxpr(jaxpr, *row) for row in rows]
    wanted = [np.stack([call[k] for call in calls], d) for k, d in enumerate(out_dims)]
    law = f"vmap in_dims={tuple(dims)} out_dims={tuple(out_dims)}"
    assert_close(law, evaluate_jaxpr(batched, *stacked), wanted, f"{jaxpr}\n{batched}")


def _varied(x: np.ndarray, row: int, seed: int) -> np.ndarray:
    """The elements of an array in another order for each row, so that rows differ and stay in the domain."""
    if row == 0 or x.size < 2:
        return x
    order = np.random.default_rng((seed, row)).permutation(x.size)
    return x.reshape(-1)[order].reshape(x.shape)


def _inexact(jaxpr: Jaxpr) -> list[bool]:
    return [a.is_inexact for a in jaxpr.in_avals]


def _directions(avals: Sequence[Any], seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    made = []
    for aval in avals:
        x = rng.integers(8, 25, aval.shape) / 16 * rng.choice([-1, 1], aval.shape)
        if dtypes.is_complex(aval.dtype):
            x = x + 1j * (rng.integers(8, 25, aval.shape) / 16)
        made.append(np.asarray(x, aval.dtype))
    return made


def check_jvp(jaxpr: Jaxpr, args: Values, step: float | None = None, seed: int = 0, within: float | None = None,
              nonzero: Sequence[bool] | None = None) -> None:
    """jvp is the limit of differences (exactly: what central differences of the step and of twice the step tend to).

    Args:
        jaxpr: the program.
        args: where to differentiate it.
        step: the step; by the narrowest float in the program by default.
        seed: of the direction.
        within: the difference allowed, relative to each element; by the narrowest float by default.
        nonzero: which arguments to differentiate by; all inexact ones by default.
    """
    nonzero = _inexact(jaxpr) if nonzero is None else list(nonzero)
    if not any(nonzero):
        return
    derivative, out_nonzero = rewrite.jvp(jaxpr, nonzero)
    check(derivative)
    given = [a for a, flag in zip(jaxpr.in_avals, nonzero) if flag]
    directions = _directions(given, seed)
    results = evaluate_jaxpr(derivative, *args, *directions)
    count = len(jaxpr.outs)
    assert_close("primal outputs of jvp", results[:count], evaluate_jaxpr(jaxpr, *args), derivative)
    bits = _narrowest_float(jaxpr)
    step, within = step or _STEPS[bits], within or _DERIVATIVE_TOLERANCE[bits]
    slopes, noise = _slopes(lambda *xs: evaluate_jaxpr(jaxpr, *xs), args, nonzero, directions, step, bits)
    tangents = iter(results[count:])
    for position, (aval, flag) in enumerate(zip(jaxpr.out_avals, out_nonzero)):
        if aval.is_inexact:
            got = np.asarray(next(tangents)) if flag else np.zeros(aval.shape)
            _assert_slopes("jvp against differences", position, got, slopes[position], within, noise[position], jaxpr)


def _assert_slopes(law: str, position: int, got: np.ndarray, slope: np.ndarray, within: float, noise: np.ndarray,
                   program: Any = "") -> None:
    sizes = np.abs(slope)
    floor = within / 10 * min(1.0, sizes[np.isfinite(slope)].max(initial=0.0)) + within * 1e-3
    _assert_within(law, position, got.astype(slope.dtype), slope, within * sizes + floor + noise, program)


def _slopes(f: Callable[..., Sequence[Any]], args: Values, nonzero: Sequence[bool], directions: Values, step: float,
            bits: int) -> tuple[list[np.ndarray | None], list[np.ndarray | None]]:
    """The derivative of each result along directions, by differences of two steps, and what rounding may add to it.
    None for results that are not inexact."""
    near, far = [[f(*_moved(args, nonzero, directions, k * step)) for k in (n, -n)] for n in (1, 2)]
    slopes, noise = [], []
    for values in zip(*near, *far):
        arrays = [np.asarray(x) for x in values]
        if not dtypes.is_inexact(arrays[0].dtype):
            slopes.append(None)
            noise.append(None)
            continue
        a, b, c, d = [x.astype(np.complex128 if dtypes.is_complex(x.dtype) else np.float64) for x in arrays]
        with np.errstate(invalid="ignore"):
            slopes.append((8 * (a - b) - (c - d)) / (12 * step))
        epsilon = float(dtypes.finfo({64: "float64", 32: "float32", 16: arrays[0].dtype, 8: arrays[0].dtype}[bits]).eps)
        noise.append(4 * epsilon * np.nan_to_num(np.abs(a)) / step)
    return slopes, noise


def _narrowest_float(jaxpr: Jaxpr) -> int:
    """How many bits the narrowest float has that a program goes through."""
    avals = [*jaxpr.in_avals, *[v.aval for eqn in jaxpr.eqns for v in eqn.outputs]]
    own = [_bits(a.dtype) for a in avals if a.is_inexact]
    return min(own + [_narrowest_float(j) for eqn in jaxpr.eqns for j in eqn.op.sub_jaxprs()], default=64)


def _bits(dtype: np.dtype) -> int:
    return np.dtype(dtypes.real_part_dtype(dtype)).itemsize * 8


def _moved(args: Values, nonzero: Sequence[bool], directions: Values, step: float) -> list[np.ndarray]:
    given = iter(directions)
    return [np.asarray(x + step * next(given), x.dtype) if flag else x for x, flag in zip(args, nonzero)]


def check_vjp(jaxpr: Jaxpr, args: Values, seed: int = 0, nonzero: Sequence[bool] | None = None) -> None:
    """vjp is the transpose of jvp: the products of cotangents with tangents agree. So does linearize."""
    nonzero = _inexact(jaxpr) if nonzero is None else list(nonzero)
    if not any(nonzero):
        return
    derivative, out_nonzero = rewrite.jvp(jaxpr, nonzero)
    directions = _directions([a for a, flag in zip(jaxpr.in_avals, nonzero) if flag], seed)
    count = len(jaxpr.outs)
    tangents = evaluate_jaxpr(derivative, *args, *directions)[count:]
    _check_linearize(jaxpr, args, nonzero, directions, tangents, out_nonzero)
    pullback = rewrite.vjp(jaxpr, nonzero)
    for program in (pullback.forward, pullback.backward):
        check(program)
    forward = evaluate_jaxpr(pullback.forward, *args)
    assert_close("primal outputs of vjp", forward[:count], evaluate_jaxpr(jaxpr, *args), jaxpr)
    moving = [a for a, flag in zip(jaxpr.out_avals, pullback.nonzero_outputs) if flag]
    cotangents = _directions(moving, seed + 1)
    back = evaluate_jaxpr(pullback.backward, *forward[count:], *cotangents)
    kept = [t for t, flag in zip(tangents, _among(out_nonzero, pullback.nonzero_outputs)) if flag]
    left, right = _inner(cotangents, kept), _inner(back, directions)
    within = _loosest_tolerance(jaxpr)
    size = max([1.0] + [_inner([np.abs(c)], [np.abs(t)]) for c, t in (*zip(cotangents, kept),
                                                                            *zip(back, directions))])
    assert abs(left - right) <= 10 * within * size or not np.isfinite(left), (
        f"vjp is not the transpose of jvp: <ct, J v> = {left}, <J' ct, v> = {right}\n{jaxpr}")


def _loosest_tolerance(jaxpr: Jaxpr) -> float:
    """The tolerance of the narrowest dtype that a program goes through."""
    own = [tolerance(v.aval.dtype) for v in jaxpr.in_binders]
    for eqn in jaxpr.eqns:
        own += [tolerance(v.aval.dtype) for v in eqn.outputs] + [_loosest_tolerance(j) for j in eqn.op.sub_jaxprs()]
    return max(own, default=0.0)


def _among(out_nonzero: Sequence[bool], kept: Sequence[bool]) -> list[bool]:
    """Of the outputs that have a tangent, which are kept."""
    return [k for flag, k in zip(out_nonzero, kept) if flag]


def _inner(a: Values, b: Values) -> float:
    """The real part of the sum of products without conjugation: what transposition keeps."""
    products = [np.sum(np.asarray(x, np.complex128) * np.asarray(y, np.complex128)) for x, y in zip(a, b)]
    return float(sum(products, 0j).real)


def _check_linearize(jaxpr: Jaxpr, args: Values, nonzero: Sequence[bool], directions: Values, tangents: Values,
                     out_nonzero: Sequence[bool]) -> None:
    linearized = rewrite.linearize(jaxpr, nonzero)
    for program in (linearized.primal, linearized.linear):
        check(program)
    results = evaluate_jaxpr(linearized.primal, *args)
    residuals = results[len(jaxpr.outs):]
    got = evaluate_jaxpr(linearized.linear, *residuals, *directions)
    wanted = [t for t, flag in zip(tangents, _among(out_nonzero, linearized.nonzero_outputs)) if flag]
    assert_close("linearize against jvp", got, wanted, jaxpr)


def check_program(jaxpr: Jaxpr, args: Values, derivatives: bool = True, seed: int = 0) -> None:
    """Every law above, on one program and one point.

    >>> import numpy as np
    >>> from glax.ir import ShapedArray, stage
    >>> from glax.ir.ops import mul, sin
    >>> from glax.testing import check_program
    >>> program, _ = stage(lambda x: [mul(sin(x), x)], [ShapedArray((3,), "float64")])
    >>> check_program(program, [np.arange(3.)])
    """
    check(jaxpr)
    check_text(jaxpr)
    check_evaluation(jaxpr, args)
    check_clean_ups(jaxpr, args)
    check_lowering(jaxpr, args)
    check_vmap(jaxpr, args, seed=seed)
    if derivatives:
        check_jvp(jaxpr, args, seed=seed)
        check_vjp(jaxpr, args, seed=seed)
        check_second_derivatives(jaxpr, args, seed=seed)


def check_second_derivatives(jaxpr: Jaxpr, args: Values, seed: int = 0) -> None:
    """The laws of jvp and vjp hold of the program that jvp makes."""
    nonzero = _inexact(jaxpr)
    if any(nonzero):
        first, _ = rewrite.jvp(jaxpr, nonzero)
        directions = _directions([a for a, flag in zip(jaxpr.in_avals, nonzero) if flag], seed + 2)
        check_jvp(first, [*args, *directions], seed=seed)
        check_vjp(first, [*args, *directions], seed=seed)


def check_operation(op: Operation, *args: Any, derivatives: bool = True, seed: int = 0) -> None:
    """Every law above, on an operation applied to values: what to call after adding one.

    Args:
        op: the operation.
        args: NumPy arrays for its operands.
        derivatives: whether to check its derivatives, first and second.
        seed: of the directions and batches tried.

    Raises:
        AssertionError: a law does not hold.
        ValueError: derivatives are to be checked, and no operand is inexact though the operation takes such ones.

    >>> import numpy as np
    >>> from glax.ir.ops import Sin
    >>> from glax.testing import check_operation
    >>> check_operation(Sin(), np.arange(3.))
    """
    if not isinstance(op, Operation):
        raise TypeError(f"check_operation takes an operation, such as Sin(), got {op!r:.200}")
    values = [np.asarray(x) for x in args]
    if derivatives:
        _require_inexact(op, values)
    program = program_of_operation(op, [shaped_array(x.shape, x.dtype) for x in values])
    check_program(program, values, derivatives, seed)


def _require_inexact(op: Operation, values: Values) -> None:
    """Raise where derivatives of an operation that has some would be checked at operands that have none."""
    if not values or any(dtypes.is_inexact(x.dtype) for x in values):
        return
    try:
        abstract_eval(op, *[shaped_array(x.shape, np.dtype(np.float32)) for x in values])
    except (TypeError, ValueError):  # there are no such derivatives
        return
    raise ValueError(f"derivatives of {op.name} cannot be checked at operands of dtypes "
                     f"{', '.join(x.dtype.name for x in values)}: give inexact ones, or derivatives=False")


def check_grads(f: Callable[..., Any], args: Sequence[Any], order: int = 1,
                modes: str | Sequence[str] = ("fwd", "rev"), atol: float | None = None, rtol: float | None = None,
                eps: float | None = None) -> None:
    """Derivatives of a function, to some order, agree with differences, and its values with what jvp and vjp give.

    Args:
        f: a function of arrays, or trees of arrays.
        args: its arguments, a tuple; inexact ones.
        order: how many times to differentiate.
        modes: "fwd" and "rev", or one of them.
        atol, rtol: the differences allowed, absolute and relative; by the dtype of the arguments by default.
        eps: the step of the differences.

    Raises:
        AssertionError: they do not agree.
        TypeError: an argument is not inexact.
        ValueError: a mode is neither "fwd" nor "rev", or the order is less than 1.

    >>> import numpy as np, glax.numpy as gnp
    >>> from glax.testing import check_grads
    >>> check_grads(gnp.sin, (np.float32(1.),), order=2)
    """
    modes = (modes,) if isinstance(modes, str) else tuple(modes)
    if not modes or not set(modes) <= {"fwd", "rev"}:
        raise ValueError(f"check_grads: modes must be 'fwd', 'rev' or both, got {modes!r}")
    if order < 1:
        raise ValueError(f"check_grads: order must be at least 1, got {order}")
    leaves, in_tree = tree.flatten(tuple(args))
    avals = [aval_of(x) for x in leaves]
    for position, aval in enumerate(avals):
        if not aval.is_inexact:
            raise TypeError(f"check_grads differentiates by inexact arguments, but leaf {position} of "
                            f"args is {aval.short()}; close over it: check_grads(lambda x: f(x, n), (x,))")
    bits = min([_bits(a.dtype) for a in avals], default=64)
    default = _DERIVATIVE_TOLERANCE[bits] / (10 if bits == 64 else 1)
    within = _Within(default if rtol is None else rtol, default if atol is None else atol, eps or _STEPS[bits], bits)

    def flat(*xs: Any) -> list[Any]:
        return tree.flatten(f(*tree.unflatten(in_tree, xs)))[0]

    _check_grads_of_flat(flat, [np.asarray(x, a.dtype) for x, a in zip(leaves, avals)], order, modes, within)


class _Within(NamedTuple):
    """How far derivatives may be from differences of a step, in floats of some bits."""

    rtol: float
    atol: float
    step: float
    bits: int


def _check_grads_of_flat(f: Callable[..., list], args: Values, order: int, modes: tuple[str, ...],
                         within: _Within) -> None:
    outs = [np.asarray(x) for x in f(*args)]
    for seed in range(3):
        directions = _directions([aval_of(x) for x in args], 3 * order + seed)
        slopes, noise = _slopes(f, args, [True] * len(args), directions, within.step, within.bits)
        if "fwd" in modes:
            _check_forward(f, args, directions, outs, slopes, noise, order, within)
        if "rev" in modes:
            _check_reverse(f, args, directions, outs, slopes, noise, order, within)
    if order > 1:
        for mode in modes:
            _check_grads_of_flat(_derivative_of(f, mode, directions), args, order - 1, modes, within)


def _check_forward(f: Callable[..., list], args: Values, directions: Values, outs: Values, slopes: list, noise: list,
                   order: int, within: _Within) -> None:
    primals, tangents = jvp_of_function(f, tuple(args), tuple(directions))
    assert_close("primal outputs of jvp", [np.asarray(x) for x in primals], outs)
    for k, (got, slope) in enumerate(zip(tangents, slopes)):
        if slope is not None:
            allowed = within.rtol * np.abs(slope) + within.atol + noise[k]
            _assert_within(f"jvp, {order} more to check", k, np.asarray(got).astype(slope.dtype), slope, allowed, "")


def _check_reverse(f: Callable[..., list], args: Values, directions: Values, outs: Values, slopes: list, noise: list,
                   order: int, within: _Within) -> None:
    primals, pull = vjp_of_function(f, *args)
    assert_close("primal outputs of vjp", [np.asarray(x) for x in primals], outs)
    cotangents = _cotangents(outs, order)
    kept = [k for k, slope in enumerate(slopes) if slope is not None]
    left = _inner([cotangents[k] for k in kept], [slopes[k] for k in kept])
    right = _inner([np.asarray(x) for x in pull(cotangents)], directions)
    # Slopes may be wrong by so much each, and rounding of a sum is relative to its terms.
    allowed = within.atol + sum(float((np.abs(cotangents[k]) * (noise[k] + within.rtol * np.abs(slopes[k]))).sum())
                                for k in kept)
    assert abs(left - right) <= allowed or not np.isfinite(left), (
        f"vjp, {order} more to check: {right} against {left} by differences (allowed {allowed})")


def _cotangents(outs: Values, seed: int) -> list[np.ndarray]:
    """Cotangents of results: those of integers are of dtype float0."""
    made = iter(_directions([aval_of(x) for x in outs if dtypes.is_inexact(x.dtype)], seed))
    return [next(made) if dtypes.is_inexact(x.dtype) else np.zeros(x.shape, dtypes.float0) for x in outs]


def _derivative_of(f: Callable[..., list], mode: str, directions: Values) -> Callable[..., list]:
    """The derivative of the inexact results: along directions, or of their sum."""
    if mode == "fwd":
        return lambda *xs: [t for t in jvp_of_function(f, xs, tuple(directions))[1] if t.dtype != dtypes.float0]

    def reverse(*xs: Any) -> list:
        outs, pull = vjp_of_function(f, *xs)
        return list(pull([np.ones(x.shape, x.dtype) if dtypes.is_inexact(x.dtype) else
                          np.zeros(x.shape, dtypes.float0) for x in map(aval_of, outs)]))

    return reverse
