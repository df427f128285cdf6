"""What functions that look at no element do with typed random keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def all_keys(values: Sequence[Any]) -> bool:
    """Whether there are values, and all of them are keys."""
    from ..random.keys import KeyArray
    return len(values) > 0 and all(isinstance(x, KeyArray) for x in values)


def on_words(function: Callable[..., Any], *keys: Any) -> Any:
    """What a function makes of keys that does with each of their words what it does with a number."""
    from .._vmap import vmap
    from ..random import key_data, wrap_key_data
    return wrap_key_data(vmap(function, in_axes=-1, out_axes=-1)(*[key_data(key) for key in keys]))
