"""Planets by an adaptive Runge-Kutta method: how error follows tolerance, many orbits at once, and sensitivities.

usage: python examples/ode.py [--quick]

The integrator is Dormand and Prince's pair of orders 5 and 4, in a ``lax.while_loop``: the difference of the two
results of a step says whether to take it, and how long the next one is to be. It is then mapped over orbits of
different eccentricity (each has its own steps, the loop goes on until all are done) and differentiated forwards: the
derivative of the state after one revolution by the state at its start has a determinant of 1, as mechanics demands, and
agrees with differences. All is done in 64 bits.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import glax
import glax.numpy as gnp
from glax import lax

# The coefficients of Dormand and Prince (1980): when stages are taken, of which slopes, and their weights.
TIMES = (0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1)
STAGES = (
    (),
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
FIFTH_LESS_FOURTH = (71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)


class Progress(NamedTuple):
    """Where an integration is: time, state, its slope, the length of the next step, and steps tried and taken."""

    t: Any
    y: Any
    slope: Any
    h: Any
    tried: Any
    taken: Any


def combined(weights: tuple[float, ...], slopes: list):
    return sum(w * k for w, k in zip(weights, slopes) if w)


def try_step(f: Callable, now: Progress, h):
    """The state after a step of length h, its slope there, and an estimate of the error."""
    slopes = [now.slope]
    for time, weights in zip(TIMES[1:], STAGES[1:]):
        y = now.y + h * combined(weights, slopes)
        slopes.append(f(now.t + time * h, y))
    return y, slopes[-1], h * combined(FIFTH_LESS_FOURTH, slopes)


def integrate(f: Callable, y0, end, tolerance, most_steps: int = 100_000) -> Progress:
    """Integrate y' = f(t, y) from 0 to an end.

    The error of a step is kept within the tolerance, in units of 1 or of y where that is larger.
    """
    def step(now: Progress) -> Progress:
        h = gnp.minimum(now.h, end - now.t)
        y, slope, error = try_step(f, now, h)
        scale = tolerance * (1 + gnp.maximum(gnp.abs(now.y), gnp.abs(y)))
        size = gnp.sqrt(gnp.mean((error / scale) ** 2) + 1e-30)
        good = size <= 1
        factor = gnp.clip(.9 * size ** -.2, .2, 5.)
        t, y, slope = (gnp.where(good, new, old) for new, old in ((now.t + h, now.t), (y, now.y), (slope, now.slope)))
        return Progress(t, y, slope, h * factor, now.tried + 1, now.taken + good)

    def going_on(now: Progress):
        return (now.t < end) & (now.tried < most_steps)

    slope = f(0., y0)
    start = Progress(gnp.zeros_like(end), y0, slope, end * 1e-3, gnp.int32(0), gnp.int32(0))
    return lax.while_loop(going_on, step, start)


def gravity(t, state):
    """The slope of a position and a velocity in the plane, round a sun at the origin."""
    position, velocity = state[:2], state[2:]
    return gnp.concatenate([velocity, -position / (position @ position) ** 1.5])


def nearest_point(eccentricity):
    """Position and velocity where an orbit of half axis 1, and so of period 2 pi, is nearest to the sun."""
    return gnp.stack([1 - eccentricity, 0., 0., gnp.sqrt((1 + eccentricity) / (1 - eccentricity))])


def after(state, revolutions, tolerance) -> Progress:
    return integrate(gravity, state, 2 * math.pi * revolutions, tolerance)


def show_errors(tolerances: list[float]) -> list[float]:
    """How far from its start a planet is after one revolution, for each tolerance."""
    revolve = glax.jit(lambda tolerance: after(nearest_point(.5), 1., tolerance))
    print("one revolution at eccentricity 0.5\ntolerance   error      steps tried  taken")
    errors = []
    for tolerance in tolerances:
        last = revolve(tolerance)
        errors.append(float(gnp.linalg.norm(last.y - nearest_point(.5))))
        print(f"{tolerance:9.0e}   {errors[-1]:8.1e}   {int(last.tried):11}  {int(last.taken):5}")
    return errors


def show_orbits(tolerance: float) -> None:
    """Orbits of different eccentricity at once."""
    eccentricities = gnp.linspace(0., .9, 10)
    orbits = glax.jit(glax.vmap(lambda e: after(nearest_point(e), 1., tolerance)))(eccentricities)
    errors = gnp.abs(orbits.y - glax.vmap(nearest_point)(eccentricities)).max(axis=1)
    print(f"\nten orbits at once, to a tolerance of {tolerance:.0e}\neccentricity  error      steps")
    for e, error, taken in zip(eccentricities.tolist(), errors.tolist(), orbits.taken.tolist()):
        print(f"{e:12.1f}  {error:8.1e}  {taken:6}")


def show_sensitivities(tolerance: float, width: float = 1e-6) -> float:
    """The derivative of the state after one revolution by the state before it."""
    def final(state):
        return after(state, 1., tolerance).y

    start = nearest_point(.5)
    by_derivative = glax.jit(glax.jacfwd(final))(start)
    around = glax.vmap(final)(gnp.concatenate([start + width * gnp.eye(4), start - width * gnp.eye(4)]))
    by_differences = ((around[:4] - around[4:]) / (2 * width)).T
    distance = float(gnp.abs(by_derivative - by_differences).max())
    with np.printoptions(precision=4, suppress=True):
        print(f"\nd(state after a revolution) / d(state before), by jacfwd:\n{by_derivative}")
    print(f"largest distance from differences: {distance:.1e}")
    print(f"determinant, which is to be 1: {np.linalg.det(np.asarray(by_derivative)):.9f}")
    return distance


def main(argv: list[str] | None = None) -> list[float]:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer tolerances")
    args = parser.parse_args(argv)
    with glax.enable_x64(True):
        errors = show_errors([10. ** -n for n in ((4, 8) if args.quick else range(3, 13))])
        show_orbits(1e-6 if args.quick else 1e-9)
        show_sensitivities(1e-8 if args.quick else 1e-11)
    return errors


if __name__ == "__main__":
    main()
