"""Text, files and other libraries' arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._promotion import concrete
from .creation import array, asarray


def array_repr(arr: Any, max_line_width: int | None = None, precision: int | None = None,
               suppress_small: bool | None = None) -> str:
    """The text of an array as Python prints it."""
    return repr(asarray(arr))


def array_str(a: Any, max_line_width: int | None = None, precision: int | None = None,
              suppress_small: bool | None = None) -> str:
    """The text of an array's elements."""
    return np.array_str(concrete(asarray(a), "array_str", "a"), max_line_width, precision, suppress_small)


def load(file: Any, *args: Any, **kwargs: Any) -> Any:
    """The array in an .npy file, or the arrays in an .npz file as NumPy reads them."""
    found = np.load(file, *args, **kwargs)
    return array(found) if isinstance(found, np.ndarray) else found


def save(file: Any, arr: Any, *args: Any, **kwargs: Any) -> None:
    """Write an array to an .npy file."""
    np.save(file, concrete(asarray(arr), "save", "arr"), *args, **kwargs)


def savez(file: Any, *args: Any, **kwds: Any) -> None:
    """Write arrays to an .npz file."""
    np.savez(file, *[np.asarray(a) for a in args], **{k: np.asarray(v) for k, v in kwds.items()})


def frombuffer(buffer: Any, dtype: Any = float, count: int = -1, offset: int = 0) -> Any:
    """An array of the numbers in a buffer."""
    return array(np.frombuffer(buffer, np.dtype(dtype), count, offset))


def fromfile(*args: Any, **kwargs: Any) -> Any:
    """An array of the numbers in a file, as NumPy reads them."""
    return array(np.fromfile(*args, **kwargs))


def fromiter(*args: Any, **kwargs: Any) -> Any:
    """An array of the numbers of an iterator, as NumPy takes them."""
    return array(np.fromiter(*args, **kwargs))


def fromstring(string: str, dtype: Any = float, count: int = -1, *, sep: str) -> Any:
    """An array of the numbers in a text."""
    return array(np.fromstring(string, np.dtype(dtype), count, sep=sep))


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Any:
    """An array of the values of another library's array, by the DLPack protocol."""
    return array(np.from_dlpack(x))
