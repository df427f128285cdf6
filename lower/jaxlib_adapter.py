"""Every call of jaxlib's private interface (pytrees apart, which live in ir), behind plain functions.

jaxlib promises nothing about these calls, so they are made here only, and what differs from one jaxlib to the next is
found by trying. The calls chosen here never make jaxlib import jax. The CPU client is made by the first call that
needs it, and is synchronous: an execution is complete, or has raised its error, when its call returns.
"""

from __future__ import annotations

import ctypes
import enum
import functools
import math
import os
import re
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

import jaxlib
import numpy as np
from jaxlib import _jax, utils, xla_client

from ..ir.errors import GlaxError
from .callbacks import original_error

Buffer = Any  # jaxlib's array: private, final and without a dtype, so nothing outside this module looks inside one
Executable = Any
Device = Any
Handler = Any
Result = TypeVar("Result")
FlagValue = bool | int | float | str

JAXLIB_VERSION: str = jaxlib.__version__


class XlaError(GlaxError, RuntimeError):
    """XLA refused to compile or to run a program."""


class DeletedArrayError(GlaxError, RuntimeError):
    """The memory of an array was given up, by delete() or by donating it to a call."""


class AbstractValue(Protocol):
    """What jaxlib reads of an array's type."""

    shape: tuple[int, ...]
    dtype: np.dtype
    weak_type: bool


class _HostType(NamedTuple):
    shape: tuple[int, ...]
    dtype: np.dtype
    weak_type: bool = False


# ---------------------------------------------------------------- the client and its devices


class _Place:
    """A device, in each of the forms in which jaxlib wants to be told of it."""

    __slots__ = ("device", "device_list", "devices", "index", "sharding")

    def __init__(self, device: Device, index: int) -> None:
        self.device, self.devices, self.index = device, [device], index
        self.device_list = _jax.DeviceList((device,))
        self.sharding = _jax.GSPMDSharding(self.device_list, xla_client.HloSharding.replicate())


_PLACES: list[_Place] = []
_START = threading.Lock()


def _wanted_devices() -> int | None:
    """How many devices to make; None leaves it to XLA_FLAGS, and else to XLA's default of one."""
    text = os.environ.get("GLAX_NUM_CPU_DEVICES")
    if text is None:
        return None
    if not text.strip().isdigit() or int(text) < 1:
        raise ValueError(f"GLAX_NUM_CPU_DEVICES must be a positive integer, got {text!r}")
    return int(text)


def _start() -> list[_Place]:
    with _START:
        if not _PLACES:
            # Both settings are the whole process's: where jax has come first they are its own to choose.
            if "jax" not in sys.modules:
                _jax.set_tracebacks_enabled(False)
                if "TF_CPP_MIN_LOG_LEVEL" not in os.environ:
                    utils.absl_set_min_log_level(3)  # XLA logs what it raises a second time
            client = xla_client.make_cpu_client(asynchronous=False, num_devices=_wanted_devices())
            _PLACES.extend(_Place(device, index) for index, device in enumerate(client.local_devices()))
            if hasattr(os, "register_at_fork"):
                os.register_at_fork(before=_warn_of_fork)
    return _PLACES


def _warn_of_fork() -> None:
    warnings.warn("os.fork() copies none of XLA's threads: in the child, what was compiled before runs, and compiling "
                  "anything new never ends. Start processes by multiprocessing's 'spawn' or 'forkserver' instead",
                  RuntimeWarning, stacklevel=2)


def _place(device: Device | int | None) -> _Place:
    places = _PLACES or _start()
    if device is None:
        return places[0]
    if isinstance(device, int):
        if 0 <= device < len(places):
            return places[device]
    else:
        for place in places:
            if place.device is device or place.device == device:
                return place
    raise ValueError(f"device must be one of the {len(places)} of glax.devices(), got {device!r}")


def client() -> Any:
    """The XLA client, made on first use."""
    return (_PLACES or _start())[0].device.client


def devices() -> list[Device]:
    return [place.device for place in _PLACES or _start()]


def default_device() -> Device:
    return (_PLACES or _start())[0].device


def platform_version() -> str:
    return client().platform_version


# ---------------------------------------------------------------- memory

_ZERO_COPY = _jax.HostBufferSemantics.ZERO_COPY
_COPY_NOW = _jax.HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL
_batched_device_put = _jax.batched_device_put


_COPIED_AT_ONCE = 1 << 14
"""Bytes up to which XLA copies while it is asked to."""


def put(
    array: np.ndarray, device: Device | int | None = None, *, may_alias: bool = False, aval: AbstractValue | None = None
) -> Buffer:
    """A device buffer holding the values of a NumPy array.

    Args:
        array: an ndarray whose dtype XLA has, or float0, for which bools stand there.
        device: where to; the default device if None.
        may_alias: promise that nobody will ever write to `array`'s memory. The buffer then uses it as it is where it
            is contiguous and 64-byte aligned. Without the promise the values are always copied, during the call.
        aval: the type of `array`, where the caller has it at hand; saves making one.

    The values are on the device on return. XLA would go on copying large ones that are not aligned, and put off
    programs that read them, so that runs would not be synchronous.
    """
    place = _PLACES[0] if device is None and _PLACES else _place(device)
    semantics = _ZERO_COPY if may_alias else _COPY_NOW
    if not array.itemsize:
        array, aval = np.zeros(array.shape, bool), None
    if aval is None:
        aval = _HostType(array.shape, array.dtype)
    buffer = _batched_device_put(aval, place.sharding, [array], place.devices, True, False, semantics, True)
    if array.nbytes > _COPIED_AT_ONCE:
        buffer.block_until_ready()
    return buffer


def host(buffer: Buffer, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """The values of a buffer as a read-only ndarray, without a copy except for dtypes narrower than a byte.

    The array keeps the memory alive, even after the buffer is deleted.

    Raises:
        DeletedArrayError: the buffer was deleted or donated.
    """
    try:
        if dtype.num <= _LAST_BUILTIN_DTYPE:
            values = np.asarray(memoryview(buffer))
            return values if dtype.itemsize else np.broadcast_to(np.zeros((), dtype), shape)
        if dtype.name in _SUB_BYTE:
            return _host_sub_byte(buffer, shape, dtype)
        return _host_by_address(buffer, shape, dtype)
    except (BufferError, _jax.JaxRuntimeError) as error:
        if buffer.is_deleted():
            raise deleted_error(shape, dtype) from None
        raise XlaError(f"cannot read a buffer of {dtype.name}{list(shape)}: {error}") from error


def deleted_error(shape: tuple[int, ...], dtype: np.dtype) -> DeletedArrayError:
    return DeletedArrayError(
        f"Array has been deleted with shape={dtype.name}[{','.join(map(str, shape))}]: "
        "its memory was given up by delete() or by donation"
    )


_LAST_BUILTIN_DTYPE = np.dtype(np.float16).num  # ml_dtypes' types are numbered after NumPy's, and have no buffer format

# dtype name -> MLIR's name, MLIR's name of a type that holds it and has a buffer format, the NumPy dtype of that
_SUB_BYTE = {
    "int2": ("i2", "i8", np.dtype(np.int8)),
    "uint2": ("ui2", "ui8", np.dtype(np.uint8)),
    "int4": ("i4", "i8", np.dtype(np.int8)),
    "uint4": ("ui4", "ui8", np.dtype(np.uint8)),
    "float4_e2m1fn": ("f4E2M1FN", "f32", np.dtype(np.float32)),
}


def _capsule(buffer: Buffer, *arguments: Any) -> Any:
    # Of a clone, which shares the memory: deleting a buffer while a capsule holds the buffer itself aborts the process.
    return _jax.buffer_to_dlpack_managed_tensor(buffer.clone(), *arguments)


_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def _address_of(capsule: Any) -> int:
    """The data pointer, which is the first field of the structure in a DLPack capsule."""
    return ctypes.c_void_p.from_address(_capsule_pointer(capsule, b"dltensor")).value or 0


def _host_by_address(buffer: Buffer, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    buffer.block_until_ready()
    capsule = _capsule(buffer)
    address, size = _address_of(capsule), math.prod(shape) * dtype.itemsize
    raw: Any = (ctypes.c_char * size).from_address(address) if size else ctypes.create_string_buffer(0)
    raw.owner = capsule  # the memory lives as long as the capsule, and the capsule as long as `raw`
    array = np.frombuffer(raw, dtype).reshape(shape)
    array.flags.writeable = False
    return array


@functools.lru_cache(maxsize=256)
def _widening(shape: tuple[int, ...], dtype_name: str, device: int) -> tuple[Executable, list[Handler]]:
    narrow, wide, wide_dtype = _SUB_BYTE[dtype_name]
    dims = "".join(f"{size}x" for size in shape)
    source, target = f"tensor<{dims}{narrow}>", f"tensor<{dims}{wide}>"
    text = (
        f"func.func @main(%a: {source}) -> {target} {{\n"
        f"  %0 = stablehlo.convert %a : ({source}) -> {target}\n  return %0 : {target}\n}}"
    )
    options = CompileOptions(CompileTier.FAST, device=device)
    return compile(text, options), result_handlers([_HostType(shape, wide_dtype)], device)


def _host_sub_byte(buffer: Buffer, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    # How XLA packs these in memory differs from one jaxlib to the next, so XLA itself unpacks them.
    executable, handlers = _widening(shape, dtype.name, _place_of(buffer).index)
    [wide] = executable.execute_sharded([buffer]).consume_with_handlers(handlers)
    array = np.asarray(memoryview(wide)).astype(dtype)
    array.flags.writeable = False
    return array


def _place_of(buffer: Buffer) -> _Place:
    sharding = buffer._sharding
    for place in _PLACES:
        if sharding is place.sharding:
            return place
    return _place(next(iter(sharding._internal_device_list)))


def device_of(buffer: Buffer) -> Device:
    return _place_of(buffer).device


def delete(buffer: Buffer) -> None:
    """Give up a buffer's memory; arrays that host() made of it stay good. Deleting twice is harmless."""
    buffer.delete()


def is_deleted(buffer: Buffer) -> bool:
    return buffer.is_deleted()


def is_ready(buffer: Buffer) -> bool:
    """Whether the values are there. Asking it of a deleted buffer is an error (and would crash some jaxlibs)."""
    if buffer.is_deleted():
        raise DeletedArrayError("Array has been deleted")
    return buffer.is_ready()


def block_until_ready(buffer: Buffer) -> None:
    if buffer.is_deleted():
        raise DeletedArrayError("Array has been deleted")
    buffer.block_until_ready()


def size_on_device(buffer: Buffer) -> int:
    if buffer.is_deleted():
        raise DeletedArrayError("Array has been deleted")
    return buffer.on_device_size_in_bytes()


def address(buffer: Buffer) -> int:
    """Where the values lie in memory."""
    return _address_of(dlpack_capsule(buffer))


def dlpack_capsule(buffer: Buffer, stream: Any = None, max_version: tuple[int, int] | None = None) -> Any:
    """A DLPack capsule that shares the buffer's memory; versioned, hence marked read-only, where jaxlib can.

    Raises:
        BufferError: DLPack has no such dtype.
    """
    if buffer.is_deleted():
        raise DeletedArrayError("Array has been deleted")
    try:
        if max_version is not None and _DLPACK_HAS_VERSIONS:
            return _capsule(buffer, stream, max_version)
        return _capsule(buffer, stream)
    except _jax.JaxRuntimeError as error:
        raise BufferError(str(error)) from error


_DLPACK_HAS_VERSIONS = "max_version" in (_jax.buffer_to_dlpack_managed_tensor.__doc__ or "")


def live_buffers() -> list[Buffer]:
    """Every buffer that exists and is not deleted."""
    return client().live_arrays() if _PLACES else []


# ---------------------------------------------------------------- compiling


class CompileTier(enum.Enum):
    """How much XLA optimises.

    DEFAULT is for programs. OPERATION is for programs of one operation: there is nothing to fuse, so they run as fast
    as with DEFAULT, and compile twice as soon. FAST is for programs that run once or on little data: it compiles three
    times as soon as DEFAULT, and its code takes two to six times as long.
    """

    DEFAULT = "default"
    OPERATION = "operation"
    FAST = "fast"


# The library to which XLA by default hands what reduces a few thousand elements: in it max and min drop NaN, and
# integers of 8 bits saturate, and round where they are converted to. Matrix products alone are left to it.
_EXACT: dict[str, FlagValue] = {"xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT"}

# A jaxlib that does not know a flag says so at once, and the flag is left out from then on.
_TIER_FLAGS: dict[CompileTier, dict[str, FlagValue]] = {
    CompileTier.DEFAULT: {**_EXACT},
    CompileTier.OPERATION: {**_EXACT, "xla_cpu_use_fusion_emitters": False},
    CompileTier.FAST: {**_EXACT, "xla_cpu_use_fusion_emitters": False, "xla_backend_optimization_level": 0},
}
_TIER_FLAG_NAMES = frozenset(name for flags in _TIER_FLAGS.values() for name in flags)


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """How to compile a program, and for which device.

    Args:
        tier: how much to optimise.
        flags: XLA's own options by name, e.g. ``(("xla_cpu_enable_fast_math", True),)``; they go before the tier's.
        device: the index of the device in devices().
    """

    tier: CompileTier = CompileTier.DEFAULT
    flags: tuple[tuple[str, FlagValue], ...] = ()
    device: int = 0

    def key(self) -> bytes:
        """Bytes that are the same in every process where the options are the same."""
        surroundings = os.environ.get("XLA_FLAGS", "")
        return repr((self.tier.value, sorted(self.flags), self.device, surroundings, _EXACT)).encode()


DEFAULT_OPTIONS = CompileOptions()
OPERATION_OPTIONS = CompileOptions(CompileTier.OPERATION)
FAST_OPTIONS = CompileOptions(CompileTier.FAST)


@functools.lru_cache(maxsize=64)
def _xla_options(options: CompileOptions, tier_flags: tuple[tuple[str, FlagValue], ...]) -> Any:
    made = xla_client.CompileOptions()
    made.env_option_overrides = list({**dict(tier_flags), **dict(options.flags)}.items())
    build = made.executable_build_options
    made.num_replicas = made.num_partitions = build.num_replicas = build.num_partitions = 1
    device_id = _place(options.device).device.id
    made.device_assignment = build.device_assignment = _jax.DeviceAssignment.create(np.array([[device_id]]))
    return made


def _made_options(options: CompileOptions) -> Any:
    return _xla_options(options, tuple(_TIER_FLAGS[options.tier].items()))


_UNKNOWN_FLAG = re.compile(r"No such compile option: '(\w+)'")


def compile(
    module: str | bytes, options: CompileOptions = DEFAULT_OPTIONS, host_callbacks: Sequence[Callable] = ()
) -> Executable:
    """Compile a StableHLO module, given as text or as bytecode, whose entry is ``@main``.

    Args:
        module: the program; donated arguments carry ``jax.buffer_donor`` or ``tf.aliasing_output`` in it.
        options: how, and for which device.
        host_callbacks: the Python functions that its ``xla_ffi_python_cpu_callback`` calls name by index.

    Raises:
        XlaError: XLA refuses the program; the message shows the offending line where XLA names one.
    """
    place = _place(options.device)
    _register_targets_of(module)
    calls_python = _PYTHON_TARGET in module if isinstance(module, str) else _PYTHON_TARGET.encode() in module
    if calls_python and not host_callbacks:  # running it would end the process
        raise XlaError("the program calls Python functions, which were not given with it as host_callbacks")
    program, keywords = (_parse(module), {"host_callbacks": list(host_callbacks)}) if host_callbacks else (module, {})
    while True:
        try:
            return client().compile_and_load(program, place.device_list, _made_options(options), **keywords)
        except _jax.JaxRuntimeError as error:
            unknown = _UNKNOWN_FLAG.search(str(error))
            named = {name for name, _ in options.flags}
            if not unknown or unknown[1] in named or unknown[1] not in _TIER_FLAG_NAMES:
                raise _compile_error(str(error), module) from error
            for flags in _TIER_FLAGS.values():
                flags.pop(unknown[1], None)


_PYTHON_TARGET = "xla_ffi_python_cpu_callback"
_POSITION = re.compile(r'(?:"-"|(?<![\w"])-):(\d+):(\d+):')

_VERSION_GUESS = re.compile(r"<unknown>:0: error: Failed to parse using StableHLO[^\n]*\n?")  # follows every bad line


def _compile_error(message: str, module: str | bytes) -> XlaError:
    """The error for a message of XLA's, with the line of the module to which the message points."""
    message = _VERSION_GUESS.sub("", message)
    found = _POSITION.search(message)
    lines = module.splitlines() if isinstance(module, str) else []
    if found and 1 <= int(found[1]) <= len(lines):
        line, column = lines[int(found[1]) - 1], int(found[2])
        start = max(0, column - 200)  # a line may hold a large constant
        shown = line[start : start + 400]
        message = f"{message.rstrip()}\nin line {found[1]} of the module:\n  {shown}\n  {' ' * (column - 1 - start)}^"
    return XlaError(message)


@functools.lru_cache(maxsize=1)
def _register_lapack() -> None:
    from jaxlib.cpu import _lapack

    _lapack.initialize()
    for name, capsule in _lapack.registrations().items():
        xla_client.register_custom_call_target(name, capsule, platform="cpu", api_version=1)


def _register_targets_of(program: str | bytes) -> None:
    """LAPACK is registered by the first program that calls it, since that imports scipy.linalg."""
    if ("lapack_" if isinstance(program, str) else b"lapack_") in program:
        _register_lapack()


# ---------------------------------------------------------------- running


def _new_handler(aval: AbstractValue, sharding: Any) -> Handler:
    try:
        return _jax.array_result_handler(aval, sharding, True, True)
    except TypeError:  # later jaxlibs have no fourth argument, which skips checks
        return _jax.array_result_handler(aval, sharding, True)


@functools.lru_cache(maxsize=4096)
def _handler(aval: AbstractValue, device: int) -> Handler:
    return _new_handler(aval, _place(device).sharding)


def result_handlers(avals: Iterable[AbstractValue], device: int = 0) -> list[Handler]:
    """What runner() needs to make the buffers of results of these types. Made once, used at every run."""
    return [_handler(aval, device) for aval in avals]


def runner(executable: Executable, handlers: Sequence[Handler], finish: Callable[[list[Buffer]], Result] = list,
           ) -> Callable[[Sequence[Buffer]], Result]:
    """A function that runs a program on a list of buffers, and returns what `finish` makes of those of the results.

    It raises DeletedArrayError when an argument was deleted or donated before, and XlaError when the arguments do not
    fit or the program fails.
    """
    execute = executable.execute_sharded  # bound once, since every call of a compiled function passes here

    def run(buffers: Sequence[Buffer]) -> Result:
        try:
            return finish(execute(buffers).consume_with_handlers(handlers))
        except _jax.JaxRuntimeError as error:
            raise _run_error(error, buffers) from error

    return run


def _run_error(error: Exception, buffers: Sequence[Buffer]) -> BaseException:
    raised = original_error(str(error))
    if raised is not None:
        return raised
    gone = [position for position, buffer in enumerate(buffers) if buffer.is_deleted()]
    if gone:
        return DeletedArrayError(f"Array has been deleted: argument {gone[0]} of the program was deleted or donated")
    return XlaError(str(error))


# ---------------------------------------------------------------- looking at executables, and keeping them


def serialize(executable: Executable) -> bytes:
    """The machine code of an executable, for the same jaxlib on a machine of the same kind."""
    return executable.serialize() if hasattr(executable, "serialize") else client().serialize_executable(executable)


def deserialize(
    data: bytes, options: CompileOptions = DEFAULT_OPTIONS, host_callbacks: Sequence[Callable] = ()
) -> Executable:
    """The executable that serialize() wrote. It is code: load nothing from a source that you do not trust.

    Raises:
        XlaError: the data are damaged, or another jaxlib's.
    """
    place = _place(options.device)
    _register_targets_of(data)
    keywords = {"host_callbacks": list(host_callbacks)} if host_callbacks else {}
    try:
        return client().deserialize_executable(data, place.device_list, None, **keywords)
    except _jax.JaxRuntimeError as error:
        raise XlaError(f"cannot load the executable: {error}") from error


_MEMORY_FIELDS = ("argument", "output", "temp", "alias", "generated_code")


def memory_statistics(executable: Executable) -> dict[str, int]:
    """Bytes by use: argument, output, temp, alias, generated_code, and the peak of them all."""
    found = executable.get_compiled_memory_stats()
    sizes = {name: int(getattr(found, f"{name}_size_in_bytes")) for name in _MEMORY_FIELDS}
    return {**sizes, "peak": int(found.peak_memory_in_bytes)}


def cost_analysis(executable: Executable) -> dict[str, float]:
    """XLA's estimates: flops, transcendentals, bytes accessed, and more."""
    return dict(executable.cost_analysis())


def optimized_text(executable: Executable) -> str:
    """The HLO that XLA made of the program."""
    return "\n\n".join(module.to_string() for module in executable.hlo_modules())


def stablehlo_to_hlo_text(text: str | bytes) -> str:
    """The HLO of a StableHLO module, before any optimisation."""
    try:
        made = _jax.mlir.mlir_module_to_xla_computation(text, use_tuple_args=False, return_tuple=False)
    except (_jax.JaxRuntimeError, ValueError) as error:
        raise _compile_error(str(error), text) from error
    return made.as_hlo_text()


@functools.lru_cache(maxsize=1)
def _mlir_context() -> Any:
    """A context that knows the dialects. It is never entered: one entered at exit aborts the interpreter."""
    from jaxlib.mlir import ir
    from jaxlib.mlir._mlir_libs import _jax_mlir_ext
    from jaxlib.mlir.dialects import chlo, stablehlo

    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context = ir.Context()
    context.append_dialect_registry(registry)
    context.load_all_available_dialects()
    for dialect in (stablehlo, chlo):
        dialect.register_dialect(context)
    return context, ir


def _parse(module: str | bytes) -> Any:
    context, ir = _mlir_context()
    try:
        return ir.Module.parse(module, context)
    except (ir.MLIRError, ValueError) as error:
        raise _compile_error(str(error), module) from error
