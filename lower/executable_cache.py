"""Executables by the content of their programs: each is compiled once per process, or once per machine with a disk."""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, NamedTuple

from . import jaxlib_adapter as xla

if TYPE_CHECKING:
    from .disk_cache import DiskCache

Program = str | bytes | tuple[str | bytes, Sequence[Callable]]


class CacheStatistics(NamedTuple):
    """What a cache has done since it was made or cleared."""

    hits: int
    misses: int
    disk_hits: int
    compile_seconds: float
    size: int


class _InFlight(Future):
    """An executable that one thread is making and others wait for."""

    def __init__(self) -> None:
        super().__init__()
        self.maker = threading.get_ident()


class ExecutableCache:
    """The most recently used executables, each compiled by one thread only, and optionally kept on disk.

    Args:
        maxsize: how many executables to keep in memory.

    >>> cache = ExecutableCache()
    >>> text = "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32> }"
    >>> first = cache.get("identity", lambda: "identity", lambda: text)
    >>> cache.get("identity", lambda: "identity", lambda: text) is first
    True
    >>> cache.statistics().hits, cache.statistics().misses
    (1, 1)
    """

    def __init__(self, maxsize: int = 4096) -> None:
        if maxsize < 1:
            raise ValueError(f"maxsize must be at least 1, got {maxsize}")
        self.maxsize = maxsize
        self._lock = threading.Lock()
        self._made: OrderedDict[Hashable, xla.Executable] = OrderedDict()
        self._in_flight: dict[Hashable, _InFlight] = {}
        self._hits = self._misses = self._disk_hits = 0
        self._compile_seconds = 0.0
        self._generation = 0
        self._disk: DiskCache | None = None
        directory = os.environ.get("GLAX_COMPILATION_CACHE_DIR")
        if directory:
            self.set_cache_dir(directory)

    def set_cache_dir(self, path: str | os.PathLike[str] | None) -> None:
        """Keep executables in a directory too, in place of GLAX_COMPILATION_CACHE_DIR; None stops it."""
        from .disk_cache import DiskCache  # only where there is a directory: it takes a while to load
        self._disk = None if path is None else DiskCache(path)

    @property
    def cache_dir(self) -> str | None:
        """The directory in use."""
        disk = self._disk
        return None if disk is None else str(disk.directory)

    def get(
        self,
        key: Hashable,
        fingerprint: Callable[[], str],
        build: Callable[[], Program],
        compile_options: xla.CompileOptions = xla.DEFAULT_OPTIONS,
    ) -> xla.Executable:
        """The executable of a key, made if need be.

        Args:
            key: the program's content, its options included.
            fingerprint: gives text that is equal exactly for equal programs, in every process. Called only where
                there is a directory.
            build: gives the StableHLO module, or the module and the Python functions it calls back. Such a program is
                not kept, so that the functions are not; one whose `fingerprint` is the empty string not on disk.
            compile_options: how to compile it, and for which device.

        Raises:
            XlaError: the program does not compile. Nothing is kept, and the next call tries again.
        """
        with self._lock:
            found = self._made.get(key)
            if found is not None:
                self._made.move_to_end(key)
                self._hits += 1
                return found
            waiting = self._in_flight.get(key)
            if waiting is None:
                self._misses += 1
                making = self._in_flight[key] = _InFlight()
                generation = self._generation
            else:
                self._hits += 1
        if waiting is not None:
            if waiting.maker == threading.get_ident():
                raise RuntimeError("building a program asked for the executable of that same program")
            return waiting.result()
        return self._make(key, making, generation, lambda: self._load_or_compile(fingerprint, build, compile_options))

    def _make(
        self, key: Hashable, making: _InFlight, generation: int, make: Callable[[], tuple[xla.Executable, bool]]
    ) -> xla.Executable:
        try:
            executable, keep = make()
        except BaseException as error:
            with self._lock:
                self._forget(key, making)
            making.set_exception(error)
            raise
        with self._lock:
            self._forget(key, making)
            if keep and generation == self._generation:  # else the cache was cleared meanwhile
                self._made[key] = executable
                while len(self._made) > self.maxsize:
                    self._made.popitem(last=False)
        making.set_result(executable)
        return executable

    def _forget(self, key: Hashable, making: _InFlight) -> None:
        if self._in_flight.get(key) is making:
            del self._in_flight[key]

    def _load_or_compile(
        self, fingerprint: Callable[[], str], build: Callable[[], Program], options: xla.CompileOptions
    ) -> tuple[xla.Executable, bool]:
        """The executable, and whether it may be kept."""
        disk = self._disk
        content = fingerprint() if disk is not None else ""
        name = disk.entry_name(content, options.key()) if disk is not None and content else ""
        if disk is not None and name:
            executable = disk.load(name, options)
            if executable is not None:
                with self._lock:
                    self._disk_hits += 1
                return executable, True
        program = build()
        module, callbacks = program if isinstance(program, tuple) else (program, ())
        start = time.perf_counter()
        executable = xla.compile(module, options, callbacks)
        with self._lock:
            self._compile_seconds += time.perf_counter() - start
        if disk is not None and name and not callbacks:
            disk.store(name, executable)
        return executable, not callbacks

    def statistics(self) -> CacheStatistics:
        """Hits and misses in memory, hits on disk, seconds spent in XLA's compiler, and executables held."""
        with self._lock:
            return CacheStatistics(self._hits, self._misses, self._disk_hits, self._compile_seconds, len(self._made))

    def clear(self) -> None:
        """Forget every executable in memory, and the statistics. The directory is left as it is."""
        with self._lock:
            self._made.clear()
            self._in_flight.clear()
            self._generation += 1
            self._hits = self._misses = self._disk_hits = 0
            self._compile_seconds = 0.0

    def __len__(self) -> int:
        return len(self._made)
