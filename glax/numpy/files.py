"""Text, files and other libraries' arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._promotion import concrete
from ..lax._arguments import mistaken
from .creation import array, asarray


def array_repr(arr: Any, max_line_width: int | None = None, precision: int | None = None,
               suppress_small: bool | None = None) -> str:
    """The text of an array as Python prints it. The other arguments are NumPy's print options linewidth, precision and
    suppress, which hold where they are None.

    >>> import glax.numpy as xp
    >>> xp.array_repr(xp.array([1 / 3, 2]), precision=2)
    'Array([0.33, 2.  ], dtype=float32)'
    """
    options = {"linewidth": max_line_width, "precision": precision, "suppress": suppress_small}
    with np.printoptions(**{name: value for name, value in options.items() if value is not None}):
        return repr(asarray(arr))


def array_str(a: Any, max_line_width: int | None = None, precision: int | None = None,
              suppress_small: bool | None = None) -> str:
    """The text of an array's elements. The other arguments are NumPy's print options, which hold where they are None.

    >>> import glax.numpy as xp
    >>> xp.array_str(xp.arange(3))
    '[0 1 2]'
    """
    return np.array_str(concrete(asarray(a), "array_str", "a"), max_line_width, precision, suppress_small)


def load(file: Any, *args: Any, **kwargs: Any) -> Any:
    """The array in an .npy file, or the arrays in an .npz file as NumPy reads them. The other arguments are those of
    numpy.load.

    >>> import glax.numpy as xp
    >>> import io
    >>> file = io.BytesIO()
    >>> xp.save(file, xp.arange(3))
    >>> _ = file.seek(0)
    >>> xp.load(file)
    Array([0, 1, 2], dtype=int32)
    """
    found = np.load(file, *args, **kwargs)
    return array(found) if isinstance(found, np.ndarray) else found


def save(file: Any, arr: Any, *args: Any, **kwargs: Any) -> None:
    """Write an array to an .npy file. file is a path or an open file; the other arguments are those of numpy.save.

    >>> import glax.numpy as xp
    >>> import numpy as np
    >>> import io
    >>> file = io.BytesIO()
    >>> xp.save(file, xp.arange(3))
    >>> np.load(io.BytesIO(file.getvalue())).tolist()
    [0, 1, 2]
    """
    np.save(file, concrete(asarray(arr), "save", "arr"), *args, **kwargs)


def savez(file: Any, *args: Any, **kwds: Any) -> None:
    """Write arrays to an .npz file. Arrays given by name keep the name, others are called arr_0, arr_1 and so on, as
    numpy.savez has it.

    >>> import glax.numpy as xp
    >>> import numpy as np
    >>> import io
    >>> file = io.BytesIO()
    >>> xp.savez(file, a=xp.arange(3))
    >>> np.load(io.BytesIO(file.getvalue()))["a"].tolist()
    [0, 1, 2]
    """
    np.savez(file, *[np.asarray(a) for a in args], **{k: np.asarray(v) for k, v in kwds.items()})


def frombuffer(buffer: Any, dtype: Any = float, count: int = -1, offset: int = 0) -> Any:
    """An array of the numbers in a buffer. float is taken as NumPy's, of 8 bytes. count is how many to read, -1 for
    all, and offset how many bytes to skip.

    >>> import glax.numpy as xp
    >>> xp.frombuffer(bytes([1, 2]), dtype="uint8")
    Array([1, 2], dtype=uint8)
    """
    return array(np.frombuffer(buffer, np.dtype(dtype), count, offset))


def fromfile(*args: Any, **kwargs: Any) -> Any:
    """An array of the numbers in a file, as NumPy reads them. Arguments are those of numpy.fromfile.

    >>> import glax.numpy as xp
    >>> import tempfile
    >>> file = tempfile.TemporaryFile()
    >>> _ = file.write(bytes([1, 2])), file.seek(0)
    >>> xp.fromfile(file, dtype="uint8")
    Array([1, 2], dtype=uint8)
    >>> file.close()
    """
    return array(np.fromfile(*args, **kwargs))


def fromiter(*args: Any, **kwargs: Any) -> Any:
    """An array of the numbers of an iterator, as NumPy takes them. Arguments are those of numpy.fromiter.

    >>> import glax.numpy as xp
    >>> xp.fromiter((i * i for i in range(3)), dtype="int32")
    Array([0, 1, 4], dtype=int32)
    """
    return array(np.fromiter(*args, **kwargs))


def fromstring(string: str, dtype: Any = float, count: int = -1, *, sep: str) -> Any:
    """An array of the numbers in a text. sep separates the numbers, count is how many to read, -1 for all.

    >>> import glax.numpy as xp
    >>> xp.fromstring("1 2 3", dtype="int32", sep=" ")
    Array([1, 2, 3], dtype=int32)
    """
    return array(np.fromstring(string, np.dtype(dtype), count, sep=sep))


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Any:
    """An array of the values of another library's array, by the DLPack protocol.

    >>> import glax.numpy as xp
    >>> import numpy as np
    >>> xp.from_dlpack(np.arange(3, dtype="int32"))
    Array([0, 1, 2], dtype=int32)
    """
    if not hasattr(x, "__dlpack__"):
        raise mistaken("from_dlpack", "x", "an array with __dlpack__", x)
    return array(np.from_dlpack(x))
