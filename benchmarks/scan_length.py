"""How long it takes to compile a scan, by the number of its steps, which should not matter.

usage: python benchmarks/scan_length.py [--short 1000] [--long 100000]

Prints milliseconds to lower and compile a scan, its gradient and a batch of gradients, at both lengths, and the ratio.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable

import glax
import glax.numpy as gnp
from glax import lax


def totals(length: int, salt: float) -> Callable:
    """A function with a scan that no other call has compiled, whatever is in the caches."""
    def f(x):
        carry, ys = lax.scan(lambda c, _: (gnp.sin(c) * x + salt, c.sum()), x, None, length)
        return carry.sum() + ys.sum()

    return f


KINDS: dict[str, tuple[Callable, tuple[int, ...]]] = {
    "scan": (lambda f: f, (4,)), "grad": (glax.grad, (4,)), "vmap of grad": (lambda f: glax.vmap(glax.grad(f)), (3, 4))}


def milliseconds(kind: str, length: int, repeats: int) -> float:
    wrap, shape = KINDS[kind]
    x, best = gnp.ones(shape), float("inf")
    for _ in range(repeats):
        traced = glax.jit(wrap(totals(length, random.random()))).trace(x)
        start = time.perf_counter()
        traced.lower().compile()
        best = min(best, time.perf_counter() - start)
    return best * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", type=int, default=1000)
    parser.add_argument("--long", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    print(f"{'ms to compile':16s} {args.short:>10,} {args.long:>10,}   ratio")
    for kind in KINDS:
        short, long = (milliseconds(kind, n, args.repeats) for n in (args.short, args.long))
        print(f"{kind:16s} {short:10.1f} {long:10.1f}   {long / short:.2f}")


if __name__ == "__main__":
    main()
