"""English text that every Python has: the pages of its own help. Examples learn to write it, a letter at a time."""

from __future__ import annotations

import string
from pydoc_data import topics

import numpy as np

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


def written(codes) -> str:
    """Positions in ALPHABET as text."""
    return "".join(ALPHABET[i] for i in np.asarray(codes))
