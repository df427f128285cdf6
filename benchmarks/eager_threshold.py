"""From which size on XLA is faster than NumPy for one operation: the numbers behind glax/_running.py.

usage: python benchmarks/eager_threshold.py
"""

from __future__ import annotations

import timeit
from collections.abc import Callable

import numpy as np

from glax._running import quietly
from glax.interp import run_jaxpr
from glax.ir import ops as o
from glax.ir import shaped_array, stage
from glax.lower import compile_program, from_numpy
from glax.lower.jaxlib_adapter import OPERATION_OPTIONS

SIZES = [256, 1024, 4096, 16_384, 65_536, 262_144, 1_000_000]
NUMBERS = (((1,), (0,)), ((), ()))
OPERATIONS: dict[str, Callable] = {
    "add": lambda x: o.add(x, x), "sin": o.sin, "atan": o.atan, "atanh": o.atanh, "exp": o.exp, "tanh": o.tanh,
    "logistic": o.logistic, "erf": o.erf,
    "select": lambda x: o.select_n(o.gt(x, np.float32(0)), x, x), "sum": lambda x: o.reduce_sum(x, (0, 1)),
    "sum rows": lambda x: o.reduce_sum(x, (1,)), "max": lambda x: o.reduce_max(x, (0,)),
    "cumsum": lambda x: o.cumsum(x, 1),
    "sort": lambda x: o.sort([x], 1)[0], "transpose": lambda x: o.mul(o.transpose(x, (1, 0)), np.float32(2)),
    "dot": lambda x: o.dot_general(x, o.transpose(x, (1, 0)), NUMBERS),
    "concatenate": lambda x: o.concatenate([x, x], 0),
}


def microseconds(f: Callable[[], object]) -> float:
    count = max(1, int(2e-3 / max(timeit.timeit(f, number=2) / 2, 1e-7)))
    return min(timeit.repeat(f, number=count, repeat=3)) / count * 1e6


def main() -> None:
    print("NumPy / XLA, microseconds")
    print(f"{'elements':12s}" + "".join(f"{n:>18,}" for n in SIZES))
    for name, f in OPERATIONS.items():
        cells = []
        for size in SIZES:
            rows = int(size ** .5)
            x = np.random.default_rng(0).normal(size=(rows, size // rows)).astype(np.float32)
            program, _ = stage(lambda x, f=f: [f(x)], [shaped_array(x.shape, x.dtype)])
            compiled, argument = compile_program(program, options=OPERATION_OPTIONS), [from_numpy(x)]
            by_numpy = microseconds(lambda p=program, x=x: quietly(run_jaxpr, p, [x]))
            cells.append(f"{by_numpy:8.1f} /{microseconds(lambda c=compiled, a=argument: c(a)):8.1f}")
        print(f"{name:12s}" + "".join(cells))


if __name__ == "__main__":
    main()
