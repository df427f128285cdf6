"""Every example runs with --quick, and finds what it is to find."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("tqdm")
FOLDER = Path(__file__).parent.parent.parent / "examples"


def run(name: str) -> str:
    """What an example prints."""
    command = [sys.executable, FOLDER / f"{name}.py", "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    return done.stdout


def numbers(pattern: str, text: str) -> list[float]:
    found = re.search(pattern, text)
    assert found, text
    return [float(x.replace(",", "")) for x in found.groups()]


def test_lstm_text():
    first, last, unseen = numbers(r"([\d.]+) at first, ([\d.]+) in the end, ([\d.]+) on pages", run("lstm_text"))
    assert 6 < first < 7 and last < 5 and unseen < 5


def test_mini_gpt():
    text = run("mini_gpt")
    first, last, unseen = numbers(r"([\d.]+) at first, ([\d.]+) in the end, ([\d.]+) on pages", text)
    assert 6 < first < 7 and last < 5.2 and unseen < 5.2
    without, = numbers(r"without checkpoints: ([\d.]+) MB", text)
    with_them, = numbers(r"with checkpoints: ([\d.]+) MB", text)
    assert with_them < without / 2


def test_ode():
    text = run("ode")
    loose, = numbers(r"1e-04 +(\S+)", text)
    tight, = numbers(r"1e-08 +(\S+)", text)
    assert tight < 1e-5 and tight < loose / 1000
    distance, determinant = numbers(r"differences: (\S+)\n.*: ([\d.]+)", text)
    assert distance < 1e-4 and abs(determinant - 1) < 1e-5


def test_newton():
    text = run("newton")
    volatility, slope = numbers(r"of a volatility (\S+), of a slope (\S+)", text)
    assert volatility < 1e-10 and slope < 1e-8
    backwards, forwards, differences = numbers(r" 3\.0 +\S+ +(\S+) +(\S+) +(\S+)", text)
    assert abs(backwards - differences) < 1e-6 and abs(forwards - differences) < 1e-6


def test_eight_schools():
    text = run("eight_schools")
    assert abs(numbers(r"mu: ([\d.]+)", text)[0] - 4.4) < 0.5
    assert abs(numbers(r"tau: ([\d.]+)", text)[0] - 3.6) < 0.5
    assert all(float(x) < 1.03 for x in re.findall(r"school \w +\S+ +\S+ +(\S+)", text))


def test_digits():
    pytest.importorskip("sklearn")
    text = run("digits")
    accuracy, = numbers(r"held-out accuracy: ([\d.]+)%", text)
    assert accuracy > 90 and "after clean-up" in text
