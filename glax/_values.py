"""Small functions on trees of values: waiting, and moving them between hosts and devices."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from ._calls import leaf_avals
from ._running import asarray
from .ir import ShapedArray, aval_of, current_builder, not_staging, tree
from .ir.config import config
from .lower import Array, executables, from_buffer
from .lower import jaxlib_adapter as xla


def block_until_ready(x: Any) -> Any:
    """Wait until all arrays of a tree are computed, and return the tree.

    >>> import glax, glax.numpy as gnp
    >>> glax.block_until_ready({"a": gnp.ones(2)})
    {'a': Array([1., 1.], dtype=float32)}
    """
    for leaf in (x,) if type(x) is Array else tree.fast_flatten(x, None)[0]:
        if type(leaf) is Array and leaf._value is None:
            leaf.block_until_ready()
    return x


def device_put(x: Any, device: Any = None) -> Any:
    """A tree of values as a tree of Arrays on a device.

    Args:
        x: a tree of arrays and numbers.
        device: one of ``devices()``; by default Arrays stay where they are, and other values go to the default device.

    Returns:
        A tree of Arrays of the same values; an Array that is on the device already is itself. Inside a function that is
        being staged, and without a device, x as it is.

    Raises:
        TypeError: a leaf is not an array or a number.

    >>> import glax
    >>> glax.device_put([1, 2.5], glax.devices()[0])
    [Array(1, dtype=int32, weak_type=True), Array(2.5, dtype=float32, weak_type=True)]
    """
    if current_builder() is not None and device is None:
        return x
    try:
        return tree.map_tree(lambda leaf: _put(leaf, device), x)
    except (TypeError, ValueError, OverflowError):
        leaf_avals("device_put", x, tree.flatten(x)[0])  # names a leaf that is no array by its path
        raise


def _put(leaf: Any, device: Any) -> Array:
    array = asarray(leaf)
    if device is None or device == array.device:
        return array
    return from_buffer(xla.put(array.value(), device), array.aval)


def device_get(x: Any) -> Any:
    """A tree of Arrays as a tree of NumPy arrays, which are read-only.

    Args:
        x: a tree; leaves that are not Arrays stay as they are.

    Returns:
        The tree, with an ndarray for each Array.

    >>> import glax, glax.numpy as gnp
    >>> glax.device_get({"a": gnp.arange(3), "b": "text"})
    {'a': array([0, 1, 2], dtype=int32), 'b': 'text'}
    """
    return tree.map_tree(lambda leaf: np.asarray(leaf) if type(leaf) is Array else leaf, x)


def clear_caches() -> None:
    """Forget all executables in memory; functions made by jit compile again when they are next called.

    Those kept on disk, in ``GLAX_COMPILATION_CACHE_DIR``, stay.

    >>> import glax
    >>> glax.clear_caches()
    >>> len(glax.lower.executables)
    0
    """
    executables.clear()


def disable_jit(disable: bool = True) -> AbstractContextManager[None]:
    """A context in which functions made by jit run as plain Python, an operation at a time, to look into them.

    >>> import glax
    >>> with glax.disable_jit():
    ...     y = glax.jit(lambda x: float(x) + 1)(2.)
    >>> y
    3.0
    """
    return config.override(disable_jit=disable)


def ensure_compile_time_eval() -> AbstractContextManager[None]:
    """A context in which operations on values run at once, even inside a function that is being staged.

    >>> import glax, glax.numpy as gnp
    >>> @glax.jit
    ... def f(x):
    ...     with glax.ensure_compile_time_eval():
    ...         count = int(gnp.arange(4).sum())
    ...     return gnp.broadcast_to(x, (count,))
    >>> f(1.).shape
    (6,)
    """
    return not_staging()


def effects_barrier() -> None:
    """Wait until what programs do beyond computing results is done. Runs are synchronous here, so it is done already.

    >>> import glax
    >>> glax.effects_barrier()
    """


def numpy_dtype_promotion(new_val: str = "standard") -> AbstractContextManager[None]:
    """A context that says which dtypes mix without a cast: "standard", or "strict" for none but Python numbers.

    >>> import glax, glax.numpy as gnp
    >>> with glax.numpy_dtype_promotion("strict"):
    ...     gnp.int32(1) + gnp.float32(1)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    glax.ir.dtypes.TypePromotionError: no common dtype for int32, float32: ...
    """
    return config.override(numpy_dtype_promotion=new_val)


def default_matmul_precision(new_val: str | None) -> AbstractContextManager[None]:
    """A context that sets the precision of products that name none, as ``precision=`` of ``glax.numpy.dot`` does.

    >>> import glax, glax.numpy as gnp
    >>> with glax.default_matmul_precision("highest"):
    ...     gnp.dot(gnp.ones(2), gnp.ones(2))
    Array(2., dtype=float32)
    """
    return config.override(default_matmul_precision=new_val)


def typeof(x: Any) -> ShapedArray:
    """The type of a value, staged or not.

    >>> import glax
    >>> glax.typeof(1.)
    ShapedArray(float32[], weak_type=True)
    """
    return aval_of(x)


def devices() -> list[Any]:
    """The devices that programs can run on, the default one first.

    >>> import glax
    >>> glax.devices()[0].platform
    'cpu'
    """
    return list(xla.devices())


def local_devices() -> list[Any]:
    """The devices of this process that programs can run on: all there are, since glax runs in one process.

    >>> import glax
    >>> glax.local_devices() == glax.devices()
    True
    """
    return list(xla.devices())


def device_count() -> int:
    """How many devices there are.

    >>> import glax
    >>> glax.device_count() == len(glax.devices())
    True
    """
    return len(xla.devices())


def local_device_count() -> int:
    """How many devices this process has: all there are, since glax runs in one process.

    >>> import glax
    >>> glax.local_device_count() == glax.device_count()
    True
    """
    return len(xla.devices())


def default_backend() -> str:
    """The name of the platform that programs run on: "cpu".

    >>> import glax
    >>> glax.default_backend()
    'cpu'
    """
    return xla.default_device().platform


def live_arrays() -> list[Any]:
    """The buffers that XLA holds: those of Arrays that were given to, or came from, a compiled program and still exist.

    Returns:
        A list of the runtime's own buffers, which are not Arrays.

    >>> import glax, glax.numpy as gnp
    >>> x = glax.jit(lambda x: x + 1)(gnp.ones(3))
    >>> len(glax.live_arrays()) > 0
    True
    """
    return list(xla.live_buffers())
