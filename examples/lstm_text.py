"""Train a recurrent network to write English, a letter at a time.

usage: python examples/lstm_text.py [--steps 600] [--units 128] [--quick]

The text is Python's own help pages. The network is an LSTM: ``lax.scan`` goes along the letters of a window, and
reverse mode goes back along it. Adam is in optimisers.py. The script prints the loss, in bits a letter, and what the
network writes after some words, before and after training.
"""

from __future__ import annotations

import argparse
import math

import numpy as np
from english import ALPHABET, help_pages, show, train, windows
from optimisers import adam_step, limited

import glax
import glax.numpy as gnp
from glax import lax, nn, random


def initial_parameters(key, units: int) -> dict:
    """An embedding of letters, the gates of the LSTM, and the scores of letters."""
    embed_key, gates_key, scores_key = random.split(key, 3)
    init = nn.initializers.glorot_normal()
    # A forget gate that starts open lets slopes through.
    bias = gnp.zeros((4, units)).at[1].set(1.).ravel()
    return {"embedding": random.normal(embed_key, (len(ALPHABET), units)) * .1,
            "gates": init(gates_key, (2 * units, 4 * units)), "gates bias": bias,
            "scores": init(scores_key, (units, len(ALPHABET))), "scores bias": gnp.zeros(len(ALPHABET))}


def step(params: dict, state: tuple, letter):
    """The state after one more letter, and the scores of the next; for one text or for many at a time."""
    hidden, cell = state
    inputs = gnp.concatenate([params["embedding"][letter], hidden], axis=-1)
    gates = inputs @ params["gates"] + params["gates bias"]
    enter, forget, leave, new = gnp.split(gates, 4, axis=-1)
    cell = nn.sigmoid(forget) * cell + nn.sigmoid(enter) * gnp.tanh(new)
    hidden = nn.sigmoid(leave) * gnp.tanh(cell)
    return (hidden, cell), hidden @ params["scores"] + params["scores bias"]


def start(params: dict, shape: tuple[int, ...] = ()) -> tuple:
    units = params["scores"].shape[0]
    return gnp.zeros((*shape, units)), gnp.zeros((*shape, units))


def loss(params: dict, texts):
    """Mean cross entropy of each next letter in a batch of texts, in bits."""
    letters = texts.T  # the loop goes along the first axis
    _, scores = lax.scan(lambda state, x: step(params, state, x), start(params, texts.shape[:1]), letters[:-1])
    logs = gnp.take_along_axis(nn.log_softmax(scores), letters[1:, :, None], axis=-1)
    return -logs.mean() / math.log(2)


@glax.jit
def train_step(params, state, texts, rate):
    value, slopes = glax.value_and_grad(loss)(params, texts)
    params, state = adam_step(params, state, limited(slopes, 1.), rate)
    return params, state, value


@glax.jit(static_argnames="length")
def continued(params, key, beginning, length: int, temperature=.6):
    """The letters that the network writes after a beginning."""
    state, scores = lax.scan(lambda state, x: step(params, state, x), start(params), beginning)

    def write(carry, key):
        state, scores = carry
        letter = random.categorical(key, scores / temperature)
        return step(params, state, letter), letter

    return lax.scan(write, (state, scores[-1]), random.split(key, length))[1]


def main(argv: list[str] | None = None) -> float:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--units", type=int, default=128)
    parser.add_argument("--quick", action="store_true", help="a small network and few steps")
    args = parser.parse_args(argv)
    steps, units, batch, length = (40, 48, 16, 32) if args.quick else (args.steps, args.units, 32, 64)
    codes = help_pages()
    held_out = codes[-len(codes) // 20:]
    key, sample_key = random.split(random.key(0))
    params = initial_parameters(key, units)
    print(f"{len(codes):,} letters, {sum(p.size for p in glax.tree.leaves(params)):,} parameters")
    show(continued, params, sample_key, "The function ", 60)
    rates = (1e-2 if args.quick else 4e-3) * (1 - np.arange(steps) / steps)
    params, curve = train(train_step, params, codes[:-len(held_out)], rates, batch, length)
    rest = windows(held_out, np.random.default_rng(1), 64, length + 1)
    print(f"bits a letter: {curve[0]:.2f} at first, {np.mean(curve[-20:]):.2f} in the end, "
          f"{float(loss(params, rest)):.2f} on pages it has not seen")
    show(continued, params, sample_key, "The function ", 120 if args.quick else 500)
    return float(np.mean(curve[-20:]))


if __name__ == "__main__":
    main()
