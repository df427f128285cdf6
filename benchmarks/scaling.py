"""How the cost of an equation grows with the length of the program, and how much memory a staged equation takes.

usage: python benchmarks/scaling.py [--short 1000] [--long 100000]

Prints microseconds per source equation at both lengths and their ratio, for staging, each rewrite, and lowering; then
the peak of memory allocated per equation while staging.
"""

from __future__ import annotations

import argparse
import gc
import time
import tracemalloc
from collections.abc import Callable

import glax
import glax.numpy as gnp
from glax import lax, lower, rewrite
from glax.ir import Jaxpr, check, parse


def chain(length: int) -> Callable:
    def f(x):
        for _ in range(length // 4):
            x = lax.add(lax.mul(lax.sin(x), x), lax.cos(x))
        return x

    return f


def staged(length: int) -> Jaxpr:
    return glax.make_jaxpr(chain(length))(gnp.arange(4.)).jaxpr


def seconds(f: Callable, repeats: int) -> float:
    best = float("inf")
    for _ in range(repeats):
        gc.collect()
        start = time.perf_counter()
        f()
        best = min(best, time.perf_counter() - start)
    return best


def costs(length: int, repeats: int) -> dict[str, float]:
    """Microseconds per equation of every step."""
    program = staged(length)
    text = str(program)
    linearized = rewrite.linearize(program, [True])
    residuals = linearized.residual_count
    steps = {
        "stage": lambda: staged(length),
        "jvp": lambda: rewrite.jvp(program, [True]),
        "vmap": lambda: rewrite.vmap(program, rewrite.BatchAxis(3), [0]),
        "linearize": lambda: rewrite.linearize(program, [True]),
        "transpose": lambda: rewrite.transpose(linearized.linear, [False] * residuals + [True]),
        "grad": lambda: glax.make_jaxpr(glax.grad(lambda x: chain(length)(x).sum()))(gnp.arange(4.)),
        "inline": lambda: rewrite.inline(program),
        "fold": lambda: rewrite.fold(program),
        "simplify": lambda: rewrite.simplify(program),
        "cse": lambda: rewrite.cse(program),
        "dce": lambda: rewrite.dce(program),
        "check": lambda: check(program),
        "print": lambda: str(program),
        "parse": lambda: parse(text),
        "lower": lambda: lower.lower(program),
    }
    return {name: seconds(step, repeats) / length * 1e6 for name, step in steps.items()}


def memory_per_equation(length: int) -> float:
    gc.collect()
    tracemalloc.start()
    program = staged(length)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / len(program.eqns)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", type=int, default=1000)
    parser.add_argument("--long", type=int, default=100_000)
    args = parser.parse_args()
    short, long = costs(args.short, 15), costs(args.long, 5)
    print(f"{'us per equation':16s} {args.short:>10,} {args.long:>10,}   ratio")
    for name, cost in short.items():
        print(f"{name:16s} {cost:10.2f} {long[name]:10.2f}   {long[name] / cost:.2f}")
    print(f"peak memory of staging, bytes per equation: {memory_per_equation(args.long):.0f}")


if __name__ == "__main__":
    main()
