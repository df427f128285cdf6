"""Programs before and after a rewrite, as text (tests/rewrite/fixtures/programs.txt)."""

import re
from pathlib import Path

import pytest

from glax import rewrite
from glax.ir import check, parse

REWRITES = {
    "cse": rewrite.cse, "fold": rewrite.fold, "simplify": rewrite.simplify, "inline": rewrite.inline,
    "clean_up": rewrite.clean_up, "jit": rewrite.jit, "dce": lambda j: rewrite.dce(j)[0],
    "jvp": lambda j: rewrite.jvp(j, [True] * len(j.in_binders))[0],
    "vmap": lambda j: rewrite.vmap(j, rewrite.BatchAxis(5), [0] * len(j.in_binders))[0],
    "transpose": lambda j: rewrite.transpose(j, [True] * len(j.in_binders))[0],
}


def cases():
    text = (Path(__file__).parent / "fixtures" / "programs.txt").read_text()
    return re.findall(r"# (\w+): (.*)\n((?:.|\n)*?)\n--\n((?:.|\n)*?)(?:\n\n|\n?\Z)", text)


def test_all_cases_were_read():
    assert len(cases()) == 13


@pytest.mark.parametrize("name, what, before, after", cases(), ids=lambda x: x if len(x) < 60 else "")
def test_rewrite(name, what, before, after):
    program = parse(before)
    check(program)
    found = REWRITES[name](program)
    check(found)
    assert found == parse(after), f"{what}:\n{found}"
