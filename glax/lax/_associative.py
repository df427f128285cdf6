"""Running totals by an associative function, in a logarithmic number of rounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._calls import leaf_avals, leaf_path, require_callable
from .._promotion import canonical_axis, type_of
from ..ir import aval_of, tree
from ..ir import ops as o
from ._arguments import as_result


def associative_scan(fn: Callable[[Any, Any], Any], elems: Any, reverse: bool = False, axis: int = 0) -> Any:
    """All running totals along an axis: the i-th is fn of the first i + 1 elements together.

    Args:
        fn: an associative function of two arrays, or trees of arrays, applied to many elements at once: it must work
            elementwise along the axis.
        elems: an array, or a tree of arrays of one size along the axis.
        reverse: whether to start from the end.
        axis: the axis; negative ones count from the end.

    Raises:
        ValueError: sizes along the axis differ, or the axis is out of range.

    >>> import glax.numpy as gnp
    >>> from glax import lax
    >>> lax.associative_scan(gnp.multiply, gnp.array([1., 2., 3., 4.]))
    Array([ 1.,  2.,  6., 24.], dtype=float32)
    """
    require_callable("associative_scan", fn, "fn")
    leaves, in_tree = tree.flatten(elems)
    avals = leaf_avals("associative_scan", elems, leaves)
    if not leaves:
        raise ValueError("associative_scan: elems must hold at least one array")
    axes = [canonical_axis(axis, a.ndim, "associative_scan") for a in avals]
    sizes = [a.shape[d] for a, d in zip(avals, axes)]
    if len(set(sizes)) != 1:
        raise ValueError(f"associative_scan: arrays must have one size along axis {axis}, got {sizes}")

    def combine(xs: list[Any], ys: list[Any]) -> list[Any]:
        results, out_tree = tree.flatten(fn(tree.unflatten(in_tree, xs), tree.unflatten(in_tree, ys)))
        if out_tree != in_tree:
            raise TypeError(f"associative_scan: fn must return the tree of its arguments: "
                            f"{tree.explain_mismatch('output', in_tree, out_tree)}")
        for position, (x, result) in enumerate(zip(xs, results)):
            wanted, got = aval_of(x), type_of("associative_scan: what fn returns", result)
            if (wanted.shape, wanted.dtype) != (got.shape, got.dtype):
                path = leaf_path(elems, position)
                raise TypeError(f"associative_scan: fn must return arrays of the types of its arguments, but "
                                f"output{path} is {got.short()} for {wanted.short()}")
        return results

    flipped = [o.rev(x, (d,)) if reverse else x for x, d in zip(leaves, axes)]
    totals = _totals(combine, flipped, axes, sizes[0])
    return tree.unflatten(in_tree, [o.rev(x, (d,)) if reverse else as_result(x) for x, d in zip(totals, axes)])


def _totals(combine: Callable[[list[Any], list[Any]], list[Any]], xs: list[Any], axes: list[int],
            size: int) -> list[Any]:
    """Totals of neighbours' sums give every other result; the others take one more element each."""
    if size < 2:
        return xs
    pairs = combine(_every(xs, axes, 0, size - 1, 2), _every(xs, axes, 1, size, 2))
    odd = _totals(combine, pairs, axes, size // 2)
    first = _every(xs, axes, 0, 1, 1)
    if size == 2:
        return _interleaved(first, odd, axes)
    before = odd if size % 2 else _every(odd, axes, 0, size // 2 - 1, 1)
    even = combine(before, _every(xs, axes, 2, size, 2))
    return _interleaved([o.concatenate([a, b], d) for a, b, d in zip(first, even, axes)], odd, axes)


def _every(xs: list[Any], axes: list[int], start: int, stop: int, stride: int) -> list[Any]:
    return [_slice_along(x, d, start, stop, stride) for x, d in zip(xs, axes)]


def _slice_along(x: Any, axis: int, start: int, stop: int, stride: int) -> Any:
    shape = aval_of(x).shape
    starts, stops, strides = [0] * len(shape), list(shape), [1] * len(shape)
    starts[axis], stops[axis], strides[axis] = start, stop, stride
    return o.slice_(x, tuple(starts), tuple(stops), tuple(strides))


def _interleaved(even: list[Any], odd: list[Any], axes: list[int]) -> list[Any]:
    """Elements taken in turn from two arrays, of which the first may have one more."""
    return [_interleave(a, b, d) for a, b, d in zip(even, odd, axes)]


def _interleave(a: Any, b: Any, axis: int) -> Any:
    many, few = aval_of(a).shape[axis], aval_of(b).shape[axis]
    paired = a if many == few else _slice_along(a, axis, 0, few, 1)
    shape = aval_of(b).shape
    stacked = o.concatenate([o.expand_dims(paired, (axis + 1,)), o.expand_dims(b, (axis + 1,))], axis + 1)
    merged = o.reshape(stacked, (*shape[:axis], 2 * few, *shape[axis + 1:]))
    return merged if many == few else o.concatenate([merged, _slice_along(a, axis, few, many, 1)], axis)
