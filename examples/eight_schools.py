"""Eight schools: how much coaching helps, by Hamiltonian Monte Carlo with many chains at once.

usage: python examples/eight_schools.py [--chains 8] [--draws 2000] [--quick]

In eight schools pupils were coached for a test, and the effect was measured, with errors that are known (Rubin, 1981).
Each school's effect is mu + tau * z with a standard normal z of its own; mu is normal of deviation 5 and tau half of a
Cauchy distribution of width 5. The slopes of the logarithm of the density are by ``grad``; the steps of a path, and the
draws, are loops of ``lax.scan``; ``vmap`` runs the chains side by side. Step sizes are found in the first half of the
draws, which is then dropped. The script prints the posterior means, how well the chains agree (R-hat) and how many
independent draws theirs are worth, and compares with the values that are known: mu 4.4 and tau 3.6.
"""

from __future__ import annotations

import argparse
from typing import Any, NamedTuple

import numpy as np
from tqdm import tqdm

import glax
import glax.numpy as gnp
from glax import lax, random

EFFECTS = gnp.array([28., 8., -3., 7., -1., 1., 18., 12.])
ERRORS = gnp.array([15., 10., 16., 11., 9., 11., 10., 18.])
KNOWN = {"mu": 4.4, "tau": 3.6}


class Unknowns(NamedTuple):
    """What is sampled: numbers that may be anything, of about the same size."""

    mu: Any
    log_tau: Any
    z: Any


def quantities(unknowns: Unknowns):
    """mu, tau and the effect of each school."""
    mu, tau = 5 * unknowns.mu, gnp.exp(unknowns.log_tau)
    return mu, tau, mu + tau * unknowns.z


def log_density(unknowns: Unknowns):
    """The logarithm of the posterior density of the unknowns, but for a constant."""
    _, tau, effects = quantities(unknowns)
    normal = unknowns.mu ** 2 + gnp.sum(unknowns.z ** 2) + gnp.sum(((EFFECTS - effects) / ERRORS) ** 2)
    return -normal / 2 - gnp.log1p((tau / 5) ** 2) + unknowns.log_tau  # the last since log tau is sampled, not tau


def start(key) -> Unknowns:
    mu_key, tau_key, z_key = random.split(key, 3)
    return Unknowns(random.normal(mu_key), random.normal(tau_key), random.normal(z_key, EFFECTS.shape))


def path(unknowns: Unknowns, momentum: Unknowns, size, steps: int):
    """Where a frictionless body is after some steps (leapfrog): its place and momentum."""
    slope = glax.grad(log_density)

    def kick(unknowns, momentum, size):
        return glax.tree.map(lambda p, g: p + size * g, momentum, slope(unknowns))

    def step(state, _):
        unknowns, momentum = state
        momentum = kick(unknowns, momentum, size / 2)
        unknowns = glax.tree.map(lambda x, p: x + size * p, unknowns, momentum)
        return (unknowns, kick(unknowns, momentum, size / 2)), None

    return lax.scan(step, (unknowns, momentum), None, length=steps)[0]


def energy(unknowns: Unknowns, momentum: Unknowns):
    return -log_density(unknowns) + sum(gnp.sum(p ** 2) for p in glax.tree.leaves(momentum)) / 2


class Chain(NamedTuple):
    """Where a chain is, and the logarithm of its step size."""

    unknowns: Unknowns
    log_size: Any


def draw(chain: Chain, key, learning_rate, steps: int = 16):
    """The next place, and the probability with which the path was accepted."""
    momentum_key, size_key, accept_key = random.split(key, 3)
    keys = random.split(momentum_key, 3)
    momentum = Unknowns(*[random.normal(k, gnp.shape(x)) for k, x in zip(keys, chain.unknowns)])
    # Sizes vary, so that no path comes back to where it began each time.
    size = gnp.exp(chain.log_size) * random.uniform(size_key, minval=.6, maxval=1.2)
    end, end_momentum = path(chain.unknowns, momentum, size, steps)
    gain = energy(chain.unknowns, momentum) - energy(end, end_momentum)
    acceptance = gnp.exp(gnp.minimum(0., gnp.where(gnp.isnan(gain), -gnp.inf, gain)))
    accepted = random.uniform(accept_key) < acceptance
    unknowns = glax.tree.map(lambda new, old: gnp.where(accepted, new, old), end, chain.unknowns)
    # Longer steps where more than 0.85 is accepted, shorter ones where less is.
    return Chain(unknowns, chain.log_size + learning_rate * (acceptance - .85)), acceptance


@glax.jit(static_argnames="count")
def run(chains: Chain, keys, learning_rate, count: int):
    """Some draws of every chain: where they end, and mu, tau, the effects and the acceptance of each."""
    def one_chain(chain, key):
        def step(chain, key):
            chain, acceptance = draw(chain, key, learning_rate)
            return chain, (*quantities(chain.unknowns), acceptance)

        return lax.scan(step, chain, random.split(key, count))

    return glax.vmap(one_chain)(chains, keys)


def agreement(x: np.ndarray) -> float:
    """R-hat of draws, a chain a row: the spread of all of them over the spread within halves of chains."""
    halves = x.reshape(2 * len(x), -1)
    within = halves.var(axis=1, ddof=1).mean()
    between = halves.mean(axis=1).var(ddof=1)
    return float(np.sqrt((halves.shape[1] - 1) / halves.shape[1] + between / within))


def independent_draws(x: np.ndarray) -> float:
    """How many independent draws have as precise a mean, by the correlation of draws at growing distance."""
    count = x.shape[1]
    centred = x - x.mean()
    variance = (centred ** 2).mean()
    total, pair = 1., 0.
    for lag in range(1, count - 1):
        correlation = float((centred[:, lag:] * centred[:, :-lag]).mean() / variance)
        pair += correlation
        if lag % 2 == 0:  # sums of neighbours are positive, until noise is all there is
            if pair < 0:
                break
            total, pair = total + 2 * pair, 0.
    return x.size / total


def sample(chain_count: int, draws: int, key, at_once: int = 100):
    """Draws of all chains, the first half of which is for step sizes and dropped: mu, tau, effects, acceptance."""
    start_key, run_key = random.split(key)
    chains = Chain(glax.vmap(start)(random.split(start_key, chain_count)), gnp.full(chain_count, np.log(.1)))
    kept = []
    rounds = 2 * draws // at_once
    with tqdm(range(rounds), desc="sampling", unit="draw", unit_scale=at_once) as bar:
        for i in bar:
            learning_rate = np.float32(.1 / (1 + .2 * i) if i < rounds // 2 else 0.)
            keys = random.split(random.fold_in(run_key, i), chain_count)
            chains, results = run(chains, keys, learning_rate, count=at_once)
            if i >= rounds // 2:
                kept.append(glax.device_get(results))
    print(f"step sizes: {np.round(np.exp(np.asarray(chains.log_size)), 3)}")
    return [np.concatenate(parts, axis=1) for parts in zip(*kept)]


def main(argv: list[str] | None = None) -> dict[str, float]:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chains", type=int, default=8)
    parser.add_argument("--draws", type=int, default=2000, help="of each chain, beside those to find step sizes")
    parser.add_argument("--quick", action="store_true", help="few draws")
    args = parser.parse_args(argv)
    mu, tau, effects, acceptance = sample(args.chains, 500 if args.quick else args.draws, random.key(1))
    print(f"{mu.size} draws of {args.chains} chains, {acceptance.mean():.0%} of paths accepted\n")
    rows = {"mu": mu, "tau": tau, **{f"school {name}": effects[..., i] for i, name in enumerate("ABCDEFGH")}}
    print("            mean  deviation  R-hat  independent draws")
    for name, x in rows.items():
        print(f"{name:9} {x.mean():6.2f}  {x.std():9.2f}  {agreement(x):.3f}  {independent_draws(x):17.0f}")
    print()
    for name, known in KNOWN.items():
        x = rows[name]
        print(f"{name}: {x.mean():.2f} +- {x.std() / np.sqrt(independent_draws(x)):.2f}, known to be about {known}")
    return {name: float(rows[name].mean()) for name in KNOWN}


if __name__ == "__main__":
    main()
