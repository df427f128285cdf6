"""The snippets of the README and the examples in docstrings do what they show."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import glax
from glax.ir import OPERATIONS

ROOT = Path(__file__).parent.parent
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.fixture(autouse=True)
def operations_of_examples():
    """What examples register is for them alone: other tests go through all operations."""
    before = set(OPERATIONS)
    yield
    for name in set(OPERATIONS) - before:
        del OPERATIONS[name]


def modules():
    found = ["glax"]
    for info in pkgutil.walk_packages(glax.__path__, "glax."):
        found.append(info.name)
    for room in ("ir", "rewrite", "interp", "lower"):
        package = importlib.import_module(f"glax.{room}")
        found.append(package.__name__)
        found.extend(info.name for info in pkgutil.walk_packages(package.__path__, f"glax.{room}."))
    return sorted(set(found))


@pytest.mark.parametrize("name", modules())
def test_docstring_examples(name):
    results = doctest.testmod(importlib.import_module(name), optionflags=FLAGS)
    assert results.failed == 0


@pytest.mark.parametrize("room", ["lax", "numpy"])
def test_public_functions_have_examples_that_run(room):
    """Those made from tables as well, which doctest does not look for in the module that has them."""
    module = importlib.import_module(f"glax.{room}")
    for name in module.__all__:
        function = getattr(module, name)
        if not callable(function) or isinstance(function, type) or not str(function.__module__).startswith("glax"):
            continue
        test = doctest.DocTestParser().get_doctest(function.__doc__, {}, name, None, 0)
        assert test.examples, f"{name} has no example"
        assert doctest.DocTestRunner(optionflags=FLAGS).run(test).failed == 0, name


def test_readme_snippets():
    text = (ROOT / "README.md").read_text()
    code = "\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
    test = doctest.DocTestParser().get_doctest(code, {}, "README.md", "README.md", 0)
    out = []
    results = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=out.append)
    assert results.failed == 0, "".join(out)
    assert results.attempted > 20


def test_architecture_names_files_that_exist():
    text = (ROOT / "docs" / "architecture.md").read_text()
    for path in re.findall(r"`((?:ir|rewrite|interp|lower|glax|tests)/[\w/.]*)`", text):
        assert (ROOT / path).exists(), path
