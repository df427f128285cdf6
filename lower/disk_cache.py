"""Compiled executables in a directory, for later processes.

An entry is one file, named by everything that its machine code depends on, written whole or not at all, and checked
against a digest when read. Executables are code: the directory must be writable by nobody who is not trusted.
"""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import tempfile
import warnings
from pathlib import Path

from . import jaxlib_adapter as xla

_MAGIC = b"glax executable 1\n"
_DIGEST_SIZE = hashlib.sha256().digest_size


class DiskCacheWarning(UserWarning):
    """The directory of executables could not be used; the program was compiled instead."""


@functools.lru_cache(maxsize=1)
def _machine() -> str:
    """The processor's kind and instruction sets, where the system tells: machine code is good for these only."""
    parts = [platform.machine()]
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            wanted = ("flags", "Features", "model name")
            found = {line.split(":")[0].strip(): line for line in lines if line.startswith(wanted)}
        parts += [" ".join(sorted(found[name].split())) for name in sorted(found)]
    except OSError:
        parts.append(platform.processor())
    return "\n".join(parts)


def entry_name(fingerprint: str, options: bytes) -> str:
    """The file name of the executable of a program compiled with these options by this jaxlib on this machine."""
    digest = hashlib.sha256()
    for part in (fingerprint, options, xla.JAXLIB_VERSION, xla.platform_version(), _machine()):
        data = part if isinstance(part, bytes) else part.encode()
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest() + ".xla"


class DiskCache:
    """A directory of executables. It is made when the first one is stored.

    Args:
        directory: where; several processes may use it at once.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = Path(directory)

    entry_name = staticmethod(entry_name)

    def load(self, name: str, options: xla.CompileOptions) -> xla.Executable | None:
        """The executable stored under a name, or None if there is none, or (with a warning) if it is damaged."""
        path = self.directory / name
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            return _warn(f"cannot read {path}: {error}")
        body = data[len(_MAGIC) + _DIGEST_SIZE :]
        if data[: len(_MAGIC) + _DIGEST_SIZE] != _MAGIC + hashlib.sha256(body).digest():
            return _warn(f"{path} is damaged")
        try:
            return xla.deserialize(body, options)
        except xla.XlaError as error:
            return _warn(f"{path} cannot be loaded: {error}")

    def store(self, name: str, executable: xla.Executable) -> None:
        """Keep an executable under a name; a warning says so if that is impossible."""
        try:
            body = xla.serialize(executable)
            self.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            _write_atomically(self.directory / name, _MAGIC + hashlib.sha256(body).digest() + body)
        except (OSError, xla.XlaError) as error:
            _warn(f"cannot store an executable in {self.directory}: {error}")


def _warn(problem: str) -> None:
    warnings.warn(f"{problem}; the program is compiled anew", DiskCacheWarning, stacklevel=2)


def _write_atomically(path: Path, data: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
