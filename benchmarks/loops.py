"""Loops: a recurrent network trained through scan, on glax and on JAX: time of a step, of compiling, and memory.

usage: python benchmarks/loops.py --jax-python PATH [--lengths 50 1000]

PATH is a Python with jax in an environment of its own. Memory is XLA's own account of the compiled step.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
import time

import numpy as np

COLUMNS = ("lower ms", "compile ms", "step ms", "temporaries kB", "arguments kB")


def measured(library: str, lengths: list[int]) -> dict[str, list[float]]:
    top = importlib.import_module(library)
    np_, lax = importlib.import_module(f"{library}.numpy"), importlib.import_module(f"{library}.lax")
    rng = np.random.RandomState(0)

    def weights(*shape: int):
        return np_.asarray(rng.randn(*shape).astype(np.float32) * .05)

    def loss(params, xs, y):
        def cell(h, x):
            return np_.tanh(h @ params[0] + x @ params[1]), None

        last, _ = lax.scan(cell, np_.zeros((32, 64)), xs)
        return np_.mean((last - y) ** 2)

    def step(params, *batch):
        return top.tree_util.tree_map(lambda p, g: p - .1 * g, params, top.grad(loss)(params, *batch))

    rows = {}
    for length in lengths:
        args = ((weights(64, 64), weights(16, 64)), weights(length, 32, 16), weights(32, 64))
        jitted = top.jit(step)
        start = time.perf_counter()
        lowered = jitted.lower(*args)
        lowered_at = time.perf_counter()
        memory = lowered.compile().memory_analysis()
        compiled_at = time.perf_counter()
        top.block_until_ready(jitted(*args))
        times = []
        for _ in range(10):
            before = time.perf_counter()
            top.block_until_ready(jitted(*args))
            times.append(time.perf_counter() - before)
        rows[str(length)] = [(lowered_at - start) * 1e3, (compiled_at - lowered_at) * 1e3, min(times) * 1e3,
                             memory.temp_size_in_bytes / 1e3, memory.argument_size_in_bytes / 1e3]
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jax-python")
    parser.add_argument("--lengths", type=int, nargs="+", default=[50, 1000])
    parser.add_argument("--library", help="measure one library and print JSON")
    args = parser.parse_args()
    if args.library:
        print(json.dumps(measured(args.library, args.lengths)))
        return
    lengths = list(map(str, args.lengths))
    tables = {}
    for library, python in (("glax", sys.executable), ("jax", args.jax_python)):
        command = [python, __file__, "--library", library, "--lengths", *lengths]
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode:
            sys.exit(run.stderr[-2000:])
        tables[library] = json.loads(run.stdout.splitlines()[-1])
    print(f"{'steps':>8s}  " + "".join(f"{c:>34s}" for c in COLUMNS))
    for length in lengths:
        pairs = list(zip(tables["glax"][length], tables["jax"][length]))
        print(f"{length:>8s}  " + "".join(f"{f'{g:.1f} / {j:.1f} = {g / max(j, 1e-9):.2f}':>34s}" for g, j in pairs))


if __name__ == "__main__":
    main()
