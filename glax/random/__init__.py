"""Random numbers: every function takes a key, and gives the same numbers for the same key.

A key is used once. New keys are made of it by `split`, and by `fold_in` with a number.

>>> from glax import random
>>> key, subkey = random.split(random.key(42))
>>> random.normal(subkey, (2, 3)).shape
(2, 3)

The numbers are those of JAX with the same keys.
"""

from .basic import bernoulli, bits, normal, rademacher, randint, truncated_normal, uniform
from .choices import categorical, choice, permutation
from .continuous import (
    cauchy,
    double_sided_maxwell,
    exponential,
    geometric,
    gumbel,
    laplace,
    logistic,
    lognormal,
    maxwell,
    pareto,
    rayleigh,
    triangular,
    wald,
    weibull_min,
)
from .counts import binomial, multinomial, poisson
from .gammas import ball, beta, chisquare, dirichlet, f, gamma, generalized_normal, loggamma, t
from .keys import (
    KeyArray,
    PRNGKey,
    clone,
    fold_in,
    key,
    key_data,
    key_dtype,
    key_impl,
    split,
    wrap_key_data,
)

__all__ = [
    "KeyArray", "PRNGKey", "ball", "bernoulli", "beta", "binomial", "bits", "categorical", "cauchy", "chisquare",
    "choice", "clone", "dirichlet", "double_sided_maxwell", "exponential", "f", "fold_in", "gamma",
    "generalized_normal", "geometric", "gumbel", "key", "key_data", "key_dtype", "key_impl", "laplace", "loggamma",
    "logistic", "lognormal", "maxwell", "multinomial", "normal", "pareto", "permutation", "poisson", "rademacher",
    "randint", "rayleigh", "split", "t", "triangular", "truncated_normal", "uniform", "wald", "weibull_min",
    "wrap_key_data",
]
