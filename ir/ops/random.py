"""Random bits: the function that turns a key and a counter into bits that look random."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..jaxpr import Jaxpr, Literal
from ..operation import Operation, abstract_eval, expand_rule, operation
from ..staging import Builder, bind, building
from ..types import ShapedArray, shaped_array
from .elementwise import add, or_, shift_left, shift_right_logical, xor
from .shape import broadcast
from .typing import common_elementwise_shape

__all__ = ["Threefry2x32", "threefry2x32"]

UINT32 = np.dtype(np.uint32)

# The cipher is of 20 rounds, in groups of four. Groups take turns at two rows of rotations, and after each the key is
# added, its three words (the third makes their parity a constant) moved on by one.
ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
GROUPS = 5
PARITY = 0x1BD11BDA


@operation
class Threefry2x32(Operation):
    """The Threefry-2x32 block cipher of 20 rounds (Salmon et al., 2011), elementwise: two words of a key and two of a
    counter, all uint32 and of equal shapes or scalars, to two words of random bits."""

    name = "threefry2x32"
    multiple_results = True


@abstract_eval.register(Threefry2x32)
def _type_of_threefry(op: Threefry2x32, *words: ShapedArray) -> list[ShapedArray]:
    if len(words) != 4 or any(x.dtype != UINT32 for x in words):
        raise TypeError(f"threefry2x32 takes two words of a key and two of a counter, of dtype uint32, got "
                        f"{', '.join(x.short() for x in words) or 'nothing'}")
    out = shaped_array(common_elementwise_shape(op.name, words), UINT32)
    return [out, out]


def _word(value: int) -> Literal:
    return Literal(np.asarray(value, UINT32))


@expand_rule.register(Threefry2x32)
def _expand_threefry(op: Threefry2x32, *avals: ShapedArray) -> Jaxpr:
    """All rounds, in operations on words."""
    builder = Builder(op.name, None)
    with building(builder):
        k0, k1, x0, x1 = [builder.add_input(aval) for aval in avals]
        shape = _type_of_threefry(op, *avals)[0].shape
        keys = (k0, k1, xor(xor(k0, k1), _word(PARITY)))
        x0, x1 = add(x0, k0), add(x1, k1)
        for group in range(GROUPS):
            for rotation in ROTATIONS[group % 2]:
                x0 = add(x0, x1)
                x1 = xor(x0, or_(shift_left(x1, _word(rotation)), shift_right_logical(x1, _word(32 - rotation))))
            x0 = add(x0, keys[(group + 1) % 3])
            x1 = add(add(x1, keys[(group + 2) % 3]), _word(group + 1))
        return builder.close([broadcast(x0, shape), broadcast(x1, shape)])[0]


def threefry2x32(k0: Any, k1: Any, x0: Any, x1: Any) -> Sequence[Any]:
    """Two words of random bits from two of a key, k0 and k1, and two of a counter, x0 and x1, elementwise; all are
    uint32.
    """
    return bind(Threefry2x32(), k0, k1, x0, x1)
