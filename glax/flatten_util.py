"""A tree of arrays as one vector."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import numpy as gnp
from .ir import tree

__all__ = ["ravel_pytree"]


def ravel_pytree(pytree: Any) -> tuple[Any, Callable[[Any], Any]]:
    """All elements of a tree of arrays as a vector, and the function that makes such a tree of such a vector.

    Args:
        pytree: a tree of arrays.

    Returns:
        A vector of the dtype that the arrays promote to, and a function from a vector of its length to a tree like
        pytree, each array in its own dtype.

    >>> import glax
    >>> vector, unravel = glax.flatten_util.ravel_pytree({"a": 1., "b": glax.numpy.zeros(2)})
    >>> vector
    Array([1., 0., 0.], dtype=float32)
    >>> unravel(vector)["b"]
    Array([0., 0.], dtype=float32)
    """
    leaves, treedef = tree.flatten(pytree)
    arrays = [gnp.asarray(x) for x in leaves]
    shapes, dtypes = [x.shape for x in arrays], [x.dtype for x in arrays]
    total = sum(x.size for x in arrays)
    vector = gnp.concatenate([x.ravel() for x in arrays]) if arrays else gnp.zeros(0)

    def unravel(vector: Any) -> Any:
        if gnp.shape(vector) != (total,):
            raise ValueError(f"unravel: expected a vector of {total} elements, got shape {gnp.shape(vector)}")
        parts, start = [], 0
        for array, shape, dtype in zip(arrays, shapes, dtypes):
            parts.append(vector[start:start + array.size].reshape(shape).astype(dtype))
            start += array.size
        return tree.unflatten(treedef, parts)

    return vector, unravel
