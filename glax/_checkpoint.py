"""Trading computation for memory: checkpoint, names for values, and a look at what is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from . import rewrite
from ._calls import CALL, as_arrays, function_name, leaf_avals, of_leaves, require_callable, stage_function
from ._custom_rules import run_now
from ._static import as_tuple, require_positions, split_static
from .checkpoint_policies import as_policy
from .ir import Jaxpr, Literal, ShapedArray, Var, bind, current_builder, tree
from .ir import ops as o


def checkpoint(fun: Callable[..., Any] | None = None, *, prevent_cse: bool = True,
               policy: Callable[..., bool] | None = None, static_argnums: int | Sequence[int] = ()) -> Any:
    """A function whose intermediate values are computed again for its derivative, rather than kept.

    Args:
        fun: a function of arrays, or trees of arrays; without it, checkpoint returns a decorator.
        prevent_cse: whether to keep the compiler from undoing this, by merging the second computation with the first.
            False is for bodies of scan, where that cannot happen.
        policy: which intermediate values may be kept all the same: one of ``glax.checkpoint_policies``, or a function
            (operation, *operand types, **parameters) -> bool. None keeps the arguments only.
        static_argnums: positions of arguments that are passed to fun as they are.

    Returns:
        The function. Called on values, it is fun.

    >>> import glax, glax.numpy as gnp
    >>> from glax.ad_checkpoint import saved_residuals
    >>> f = glax.checkpoint(lambda x: gnp.sin(gnp.sin(x)))
    >>> saved_residuals(f, 1.)
    [(ShapedArray(float32[], weak_type=True), 'from the argument args[0]')]
    """
    if fun is None:
        return lambda f: checkpoint(f, prevent_cse=prevent_cse, policy=policy, static_argnums=static_argnums)
    require_callable("checkpoint", fun)
    what = f"checkpoint of {function_name(fun)}"
    policy = as_policy(policy)
    static = as_tuple(what, "static_argnums", static_argnums, int)

    @wraps(fun)
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        require_positions(what, "static_argnums", static, len(args))
        call, dynamic = split_static(what, fun, static, args)
        if current_builder() is None:
            return run_now(what, call(*as_arrays(dynamic), **as_arrays(kwargs)))
        leaves, in_tree = tree.flatten((dynamic, kwargs))
        avals = leaf_avals(what, (dynamic, kwargs), leaves, CALL)
        staged = stage_function(of_leaves(call, in_tree), avals, what, known=leaves)
        op = o.Checkpoint(staged.jaxpr, policy, prevent_cse)
        return tree.unflatten(staged.out_tree, bind(op, *staged.captured, *leaves))

    return checkpointed


remat = checkpoint


def checkpoint_name(x: Any, name: str) -> Any:
    """A tree of arrays as it is, with a name by which policies know them.

    >>> import glax
    >>> from glax.ad_checkpoint import checkpoint_name
    >>> glax.make_jaxpr(lambda x: checkpoint_name(x, "layer"))(1.)
    { lambda ; a:f32*[]. let b:f32*[] = name[label='layer'] a in (b,) }
    """
    if not isinstance(name, str):
        raise TypeError(f"checkpoint_name: the name must be a string, got {name!r}")
    return tree.map_tree(lambda leaf: o.named(leaf, name), x)


def saved_residuals(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> list[tuple[ShapedArray, str]]:
    """What reverse-mode differentiation of a function at arguments keeps: the types, and where each is from.

    >>> import glax, glax.numpy as gnp
    >>> from glax.ad_checkpoint import saved_residuals
    >>> saved_residuals(glax.checkpoint(lambda x: gnp.sin(gnp.sin(x))), 1.)
    [(ShapedArray(float32[], weak_type=True), 'from the argument args[0]')]
    """
    require_callable("saved_residuals", fun)
    what = f"saved_residuals of {function_name(fun)}"
    leaves, in_tree = tree.flatten((args, kwargs))
    avals = leaf_avals(what, (args, kwargs), leaves, CALL)
    staged = stage_function(of_leaves(fun, in_tree), avals, what, known=leaves)
    count = len(staged.captured)
    linearized = rewrite.linearize(staged.jaxpr, [False] * count + [a.is_inexact for a in avals])
    linear, used = rewrite.dce(linearized.linear, keep_inputs=False)
    residuals = [a for a, flag in zip(linearized.primal.outs[len(staged.jaxpr.outs):], used) if flag]
    names = [f"from the constant {i}" for i in range(count)] + [
        f"from the argument {('args' if path[0].idx == 0 else 'kwargs') + tree.keystr(path[1:])}"
        for path, _ in tree.flatten_with_path((args, kwargs))[0]]
    return [(a.aval, _origin(linearized.primal, a, names)) for a in residuals]


def _origin(jaxpr: Jaxpr, a: Var | Literal, input_names: Sequence[str]) -> str:
    """Where a value comes from: an input, or the operation that computed it, however deep in calls."""
    if type(a) is Literal:
        return "a literal"
    if a.index < len(jaxpr.in_binders):
        return input_names[a.index]
    eqn = next(eqn for eqn in jaxpr.eqns if a in eqn.outputs)
    if isinstance(eqn.op, (o.Jit, o.Checkpoint)):
        names = [_origin(jaxpr, x, input_names) for x in eqn.inputs]
        return _origin(eqn.op.jaxpr, eqn.op.jaxpr.outs[eqn.outputs.index(a)], names)
    made = f"named {eqn.op.label!r}" if isinstance(eqn.op, o.Name) else f"output of {eqn.op.name}"
    return f"{made} from {eqn.source}" if eqn.source is not None else made


def print_saved_residuals(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Print what saved_residuals gives, a line each."""
    for aval, origin in saved_residuals(fun, *args, **kwargs):
        print(aval.short(), origin)
