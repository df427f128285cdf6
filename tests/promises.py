"""What programs promise of their indices, and whether it is so, found by running them.

Sorted means what StableHLO says it means: the index vectors, in the order of the batch dimensions of the indices, do
not decrease; on which batch each of them is about has no part in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from glax.interp import evaluate_jaxpr
from glax.ir import Eqn, Jaxpr, Literal, evaluate
from glax.ir import ops as o

PROMISE = o.GatherScatterMode.PROMISE_IN_BOUNDS


def broken_promises(program: Jaxpr, args: Sequence[np.ndarray]) -> list[str]:
    """The equations of a program (not those within calls) whose promises do not hold when it runs on arguments."""
    env: dict[int, Any] = dict(enumerate(args))
    broken = []
    for eqn in program.eqns:
        values = [np.asarray(a.value if type(a) is Literal else env[a.index]) for a in eqn.inputs]
        broken += [f"{eqn.op.name} promises {what}: {values[1].tolist()}\n{program}" for what in _broken(eqn, values)]
        outs = evaluate[type(eqn.op)](eqn.op, *values)
        env |= {v.index: x for v, x in zip(eqn.outputs, outs if eqn.op.multiple_results else [outs])}
    return broken


def is_sorted(vectors: np.ndarray) -> bool:
    """Whether index vectors, along the last dimension, do not decrease."""
    rows = [tuple(v) for v in vectors.reshape(-1, vectors.shape[-1]).tolist()] if vectors.size else []
    return rows == sorted(rows)


def _broken(eqn: Eqn, values: Sequence[np.ndarray]) -> Iterator[str]:
    op = eqn.op
    if not isinstance(op, (o.Gather, o.ScatterBase)):
        return
    numbers = op.dimension_numbers
    dims = numbers.start_index_map if isinstance(op, o.Gather) else numbers.scatter_dims_to_operand_dims
    if op.indices_are_sorted and not is_sorted(values[1][..., np.argsort(dims)]):
        yield "sorted indices"
    if op.mode is PROMISE and values[1].size:
        sizes = [values[0].shape[d] for d in dims]
        if (values[1] < 0).any() or (values[1] >= sizes).any():
            yield "indices in bounds"
    if isinstance(op, o.ScatterBase) and op.unique_indices and op.mode is not o.GatherScatterMode.CLIP:
        counts = o.ScatterAdd(numbers, False, False, op.mode)
        hits = evaluate[o.ScatterAdd](counts, np.zeros(values[0].shape, np.int32), values[1],
                                      np.ones(values[2].shape, np.int32))
        if (np.asarray(hits) > 1).any():
            yield "unique indices"


def assert_promises_hold(program: Jaxpr, args: Sequence[np.ndarray]) -> list[Any]:
    """Raise unless they do; the results of the program."""
    broken = broken_promises(program, args)
    assert not broken, broken[0]
    return evaluate_jaxpr(program, *args)
