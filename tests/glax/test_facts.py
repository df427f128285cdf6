"""Literal facts: what expressions come to, recorded from JAX, and that staging them makes no difference.

Each line of facts.txt is ``expression -> dtype[shape] values``; a star after the dtype marks a weak one, and
``!! Error`` an error.
"""

import re
from pathlib import Path

import numpy as np
import pytest

import glax.numpy as xp
from glax import lax
from glax.interp import evaluate_jaxpr
from glax.ir import ConcretizationTypeError, ShapedArray, TracerArrayConversionError, stage
from glax.ir.tree import flatten
from glax.lower import Array

FACTS = [line.split(" -> ", 1) for line in (Path(__file__).parent / "facts.txt").read_text().splitlines() if line]
VALUES = {
    "f": xp.float32(1.5), "a": xp.arange(5.0), "i5": xp.arange(5), "m": xp.arange(12.0).reshape(3, 4),
    "b16": xp.bfloat16(2), "c": xp.array([1 + 2j, 3 - 1j]), "t3": xp.arange(24.0).reshape(2, 3, 4),
    "u8": xp.arange(4, dtype="uint8"), "nn": xp.array([1.0, xp.nan, -2.0, xp.inf]), "bb": xp.array([True, False, True]),
}


def shown(result) -> str:
    if isinstance(result, (list, tuple)):
        return "(" + ", ".join(map(shown, result)) + ")"
    if not hasattr(result, "aval"):
        return repr(result)
    value = np.asarray(result)
    if value.dtype.name in ("bfloat16", "float16"):
        value = value.astype(np.float32)
    text = np.array2string(value, precision=4, suppress_small=True, threshold=60).replace("\n", "")
    text = re.sub(r"\s+", " ", text.replace("-0. ", "0. ").replace("-0.]", "0.]"))
    star = "*" if result.aval.weak_type else ""
    return f"{result.aval.dtype}{star}{list(result.aval.shape)} {text}"


def run(expression: str, **values):
    return eval(expression, {"xp": xp, "lax": lax, "np": np, **values})


@pytest.mark.parametrize("expression, expected", FACTS, ids=[e for e, _ in FACTS])
def test_fact(expression, expected):
    try:
        found = shown(run(expression, **VALUES))
    except Exception as error:
        kinds = [f"!! {kind.__name__}" for kind in type(error).__mro__]  # some errors are of two kinds
        found = expected if expected in kinds else kinds[0]
    assert found == expected


@pytest.mark.parametrize("expression", [e for e, r in FACTS if not r.startswith("!!")])
def test_staged_is_eager(expression):
    """Inputs are staged values here; what needs contents says so, and nothing else differs."""
    eager, tree = flatten(run(expression, **VALUES))

    def function(*inputs):
        leaves, staged_tree = flatten(run(expression, **dict(zip(VALUES, inputs))))
        assert staged_tree == tree
        return [leaf for leaf in leaves if hasattr(leaf, "aval")]

    try:
        jaxpr, consts = stage(function, [ShapedArray(v.shape, v.dtype, v.weak_type) for v in VALUES.values()])
    except (ConcretizationTypeError, TracerArrayConversionError, IndexError):
        pytest.skip("needs concrete values")
    results = evaluate_jaxpr(jaxpr, *[np.asarray(xp.asarray(c)) for c in consts], *map(np.asarray, VALUES.values()))
    arrays = [x for x in eager if isinstance(x, Array)]
    assert len(results) == len(arrays)
    for got, out, want in zip(results, jaxpr.outs, arrays):
        assert (out.aval.shape, out.aval.dtype) == (want.shape, want.dtype)
        np.testing.assert_allclose(got.astype(np.complex128), np.asarray(want).astype(np.complex128), rtol=1e-5,
                                   atol=1e-6)
