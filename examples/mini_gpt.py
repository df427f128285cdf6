"""Train a small transformer to write English, and see what recomputation saves.

usage: python examples/mini_gpt.py [--steps 1000] [--width 96] [--layers 4] [--quick]

The text is Python's own help pages, a letter at a time. The parameters of all layers are stacked, and ``lax.scan`` goes
through the layers, so that compiling takes as long for many of them as for one. ``glax.checkpoint`` on a layer keeps
only its input for the reverse mode and computes the rest again; the script prints how much memory the compiled step
takes with it and without, then trains with it, and prints what the network writes.
"""

from __future__ import annotations

import argparse
import math

import numpy as np
from english import ALPHABET, help_pages, show, train, windows
from optimisers import adam, adam_step, limited

import glax
import glax.numpy as gnp
from glax import lax, nn, random

HEADS = 4


def initial_parameters(key, width: int, layers: int, context: int) -> dict:
    """Embeddings of letters and places, and the weights of all layers along a leading axis."""
    keys = random.split(key, 6)
    small = nn.initializers.normal(.02)
    weights = nn.initializers.lecun_normal(batch_axis=0)
    return {
        "letters": small(keys[0], (len(ALPHABET), width)),
        "places": small(keys[1], (context, width)),
        "layers": {
            "attention in": weights(keys[2], (layers, width, 3 * width)),
            "attention out": weights(keys[3], (layers, width, width)) / math.sqrt(2 * layers),
            "inner in": weights(keys[4], (layers, width, 4 * width)),
            "inner out": weights(keys[5], (layers, 4 * width, width)) / math.sqrt(2 * layers),
            "scales": gnp.ones((layers, 2, width)),
        },
        "scale": gnp.ones(width),
    }


def normalised(x, scale):
    """Vectors of root mean square 1, times a scale for each component."""
    return x * lax.rsqrt(gnp.mean(x ** 2, axis=-1, keepdims=True) + 1e-6) * scale


def attention(x, into, out):
    """Each place of a text looks at itself and at those before it."""
    count, width = x.shape
    query, key, value = gnp.moveaxis((x @ into).reshape(count, 3, HEADS, width // HEADS), (1, 2), (0, 1))
    scores = gnp.einsum("hqd,hkd->hqk", query, key) / math.sqrt(width // HEADS)
    scores = gnp.where(gnp.tri(count, dtype=bool), scores, -gnp.inf)
    seen = gnp.einsum("hqk,hkd->qhd", nn.softmax(scores), value)
    return seen.reshape(count, width) @ out


def layer(x, weights: dict):
    """One layer, on one text."""
    first, second = weights["scales"]
    x = x + attention(normalised(x, first), weights["attention in"], weights["attention out"])
    return x + nn.gelu(normalised(x, second) @ weights["inner in"]) @ weights["inner out"]


def next_letters(params: dict, text, checkpointed: bool = True):
    """For each place of a text, the scores of the letter that follows."""
    # In a scan the compiler cannot merge the second computation with the first, so it need not be kept from it.
    apply = glax.checkpoint(layer, prevent_cse=False) if checkpointed else layer
    x = params["letters"][text] + params["places"][:len(text)]
    x, _ = lax.scan(lambda x, weights: (apply(x, weights), None), x, params["layers"])
    return normalised(x, params["scale"]) @ params["letters"].T


def loss(params: dict, texts, checkpointed: bool = True):
    """Mean cross entropy of each next letter in a batch of texts, in bits."""
    scores = glax.vmap(lambda text: next_letters(params, text, checkpointed))(texts[:, :-1])
    logs = gnp.take_along_axis(nn.log_softmax(scores), texts[:, 1:, None], axis=-1)
    return -logs.mean() / math.log(2)


def train_step(params, state, texts, rate, checkpointed: bool = True):
    value, slopes = glax.value_and_grad(loss)(params, texts, checkpointed)
    params, state = adam_step(params, state, limited(slopes, 1.), rate)
    return params, state, value


def show_memory(params, state, texts) -> tuple[int, int]:
    """Bytes for what is in between, in the compiled step without checkpoints and with them."""
    found = []
    for checkpointed in (False, True):
        step = glax.jit(lambda *args, checkpointed=checkpointed: train_step(*args, checkpointed))
        statistics = step.lower(params, state, texts, np.float32(1e-3)).compile().memory_analysis()
        found.append(statistics.temp_size_in_bytes)
        print(f"memory of a training step {'with' if checkpointed else 'without'} checkpoints: "
              f"{statistics.temp_size_in_bytes / 2**20:.1f} MB, beside {statistics.argument_size_in_bytes / 2**20:.1f} "
              f"MB of arguments")
    return found[0], found[1]


@glax.jit(static_argnames="length")
def continued(params, key, beginning, length: int, temperature=.6):
    """What the network writes after a beginning: letter by letter, each time seeing as much as it was trained on."""
    context = params["places"].shape[0]

    def write(state, key):
        text, count = state
        scores = next_letters(params, text, checkpointed=False)[count - 1]
        letter = random.categorical(key, scores / temperature)
        full = count == context
        text = gnp.where(full, gnp.roll(text, -1), text)
        count = gnp.where(full, count, count + 1)
        return (text.at[count - 1].set(letter), count), letter

    text = gnp.zeros(context, "int32").at[:len(beginning)].set(beginning)
    return lax.scan(write, (text, gnp.int32(len(beginning))), random.split(key, length))[1]


def main(argv: list[str] | None = None) -> float:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--width", type=int, default=96)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--quick", action="store_true", help="a small network and few steps")
    args = parser.parse_args(argv)
    steps, width, layers, batch, context = args.steps, args.width, args.layers, 16, 64
    if args.quick:
        steps, width, layers, batch, context = 40, 32, 3, 8, 32
    codes = help_pages()
    held_out = codes[-len(codes) // 20:]
    key, sample_key = random.split(random.key(0))
    params = initial_parameters(key, width, layers, context)
    print(f"{len(codes):,} letters, {sum(p.size for p in glax.tree.leaves(params)):,} parameters")
    rng = np.random.default_rng(1)
    show_memory(params, adam(params), windows(codes, rng, batch, context + 1))
    step = np.arange(steps)
    # The rate rises for a tenth of the steps, then falls.
    rates = (1e-2 if args.quick else 4e-3) * np.minimum(1, 10 * (step + 1) / steps) * (1 - step / steps)
    compiled = glax.jit(train_step, donate_argnums=(0, 1))
    params, curve = train(compiled, params, codes[:-len(held_out)], rates, batch, context)
    rest = float(glax.jit(loss)(params, windows(held_out, rng, 64, context + 1)))
    print(f"bits a letter: {curve[0]:.2f} at first, {np.mean(curve[-20:]):.2f} in the end, {rest:.2f} on pages it has "
          f"not seen")
    show(continued, params, sample_key, "The function ", 100 if args.quick else 400)
    return float(np.mean(curve[-20:]))


if __name__ == "__main__":
    main()
