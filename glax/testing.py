"""The laws of the library as checks: give them a program, an operation or a function of your own.

Each check raises AssertionError, saying which law failed, on which program and by how much; it returns nothing.
Derivatives are compared with differences in float64, so give float64 values (with x64 enabled) where you can.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from . import rewrite
from ._forward import jvp as jvp_of_function
from ._reverse import vjp as vjp_of_function
from .interp import evaluate_jaxpr
from .ir import Jaxpr, Operation, aval_of, bind, check, dtypes, parse, stage, tree
from .lower import compile_program, from_numpy_owned
from .lower.jaxlib_adapter import FAST_OPTIONS
from .rewrite import BatchAxis

Values = Sequence[np.ndarray]


def tolerance(dtype: np.dtype) -> float:
    """The relative and absolute difference allowed between two ways of computing the same in a dtype."""
    if not dtypes.is_inexact(dtype):
        return 0.0
    bits = np.dtype(dtypes.real_part_dtype(dtype)).itemsize * 8
    return {8: 0.5, 16: 4e-2, 32: 2e-4, 64: 1e-9}[bits]


def assert_close(law: str, got: Sequence[Any], wanted: Sequence[Any], program: Any = "", factor: float = 1.0) -> None:
    """Raise unless two lists of arrays agree in number, shapes, dtypes, and values within the dtypes' tolerances."""
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
    scale = np.abs(b[np.isfinite(b)]).max(initial=1.0)
    same = np.isclose(a, b, rtol=within, atol=within * scale, equal_nan=True)
    assert same.all(), (f"{law}: result {position} differs by {np.abs(a - b)[~same].max()} (allowed {within}):\n{a}\n"
                        f"expected\n{b}\n{program}")


def check_text(jaxpr: Jaxpr) -> None:
    """Printing and parsing, and pickling, give back the program, with its hash and fingerprint."""
    for how, again in (("parse of print", parse(str(jaxpr))), ("pickling", pickle.loads(pickle.dumps(jaxpr)))):
        assert again == jaxpr, f"{how} gives another program:\n{jaxpr}\n{again}"
        assert hash(again) == hash(jaxpr) and again.fingerprint == jaxpr.fingerprint, f"{how}: hash differs\n{jaxpr}"


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
    return [dtypes.is_inexact(a.dtype) for a in jaxpr.in_avals]


def _directions(avals: Sequence[Any], seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    made = []
    for aval in avals:
        x = rng.uniform(.5, 1.5, aval.shape) * rng.choice([-1, 1], aval.shape)
        if dtypes.is_complex(aval.dtype):
            x = x + 1j * rng.uniform(.5, 1.5, aval.shape)
        made.append(np.asarray(x, aval.dtype))
    return made


def check_jvp(jaxpr: Jaxpr, args: Values, step: float = 1e-5, seed: int = 0, within: float = 1e-4,
              nonzero: Sequence[bool] | None = None) -> None:
    """jvp is the limit of differences (exactly: a central difference of the given step)."""
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
    after, before = (evaluate_jaxpr(jaxpr, *_moved(args, nonzero, directions, h)) for h in (step, -step))
    tangents = iter(results[count:])
    for position, (aval, flag) in enumerate(zip(jaxpr.out_avals, out_nonzero)):
        if not dtypes.is_inexact(aval.dtype):
            continue
        slope = (after[position].astype(_wide(aval)) - before[position].astype(_wide(aval))) / (2 * step)
        got = next(tangents).astype(_wide(aval)) if flag else np.zeros(aval.shape)
        _assert_equal_values("jvp against differences", position, np.asarray(got), np.asarray(slope), within, jaxpr)


def _wide(aval: Any) -> type:
    return np.complex128 if dtypes.is_complex(aval.dtype) else np.float64


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
    check_clean_ups(jaxpr, args)
    check_lowering(jaxpr, args)
    check_vmap(jaxpr, args, seed=seed)
    if derivatives:
        check_jvp(jaxpr, args, seed=seed)
        check_vjp(jaxpr, args, seed=seed)


def check_operation(op: Operation, *args: Any, derivatives: bool = True, seed: int = 0) -> None:
    """Every law above, on an operation applied to values: what to call after adding one.

    Args:
        op: the operation.
        args: NumPy arrays for its operands.
        derivatives: whether to check its derivatives.
        seed: of the directions and batches tried.

    >>> import numpy as np
    >>> from glax.ir.ops import Sin
    >>> from glax.testing import check_operation
    >>> check_operation(Sin(), np.arange(3.))
    """
    values = [np.asarray(x) for x in args]

    def apply(*operands: Any) -> list[Any]:
        out = bind(op, *operands)
        return list(out) if op.multiple_results else [out]

    from .ir import shaped_array
    program, _ = stage(apply, [shaped_array(x.shape, x.dtype) for x in values], op.name)
    check_program(program, values, derivatives, seed)


def check_grads(f: Callable[..., Any], args: Sequence[Any], order: int = 1, modes: Sequence[str] = ("fwd", "rev"),
                atol: float | None = None, rtol: float | None = None, eps: float | None = None) -> None:
    """Derivatives of a function, to some order, agree with differences and with one another.

    Args:
        f: a function of arrays, or trees of arrays.
        args: its arguments, a tuple.
        order: how many times to differentiate.
        modes: "fwd" and "rev", or one of them.
        atol, rtol: the differences allowed; by the dtype of the arguments by default.
        eps: the step of the differences.

    >>> import numpy as np, glax.numpy as gnp
    >>> from glax.testing import check_grads
    >>> check_grads(gnp.sin, (np.float32(1.),), order=2)
    """
    leaves, in_tree = tree.flatten(tuple(args))
    single = any(aval_of(x).dtype.itemsize <= 4 for x in leaves if dtypes.is_float(aval_of(x).dtype))
    eps = eps or (1e-2 if single else 1e-5)
    allowed = max(atol or 0, rtol or 0) or (2e-2 if single else 1e-5)

    def flat(*xs: Any) -> list[Any]:
        return tree.flatten(f(*tree.unflatten(in_tree, xs)))[0]

    _check_grads_of_flat(flat, [np.asarray(x, aval_of(x).dtype) for x in leaves], order, tuple(modes), allowed, eps)


def _check_grads_of_flat(f: Callable[..., list], args: Values, order: int, modes: tuple[str, ...], within: float,
                         eps: float) -> None:
    directions = _directions([aval_of(x) for x in args], order)
    after = f(*[np.asarray(x + eps * d, x.dtype) for x, d in zip(args, directions)])
    before = f(*[np.asarray(x - eps * d, x.dtype) for x, d in zip(args, directions)])
    slopes = [(np.asarray(a, np.float64) - np.asarray(b, np.float64)) / (2 * eps) for a, b in zip(after, before)]
    if "fwd" in modes:
        _, tangents = jvp_of_function(f, tuple(args), tuple(directions))
        for k, (got, wanted) in enumerate(zip(tangents, slopes)):
            _assert_equal_values(f"jvp, order {order}", k, np.asarray(got), wanted, within, "")
    if "rev" in modes:
        outs, pull = vjp_of_function(f, *args)
        cotangents = _directions([aval_of(x) for x in outs], order + 1)
        left = _inner(cotangents, slopes)
        right = _inner([np.asarray(x) for x in pull([*cotangents])], directions)
        scale = max(1.0, abs(left))
        assert abs(left - right) <= within * scale * 10, f"vjp, order {order}: {right} against {left} by differences"
    if order > 1:
        for mode in modes:
            _check_grads_of_flat(_derivative_of(f, mode, directions), args, order - 1, modes, within, eps)


def _derivative_of(f: Callable[..., list], mode: str, directions: Values) -> Callable[..., list]:
    if mode == "fwd":
        return lambda *xs: jvp_of_function(f, xs, tuple(directions))[1]

    def reverse(*xs: Any) -> list:
        outs, pull = vjp_of_function(f, *xs)
        return list(pull([np.ones(aval_of(x).shape, aval_of(x).dtype) for x in outs]))

    return reverse
