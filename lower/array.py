"""The array that users hold: an immutable value that lives in NumPy memory, in an XLA buffer, or in both.

Each of the two is made from the other when first asked for, and kept. Arithmetic, indexing and the methods that are
NumPy functions are put on the class by the package's numpy module.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, Self

import numpy as np

from ..ir import dtypes
from ..ir.types import ShapedArray, Typed, shaped_array
from . import jaxlib_adapter as xla

_ARRAY_API_VERSION = "2024.12"
_ALIGNMENT = 64  # what XLA's CPU client asks of NumPy memory that it is to use as it is
_SMALLEST_ALIGNED = 4096  # below this many bytes a copy costs no more than the alignment


class Array(Typed):
    """An immutable n-dimensional array of one dtype, accepted wherever NumPy takes an array.

    Made by the package's functions (``numpy.asarray`` and the like), never by calling the class, which is a TypeError.
    To change elements, make a changed copy with ``x.at[index].set(value)``.

    >>> import glax.numpy as gnp
    >>> x = gnp.array([1., 2.])
    >>> x
    Array([1., 2.], dtype=float32)
    >>> x.shape, x.dtype, x.value()
    ((2,), dtype('float32'), array([1., 2.], dtype=float32))
    """

    __slots__ = ("__weakref__", "_buffer", "_value", "aval")
    __array_priority__ = 100
    __hash__ = None

    aval: ShapedArray
    _value: np.ndarray | np.generic | None
    _buffer: xla.Buffer | None

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        raise TypeError("Array is not called directly: make one with numpy.array() or numpy.asarray() of this package")

    # ------------------------------------------------------------ what it is

    @property
    def itemsize(self) -> int:
        return self.aval.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.aval.size * self.aval.dtype.itemsize

    # ------------------------------------------------------------ its two homes

    def value(self) -> np.ndarray:
        """The values as a read-only ndarray, shared and not copied."""
        value = self._value
        return value if type(value) is np.ndarray else self._fetch()

    def _fetch(self) -> np.ndarray:
        value = self._value
        if value is not None:
            value = np.asarray(value)  # what NumPy made a scalar of
            value.flags.writeable = False
        elif self._buffer is None:
            raise xla.deleted_error(self.shape, self.dtype)
        else:
            value = xla.host(self._buffer, self.aval.shape, self.aval.dtype)
        self._value = value
        return value

    def buffer(self) -> xla.Buffer:
        """The values as an XLA buffer, on the default device unless it came from another."""
        buffer = self._buffer
        if buffer is None:
            # Nobody can write to the value: it is frozen, and was made here or handed over for good.
            self._buffer = buffer = xla.put(self.value(), may_alias=True, aval=self.aval)
        return buffer

    def is_deleted(self) -> bool:
        """Whether the memory was given up, by delete() or by donating it to a call."""
        return self._value is None if self._buffer is None else xla.is_deleted(self._buffer)

    def delete(self) -> None:
        """Give up the memory now. NumPy arrays made of it before stay good; deleting twice is harmless."""
        if self._buffer is not None:
            xla.delete(self._buffer)
        self._value = None

    def _check_alive(self) -> None:
        if self.is_deleted():
            raise xla.deleted_error(self.shape, self.dtype)

    def block_until_ready(self) -> Array:
        """Wait until the values have been computed, and return this array."""
        self._check_alive()
        if self._buffer is not None:
            xla.block_until_ready(self._buffer)
        return self

    def is_ready(self) -> bool:
        """Whether the values have been computed."""
        self._check_alive()
        return self._buffer is None or xla.is_ready(self._buffer)

    def copy_to_host_async(self) -> None:
        """Have the values in NumPy memory by the time they are asked for there."""
        self.value()

    @property
    def device(self) -> xla.Device:
        """The device it is on."""
        self._check_alive()
        return xla.default_device() if self._buffer is None else xla.device_of(self._buffer)

    def devices(self) -> set[xla.Device]:
        """The devices it is on."""
        return {self.device}

    def on_device_size_in_bytes(self) -> int:
        """How many bytes of a device's memory it takes."""
        self._check_alive()
        return xla.size_on_device(self.buffer())

    def unsafe_buffer_pointer(self) -> int:
        """The address of the values in the device's memory; valid as long as this array is, and never to write to."""
        self._check_alive()
        return xla.address(self.buffer())

    # ------------------------------------------------------------ other libraries

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        value = self.value()
        if dtype is None or value.dtype == dtype:
            return value.copy() if copy else value.view()  # the view cannot be made writeable, its base being frozen
        if copy is False:
            raise ValueError(
                f"copy=False, but an array of {np.dtype(dtype).name} can only be a copy of {self.dtype.name}"
            )
        return value.astype(dtype)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A DLPack capsule of the values, shared with the taker (who must not write to them) unless copy=True."""
        if dl_device is not None and tuple(map(int, dl_device)) != self.__dlpack_device__():
            raise BufferError(f"dl_device must be {self.__dlpack_device__()}, where the array is, got {dl_device}")
        self._check_alive()
        buffer = xla.put(self.value(), aval=self.aval) if copy else self.buffer()
        return xla.dlpack_capsule(buffer, stream, max_version)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # DLPack's name of the CPU

    def __array_namespace__(self, *, api_version: str | None = None) -> ModuleType:
        """The package's numpy module, which follows the Python array API standard."""
        if api_version not in (None, _ARRAY_API_VERSION):
            raise ValueError(f"api_version must be None or {_ARRAY_API_VERSION!r}, got {api_version!r}")
        return importlib.import_module("..numpy", __package__)

    def __reduce__(self) -> tuple:
        return _unpickle, (np.asarray(self.value()), self.weak_type)

    def __copy__(self) -> Array:
        return from_numpy_owned(self.value(), self.aval)

    def __deepcopy__(self, memo: dict) -> Array:
        return from_numpy_owned(_owned_copy(self.value(), self.dtype), self.aval)

    # ------------------------------------------------------------ Python scalars

    def __len__(self) -> int:
        if not self.aval.shape:
            raise TypeError("len() of a 0-dimensional array")
        return self.aval.shape[0]

    def __bool__(self) -> bool:
        size = self.aval.size
        if size == 1:
            return bool(self.value().item())
        if size == 0:
            raise ValueError("the truth value of an empty array is ambiguous: use x.size > 0 to ask if it has elements")
        raise ValueError(
            f"the truth value of an array with more than one element is ambiguous (shape {self.shape}): "
            "use x.any() or x.all()"
        )

    def _scalar(self) -> Any:
        if self.aval.shape:
            raise TypeError(f"only a 0-dimensional array converts to a Python scalar, got one of shape {self.shape}")
        return self.value().item()

    def __int__(self) -> int:
        return int(self._scalar())

    def __float__(self) -> float:
        return float(self._scalar())

    def __complex__(self) -> complex:
        return complex(self._scalar())

    def __index__(self) -> int:
        if not self.aval.shape:
            item = self.value().item()
            if type(item) is int:
                return item
        raise TypeError(
            f"only a 0-dimensional integer array can be an index, got dtype {self.dtype.name} and shape {self.shape}"
        )

    def item(self, *args: Any) -> bool | int | float | complex:
        """One element as a Python scalar: the only one, or the one at an index given as for NumPy's item()."""
        return self.value().item(*args)

    def tolist(self) -> Any:
        """The elements as nested lists of Python scalars."""
        return self.value().tolist()

    # ------------------------------------------------------------ text

    def __repr__(self) -> str:
        about = f"dtype={self.dtype.name}" + (", weak_type=True" if self.weak_type else "") + ")"
        if self.size == 0:
            return f"Array([], shape={self.shape}, {about}"
        prefix, width = "Array(", np.get_printoptions()["linewidth"]
        text = np.array2string(self.value(), max_line_width=width, separator=", ", prefix=prefix, suffix=",")
        # Where the line is full JAX pads without breaking it. Texts are compared, so the same is done here.
        full = len(text) - text.rfind("\n") + len(about) + 2 > width
        return prefix + text + "," + (" " * len(prefix) if full else " ") + about

    def __str__(self) -> str:
        return str(self.value())

    def __format__(self, spec: str) -> str:
        value = self.value()
        return format(value[()] if value.ndim == 0 else value, spec)

    # ------------------------------------------------------------ what it refuses

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TypeError("arrays are immutable: instead of x[idx] = y, write x = x.at[idx].set(y)")

    def __delitem__(self, index: Any) -> None:
        raise TypeError("arrays are immutable: elements cannot be deleted")


_new = object.__new__


def from_numpy_owned(value: np.ndarray | np.generic, aval: ShapedArray) -> Array:
    """An Array of a NumPy value that is handed over for good: it is frozen here, and not copied.

    Nobody may write to its memory afterwards, through an array that shares it either.

    Args:
        value: an array or a NumPy scalar.
        aval: its type, which must be of its shape and dtype; nothing checks it.

    Returns:
        The Array.

    >>> import numpy as np
    >>> from glax.ir import ShapedArray
    >>> from glax.lower import from_numpy_owned
    >>> from_numpy_owned(np.array([1, 2], np.int32), ShapedArray((2,), "int32"))
    Array([1, 2], dtype=int32)
    """
    if type(value) is np.ndarray:
        value.setflags(False)  # write=False, at half the cost
    array = _new(Array)
    array.aval = aval
    array._value = value
    array._buffer = None
    return array


def from_buffer(buffer: xla.Buffer, aval: ShapedArray) -> Array:
    """An Array of an XLA buffer.

    Args:
        buffer: the buffer.
        aval: its type, which must be that of the buffer; nothing checks it.

    Returns:
        An Array that holds the buffer; a NumPy array is made of it when first asked for.

    >>> import glax.numpy as gnp
    >>> from glax.lower import from_buffer
    >>> x = gnp.arange(3)
    >>> from_buffer(x.buffer(), x.aval)
    Array([0, 1, 2], dtype=int32)
    """
    array = _new(Array)
    array.aval = aval
    array._value = None
    array._buffer = buffer
    return array


def array_of_only(aval: ShapedArray) -> Callable[[Sequence[xla.Buffer]], Array]:
    """from_buffer, for the only one of a sequence of buffers: a function of the sequence."""
    def of_only(buffers: Sequence[xla.Buffer]) -> Array:
        array = _new(Array)
        array.aval = aval
        array._value = None
        array._buffer = buffers[0]
        return array

    return of_only


def from_numpy(value: Any, weak_type: bool = False) -> Array:
    """An Array of a copy of a NumPy array or scalar, or of a Python scalar, in the canonical form of its dtype.

    Args:
        value: what to copy.
        weak_type: whether the dtype gives way to others in arithmetic, as a Python scalar's does.

    Returns:
        The Array.

    Raises:
        TypeError: the values have no dtype that arrays can have, such as strings and objects.

    >>> import numpy as np
    >>> from glax.lower import from_numpy
    >>> from_numpy(np.array([1., 2.]))
    Array([1., 2.], dtype=float32)
    """
    given = np.asarray(value)
    dtype = dtypes.canonicalize(given.dtype)
    copied = _owned_copy(given, dtype)
    return from_numpy_owned(copied, shaped_array(copied.shape, dtype, weak_type))


def _owned_copy(given: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """A contiguous copy that XLA can use as it is where it is large enough for that to matter. Its memory is frozen."""
    size = given.size * dtype.itemsize
    if size < _SMALLEST_ALIGNED:
        return np.array(given, dtype, order="C", subok=False)
    raw = np.empty(size + _ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % _ALIGNMENT
    copied = raw[start : start + size].view(dtype).reshape(given.shape)
    np.copyto(copied, given, casting="unsafe")
    raw.flags.writeable = False
    return copied


def _unpickle(value: np.ndarray, weak_type: bool) -> Array:
    return from_numpy_owned(value, shaped_array(value.shape, value.dtype, weak_type))
