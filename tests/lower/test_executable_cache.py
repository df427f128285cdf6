"""Executables are compiled once: per process, per thread, and per machine."""

import os
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest

from glax.ir.types import shaped_array
from glax.lower import jaxlib_adapter as xla
from glax.lower.disk_cache import DiskCache, DiskCacheWarning, entry_name
from glax.lower.executable_cache import ExecutableCache

F2 = shaped_array((2,), np.dtype(np.float32))
TEXT = """func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %a, %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}"""


class Program:
    """A program that counts how often it is built and named."""

    def __init__(self, text=TEXT, name="twice"):
        self.text, self.name, self.built, self.named = text, name, 0, 0

    def build(self):
        self.built += 1
        return self.text

    def fingerprint(self):
        self.named += 1
        return self.name


def get(cache, program, key="key", options=xla.FAST_OPTIONS):
    return cache.get(key, program.fingerprint, program.build, options)


def twice(executable):
    [result] = xla.runner(executable, xla.result_handlers([F2]))([xla.put(np.array([1, 2], np.float32))])
    return xla.host(result, (2,), F2.dtype).tolist()


@pytest.fixture(autouse=True)
def no_directory_of_the_users(monkeypatch):
    monkeypatch.delenv("GLAX_COMPILATION_CACHE_DIR", raising=False)


def test_a_key_is_compiled_once():
    cache, program = ExecutableCache(), Program()
    assert get(cache, program) is get(cache, program)
    assert (program.built, program.named) == (1, 0), "without a directory nobody needs the fingerprint"
    found = cache.statistics()
    assert (found.hits, found.misses, found.disk_hits, found.size) == (1, 1, 0, 1) and found.compile_seconds > 0
    assert twice(get(cache, program)) == [2, 4]


def test_the_least_recently_used_goes_first():
    cache, program = ExecutableCache(maxsize=2), Program()
    for key in ("a", "b", "a", "c", "a", "b"):
        get(cache, program, key)
    assert program.built == 4 and len(cache) == 2
    with pytest.raises(ValueError, match="maxsize"):
        ExecutableCache(0)


def test_clear_forgets():
    cache, program = ExecutableCache(), Program()
    get(cache, program)
    cache.clear()
    assert cache.statistics() == (0, 0, 0, 0.0, 0)
    get(cache, program)
    assert program.built == 2


def test_threads_that_want_the_same_share_one_compilation():
    cache, program, found = ExecutableCache(), Program(), []

    def slow():
        time.sleep(0.05)
        return program.build()

    threads = [
        threading.Thread(target=lambda: found.append(cache.get("key", program.fingerprint, slow))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert program.built == 1 and len(found) == 4 and len(set(map(id, found))) == 1


def test_a_failure_reaches_everyone_and_is_not_kept():
    cache, failures = ExecutableCache(), []

    def slow():
        time.sleep(0.05)
        return "nonsense"

    def attempt():
        try:
            cache.get("key", lambda: "", slow)
        except xla.XlaError as error:
            failures.append(error)

    threads = [threading.Thread(target=attempt) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(failures) == 2
    assert twice(get(cache, Program())) == [2, 4]


def test_a_program_that_needs_itself_is_an_error():
    cache = ExecutableCache()
    with pytest.raises(RuntimeError, match="same program"):
        cache.get("key", lambda: "", lambda: cache.get("key", lambda: "", lambda: TEXT))


def test_the_directory_saves_building_and_compiling(tmp_path):
    first, second = ExecutableCache(), ExecutableCache()
    for cache in (first, second):
        cache.set_cache_dir(tmp_path / "made" / "here")
    program = Program()
    get(first, program)
    assert twice(get(second, program)) == [2, 4]
    assert program.built == 1 and second.statistics().disk_hits == 1
    second.clear()
    get(second, Program(name="another"))
    get(second, program, "default", xla.DEFAULT_OPTIONS)
    assert second.statistics().disk_hits == 0 and program.built == 2
    assert sorted(path.suffix for path in (tmp_path / "made" / "here").iterdir()) == [".xla"] * 3
    second.set_cache_dir(None)
    assert second.cache_dir is None and first.cache_dir == str(tmp_path / "made" / "here")


@pytest.mark.parametrize("damage", ["truncate", "flip", "empty", "foreign", "stale"])
def test_damaged_files_are_ignored_with_a_warning(tmp_path, damage):
    program, cache = Program(), ExecutableCache()
    cache.set_cache_dir(tmp_path)
    get(cache, program)
    [path] = tmp_path.iterdir()
    good = path.read_bytes()
    changed = {
        "truncate": good[:-10],
        "flip": good[:-1] + bytes([good[-1] ^ 1]),
        "empty": b"",
        "foreign": b"something else",
    }
    if damage == "stale":  # intact, but nothing that this jaxlib can load
        import hashlib

        from glax.lower.disk_cache import _MAGIC

        changed["stale"] = _MAGIC + hashlib.sha256(b"old").digest() + b"old"
    path.write_bytes(changed[damage])
    again = ExecutableCache()
    again.set_cache_dir(tmp_path)
    with pytest.warns(DiskCacheWarning, match="compiled anew"):
        assert twice(get(again, program)) == [2, 4]
    assert program.built == 2 and again.statistics().disk_hits == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again.clear()
        get(again, program)
    assert program.built == 2, "the good file is back"


def test_an_unusable_directory_is_a_warning(tmp_path):
    (tmp_path / "file").write_text("")
    cache = ExecutableCache()
    cache.set_cache_dir(tmp_path / "file" / "below")
    with pytest.warns(DiskCacheWarning):
        assert twice(get(cache, Program())) == [2, 4]


def test_programs_that_call_back_and_nameless_ones_stay_off_the_disk(tmp_path):
    cache = ExecutableCache()
    cache.set_cache_dir(tmp_path)
    call = (
        "stablehlo.custom_call @xla_ffi_python_cpu_callback(%a) {api_version = 4 : i32, has_side_effect = true, "
        "backend_config = {index = 0 : ui64}} : (tensor<2xf32>) -> tensor<2xf32>"
    )
    text = f"func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {{ %0 = {call} return %0 : tensor<2xf32> }}"
    assert twice(cache.get("callback", lambda: "callback", lambda: (text, [lambda x: (x + x,)]))) == [2, 4]
    assert twice(cache.get("nameless", lambda: "", lambda: TEXT)) == [2, 4]
    assert list(tmp_path.iterdir()) == []


def test_the_directory_works_across_processes(tmp_path):
    code = (
        "from glax.lower.executable_cache import ExecutableCache\n"
        f"text = {TEXT!r}\ncache = ExecutableCache()\ncache.get(1, lambda: 'twice', lambda: text)\n"
        "print(cache.statistics().disk_hits)"
    )
    environment = {**os.environ, "GLAX_COMPILATION_CACHE_DIR": str(tmp_path)}
    printed = [
        subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert printed == ["0\n", "1\n"]


def test_names_depend_on_everything():
    names = {entry_name(*parts) for parts in (("a", b"b"), ("ab", b""), ("a", b""), ("", b"a"), ("b", b"b"))}
    assert len(names) == 5 and entry_name("a", b"b") in names


def test_the_order_of_flags_does_not_matter():
    flags = (("xla_a", 1), ("xla_b", True))
    assert xla.CompileOptions(flags=flags).key() == xla.CompileOptions(flags=flags[::-1]).key()


def test_no_half_written_files_remain(tmp_path):
    DiskCache(tmp_path).store("name.xla", xla.compile(TEXT))
    assert [path.name for path in tmp_path.iterdir()] == ["name.xla"]
