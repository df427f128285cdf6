"""English text that every Python has: the pages of its own help. Examples learn to write it, a letter at a time."""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from pydoc_data import topics

import numpy as np
from optimisers import adam
from tqdm import tqdm

ALPHABET = "\n " + string.ascii_letters + string.digits + string.punctuation


def help_pages() -> np.ndarray:
    """All pages after one another, as positions in ALPHABET; other letters are left out."""
    place = {letter: i for i, letter in enumerate(ALPHABET)}
    text = "\n\n".join(topics.topics[name] for name in sorted(topics.topics))
    return np.array([place[letter] for letter in text if letter in place], np.int32)


def windows(codes: np.ndarray, rng: np.random.Generator, count: int, length: int) -> np.ndarray:
    """Pieces of the text from random places, one a row."""
    starts = rng.integers(0, len(codes) - length, count)
    return codes[starts[:, None] + np.arange(length)]


def coded(text: str) -> np.ndarray:
    """Text as positions in ALPHABET."""
    return np.array([ALPHABET.index(letter) for letter in text], np.int32)


def written(codes) -> str:
    """Positions in ALPHABET as text."""
    return "".join(ALPHABET[i] for i in np.asarray(codes))


def show(continued: Callable, params, key, beginning: str, length: int) -> None:
    """Print what a network writes after a beginning."""
    text = written(continued(params, key, coded(beginning), length=length))
    print(f"--- {beginning!r}, continued ---\n{beginning}{text}\n")


def train(step: Callable, params, codes: np.ndarray, rates: Sequence[float], batch: int, length: int, seed: int = 0):
    """Parameters after a step of Adam at each rate, and the loss of each."""
    rng = np.random.default_rng(seed)
    state, curve = adam(params), []
    with tqdm(rates, desc="training", unit="step") as bar:
        for i, rate in enumerate(bar):
            params, state, value = step(params, state, windows(codes, rng, batch, length + 1), np.float32(rate))
            curve.append(value)
            if i % 20 == 0:
                bar.set_postfix(bits=f"{float(value):.3f}")
    return params, [float(value) for value in curve]
