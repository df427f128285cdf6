"""Compare glax with JAX: run benchmarks/measure.py on both in turn, and print the ratios beside the goals.

usage: python benchmarks/compare.py --jax-python PATH [--rounds 3] [--quick]

PATH is a Python that has jax installed, in an environment of its own; this one must have glax. Each ratio is that of
the medians over the rounds, which alternate between the libraries. The machine should be otherwise idle.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

MEASURE = Path(__file__).with_name("measure.py")

# glax / JAX, at most.
GOALS = {
    "import": .6, "stage lax": .4, "stage numpy": .3, "jaxpr of vmap": .25, "jaxpr of jvp": .25, "jaxpr of grad": .3,
    "jaxpr of grad grad": .2, "stage and lower": .5, "jit call": 1.1, "jit call numpy": 1.1, "jit call 30 arrays": 1.1,
    "jit call 10k": .5, "eager add": .5, "eager sin": .5, "eager sum": .5, "eager index": .5, "eager grad": .3,
    "eager vmap": .3, "eager hessian": .3, "small MLP step": .6, "large MLP step": 1.,
}


def measured(python: str, library: str, extra: list[str]) -> dict[str, float | None]:
    run = subprocess.run([python, str(MEASURE), library, *extra], capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{library}: {run.stderr[-2000:]}")
    if run.stderr.strip():
        print(run.stderr.strip(), file=sys.stderr)
    return json.loads(run.stdout.strip().splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jax-python", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    extra = ["--quick"] if args.quick else []
    rounds = [(measured(sys.executable, "glax", extra), measured(args.jax_python, "jax", extra))
              for _ in range(args.rounds)]
    print(f"{'us':24s} {'glax':>12s} {'jax':>12s} {'ratio':>7s} {'goal':>6s}")
    ratios = []
    for name in rounds[0][1]:
        pairs = [(g.get(name), j.get(name)) for g, j in rounds]
        if any(g is None or j is None for g, j in pairs):
            print(f"{name:24s} not measured")
            continue
        ours, theirs = (statistics.median(column) for column in zip(*pairs))
        ratio = ours / theirs
        ratios.append(ratio)
        goal = GOALS.get(name)
        verdict = "" if goal is None else f"{goal:6.2f} {'reached' if ratio <= goal else 'missed'}"
        print(f"{name:24s} {ours:12.2f} {theirs:12.2f} {ratio:7.2f} {verdict}")
    ahead = sum(r < 1 for r in ratios)
    print(f"ahead on {ahead} of {len(ratios)}, geometric mean {statistics.geometric_mean(ratios):.3f}")


if __name__ == "__main__":
    main()
