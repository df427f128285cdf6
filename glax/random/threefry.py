"""Random bits of a key: of counters, by the threefry cipher. Keys here are uint32 arrays of two words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..ir import aval_of, dtypes
from ..ir import ops as o

UINT32, UINT64 = np.dtype(np.uint32), np.dtype(np.uint64)
UNSIGNED = {width: np.dtype(f"uint{width}") for width in (8, 16, 32, 64)}
_MOST_COUNTED_BY_ONE_WORD = 1 << 32


def words(key: Any) -> tuple[Any, Any]:
    """The two words of a key, or of each of an array of keys."""
    shape = aval_of(key).shape
    last = len(shape) - 1
    parts = o.split(key, (1, 1), last)
    return o.squeeze(parts[0], (last,)), o.squeeze(parts[1], (last,))


def _counters(shape: tuple[int, ...]) -> tuple[Any, Any]:
    """The high and low words of the position of each element; scalars where that is enough."""
    size = math.prod(shape)
    if not shape:
        return np.uint32(0), np.uint32(0)
    if size <= _MOST_COUNTED_BY_ONE_WORD:
        return np.uint32(0), o.iota(UINT32, (size,), 0)
    positions = o.iota(UINT64, (size,), 0)
    high = o.shift_right_logical(positions, np.asarray(32, UINT64))
    return o.convert_element_type(high, UINT32), o.convert_element_type(positions, UINT32)


def bit_pairs(key: Any, shape: tuple[int, ...]) -> tuple[Any, Any]:
    """Two uint32 arrays of random bits."""
    size = math.prod(shape)
    if not size:
        return o.full(shape, 0, UINT32), o.full(shape, 0, UINT32)
    first, second = o.threefry2x32(*words(key), *_counters(shape))
    return o.reshape(first, shape), o.reshape(second, shape)


def random_bits(key: Any, shape: tuple[int, ...], width: int) -> Any:
    """An array of unsigned integers of 8, 16, 32 or 64 bits, all of them random."""
    first, second = bit_pairs(key, shape)
    if width == 64:
        # Built of two words, as XLA on the CPU has no vector conversion that does better.
        high = o.shift_left(o.convert_element_type(first, UINT64), o.full((), 32, UINT64))
        return o.or_(high, o.convert_element_type(second, UINT64))
    bits = o.xor(first, second)
    return bits if width == 32 else o.convert_element_type(bits, UNSIGNED[width])


def split_key(key: Any, shape: tuple[int, ...]) -> Any:
    """New keys, of a shape: an array of that shape and two words."""
    pair = bit_pairs(key, shape)
    return o.concatenate([o.expand_dims(x, (len(shape),)) for x in pair], len(shape))


def unstacked_keys(key: Any, count: int) -> list[Any]:
    """A few new keys, one by one."""
    rows = o.split(split_key(key, (count,)), (1,) * count, 0)
    return [o.squeeze(row, (0,)) for row in rows]


def fold_word(key: Any, word: Any) -> Any:
    """The key that a uint32 scalar makes of a key."""
    pair = o.threefry2x32(*words(key), np.uint32(0), word)
    return o.concatenate([o.expand_dims(x, (0,)) for x in pair], 0)


def key_of_seed(seed: Any) -> Any:
    """The key whose words are the high and low 32 bits of an integer scalar."""
    dtype = aval_of(seed).dtype
    low = o.convert_element_type(seed, UINT32)
    high: Any = np.uint32(0)
    if dtypes.itemsize_bits(dtype) == 64:
        high = o.convert_element_type(o.shift_right_logical(seed, np.asarray(32, dtype)), UINT32)
    return o.concatenate([o.broadcast_in_dim(x, (1,), ()) for x in (high, low)], 0)
