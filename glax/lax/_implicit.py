"""Solutions of equations, whose derivatives follow from the equation: custom_linear_solve and custom_root."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .._calls import (
    Staged,
    apply_program,
    as_arrays,
    function_name,
    leaf_avals,
    require_callable,
    stage_function,
)
from .._custom_jvp import custom_jvp
from .._custom_rules import SymbolicZero
from .._forward import jvp, linearize
from .._reverse import linear_transpose
from .._running import asarray
from ..ir import Jaxpr, ShapedArray, aval_of, bind, current_builder, tree
from ..ir import ops as o
from ..ir.tree import PyTreeDef
from ._staging import adapts, at_users_line, cast_to, join_captures, with_output_types

Function = Callable[..., Any]


def custom_linear_solve(matvec: Function, b: Any, solve: Function, transpose_solve: Function | None = None,
                        symmetric: bool = False, has_aux: bool = False) -> Any:
    """Solve ``matvec(x) = b`` for x, with derivatives that follow from the equation.

    The derivative by b, and by what ``matvec`` closes over, solves the same equation with another right-hand side; how
    ``solve`` finds the solution is not differentiated, so it may loop as it likes. Reverse mode solves the transposed
    equation.

    Args:
        matvec: a linear function of a value like b to a value like b.
        b: the right-hand side: a floating-point array, or a tree of them.
        solve: a function (matvec, b) -> x, with x like b.
        transpose_solve: a function (vecmat, b) -> x, where vecmat is the transpose of matvec; reverse mode needs it.
        symmetric: whether matvec is its own transpose. Then ``solve`` serves reverse mode too.
        has_aux: whether the solvers return a pair of x and auxiliary data, which is not differentiated.

    Returns:
        What solve returns.

    Raises:
        TypeError: b is not floating-point, or a function returns a tree, or arrays, not like b. In reverse mode also
            where transpose_solve is not given and symmetric is False.

    >>> import glax, glax.numpy as gnp
    >>> from glax import lax
    >>> def divide(diagonal, b):
    ...     return lax.custom_linear_solve(lambda x: diagonal * x, b, lambda _, b: b / diagonal, symmetric=True)
    >>> glax.grad(divide)(2., 6.)
    Array(-1.5, dtype=float32, weak_type=True)
    """
    what = f"custom_linear_solve with {function_name(matvec)}"
    require_callable("custom_linear_solve", matvec, "matvec")
    require_callable("custom_linear_solve", solve, "solve")
    if transpose_solve is not None:
        require_callable("custom_linear_solve", transpose_solve, "transpose_solve")
    if transpose_solve is None and symmetric:
        transpose_solve = solve
    leaves, in_tree = tree.flatten(b)
    avals = leaf_avals(f"{what}: b", b, leaves)
    _require_inexact(what, "b", b, avals)
    product = _staged_like(f"{what}: matvec", lambda *xs: matvec(tree.unflatten(in_tree, xs)), avals, in_tree, leaves)
    if current_builder() is None:
        return _checked_now(f"{what}: solve", solve(matvec, as_arrays(b)), in_tree, avals, has_aux)

    def staged_solver(name: str, f: Function, a: Function) -> Staged:
        return _staged_like(f"{what}: {name}", lambda *xs: f(a, tree.unflatten(in_tree, xs)), avals, in_tree,
                            leaves, has_aux)

    solver = staged_solver("solve", solve, matvec)
    parts = [product, solver]
    if transpose_solve is not None:
        vecmat = matvec if symmetric else _transposed(matvec, b)
        back = staged_solver("transpose_solve", transpose_solve, vecmat)
        parts += [product if symmetric else _staged_like(
            f"{what}: the transpose of matvec", lambda *xs: vecmat(tree.unflatten(in_tree, xs)), avals, in_tree,
            leaves), _without_aux(back, len(avals))]
    programs, captured = join_captures(parts)
    op = o.LinearSolve(*programs, *[None] * (4 - len(programs)), len(captured), function_name(matvec))
    return tree.unflatten(solver.out_tree, bind(op, *captured, *leaves))


def _transposed(matvec: Function, b: Any) -> Function:
    pull = linear_transpose(matvec, b)
    return lambda ct: pull(ct)[0]


def _without_aux(staged: Staged, count: int) -> Staged:
    jaxpr = staged.jaxpr
    return staged._replace(jaxpr=Jaxpr(jaxpr.in_binders, jaxpr.eqns, jaxpr.outs[:count], jaxpr.effects))


def _require_inexact(what: str, name: str, value: Any, avals: Sequence[ShapedArray]) -> None:
    for (path, _), aval in zip(tree.flatten_with_path(value)[0], avals):
        if not aval.is_inexact:
            raise TypeError(f"{what}: {name}{tree.keystr(path)} must be floating-point, got {aval.short()}"
                            f"{at_users_line()}")


def _staged_like(what: str, call: Function, avals: Sequence[ShapedArray], wanted: PyTreeDef, known: Sequence[Any],
                 has_aux: bool = False) -> Staged:
    """Stage a function of values of given types whose result, auxiliary data aside, has these types and a tree.

    With has_aux the tree of the result is that of the pair.
    """
    def checked(*xs: Any) -> Any:
        result = call(*xs)
        first = _first_of_pair(what, result) if has_aux else result
        leaves, found = tree.flatten(first)
        _require_like(what, first, found, wanted, leaf_avals(what, first, leaves), avals)
        first = tree.unflatten(found, map(cast_to, leaves, avals))
        return (first, result[1]) if has_aux else first

    staged = stage_function(checked, avals, what, known=known)
    rest = staged.out_avals[len(avals):]
    return staged._replace(jaxpr=with_output_types(staged.jaxpr, [*avals, *rest]))


def _first_of_pair(what: str, result: Any) -> Any:
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        raise TypeError(f"{what} with has_aux=True must return a pair (solution, auxiliary data), got "
                        f"{type(result).__name__}{at_users_line()}")
    return result[0]


def _require_like(what: str, value: Any, found: PyTreeDef, wanted: PyTreeDef, avals: Sequence[ShapedArray],
                  wanted_avals: Sequence[ShapedArray]) -> None:
    if found != wanted:
        raise TypeError(f"{what} must return the tree {wanted}, got {found}: "
                        f"{tree.explain_mismatch('output', wanted, found)}{at_users_line()}")
    for (path, _), got, want in zip(tree.flatten_with_path(value)[0], avals, wanted_avals):
        if not adapts(got.strip_weak_type() if got.dtype == want.dtype else got, want.strip_weak_type()):
            raise TypeError(f"{what} must return {want.short()} at output{tree.keystr(path)}, got {got.short()}"
                            f"{at_users_line()}")


def _checked_now(what: str, result: Any, wanted: PyTreeDef, avals: Sequence[ShapedArray], has_aux: bool) -> Any:
    """What a solver returned for values, as Arrays of the types wanted."""
    first = _first_of_pair(what, result) if has_aux else result
    leaves, found = tree.flatten(first)
    _require_like(what, first, found, wanted, leaf_avals(what, first, leaves), avals)
    first = tree.unflatten(found, map(cast_to, map(asarray, leaves), avals))
    return (first, result[1]) if has_aux else first


def custom_root(f: Function, initial_guess: Any, solve: Function, tangent_solve: Function,
                has_aux: bool = False) -> Any:
    """Find an x with ``f(x) = 0``, with derivatives by what f closes over that follow from the equation.

    How ``solve`` finds the root is not differentiated, so it may loop as it likes; nor is the initial guess, or what
    solve closes over.

    Args:
        f: a function of a value like the guess to a value like it.
        initial_guess: an array, or a tree of arrays.
        solve: a function (f, initial_guess) -> root, like the guess.
        tangent_solve: a function (g, y) -> x that solves g(x) = y for the derivative g of f at the root, a linear
            function: for scalars ``lambda g, y: y / g(1.)``; for vectors a linear solver, such as one made with
            custom_linear_solve. Reverse mode transposes it.
        has_aux: whether solve returns a pair of the root and auxiliary data, which is not differentiated.

    Returns:
        What solve returns.

    Raises:
        TypeError: a function returns a tree, or arrays, not like the guess.

    >>> import glax, glax.numpy as gnp
    >>> from glax import lax
    >>> def square_root(a):
    ...     def newton(f, x):
    ...         return lax.fori_loop(0, 10, lambda _, x: x - f(x) / glax.grad(f)(x), x)
    ...     return lax.custom_root(lambda x: x ** 2 - a, 1., newton, lambda g, y: y / g(1.))
    >>> float(square_root(4.)), float(glax.grad(square_root)(4.))
    (2.0, 0.25)
    """
    what = f"custom_root of {function_name(f)}"
    for argument, function in (("f", f), ("solve", solve), ("tangent_solve", tangent_solve)):
        require_callable("custom_root", function, argument)
    leaves, in_tree = tree.flatten(initial_guess)
    avals = leaf_avals(f"{what}: initial_guess", initial_guess, leaves)
    function = _staged_like(f"{what}: f", lambda *xs: f(tree.unflatten(in_tree, xs)), avals, in_tree, leaves)
    if current_builder() is None:
        return _checked_now(f"{what}: solve", solve(f, as_arrays(initial_guess)), in_tree, avals, has_aux)
    count = len(avals)

    def tangent(*xs: Any) -> Any:
        _, g = linearize(f, tree.unflatten(in_tree, xs[:count]))
        return tangent_solve(g, tree.unflatten(in_tree, xs[count:]))

    solver = _staged_like(f"{what}: solve", lambda *xs: solve(f, tree.unflatten(in_tree, xs)), avals, in_tree, leaves,
                          has_aux)
    tangent_solver = stage_function(tangent, [*avals, *avals], f"{what}: tangent_solve")
    _require_like(f"{what}: tangent_solve", tree.unflatten(tangent_solver.out_tree, tangent_solver.out_avals),
                  tangent_solver.out_tree, in_tree, tangent_solver.out_avals, avals)
    root = _root_with_rule(function_name(f), function, solver, tangent_solver, count)
    outs = root(function.captured, solver.captured, tangent_solver.captured, leaves)
    return tree.unflatten(solver.out_tree, outs)


def _root_with_rule(name: str, function: Staged, solver: Staged, tangent_solver: Staged, count: int) -> custom_jvp:
    """The flat function of all captured values and the guess to the root, with the derivative by what f captures."""
    def root(of_f: list, of_solve: list, of_tangent: list, guess: list) -> list:
        return apply_program(solver.jaxpr, [*of_solve, *guess])

    root.__name__ = f"custom_root of {name}"
    with_rule = custom_jvp(root)

    def rule(primals: tuple, tangents: tuple) -> tuple[list, list]:
        of_f, _, of_tangent, _ = primals
        outs = with_rule(*primals)
        x, aux = outs[:count], outs[count:]
        _, moved = jvp(lambda consts: apply_program(function.jaxpr, [*consts, *x]), (of_f,), (tangents[0],))
        back = [o.neg(t) for t in apply_program(tangent_solver.jaxpr, [*of_tangent, *x, *moved])]
        return outs, [*back, *[SymbolicZero(aval_of(a).to_tangent()) for a in aux]]

    with_rule.defjvp(rule)
    return with_rule
