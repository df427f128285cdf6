"""Settings: names, values, overrides and threads."""

import os
import subprocess
import sys
import threading

import pytest

from glax.ir.config import FIELDS, config, enable_x64


def test_defaults():
    assert {name: getattr(config, name) for name in FIELDS} == {
        "enable_x64": os.environ.get("GLAX_ENABLE_X64", "").lower() in ("1", "true", "yes", "y", "on", "t"),
        "check_rewrites": False,
        "debug_nans": False,
        "debug_infs": False,
        "disable_jit": False,
        "numpy_dtype_promotion": "standard",
        "default_matmul_precision": None,
    }


@pytest.mark.parametrize("name", ["debug_nans", "jax_debug_nans", "glax_debug_nans"])
def test_update_takes_prefixes(name):
    config.update(name, True)
    try:
        assert config.debug_nans is True
        assert getattr(config, name) is True
    finally:
        config.update("debug_nans", False)
    assert config.debug_nans is False


def test_assignment_is_update():
    config.debug_infs = True
    try:
        assert type(config).debug_infs is True
    finally:
        config.update("debug_infs", False)
    with pytest.raises(AttributeError, match="cannot be deleted"):
        del config.debug_infs


@pytest.mark.parametrize(
    ("name", "value", "error", "text"),
    [
        ("enabel_x64", True, AttributeError, "did you mean 'enable_x64'"),
        ("jax_debug_nan", True, AttributeError, "did you mean 'debug_nans'"),
        ("zzz", True, AttributeError, "the settings are enable_x64"),
        (3, True, TypeError, "name of a setting is a str, got int"),
        ("enable_x64", "yes", TypeError, "expected a bool, got 'yes' of type str"),
        ("enable_x64", 1, TypeError, "expected a bool, got 1 of type int"),
        ("numpy_dtype_promotion", "lax", ValueError, "'strict'.*got 'lax'"),
        ("numpy_dtype_promotion", None, ValueError, "got None"),
        ("default_matmul_precision", 3, TypeError, "got int 3"),
    ],
)
def test_update_errors(name, value, error, text):
    with pytest.raises(error, match=text):
        config.update(name, value)
    with pytest.raises(error, match=text):
        config.override(**{str(name): value}) if isinstance(name, str) else config.update(name, value)


def test_override_nests_and_restores():
    before = config.enable_x64
    with enable_x64(True):
        with config.override(jax_enable_x64=False, numpy_dtype_promotion="strict"):
            assert (config.enable_x64, config.numpy_dtype_promotion) == (False, "strict")
        assert (config.enable_x64, config.numpy_dtype_promotion) == (True, "standard")
    assert config.enable_x64 is before


def test_override_restores_after_an_error():
    with pytest.raises(KeyError), config.override(debug_nans=True):
        raise KeyError
    assert config.debug_nans is False


def test_override_is_reusable_and_a_decorator():
    context = config.override(disable_jit=True)
    with context, context:
        assert config.disable_jit
    assert not config.disable_jit
    assert context(lambda: config.disable_jit)() is True
    assert not config.disable_jit


def _in_thread(f):
    out = []
    thread = threading.Thread(target=lambda: out.append(f()))
    thread.start()
    thread.join()
    return out[0]


def test_override_is_of_one_thread_and_update_of_all():
    with config.override(debug_nans=True):
        assert _in_thread(lambda: config.debug_nans) is False
    config.update("debug_nans", True)
    try:
        assert _in_thread(lambda: config.debug_nans) is True
        with config.override(debug_nans=False):
            assert config.debug_nans is False
    finally:
        config.update("debug_nans", False)


@pytest.mark.parametrize(("text", "shown"), [("1", "True"), ("true", "True"), ("0", "False"), ("", "False")])
def test_environment(text, shown):
    code = "from glax.ir.config import config; print(config.enable_x64)"
    env = {**os.environ, "GLAX_ENABLE_X64": text}
    assert subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True).stdout.strip() == shown


def test_environment_error():
    env = {**os.environ, "GLAX_ENABLE_X64": "maybe"}
    ran = subprocess.run([sys.executable, "-c", "import glax.ir.config"], env=env, capture_output=True, text=True)
    assert ran.returncode and "GLAX_ENABLE_X64: expected one of" in ran.stderr


def test_one_override_entered_in_two_threads_at_once():
    context, entered, leave = config.override(debug_infs=True), threading.Event(), threading.Event()
    found = []

    def other():
        with config.override(debug_infs=False):
            with context:
                entered.set()
                leave.wait(10)
            found.append(config.debug_infs)

    thread = threading.Thread(target=other)
    with config.override(debug_infs=True):
        with context:
            thread.start()
            assert entered.wait(10)
        found.append(config.debug_infs)
        leave.set()
        thread.join()
        found.append(config.debug_infs)
    assert found == [True, False, True]
    assert not config.debug_infs
