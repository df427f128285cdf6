"""Time one library, glax or jax, at every step from a Python function to a training step.

usage: python benchmarks/measure.py glax|jax [--quick]

Prints one JSON object, metric -> microseconds, the best of several runs. benchmarks/compare.py runs it on both.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np


class Library:
    """The modules of a library, by the names that glax and jax share."""

    def __init__(self, name: str):
        start = time.perf_counter()
        self.top = importlib.import_module(name)
        self.np = importlib.import_module(f"{name}.numpy")
        self.lax = importlib.import_module(f"{name}.lax")
        self.import_seconds = time.perf_counter() - start
        self.nn = importlib.import_module(f"{name}.nn")


def best(f: Callable[[], Any], repeats: int = 5, calls: int = 1) -> float:
    """Microseconds a call, the best of several runs of some calls."""
    shortest = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(calls):
            f()
        shortest = min(shortest, (time.perf_counter() - start) / calls)
    return shortest * 1e6


def anew(f: Callable) -> Callable:
    """f as a function never seen before, so that nothing is found in a cache by its identity."""
    return lambda *args: f(*args)


def front_end(lib: Library, length: int) -> dict[str, Callable[[], float]]:
    """Costs per equation of a chain of sin, mul, add, cos on four floats."""
    x = lib.np.arange(4.)
    jaxpr = lib.top.make_jaxpr

    def through_numpy(x):
        for _ in range(length // 4):
            x = lib.np.sin(x) * x + lib.np.cos(x)
        return x

    def through_lax(x):
        for _ in range(length // 4):
            x = lib.lax.add(lib.lax.mul(lib.lax.sin(x), x), lib.lax.cos(x))
        return x

    def total(x):
        return through_numpy(x).sum()

    def slope(x):
        return lib.top.grad(total)(x).sum()

    def directional(x):
        return lib.top.jvp(anew(through_numpy), (x,), (x,))

    def per_equation(f: Callable[[], Any], repeats: int = 5) -> Callable[[], float]:
        return lambda: best(f, repeats) / length

    return {
        "stage lax": per_equation(lambda: jaxpr(anew(through_lax))(x)),
        "stage numpy": per_equation(lambda: jaxpr(anew(through_numpy))(x)),
        "jaxpr of vmap": per_equation(lambda: jaxpr(lib.top.vmap(anew(through_numpy)))(x)),
        "jaxpr of jvp": per_equation(lambda: jaxpr(anew(directional))(x)),
        "jaxpr of grad": per_equation(lambda: jaxpr(lib.top.grad(anew(total)))(x)),
        "jaxpr of grad grad": per_equation(lambda: jaxpr(lib.top.grad(anew(slope)))(x), 2),
        "stage and lower": per_equation(lambda: lib.top.jit(anew(through_numpy)).lower(x), 3),
        "xla compile": lambda: best(lib.top.jit(anew(through_numpy)).lower(x).compile, 1) / length,
    }


def calls(lib: Library) -> dict[str, Callable[[], float]]:
    """Costs of a call: of compiled functions, of operations on values, of transformed fresh functions."""
    np_, ready = lib.np, lib.top.block_until_ready
    x, host, large = np_.arange(4.), np.arange(4, dtype=np.float32), np_.ones((1000, 1000))
    medium, tree = np_.ones(10_000), {f"w{i}": np_.ones(3) for i in range(30)}
    sine = lib.top.jit(lambda x: np_.sin(x))
    doubled = lib.top.jit(lambda d: {k: v * 2. for k, v in d.items()})
    affine = lib.top.jit(lambda x: x * 2. + 1.)
    scaled = lib.top.jit(lambda x, scale: x * scale)
    of_static = lib.top.jit(lambda x, scale: x * scale, static_argnums=1)
    donating = lib.top.jit(lambda x, step: x + step, donate_argnums=0)
    given_up = [np_.arange(4.) + 0.]

    def donate() -> None:
        given_up[0] = donating(given_up[0], x)

    for f, *arguments in ((sine, x), (sine, host), (doubled, tree), (affine, medium), (scaled, x, .5),
                          (of_static, x, 2)):
        ready(f(*arguments))
        ready(f(*arguments))
    ready(scaled(x, scale=x))
    donate()
    return {
        "jit call": lambda: best(lambda: sine(x), 5, 5000),
        "jit call numpy": lambda: best(lambda: sine(host), 5, 5000),
        "jit call 30 arrays": lambda: best(lambda: doubled(tree), 5, 500),
        "jit call number": lambda: best(lambda: scaled(x, .5), 5, 3000),
        "jit call named": lambda: best(lambda: scaled(x, scale=x), 5, 3000),
        "jit call static": lambda: best(lambda: of_static(x, 2), 5, 3000),
        "jit call donated": lambda: best(donate, 5, 3000),
        "jit call 10k": lambda: best(lambda: ready(affine(medium)), 5, 500),
        "eager add": lambda: best(lambda: x + x, 5, 3000),
        "eager sin": lambda: best(lambda: np_.sin(x), 5, 3000),
        "eager sum": lambda: best(lambda: x.sum(), 5, 500),
        "eager index": lambda: best(lambda: x[1], 5, 500),
        "eager sin 1M": lambda: best(lambda: ready(np_.sin(large)), 5, 3),
        "eager matmul 1000": lambda: best(lambda: ready(large @ large), 3),
        "eager grad": lambda: best(lambda: ready(lib.top.grad(lambda x: np_.sin(x).sum())(x)), 5, 100),
        "eager vmap": lambda: best(lambda: ready(lib.top.vmap(lambda x: np_.sin(x))(x)), 5, 100),
        "eager hessian": lambda: best(lambda: ready(lib.top.hessian(lambda x: (np_.sin(x) * x).sum())(x)), 3, 10),
    }


def training(lib: Library) -> dict[str, Callable[[], float]]:
    """First and later steps of gradient descent on perceptrons of two sizes and a small transformer."""
    np_, nn = lib.np, lib.nn
    rng = np.random.RandomState(0)

    def weights(*shape: int) -> Any:
        return np_.asarray(rng.randn(*shape).astype(np.float32) * .05)

    def layers(sizes: list[int]) -> list:
        return [(weights(a, b), np_.zeros(b)) for a, b in zip(sizes, sizes[1:])]

    def one_hot(count: int, classes: int) -> Any:
        return np_.asarray(np.eye(classes, dtype=np.float32)[rng.randint(0, classes, count)])

    def perceptron_loss(params, x, y):
        for w, b in params[:-1]:
            x = np_.tanh(x @ w + b)
        w, b = params[-1]
        z = x @ w + b
        return -np_.mean(np_.sum((z - nn.logsumexp(z, axis=1, keepdims=True)) * y, axis=1))

    def attend(p, x):
        tokens, width = x.shape

        def heads(t):
            return t.reshape(tokens, 4, width // 4).transpose(1, 0, 2)

        q, k, v = (heads(x @ p[name]) for name in "qkv")
        scores = q @ k.transpose(0, 2, 1) / np.float32(np.sqrt(width // 4))
        scores = np_.where(np.tril(np.ones((tokens, tokens), bool)), scores, -1e9)
        mixed = (nn.softmax(scores, axis=-1) @ v).transpose(1, 0, 2).reshape(tokens, width)
        x = x + mixed @ p["o"]
        return x + nn.gelu(x @ p["f"]) @ p["g"]

    def transformer_loss(blocks, x, y):
        def one(x):
            for block in blocks:
                x = attend(block, x)
            return x

        return np_.mean((lib.top.vmap(one)(x) - y) ** 2)

    def step_of(loss):
        def step(params, *batch):
            slopes = lib.top.grad(loss)(params, *batch)
            return lib.top.tree_util.tree_map(lambda p, g: p - .1 * g, params, slopes)

        return lib.top.jit(step)

    width = 64
    blocks = [dict(q=weights(width, width), k=weights(width, width), v=weights(width, width), o=weights(width, width),
                   f=weights(width, 4 * width), g=weights(4 * width, width)) for _ in range(4)]
    cases = {
        "small MLP": (perceptron_loss, layers([16, 64, 64, 4]), weights(32, 16), one_hot(32, 4)),
        "large MLP": (perceptron_loss, layers([784, 512, 256, 10]), weights(128, 784), one_hot(128, 10)),
        "transformer": (transformer_loss, blocks, weights(8, 32, width), weights(8, 32, width)),
    }
    metrics = {}
    for name, (loss, *args) in cases.items():
        run = partial(lambda step, args: lib.top.block_until_ready(step(*args)), step_of(loss), args)
        metrics[f"{name} first step"] = lambda run=run: best(run, 1)
        metrics[f"{name} step"] = lambda run=run: best(run, 5, 20)
    return metrics


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library", choices=["glax", "jax"])
    parser.add_argument("--quick", action="store_true", help="a shorter chain")
    args = parser.parse_args()
    lib = Library(args.library)
    results: dict[str, float | None] = {"import": lib.import_seconds * 1e6}
    for group in (front_end(lib, 400 if args.quick else 1000), calls(lib), training(lib)):
        for name, metric in group.items():
            try:
                results[name] = round(metric(), 3)
            except Exception as error:
                results[name] = None
                print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
    print(json.dumps(results))


if __name__ == "__main__":
    main()
