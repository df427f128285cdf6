"""Functions of functions: along axes, and of broadcast arguments."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import Any

from .._calls import require_callable
from .._promotion import broadcast_shapes, canonical_axes, canonical_axis
from ..ir import ops as o
from ..lax._arguments import entries, mistaken
from .creation import asarray
from .shaping import moveaxis, squeeze


def _vmap(f: Callable[..., Any], in_axes: Any = 0) -> Callable[..., Any]:
    from .. import vmap
    return vmap(f, in_axes)


def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """A function of vectors applied to all vectors along an axis. What func1d returns takes the place of the axis; args
    and kwargs are handed to it.

    >>> import glax.numpy as xp
    >>> xp.apply_along_axis(xp.cumsum, 1, xp.array([[1, 2], [3, 4]])).tolist()
    [[1, 3], [3, 7]]
    """
    require_callable("apply_along_axis", func1d, "func1d")
    x = asarray(arr)
    n = len(x.aval.shape)
    axis = canonical_axis(axis, n, "apply_along_axis")

    def apply(vector: Any) -> Any:
        return func1d(vector, *args, **kwargs)

    for _ in range(n - 1):
        apply = _vmap(apply)
    result = apply(moveaxis(x, axis, -1))
    extra = len(result.aval.shape) - (n - 1)
    return moveaxis(result, tuple(range(n - 1, n - 1 + extra)), tuple(range(axis, axis + extra))) if extra else result


def apply_over_axes(func: Callable[[Any, int], Any], a: Any, axes: Sequence[int]) -> Any:
    """A function of an array and an axis applied for one axis after another. Where func takes the axis away, it stays
    with size 1.

    >>> import glax.numpy as xp
    >>> xp.apply_over_axes(xp.sum, xp.ones((2, 3, 4)), (0, 2)).shape
    (1, 3, 1)
    """
    require_callable("apply_over_axes", func, "func")
    result = asarray(a)
    for axis in canonical_axes(axes, len(result.aval.shape), "apply_over_axes"):
        found = func(result, axis)
        result = o.expand_dims(found, (axis,)) if len(found.aval.shape) == len(result.aval.shape) - 1 else found
    return result


_DIMENSIONS = r"\((?:\w+(?:,\w+)*)?\)"
_SIGNATURE = re.compile(f"^{_DIMENSIONS}(?:,{_DIMENSIONS})*->{_DIMENSIONS}(?:,{_DIMENSIONS})*$")


def _parse(signature: str) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    text = signature.replace(" ", "")
    if not _SIGNATURE.match(text):
        raise ValueError(f"vectorize: {signature!r} is not a signature such as '(n,m),(m)->(n)'")
    return tuple([tuple(filter(None, part.split(","))) for part in re.findall(r"\(([^)]*)\)", side)]
                 for side in text.split("->"))


def vectorize(pyfunc: Callable[..., Any], *, excluded: Any = frozenset(), signature: str | None = None) -> Any:
    """A function of arrays that applies one of scalars, or of arrays by a signature, to each element of what is
    broadcast.

    Args:
        pyfunc: the function.
        excluded: positions and names of arguments that are passed on as they are.
        signature: the dimensions it works on, such as '(n,m),(m)->(n)'; scalars by default.

    >>> import glax.numpy as xp
    >>> xp.vectorize(lambda a, b: a + b)(xp.arange(2), 10)
    Array([10, 11], dtype=int32)
    """
    require_callable("vectorize", pyfunc, "pyfunc")
    excluded = frozenset(entries(excluded, "vectorize", "excluded", "a set of positions and names"))
    if not isinstance(signature, str | None):
        raise mistaken("vectorize", "signature", "None or a string", signature)
    parsed = None if signature is None else _parse(signature)

    @functools.wraps(pyfunc)
    def vectorized(*args: Any, **kwargs: Any) -> Any:
        kept = {i: a for i, a in enumerate(args) if i in excluded or a is None}
        places = [i for i in range(len(args)) if i not in kept]
        arrays = [asarray(args[i]) for i in places]
        cores = [()] * len(arrays) if parsed is None else parsed[0]
        if len(cores) != len(arrays):
            raise TypeError(f"vectorize: the signature {signature!r} has {len(cores)} arguments, got {len(arrays)}")
        fixed = {k: v for k, v in kwargs.items() if k in excluded}
        rest = {k: asarray(v) for k, v in kwargs.items() if k not in excluded}
        if rest and parsed is not None:
            raise TypeError("vectorize: with a signature, arguments by name must be excluded ones")
        names = list(rest)
        arrays += [rest[k] for k in names]
        cores = [*cores, *[()] * len(names)]

        def apply(*values: Any) -> Any:
            given = dict(kept)
            given.update(zip(places, values))
            by_name = dict(zip(names, values[len(places):]))
            return pyfunc(*[given[i] for i in range(len(args))], **fixed, **by_name)

        return _mapped(apply, arrays, cores)

    return vectorized


def _mapped(apply: Callable[..., Any], arrays: list[Any], cores: Sequence[tuple[str, ...]]) -> Any:
    sizes: dict[str, int] = {}
    outer = []
    for x, core in zip(arrays, cores):
        shape = x.aval.shape
        if len(shape) < len(core):
            raise ValueError(f"vectorize: an argument of shape {shape} lacks some of the dimensions {core}")
        split = len(shape) - len(core)
        for name, n in zip(core, shape[split:]):
            if sizes.setdefault(name, n) != n:
                raise ValueError(f"vectorize: dimension {name!r} has the sizes {sizes[name]} and {n}")
        outer.append(shape[:split])
    full = broadcast_shapes("vectorize", outer or [()])
    padded = [(1,) * (len(full) - len(s)) + s for s in outer]
    for d in range(len(full) - 1, -1, -1):
        # Dimensions of size 1 are not mapped, so that nothing is computed twice.
        axes = tuple(0 if shape[d] != 1 or full[d] == 1 else None for shape in padded)
        apply = _vmap(apply, axes)
    ready = []
    for x, shape, core in zip(arrays, padded, cores):
        x = o.reshape(x, shape + x.aval.shape[len(x.aval.shape) - len(core):])
        gone = tuple(d for d, n in enumerate(shape) if n == 1 and full[d] != 1)
        ready.append(squeeze(x, gone) if gone else x)
    return apply(*ready)
