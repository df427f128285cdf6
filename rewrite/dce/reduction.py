"""Dead operands of sorting."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir import Eqn, dce_rule
from ...ir import ops as o


@dce_rule.register(o.Sort)
def _drop_operands_that_are_no_keys(op: o.Sort, eqn: Eqn, used: Sequence[bool]) -> Eqn:
    keep = [flag or position < op.num_keys for position, flag in enumerate(used)]
    if all(keep):
        return eqn
    return eqn._replace(inputs=tuple(a for a, flag in zip(eqn.inputs, keep) if flag),
                        outputs=tuple(v for v, flag in zip(eqn.outputs, keep) if flag))
