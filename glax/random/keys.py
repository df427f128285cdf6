"""Keys: what random numbers are made of.

A key is either a uint32 array of two words, or the same array within a `KeyArray`, whose shape is that of the keys
and which cannot be mistaken for numbers. Programs know the array only: a KeyArray is a container (a pytree), so it goes
through jit, vmap, grad, scan and cond like a tuple, and tree functions on it see its words. So an axis of keys is
named from the front (``in_axes=0``): counted from the end, the words are the last.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._promotion import as_shape
from .._running import asarray
from ..ir import Tracer, aval_of, dtypes, is_value
from ..ir import ops as o
from ..lower import Array
from ..tree_util import GetAttrKey, register_pytree_with_keys
from .arguments import sampler
from .threefry import UINT32, fold_word, key_of_seed, split_key

_split, _folded, _seed_words = sampler("shape")(split_key), sampler()(fold_word), sampler()(key_of_seed)

THREEFRY = "threefry2x32"
_NAMES = (THREEFRY, "fry")


class KeyDtype:
    """The dtype of typed keys, ``key<fry>``; there is one."""

    __slots__ = ()
    name = "key<fry>"
    itemsize = 8
    impl = THREEFRY

    def __repr__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return type(other) is KeyDtype

    def __hash__(self) -> int:
        return hash(self.name)


KEY_DTYPE = KeyDtype()


class KeyArray:
    """An array of keys, made by `key`, `split` and `wrap_key_data`.

    Indexing, iteration and the methods that only rearrange work on it; arithmetic does not.

    >>> from glax import random
    >>> keys = random.split(random.key(0), 3)
    >>> keys.shape, keys.dtype
    ((3,), key<fry>)
    >>> keys[1]
    Array((), dtype=key<fry>) overlaying:
    [ 928981903 3453687069]
    """

    __slots__ = ("_words",)
    __hash__ = None
    dtype = KEY_DTYPE
    itemsize = KeyDtype.itemsize

    _words: Any

    def __init__(self, words: Any):
        self._words = require_words("KeyArray", words)

    @property
    def shape(self) -> tuple[int, ...]:
        return self._words.shape[:-1]

    @property
    def ndim(self) -> int:
        return len(self._words.shape) - 1

    @property
    def size(self) -> int:
        return self._words.size // 2

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize

    @property
    def T(self) -> KeyArray:
        return self.transpose()

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a single key")
        return self.shape[0]

    def __iter__(self) -> Iterator[KeyArray]:
        if not self.shape:
            raise TypeError("iteration over a single key; make several with glax.random.split")
        return (self[i] for i in range(self.shape[0]))

    def __getitem__(self, index: Any) -> KeyArray:
        where = index if isinstance(index, tuple) else (index,)
        if Ellipsis not in [i for i in where if i is Ellipsis]:
            where = (*where, Ellipsis)
        return _wrap(self._words[(*where, slice(None))])

    def reshape(self, *shape: Any) -> KeyArray:
        """The same keys in another shape, of which one dimension may be -1."""
        given = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        return _wrap(self._words.reshape((*given, 2)))

    def transpose(self, *axes: int) -> KeyArray:
        """Dimensions permuted, or reversed where no permutation is given."""
        given = axes[0] if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else axes
        order = [a % self.ndim for a in given] if given else range(self.ndim)[::-1]
        return _wrap(self._words.transpose((*order, self.ndim)))

    def ravel(self) -> KeyArray:
        """All keys in one dimension."""
        return self.reshape(self.size)

    flatten = ravel

    def copy(self) -> KeyArray:
        return _wrap(self._words.copy())

    def block_until_ready(self) -> KeyArray:
        """Wait until the keys have been computed, and return them."""
        if type(self._words) is Array:
            self._words.block_until_ready()
        return self

    def __eq__(self, other: Any) -> Any:
        if not isinstance(other, KeyArray):
            if is_value(other):
                raise TypeError(f"keys are compared with keys, not with numbers, got {other!r:.200}")
            return NotImplemented
        same = self._words == other._words
        return same.all(axis=-1)

    def __ne__(self, other: Any) -> Any:
        same = self.__eq__(other)
        return same if same is NotImplemented else ~same

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        raise TypeError("keys are not numbers: glax.random.key_data gives the words they are made of")

    def __repr__(self) -> str:
        if type(self._words) is Array:
            return f"Array({self.shape}, dtype={self.dtype}) overlaying:\n{self._words}"
        return f"KeyArray({self._words!r})"


def _wrap(words: Any) -> KeyArray:
    """A KeyArray of whatever is in its place, which within tree functions may be anything."""
    made = object.__new__(KeyArray)
    made._words = words
    return made


register_pytree_with_keys(
    KeyArray, lambda k: (((GetAttrKey("_words"), k._words),), None), lambda _, children: _wrap(children[0]),
    lambda k: ((k._words,), None))


def require_words(name: str, x: Any) -> Any:
    """The uint32 words of keys; TypeError where they are something else."""
    if not is_value(x) or not hasattr(x, "shape"):
        hint = "; glax.random.key makes a key of a seed" if isinstance(x, int) else ""
        raise TypeError(f"{name}: a key must be made by glax.random.key, got {x!r} of type {type(x).__name__}{hint}")
    aval = aval_of(x)
    if aval.dtype != UINT32:
        raise TypeError(f"{name}: the words of a key must have dtype uint32, got {aval.short()}")
    if aval.shape[-1:] != (2,):
        raise TypeError(f"{name}: a key has two words in its last dimension, got shape {aval.shape}")
    return x if type(x) in (Array, Tracer) else asarray(x)


def key_words(name: str, key: Any) -> Any:
    """The two words of a single key, typed or not."""
    words = key._words if isinstance(key, KeyArray) else require_words(name, key)
    if words.shape != (2,):
        raise ValueError(f"{name} takes a single key, got an array of keys of shape {words.shape[:-1]}; glax.vmap maps "
                         f"it over keys")
    return words


def _as_given(like: Any, words: Any) -> Any:
    return _wrap(words) if isinstance(like, KeyArray) else words


def _check_impl(name: str, impl: Any, dtype: Any = None) -> None:
    if impl not in (None, *_NAMES, KEY_DTYPE) or dtype not in (None, KEY_DTYPE):
        raise ValueError(f"{name}: keys are of the kind {THREEFRY!r}, got impl={impl!r}, dtype={dtype!r}")


def PRNGKey(seed: Any, *, impl: str | None = None) -> Any:
    """A key made of a seed, as a plain uint32 array of two words.

    Args:
        seed: an integer scalar. With 64-bit types enabled all of its 64 bits count, otherwise the lower 32.
        impl: None or "threefry2x32".

    Raises:
        TypeError: the seed is not an integer scalar.
        OverflowError: a Python int of more than 64 bits.

    >>> from glax import random
    >>> random.PRNGKey(7)
    Array([0, 7], dtype=uint32)
    """
    return _seeded("PRNGKey", seed, impl)


def key(seed: Any, *, impl: str | None = None, dtype: KeyDtype | None = None) -> KeyArray:
    """A key made of a seed; see `PRNGKey` for the arguments.

    >>> from glax import random
    >>> random.key(7)
    Array((), dtype=key<fry>) overlaying:
    [0 7]
    """
    return _wrap(_seeded("key", seed, impl, dtype))


def _seeded(name: str, seed: Any, impl: Any, dtype: Any = None) -> Any:
    _check_impl(name, impl, dtype)
    if isinstance(seed, int):
        if not -1 << 63 <= seed < 1 << 64:
            raise OverflowError(f"{name}: a seed has at most 64 bits, got {seed}")
        default = dtypes.python_scalar_dtype(int)
        mask = (1 << dtypes.itemsize_bits(default)) - 1
        seed = np.asarray(int(seed) & mask, np.dtype(f"u{default.itemsize}"))
    elif not is_value(seed) or not dtypes.is_integer(aval_of(seed).dtype):
        got = aval_of(seed).short() if is_value(seed) else type(seed).__name__
        raise TypeError(f"{name}: the seed must be an integer, got {got}")
    if aval_of(seed).shape:
        raise TypeError(f"{name}: the seed must be a scalar, got shape {aval_of(seed).shape}; glax.vmap maps it over "
                        f"seeds")
    return _seed_words(seed)


def split(key: Any, num: int | tuple[int, ...] = 2) -> Any:
    """New keys made of a key, which should then be used for nothing else.

    Args:
        key: a single key.
        num: how many, or the shape of the array of them.

    Returns:
        A KeyArray of that shape; a uint32 array with a last dimension of 2 if that is what the key is.

    >>> from glax import random
    >>> key, subkey = random.split(random.key(0))
    >>> subkey
    Array((), dtype=key<fry>) overlaying:
    [ 928981903 3453687069]
    """
    words = key_words("split", key)
    return _as_given(key, _split(words, shape=as_shape(num, "split", "num")))


def fold_in(key: Any, data: Any) -> Any:
    """The key that an integer makes of a key: another for every integer.

    Args:
        key: a single key.
        data: an integer scalar of up to 32 bits, such as the number of a step or of a process.

    Raises:
        TypeError: data is not an integer scalar.
        OverflowError: data is a Python int that is negative, or of more than 32 bits.

    >>> from glax import random
    >>> random.fold_in(random.PRNGKey(1), 7)
    Array([ 954670714, 4016809582], dtype=uint32)
    """
    words = key_words("fold_in", key)
    if isinstance(data, int):
        if not 0 <= data < 1 << 32:
            raise OverflowError(f"fold_in: data must be from 0 to 2**32 - 1, got {data}")
        word: Any = np.uint32(data)
    else:
        if not is_value(data) or not dtypes.is_integer(aval_of(data).dtype) or aval_of(data).shape:
            got = aval_of(data).short() if is_value(data) else type(data).__name__
            raise TypeError(f"fold_in: data must be an integer scalar, got {got}; glax.vmap maps it over integers")
        word = o.convert_element_type(data, UINT32)
    return _as_given(key, _folded(words, word))


def key_data(keys: Any) -> Any:
    """The uint32 words of keys: an array of their shape with a last dimension of 2.

    >>> from glax import random
    >>> random.key_data(random.key(7))
    Array([0, 7], dtype=uint32)
    """
    return keys._words if isinstance(keys, KeyArray) else require_words("key_data", keys)


def wrap_key_data(key_bits_array: Any, *, impl: str | None = None, dtype: KeyDtype | None = None) -> KeyArray:
    """The keys that uint32 words, an array with a last dimension of 2, are those of.

    >>> from glax import random
    >>> random.wrap_key_data(random.PRNGKey(7)) == random.key(7)
    Array(True, dtype=bool)
    """
    _check_impl("wrap_key_data", impl, dtype)
    return _wrap(require_words("wrap_key_data", key_bits_array))


def key_impl(keys: Any) -> str:
    """The name of how keys make random bits: "threefry2x32"."""
    key_data(keys)
    return THREEFRY


def key_dtype(impl_spec: str | None = None) -> KeyDtype:
    """The dtype of typed keys."""
    _check_impl("key_dtype", impl_spec)
    return KEY_DTYPE


def clone(key: Any) -> Any:
    """The same key, for uses that are meant to give the same numbers."""
    key_data(key)
    return key
