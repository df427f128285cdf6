"""Batching of contractions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...ir import bind, vmap_rule
from ...ir import ops as o
from .batching import BatchAxis, Dim, logical_ndim, shifted


@vmap_rule.register(o.DotGeneral)
def _vmap_of_dot_general(op: o.DotGeneral, axis: BatchAxis, args: Sequence[Any],
                         dims: Sequence[Dim]) -> tuple[Any, Dim]:
    """A mapped axis of both operands is a batch dimension; of one, a free dimension of that one."""
    (lhs, rhs), (l_dim, r_dim) = args, dims
    (l_contract, r_contract), (l_batch, r_batch) = op.dimension_numbers
    l_ndim = logical_ndim(lhs, l_dim)
    if l_dim is not None:
        l_contract, l_batch = shifted(l_contract, l_dim), shifted(l_batch, l_dim)
    if r_dim is not None:
        r_contract, r_batch = shifted(r_contract, r_dim), shifted(r_batch, r_dim)
    if l_dim is not None and r_dim is not None:
        l_batch, r_batch, out_dim = (l_dim, *l_batch), (r_dim, *r_batch), 0
    elif l_dim is not None:
        out_dim = len(l_batch) + _place_among_free(l_dim, l_contract + l_batch)
    else:
        l_free = l_ndim - len(l_contract) - len(l_batch)
        out_dim = len(r_batch) + l_free + _place_among_free(r_dim, r_contract + r_batch)
    numbers = ((l_contract, r_contract), (l_batch, r_batch))
    return bind(replace(op, dimension_numbers=numbers), lhs, rhs), out_dim


def _place_among_free(dim: int, taken: Sequence[int]) -> int:
    return dim - sum(d < dim for d in taken)
