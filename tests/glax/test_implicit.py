"""custom_linear_solve and custom_root, against formulas for the solutions."""

import numpy as np
import pytest

import glax
import glax.numpy as gnp
from glax import lax
from glax.ir import check, parse
from glax.testing import check_grads


def near(got, wanted, rtol=2e-4):
    np.testing.assert_allclose(np.asarray(got), np.asarray(wanted), rtol=rtol, atol=1e-5)


def newton(f, x):
    return lax.while_loop(lambda x: gnp.abs(f(x)) > 1e-6, lambda x: x - f(x) / glax.grad(f)(x), x)


def divided(g, y):
    return y / g(1.)


def square_root(a):
    return lax.custom_root(lambda x: x ** 2 - a, np.float32(2.), newton, divided)


def test_scalar_root_and_its_derivatives_of_several_orders():
    near(square_root(9.), 3.)
    near(glax.grad(square_root)(9.), 1 / 6)
    near(glax.grad(glax.grad(square_root))(4.), -1 / 32)
    near(glax.jacfwd(glax.jacrev(square_root))(4.), -1 / 32)
    near(glax.grad(glax.grad(glax.grad(square_root)))(4.), 3 / 8 * 4 ** -2.5)
    near(glax.jvp(square_root, (4.,), (2.,))[1], .5)


def test_root_under_vmap_and_jit():
    xs = gnp.array([1., 4., 9.])
    near(glax.vmap(square_root)(xs), np.sqrt(xs))
    near(glax.jit(glax.vmap(glax.grad(square_root)))(xs), .5 / np.sqrt(xs))
    near(glax.grad(lambda a: glax.vmap(square_root)(a).sum())(xs), .5 / np.sqrt(xs))
    program = glax.make_jaxpr(glax.grad(square_root))(np.float32(4.))
    check(program.jaxpr)
    assert parse(str(program.jaxpr)) == program.jaxpr



def columns(g, like):
    return gnp.stack([g(gnp.array([1., 0.])), g(gnp.array([0., 1.]))], 1)


def two_by_two(m, y):
    inverse = gnp.array([[m[1, 1], -m[0, 1]], [-m[1, 0], m[0, 0]]]) / (m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0])
    return inverse @ y


def vector_root(a, b):
    def f(x):
        return gnp.stack([x[0] ** 3 + x[1] - a, x[1] ** 3 - x[0] - b])

    def solve(f, x):
        def step(_, x):
            return x - two_by_two(glax.jacfwd(f)(x), f(x))

        return lax.fori_loop(0, 15, step, x)

    return lax.custom_root(f, gnp.array([1., 1.]), solve, lambda g, y: two_by_two(columns(g, y), y))


def test_vector_root_by_two_parameters():
    x = np.asarray(vector_root(2., .5))
    near([x[0] ** 3 + x[1], x[1] ** 3 - x[0]], [2., .5])
    wanted = np.linalg.inv([[3 * x[0] ** 2, 1.], [-1., 3 * x[1] ** 2]])
    near(np.stack(glax.jacfwd(vector_root, (0, 1))(2., .5), 1), wanted)
    near(np.stack(glax.jacrev(vector_root, (0, 1))(2., .5), 1), wanted)
    check_grads(vector_root, (np.float32(2.), np.float32(.5)), order=2)


def test_root_of_a_tree_with_auxiliary_data():
    def solve(f, guess):
        x = {"u": guess["u"] + 1., "v": -f(guess)["v"]}
        return x, {"residual": f(x)["u"], "steps": 1}

    def root(a):
        x, aux = lax.custom_root(lambda x: {"u": x["u"] - 1., "v": x["v"] - a}, {"u": 0., "v": 0.}, solve,
                                 lambda g, y: y, has_aux=True)
        return x["v"] * 2 + aux["residual"], aux["steps"]

    near(root(5.)[0], 10.)
    (value, steps), slope = glax.value_and_grad(root, has_aux=True)(5.)
    near(value, 10.)
    assert int(steps) == 1
    near(slope, 2.)


def test_root_is_not_differentiated_by_what_solve_and_the_guess_depend_on():
    def root(a, guess):
        return lax.custom_root(lambda x: x - a, guess * 1., lambda f, x: x - f(x) + 0 * guess, lambda g, y: y / g(1.))

    near(glax.grad(root, (0, 1))(3., 2.), (1., 0.))
    scaled = lambda s: lax.custom_root(lambda x: 2 * x - 1, 0., lambda f, x: .5 + 0 * s, lambda g, y: y / (s * 2) * s)
    near(glax.grad(scaled)(3.), 0.)


def test_errors_of_root():
    with pytest.raises(TypeError, match="f must return the tree"):
        lax.custom_root(lambda x: (x, x), 1., newton, divided)
    with pytest.raises(TypeError, match="solve must return f32"):
        lax.custom_root(lambda x: x, 1., lambda f, x: gnp.ones(2), divided)
    with pytest.raises(TypeError, match="tangent_solve must return"):
        glax.jit(lambda a: lax.custom_root(lambda x: x - a, 1., newton, lambda g, y: (y, y)))(1.)
    with pytest.raises(TypeError, match="pair"):
        lax.custom_root(lambda x: x, 1., lambda f, x: x, divided, has_aux=True)
    with pytest.raises(TypeError, match="takes a function"):
        lax.custom_root(3, 1., newton, divided)


# ---- linear equations ------------------------------------------------------------------------------------------


MATRIX = np.array([[4., 1., .5], [1., 3., .25], [.5, .25, 2.]], np.float32)
B = np.array([1., -2., 3.], np.float32)


def conjugate_gradient(matvec, b):
    def going_on(state):
        _, r, _, i = state
        return (r @ r > 1e-12) & (i < 20)

    def step(state):
        x, r, p, i = state
        product = matvec(p)
        alpha = (r @ r) / (p @ product)
        after = r - alpha * product
        return x + alpha * p, after, after + (after @ after) / (r @ r) * p, i + 1

    return lax.while_loop(going_on, step, (gnp.zeros_like(b), b, b, 0))[0]


def symmetric_solve(a, b):
    return lax.custom_linear_solve(lambda x: a @ x, b, conjugate_gradient, symmetric=True)


def inverse_times(a, b):
    """By Cramer's rule, which differentiates as it stands."""
    rows = [gnp.cross(a[1], a[2]), gnp.cross(a[2], a[0]), gnp.cross(a[0], a[1])]
    return gnp.stack(rows, 1) @ b / (a[0] @ rows[0])


def dense_solve(a, b, aux=False):
    def solver(m, transposed):
        def solve(matvec, b):
            x = inverse_times(m.T if transposed else m, b)
            return (x, matvec(x) - b) if aux else x
        return solve

    return lax.custom_linear_solve(lambda x: a @ x, b, solver(a, False), solver(a, True), has_aux=aux)


def test_symmetric_solve_by_conjugate_gradient():
    near(symmetric_solve(MATRIX, B), np.linalg.solve(MATRIX, B))
    near(glax.jit(symmetric_solve)(MATRIX, B), np.linalg.solve(MATRIX, B))
    inverse = np.linalg.inv(MATRIX)
    near(glax.jacrev(symmetric_solve, 1)(MATRIX, B), inverse)
    near(glax.jacfwd(symmetric_solve, 1)(MATRIX, B), inverse)
    x = inverse @ B
    wanted = -np.einsum("ij,k->ijk", inverse, x)
    near(glax.jacrev(symmetric_solve)(MATRIX, B), wanted)
    near(glax.jacfwd(symmetric_solve)(MATRIX, B), wanted)


@pytest.mark.parametrize("solve", [symmetric_solve, dense_solve])
def test_second_derivatives_against_cramers_rule(solve):
    def loss(f):
        return lambda s, b: (f(MATRIX * s, b) ** 2).sum() * s

    def second(f, inner, outer, i, j):
        return outer(inner(loss(f), i), j)(np.float32(1.25), B)

    for i, j in ((0, 0), (0, 1), (1, 1)):
        wanted = second(inverse_times, glax.jacfwd, glax.jacfwd, i, j)
        for inner, outer in ((glax.jacrev, glax.jacfwd), (glax.jacfwd, glax.jacrev), (glax.jacrev, glax.jacrev)):
            near(second(solve, inner, outer, i, j), wanted, 2e-3)


def test_unsymmetric_solve():
    skewed = MATRIX + np.triu(np.ones((3, 3), np.float32))
    near(dense_solve(skewed, B), np.linalg.solve(skewed, B))
    near(glax.jacrev(dense_solve, 1)(skewed, B), np.linalg.inv(skewed))
    near(glax.jit(glax.jacrev(dense_solve))(skewed, B), glax.jacfwd(inverse_times)(skewed, B))
    near(glax.grad(lambda a: glax.grad(lambda b: (dense_solve(a, b) ** 2).sum())(B).sum())(skewed),
         glax.grad(lambda a: glax.grad(lambda b: (inverse_times(a, b) ** 2).sum())(B).sum())(skewed))


@pytest.mark.parametrize("solve", [symmetric_solve, dense_solve])
def test_solves_under_vmap(solve):
    matrices = np.stack([MATRIX, 2 * MATRIX, MATRIX + np.eye(3, dtype=np.float32)])
    right = np.stack([B, B[::-1], 2 * B])
    rows = [np.linalg.solve(m, b) for m, b in zip(matrices, right)]
    near(glax.vmap(solve)(matrices, right), rows)
    near(glax.vmap(solve, (None, 0))(MATRIX, right), [np.linalg.solve(MATRIX, b) for b in right])
    near(glax.vmap(solve, (0, None))(matrices, B), [np.linalg.solve(m, B) for m in matrices])
    near(glax.vmap(glax.jacrev(solve, 1))(matrices, right), np.linalg.inv(matrices))
    near(glax.jacrev(lambda b: glax.vmap(solve, (0, None))(matrices, b))(B), np.linalg.inv(matrices))


def test_auxiliary_data_of_solves():
    def loss(b):
        x, residual = dense_solve(MATRIX, b, aux=True)
        return x.sum() + residual.sum(), residual

    slope, residual = glax.grad(loss, has_aux=True)(B)
    near(slope, np.linalg.inv(MATRIX).sum(0))
    near(residual, np.zeros(3))
    near(glax.vmap(loss)(np.stack([B, 2 * B]))[1], np.zeros((2, 3)))


def test_solves_of_trees_and_of_weak_numbers():
    def solve(d, b):
        product = lambda x: {"p": d * x["p"], "q": (x["q"][0] * 2.,)}
        return lax.custom_linear_solve(product, b, lambda _, b: {"p": b["p"] / d, "q": (b["q"][0] / 2.,)},
                                       symmetric=True)

    b = {"p": B, "q": (3.,)}
    near(solve(2., b)["p"], B / 2)
    near(glax.grad(lambda d: solve(d, b)["p"].sum())(2.), -B.sum() / 4)
    near(glax.grad(lambda b: solve(2., b)["q"][0])(b)["q"][0], .5)


def test_errors_of_solves():
    solve = lambda _, b: b
    with pytest.raises(TypeError, match="matvec must return f32"):
        lax.custom_linear_solve(lambda x: x[:2], B, solve)
    with pytest.raises(TypeError, match="matvec must return the tree"):
        lax.custom_linear_solve(lambda x: (x,), B, solve)
    with pytest.raises(TypeError, match="floating-point"):
        lax.custom_linear_solve(lambda x: x, 3, solve)
    with pytest.raises(TypeError, match="solve must return f32"):
        glax.jit(lambda b: lax.custom_linear_solve(lambda x: x, b, lambda _, b: b[0]))(B)
    one_way = lambda b: lax.custom_linear_solve(lambda x: 2. * x, b, lambda _, b: b / 2.)
    near(glax.jvp(one_way, (B,), (B,))[1], B / 2)
    with pytest.raises(TypeError, match="needs transpose_solve, or symmetric=True"):
        glax.grad(lambda b: one_way(b).sum())(B)
