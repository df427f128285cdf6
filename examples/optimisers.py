"""Adam, on trees of parameters."""

from __future__ import annotations

from typing import Any, NamedTuple

import glax
import glax.numpy as gnp


class Adam(NamedTuple):
    """What Adam remembers: how many steps it made, and running means of slopes and of their squares."""

    steps: Any
    mean: Any
    square: Any


def adam(params) -> Adam:
    """The state before the first step."""
    mean, square = glax.tree.map(gnp.zeros_like, params), glax.tree.map(gnp.zeros_like, params)
    return Adam(gnp.zeros((), "int32"), mean, square)


def adam_step(params, state: Adam, slopes, rate, keep_mean: float = .9, keep_square: float = .999):
    """Parameters and state after one more step (Kingma and Ba, 2015)."""
    steps = state.steps + 1
    mean = glax.tree.map(lambda m, g: keep_mean * m + (1 - keep_mean) * g, state.mean, slopes)
    square = glax.tree.map(lambda s, g: keep_square * s + (1 - keep_square) * g ** 2, state.square, slopes)
    # Both means start at 0, and so are too small at first.
    unbias_mean, unbias_square = 1 - keep_mean ** steps, 1 - keep_square ** steps

    def moved(p, m, s):
        return p - rate * (m / unbias_mean) / (gnp.sqrt(s / unbias_square) + 1e-8)

    return glax.tree.map(moved, params, mean, square), Adam(steps, mean, square)


def limited(slopes, largest: float):
    """Slopes scaled down where their common length is above a limit."""
    length = gnp.sqrt(sum(gnp.sum(g ** 2) for g in glax.tree.leaves(slopes)))
    factor = gnp.minimum(1, largest / (length + 1e-12))
    return glax.tree.map(lambda g: g * factor, slopes)
