"""Newton's method, with derivatives that follow from the equation: prices of options, and a reaction that may explode.

usage: python examples/newton.py [--points 199] [--quick]

``lax.custom_root`` finds a root by any loop, and differentiates the equation rather than the loop. The first part finds
the volatilities that prices of options imply, one equation each, mapped over a table of prices; their derivatives are
compared with the formula. The second solves u'' + strength exp(u) = 0 with u = 0 at both ends, many equations at once
(Bratu's problem, of heat that a reaction makes): each step of Newton solves a linear system by conjugate gradients in
``lax.custom_linear_solve``, which knows how to transpose itself. The derivative of the hottest point by the strength of
the reaction grows without limit towards 3.5138, beyond which there is no solution. All is done in 64 bits.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import glax
import glax.numpy as gnp
from glax import lax
from glax.scipy.special import ndtr

# ---- one equation: the volatility that the price of an option implies ------------------------------------------


def price(volatility, strike, years, today=100., rate=.02):
    """What the right to buy at the strike, after some years, costs by the formula of Black and Scholes."""
    spread = volatility * gnp.sqrt(years)
    upper = (gnp.log(today / strike) + rate * years) / spread + spread / 2
    return today * ndtr(upper) - strike * gnp.exp(-rate * years) * ndtr(upper - spread)


def newton(f: Callable, x, steps: int = 50, tolerance: float = 1e-12):
    """A root of a function of one number: along the tangent until it is hit."""
    def going_on(state):
        i, x, moved = state
        return (i < steps) & (gnp.abs(moved) > tolerance)

    def step(state):
        i, x, _ = state
        value, slope = glax.value_and_grad(f)(x)
        # Not more than halfway to 0, since there are no negative volatilities.
        return i + 1, gnp.maximum(x - value / slope, x / 2), value / slope

    return lax.while_loop(going_on, step, (0, x, gnp.ones_like(x)))[1]


def implied_volatility(paid, strike, years):
    """The volatility for which the formula gives the price that was paid."""
    return lax.custom_root(lambda volatility: price(volatility, strike, years) - paid, gnp.full_like(paid, .3), newton,
                           lambda linear, y: y / linear(1.))


def show_options() -> float:
    strikes, years = gnp.meshgrid(gnp.array([80., 90., 100., 110., 120.]), gnp.array([.25, 1.]))
    volatilities = .2 + .002 * gnp.abs(strikes - 100) / gnp.sqrt(years)
    paid = price(volatilities, strikes, years)

    def everywhere(f: Callable) -> Callable:
        return glax.vmap(glax.vmap(f))

    found = glax.jit(everywhere(implied_volatility))(paid, strikes, years)
    slopes = glax.jit(everywhere(glax.grad(implied_volatility)))(paid, strikes, years)
    by_formula = 1 / everywhere(glax.grad(price))(volatilities, strikes, years)
    print("strike   years   price    volatility  d volatility / d price")
    for row in zip(*[x.ravel().tolist() for x in (strikes, years, paid, found, slopes)]):
        print("{:6.0f}  {:6.2f}  {:6.2f}  {:12.6f}  {:12.6f}".format(*row))
    error = float(gnp.abs(found / volatilities - 1).max())
    print(f"largest relative error of a volatility {error:.0e}, of a slope "
          f"{float(gnp.abs(slopes / by_formula - 1).max()):.0e}")
    return error


# ---- many equations: heat that a reaction makes ----------------------------------------------------------------


def unbalanced(u, strength):
    """Heat that flows away from each of the points between the ends, less what is made there."""
    step = 1 / (u.shape[0] + 1)
    around = gnp.pad(u, 1)
    return (2 * u - around[:-2] - around[2:]) / step ** 2 - strength * gnp.exp(u)


def conjugate_gradients(matvec: Callable, b, tolerance: float = 1e-10):
    """The solution of a linear system whose matrix is symmetric and positive."""
    def going_on(state):
        i, _, residual, _ = state
        return (i < 4 * b.shape[0]) & (residual @ residual > tolerance ** 2 * (b @ b))

    def step(state):
        i, x, residual, direction = state
        image = matvec(direction)
        length = residual @ residual / (direction @ image)
        left = residual - length * image
        turn = left @ left / (residual @ residual)
        return i + 1, x + length * direction, left, left + turn * direction

    return lax.while_loop(going_on, step, (0, gnp.zeros_like(b), b, b))[1]


def solve_linear(matvec: Callable, b):
    return lax.custom_linear_solve(matvec, b, conjugate_gradients, symmetric=True)


def newton_system(f: Callable, u, steps: int = 20, tolerance: float = 1e-9):
    """A root of a function from vectors to vectors, of symmetric derivative."""
    def going_on(state):
        i, _, moved = state
        return (i < steps) & (gnp.abs(moved).max() > tolerance)

    def step(state):
        i, u, _ = state
        value, derivative = glax.linearize(f, u)
        move = conjugate_gradients(derivative, value)
        return i + 1, u - move, move

    return lax.while_loop(going_on, step, (0, u, gnp.ones_like(u)))[1]


def temperatures(strength, points: int):
    """The temperature at points between the ends."""
    return lax.custom_root(lambda u: unbalanced(u, strength), gnp.zeros(points), newton_system, solve_linear)


def show_reaction(points: int) -> float:
    @glax.jit
    def hottest(strength):
        return temperatures(strength, points)[points // 2]

    # Reverse mode as well as forward mode, through Newton's method and the linear solver within.
    backwards, forwards = glax.jit(glax.grad(hottest)), glax.jit(glax.jacfwd(hottest))
    print(f"\n{points} points\nstrength  hottest  d hottest / d strength: by grad, by jacfwd, by differences")
    worst = 0.
    for strength in (.5, 1., 2., 3., 3.4):
        width = 1e-4
        slope = float(backwards(strength))
        differences = (float(hottest(strength + width)) - float(hottest(strength - width))) / (2 * width)
        print(f"{strength:8.1f}  {float(hottest(strength)):7.4f}  {slope:.8f}  {float(forwards(strength)):.8f}  "
              f"{differences:.8f}")
        worst = max(worst, abs(slope / differences - 1))
    return worst


def main(argv: list[str] | None = None) -> tuple[float, float]:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=199)
    parser.add_argument("--quick", action="store_true", help="few points")
    args = parser.parse_args(argv)
    with glax.enable_x64(True):
        return show_options(), show_reaction(31 if args.quick else args.points)


if __name__ == "__main__":
    main()
