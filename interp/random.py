"""Random bits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..ir import evaluate
from ..ir.ops import Threefry2x32
from ..ir.ops.random import GROUPS, PARITY, ROTATIONS, UINT32

_AT_ONCE = 1 << 13  # elements whose words fit into the fastest cache
_FEW = 4  # up to which Python's own integers are quicker than arrays
_MASK = 0xFFFFFFFF


@evaluate.register(Threefry2x32)
def _threefry(op: Threefry2x32, *words: Any) -> list[np.ndarray]:
    """All rounds for a piece of the elements at a time, in memory that is used over and over."""
    words = [np.asarray(x) for x in words]
    shape = max((x.shape for x in words), key=len)
    # Operands are scalars or have the common shape; ravel copies only what is not contiguous.
    k0, k1, x0, x1 = [x.ravel() if x.shape else x for x in words]
    size = math.prod(shape)
    if size <= _FEW:
        lists = [x.tolist() if x.shape else [int(x)] * size for x in (k0, k1, x0, x1)]
        pairs = np.array([_encipher(*each) for each in zip(*lists)], UINT32).reshape(size, 2)
        return [pairs[:, 0].reshape(shape), pairs[:, 1].reshape(shape)]
    out = np.empty((2, size), UINT32)
    scratch = np.empty((2, min(size, _AT_ONCE)), UINT32)
    for start in range(0, size, _AT_ONCE):
        piece = slice(start, start + _AT_ONCE)
        key = [k[piece] if k.shape else k for k in (k0, k1)]
        a, b = out[0, piece], out[1, piece]
        np.add(x0[piece] if x0.shape else x0, key[0], out=a)
        np.add(x1[piece] if x1.shape else x1, key[1], out=b)
        _rounds(a, b, (*key, key[0] ^ key[1] ^ UINT32.type(PARITY)), *scratch[:, :a.size])
    return [out[0].reshape(shape), out[1].reshape(shape)]


def _encipher(k0: int, k1: int, a: int, b: int) -> tuple[int, int]:
    """The two words of random bits of one key and one counter."""
    keys = (k0, k1, k0 ^ k1 ^ PARITY)
    a, b = (a + k0) & _MASK, (b + k1) & _MASK
    for group in range(GROUPS):
        for rotation in ROTATIONS[group % 2]:
            a = (a + b) & _MASK
            b = ((b << rotation) & _MASK | b >> (32 - rotation)) ^ a
        a = (a + keys[(group + 1) % 3]) & _MASK
        b = (b + keys[(group + 2) % 3] + group + 1) & _MASK
    return a, b


def _rounds(a: np.ndarray, b: np.ndarray, keys: tuple[np.ndarray, ...], left: np.ndarray, right: np.ndarray) -> None:
    """Encipher the words a and b where they are; left and right are memory to work in."""
    add, xor = np.add, np.bitwise_xor
    for group in range(GROUPS):
        for rotation in ROTATIONS[group % 2]:
            add(a, b, out=a)
            np.left_shift(b, rotation, out=left)
            np.right_shift(b, 32 - rotation, out=right)
            np.bitwise_or(left, right, out=left)
            xor(a, left, out=b)
        add(a, keys[(group + 1) % 3], out=a)
        add(b, keys[(group + 2) % 3], out=b)
        add(b, UINT32.type(group + 1), out=b)
