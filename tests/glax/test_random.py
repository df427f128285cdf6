"""Random numbers: those of JAX, bit for bit where they are integers, and what keys do under transformations.

Each line of random_facts.txt is ``expression -> dtype values``, recorded from JAX; ``x64:`` before it stands for 64-bit
types enabled.
"""

import pickle
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

import glax
import glax.numpy as xp
from glax import lax, random

FACTS = [line.split(" -> ", 1) for line in (Path(__file__).parent / "random_facts.txt").read_text().splitlines()]
LOOPS = ("gamma", "poisson", "binomial", "multinomial", "dirichlet", "beta", ".t(", "chisquare", ".f(",
         "generalized", "ball")
# Multiplication and addition are fused by XLA where JAX ran it; near 0 that is more than a few units in the last place.
ULPS = {"float32": 4, "float64": 4, "bfloat16": 1, "float16": 1}
ABSOLUTE = {"float32": 4e-7, "float64": 1e-15, "bfloat16": 0, "float16": 0}


def evaluated(expression, key=None):
    names = {"random": random, "np": xp, "KEY": random.PRNGKey(1701) if key is None else key, "nan": np.nan,
             "LOGITS": xp.log(xp.array([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]])),
             "WEIGHTS": xp.array([0.1, 0.2, 0.3, 0.4])}
    return eval(expression, names)


def assert_is_fact(found, expected):
    dtype, values = expected.split(" ", 1)
    assert found.dtype.name == dtype
    wanted = np.array(eval(values, {"nan": np.nan}), found.dtype)
    assert found.shape == wanted.shape
    found = np.asarray(found)
    if found.dtype.kind in "biu":
        np.testing.assert_array_equal(found, wanted)
        return
    eps = float(glax.ir.dtypes.finfo(found.dtype).eps)
    np.testing.assert_allclose(found.astype(float), wanted.astype(float), rtol=ULPS[dtype] * eps, atol=ABSOLUTE[dtype])


@pytest.mark.parametrize("expression, expected", FACTS, ids=[e for e, _ in FACTS])
def test_numbers_are_those_of_jax(expression, expected):
    with glax.enable_x64(True) if expression.startswith("x64: ") else nullcontext():
        assert_is_fact(evaluated(expression.removeprefix("x64: ")), expected)


JITTED = [(e, v) for e, v in FACTS if "(KEY" in e and "x64" not in e and "3000" not in e
          and not any(name in e for name in LOOPS)]


def test_compiled_numbers_are_the_same():
    facts = dict(JITTED[::5])
    names = list(facts)
    compiled = glax.jit(lambda key: [evaluated(e, key) for e in names])(random.PRNGKey(1701))
    for expression, found in zip(names, compiled):
        assert_is_fact(found, facts[expression])


@pytest.mark.parametrize("sample", [
    lambda k: random.bits(k, (2, 3)), lambda k: random.normal(k, (3,)), lambda k: random.randint(k, (3,), 0, 100),
    lambda k: random.permutation(k, 5), lambda k: random.split(k, 3), lambda k: random.fold_in(k, 3),
    lambda k: random.bits(k), lambda k: random.categorical(k, xp.zeros((2, 5))),
])
@pytest.mark.parametrize("typed", [False, True])
def test_vmap_over_keys_is_a_stack_of_calls(sample, typed):
    keys = random.split(random.key(3) if typed else random.PRNGKey(3), 4)
    mapped = glax.vmap(sample)(keys)
    for i in range(4):
        one, row = sample(keys[i]), mapped[i]
        if isinstance(one, random.KeyArray):
            one, row = random.key_data(one), random.key_data(row)
        np.testing.assert_allclose(np.asarray(row), np.asarray(one), rtol=1e-6)


def test_vmap_over_parameters_uses_one_key():
    key = random.key(0)
    found = glax.vmap(lambda high: random.uniform(key, (2,), maxval=high))(xp.array([1.0, 2.0]))
    np.testing.assert_allclose(found[1], 2 * np.asarray(found[0]), rtol=1e-6)
    counts = xp.arange(6, dtype="uint32").reshape(2, 3)
    words = glax.vmap(lambda c, k: glax.ir.ops.threefry2x32(k, np.uint32(1), c, np.uint32(2)), (1, 0))(
        counts, xp.arange(3, dtype="uint32"))
    alone = glax.ir.ops.threefry2x32(xp.asarray(2, "uint32"), np.uint32(1), counts[:, 2], np.uint32(2))
    assert (words[0][2] == alone[0]).all() and (words[1][2] == alone[1]).all()


def test_cipher_gives_the_published_words():
    """The known answers of the Random123 library."""
    for key, counter, wanted in (
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
        ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
    ):
        words = [np.full(3, x, np.uint32) for x in (*key, *counter)]
        for operands in ([x[0] for x in words], words, [np.tile(x, 5000) for x in words], [words[0][0], *words[1:]]):
            first, second = glax.ir.ops.threefry2x32(*operands)
            assert (np.asarray(first) == wanted[0]).all() and (np.asarray(second) == wanted[1]).all()


# ---- keys ------------------------------------------------------------------------------------------------------


def test_typed_keys_look_like_jax_keys():
    key = random.key(0)
    assert repr(key) == "Array((), dtype=key<fry>) overlaying:\n[0 0]"
    keys = random.split(key, (2, 3))
    assert (keys.shape, keys.ndim, keys.size, len(keys), keys.nbytes) == ((2, 3), 2, 6, 2, 48)
    assert keys.dtype == random.key_dtype() and str(keys.dtype) == "key<fry>"
    assert keys[1].shape == (3,) and keys[..., 1].shape == (2,) and keys[:, None].shape == (2, 1, 3)
    assert keys.T.shape == (3, 2) and keys.reshape(3, -1).shape == (3, 2) and keys.ravel().shape == (6,)
    assert [k.shape for k in keys] == [(3,), (3,)]
    assert bool((keys[0, 1] == random.split(key, 6)[1]).all()) and bool(keys[0, 1] != keys[0, 2])
    assert random.key_impl(key) == "threefry2x32" and random.clone(key) is key
    assert bool(random.wrap_key_data(random.key_data(key)) == key)
    assert bool(pickle.loads(pickle.dumps(key)) == key)
    with pytest.raises(TypeError, match="unsupported operand"):
        key + 1
    with pytest.raises(TypeError, match="key_data"):
        np.asarray(key)
    with pytest.raises(TypeError, match="iteration over a single key"):
        iter(key)


def test_keys_are_containers_under_every_transformation():
    key = random.key(5)
    assert bool(glax.jit(lambda k: random.split(k)[1])(key) == random.split(key)[1])
    slope = glax.grad(lambda x, k: x * random.normal(k))(2.0, key)
    np.testing.assert_allclose(slope, random.normal(key), rtol=1e-6)

    def walk(state, _):
        key, x = state
        key, sub = random.split(key)
        return (key, x + random.normal(sub)), x

    (last, _), path = lax.scan(walk, (key, xp.float32(0)), None, length=3)
    assert path.shape == (3,) and last.shape == ()
    _, firsts = lax.scan(lambda c, k: (c, random.bits(k)), 0, random.split(key, 3))
    assert firsts.shape == (3,)
    assert glax.eval_shape(lambda k: random.normal(k, (2,)), key).shape == (2,)
    chosen = lax.cond(True, lambda k: k, lambda k: random.split(k)[0], key)
    assert bool(chosen == key)


@pytest.mark.parametrize("seed", [0, -1, 2**31, np.uint8(200), np.int64(2**40), xp.array(7)])
def test_seeds_may_be_traced(seed):
    if not isinstance(seed, int):
        assert bool((glax.jit(random.PRNGKey)(seed) == random.PRNGKey(seed)).all())
    assert random.key(seed).shape == ()


@pytest.mark.parametrize("error, call, message", [
    (TypeError, lambda: random.PRNGKey(1.5), "seed must be an integer"),
    (TypeError, lambda: random.PRNGKey(xp.arange(2)), "scalar"),
    (OverflowError, lambda: random.PRNGKey(2**64), "64 bits"),
    (ValueError, lambda: random.key(0, impl="foo"), "threefry2x32"),
    (TypeError, lambda: random.normal(3), "glax.random.key makes a key"),
    (TypeError, lambda: random.normal(xp.array([1.0, 2.0])), "uint32"),
    (TypeError, lambda: random.normal(xp.zeros(3, "uint32")), "two words"),
    (ValueError, lambda: random.normal(random.split(random.key(0), 3)), "single key"),
    (ValueError, lambda: random.normal(random.split(random.PRNGKey(0), 3)), "vmap"),
    (TypeError, lambda: random.fold_in(random.key(0), 1.5), "integer scalar"),
    (OverflowError, lambda: random.fold_in(random.key(0), -1), "2\\*\\*32"),
    (ValueError, lambda: random.split(random.key(0), -1), "negative"),
    (ValueError, lambda: random.normal(random.key(0), (-1,)), "negative"),
    (TypeError, lambda: random.normal(random.key(0), (2.0,)), "integer"),
    (ValueError, lambda: random.normal(random.key(0), (2,), "int32"), "floats or complex"),
    (ValueError, lambda: random.uniform(random.key(0), (2,), "complex64"), "floats"),
    (ValueError, lambda: random.bits(random.key(0), (2,), "float32"), "unsigned"),
    (TypeError, lambda: random.randint(random.key(0), (2,), 0, 1, "float32"), "integers"),
    (TypeError, lambda: random.randint(random.key(0), (2,), 0, 1j), "maxval"),
    (ValueError, lambda: random.randint(random.key(0), (2,), xp.zeros(3, int), 5), "minval of shape"),
    (ValueError, lambda: random.uniform(random.key(0), (2,), minval=xp.zeros(3)), "minval of shape"),
    (ValueError, lambda: random.truncated_normal(random.key(0), xp.zeros(2), 1.0, (3,)), "lower of shape"),
    (TypeError, lambda: random.bernoulli(random.key(0), 1), "floating"),
    (ValueError, lambda: random.bernoulli(random.key(0), xp.ones(2) / 2, (3,)), "p of shape"),
    (ValueError, lambda: random.bernoulli(random.key(0), mode="medium"), "mode"),
    (ValueError, lambda: random.categorical(random.key(0), xp.zeros((2, 3)), shape=(5,)), "shape must end"),
    (ValueError, lambda: random.categorical(random.key(0), xp.zeros((2, 3)), axis=5), "out of bounds"),
    (TypeError, lambda: random.categorical(random.key(0), xp.zeros(3, int)), "floating"),
    (ValueError, lambda: random.categorical(random.key(0), xp.zeros(3), shape=(4,), replace=False), "as many"),
    (ValueError, lambda: random.choice(random.key(0), 5, (6,), replace=False), "as many"),
    (ValueError, lambda: random.choice(random.key(0), 0, (6,)), "nothing to draw"),
    (TypeError, lambda: random.choice(random.key(0), 2.5, (6,)), "integer"),
    (ValueError, lambda: random.choice(random.key(0), 5, (2,), p=xp.ones(3)), "one element for each of 5"),
    (TypeError, lambda: random.permutation(random.key(0), 2.5), "integer"),
    (ValueError, lambda: random.permutation(random.key(0), xp.zeros((2, 3)), axis=2), "out of bounds"),
    (ValueError, lambda: random.dirichlet(random.key(0), 1.0), "at least one dimension"),
    (TypeError, lambda: random.gamma(random.key(0), 1j), "real"),
    (NotImplementedError, lambda: glax.grad(lambda a: random.gamma(random.key(0), a))(2.0), "not differentiable"),
    (TypeError, lambda: random.key_data(xp.zeros(2)), "uint32"),
])
def test_errors(error, call, message):
    with pytest.raises(error, match=message):
        call()


# ---- distributions ---------------------------------------------------------------------------------------------

N = 20_000
MOMENTS = {
    "uniform": (lambda k: random.uniform(k, (N,)), 1 / 2, 1 / 12),
    "normal": (lambda k: random.normal(k, (N,)), 0, 1),
    "float64": (lambda k: random.normal(k, (N,), "float64"), 0, 1),
    "float16": (lambda k: random.normal(k, (N,), "float16"), 0, 1),
    "complex": (lambda k: random.normal(k, (N,), "complex64"), 0, 1),
    "truncated": (lambda k: random.truncated_normal(k, -1.0, 1.0, (N,)), 0, 0.2911),
    "randint": (lambda k: random.randint(k, (N,), -2, 7), 2, 80 / 12),
    "bernoulli": (lambda k: random.bernoulli(k, 0.3, (N,)), 0.3, 0.21),
    "exponential": (lambda k: random.exponential(k, (N,)), 1, 1),
    "laplace": (lambda k: random.laplace(k, (N,)), 0, 2),
    "logistic": (lambda k: random.logistic(k, (N,)), 0, np.pi**2 / 3),
    "gumbel": (lambda k: random.gumbel(k, (N,)), np.euler_gamma, np.pi**2 / 6),
    "maxwell": (lambda k: random.maxwell(k, (N,)), np.sqrt(8 / np.pi), 3 - 8 / np.pi),
    "double": (lambda k: random.double_sided_maxwell(k, 1.0, 2.0, (N,)), 1, 12),
    "rayleigh": (lambda k: random.rayleigh(k, 2.0, (N,)), 2 * np.sqrt(np.pi / 2), 4 * (2 - np.pi / 2)),
    "lognormal": (lambda k: random.lognormal(k, 0.5, (N,)), np.exp(1 / 8), (np.exp(1 / 4) - 1) * np.exp(1 / 4)),
    "wald": (lambda k: random.wald(k, 0.5, (N,)), 0.5, 0.125),
    "triangular": (lambda k: random.triangular(k, 0.0, 1.0, 2.0, (N,)), 1, 1 / 6),
    "weibull": (lambda k: random.weibull_min(k, 1.0, 2.0, (N,)), np.sqrt(np.pi) / 2, 1 - np.pi / 4),
    "pareto": (lambda k: random.pareto(k, 9.0, (N,)), 9 / 8, 9 / (64 * 7)),
    "geometric": (lambda k: random.geometric(k, 0.3, (N,)), 1 / 0.3, 0.7 / 0.09),
    "choice": (lambda k: random.choice(k, 4, (N,), p=xp.array([0.1, 0.2, 0.3, 0.4])), 2, 1),
    "categorical": (lambda k: random.categorical(k, xp.log(xp.array([0.5, 0.25, 0.25])), shape=(N,)), 0.75, 0.6875),
    "gamma": (lambda k: random.gamma(k, 2.5, (N,)), 2.5, 2.5),
    "beta": (lambda k: random.beta(k, 2.0, 3.0, (N,)), 0.4, 0.04),
    "chisquare": (lambda k: random.chisquare(k, 3.0, (N,)), 3, 6),
    "t": (lambda k: random.t(k, 12.0, (N,)), 0, 1.2),
    "f": (lambda k: random.f(k, 6.0, 20.0, (N,)), 20 / 18, 2 * 400 * 24 / (6 * 18**2 * 16)),
    "generalized": (lambda k: random.generalized_normal(k, 2.0, (N,)), 0, 1 / 2),
    "poisson": (lambda k: random.poisson(k, 3.5, (N,)), 3.5, 3.5),
    "poisson of a large mean": (lambda k: random.poisson(k, 35.0, (N,)), 35, 35),
    "binomial": (lambda k: random.binomial(k, 9.0, 0.3, (N,)), 2.7, 1.89),
    "binomial of many": (lambda k: random.binomial(k, 90.0, 0.7, (N,)), 63, 18.9),
}


@pytest.mark.parametrize("name", MOMENTS)
def test_mean_and_variance(name):
    sample, mean, variance = MOMENTS[name]
    with glax.enable_x64(True) if name == "float64" else nullcontext():
        x = np.asarray(sample(random.key(11)))
    x = x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)
    assert abs(x.mean() - mean) < 4 * np.sqrt(variance / N)
    assert abs(x.var() - variance) < 0.08 * variance


def test_quantiles_of_the_cauchy_distribution_and_points_in_a_ball():
    x = np.asarray(random.cauchy(random.key(0), (N,)))
    np.testing.assert_allclose(np.quantile(x, [0.25, 0.5, 0.75]), [-1, 0, 1], atol=0.05)
    points = np.asarray(random.ball(random.key(0), 2, shape=(N // 2,)))
    radii = np.linalg.norm(points, axis=-1)
    assert radii.max() <= 1 and abs((radii**2).mean() - 1 / 2) < 0.02


def test_shares_and_counts_of_categories():
    shares = random.dirichlet(random.key(0), xp.array([1.0, 2.0, 4.0, 1.0]), (N // 4,))
    np.testing.assert_allclose(shares.sum(-1), 1, rtol=1e-5)
    np.testing.assert_allclose(shares.mean(0), [1 / 8, 2 / 8, 4 / 8, 1 / 8], atol=0.01)
    assert float(random.multinomial(random.key(0), 200, xp.array([0.2, 0.3, 0.5])).sum()) == 200


def test_permutations_hold_everything_once():
    assert sorted(random.permutation(random.key(1), 1000).tolist()) == list(range(1000))
    x = xp.arange(20).reshape(5, 4)
    rows = random.permutation(random.key(1), x)
    assert sorted(map(tuple, rows.tolist())) == sorted(map(tuple, x.tolist()))
    drawn = random.choice(random.key(1), 50, (7, 7), replace=False)
    assert len(set(drawn.ravel().tolist())) == 49


def test_derivatives_go_through_limits_and_inverses():
    key = random.key(2)
    u = random.uniform(key, (3,))
    slope = glax.grad(lambda a: random.uniform(key, (3,), minval=0.0, maxval=a).sum())(2.0)
    np.testing.assert_allclose(slope, u.sum(), rtol=1e-6)
    limits = glax.grad(lambda a: random.truncated_normal(key, a, 1.0, (5,)).sum())(-1.0)
    near = (random.truncated_normal(key, -0.99, 1.0, (5,)).sum() - random.truncated_normal(key, -1.01, 1.0, (5,)).sum())
    np.testing.assert_allclose(limits, near / 0.02, rtol=1e-2)
    scale = glax.grad(lambda s: random.rayleigh(key, s, (3,)).sum())(2.0)
    np.testing.assert_allclose(scale, random.rayleigh(key, 1.0, (3,)).sum(), rtol=1e-5)


def test_small_floats_and_empty_shapes():
    for dtype in ("bfloat16", "float16", "float8_e4m3fn", "float8_e5m2"):
        x = random.uniform(random.key(0), (50,), dtype)
        assert x.dtype.name == dtype and 0 <= float(x.astype("float32").min()) and float(x.astype("float32").max()) <= 1
    for shape in ((0,), (2, 0)):
        for sample in (random.normal(random.key(0), shape), random.randint(random.key(0), shape, 0, 3),
                       random.gamma(random.key(0), 1.0, shape), random.choice(random.key(0), 3, shape)):
            assert sample.shape == shape
