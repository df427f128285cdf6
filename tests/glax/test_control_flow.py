"""cond, switch, scan, map, while_loop, fori_loop and associative_scan."""

import numpy as np
import pytest

import glax
import glax.numpy as gnp
from glax import lax
from glax.testing import check_grads


def near(got, wanted, tol=1e-5):
    np.testing.assert_allclose(np.asarray(got), np.asarray(wanted), rtol=tol, atol=tol)


# ---- cond and switch -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrap", [lambda f: f, glax.jit])
def test_cond_takes_one_branch(wrap):
    f = wrap(lambda p, x, y: lax.cond(p, lambda x, y: (x + y, {"a": x}), lambda x, y: (x - y, {"a": y}), x, y))
    for p, total, kept in ((True, 3., 1.), (0.0, -1., 2.), (2, 3., 1.), (np.float32(.5), 3., 1.)):
        out, tree = f(p, 1., 2.)
        near(out, total)
        near(tree["a"], kept)
    near(lax.cond(False, lambda x: x, lambda x: -x, operand=3.), -3.)
    assert lax.cond(True, lambda: None, lambda: None) is None


def test_branches_capture_values_of_every_level():
    outside = gnp.arange(3.)

    def f(x):
        y = x * 2
        inner = lambda z: lax.cond(z > 0, lambda: outside * y, lambda: outside + z)
        return lax.scan(lambda c, z: (c + inner(z) * x, None), gnp.zeros(3), gnp.array([1., -1.]))[0]

    near(glax.jit(f)(3.), [-3., 18., 39.])
    near(glax.grad(lambda x: f(x).sum())(3.), 4 * 3 * 3 + 0)


def test_weak_results_give_way():
    assert lax.cond(True, lambda: 1, lambda: gnp.float32(2)).dtype == np.float32
    assert lax.cond(True, lambda: 1., lambda: gnp.ones((), gnp.bfloat16)).dtype == gnp.bfloat16
    assert glax.make_jaxpr(lambda p: lax.cond(p, lambda: 1, lambda: 2.))(True).jaxpr.out_avals[0].weak_type


def test_switch_limits_its_index():
    branches = [lambda x: x, lambda x: 2 * x, lambda x: 3 * x]
    for dtype in (np.int32, np.int8, np.uint8):
        got = [float(glax.jit(lax.switch, static_argnums=1)(dtype(i), tuple(branches), 1.)) for i in (0, 1, 2, 100)]
        assert got == [1, 2, 3, 3]
    assert float(lax.switch(-7, branches, 1.)) == 1
    near(glax.vmap(lambda i: lax.switch(i, branches, operand=2.))(gnp.array([-1, 1, 5])), [2, 4, 6])
    near(glax.grad(lambda x: lax.switch(1, branches, x))(1.), 2)


@pytest.mark.parametrize("call, error, words", [
    (lambda: lax.cond(np.ones(2), lambda: 1, lambda: 2), TypeError, ["pred", "scalar", "f32[2]"]),
    (lambda: lax.cond(True, lambda: {"a": (1, gnp.int32(1))}, lambda: {"a": (1, 2.)}), TypeError,
     ["output['a'][1]", "i32[]", "f32*[]", "test_control_flow.py"]),
    (lambda: lax.cond(True, lambda: gnp.ones(2), lambda: gnp.ones(3)), TypeError, ["f32[2]", "f32[3]"]),
    (lambda: lax.cond(True, lambda: (1, 2), lambda: [1, 2]), TypeError, ["tree", "tuple", "list"]),
    (lambda: lax.cond(True, 1, lambda: 2), TypeError, ["function"]),
    (lambda: lax.cond(True, lambda: "a", lambda: 2), TypeError, ["'a'"]),
    (lambda: lax.cond(True, abs, abs, 1, operand=1), TypeError, ["operand"]),
    (lambda: lax.switch(1., [lambda: 1]), TypeError, ["index", "integer"]),
    (lambda: lax.switch(1, []), ValueError, ["branches"]),
    (lambda: lax.scan(lambda c, x: (0, x), None, gnp.arange(5)), TypeError, ["carry", "test_control_flow.py"]),
    (lambda: lax.scan(lambda c, x: ({"a": gnp.int32(1)}, x), {"a": gnp.float32(1)}, gnp.arange(5)), TypeError,
     ["carry['a']", "f32[]", "i32[]", "test_control_flow.py"]),
    (lambda: lax.scan(lambda c, x: c, 1., gnp.arange(5)), TypeError, ["pair"]),
    (lambda: lax.scan(lambda c, x: (c, x), 1.), ValueError, ["length"]),
    (lambda: lax.scan(lambda c, x: (c, x), 1., {"a": gnp.ones(2), "b": gnp.ones(3)}), ValueError,
     ["xs['a'] has 2", "xs['b'] has 3"]),
    (lambda: lax.scan(lambda c, x: (c, x), 1., gnp.ones(2), length=3), ValueError, ["length 3", "2"]),
    (lambda: lax.scan(lambda c, x: (c, x), 1., 2.), ValueError, ["leading axis"]),
    (lambda: lax.scan(lambda c, x: (c, x), 1., gnp.ones(2), unroll=0), ValueError, ["unroll"]),
    (lambda: lax.while_loop(lambda c: c, lambda c: c, 1.), TypeError, ["cond_fun", "bool"]),
    (lambda: lax.while_loop(lambda c: (True,), lambda c: c, 1.), TypeError, ["cond_fun", "tree"]),
    (lambda: lax.while_loop(lambda c: True, lambda c: gnp.ones(2), gnp.ones(3)), TypeError, ["f32[3]", "f32[2]"]),
    (lambda: lax.while_loop(lambda c: True, lambda c: c, 1., max_steps=-1), ValueError, ["max_steps"]),
    (lambda: lax.fori_loop(0., 3, lambda i, x: x, 1.), TypeError, ["lower", "integer"]),
    (lambda: lax.fori_loop(np.int8(0), np.int32(3), lambda i, x: x, 1.), TypeError, ["int8", "int32"]),
    (lambda: lax.fori_loop(0, 3, lambda i, x: (x, x), {"w": 1.}), TypeError, ["value", "tuple"]),
    (lambda: glax.jit(lambda n: lax.fori_loop(0, n, lambda i, x: x, 1., unroll=2))(3), ValueError, ["unroll"]),
    (lambda: lax.map(lambda x: x, gnp.ones(3), batch_size=0), ValueError, ["batch_size"]),
    (lambda: lax.associative_scan(gnp.add, gnp.ones(3), axis=1), ValueError, ["axis 1"]),
    (lambda: lax.associative_scan(gnp.add, (gnp.ones(3), gnp.ones(2))), ValueError, ["[3, 2]"]),
])
def test_errors_say_what_and_where(call, error, words):
    with pytest.raises(error) as caught:
        call()
    for word in words:
        assert word in str(caught.value)


# ---- derivatives of choices ------------------------------------------------------------------------------------


def test_the_branch_not_taken_has_no_part_in_gradients():
    f = lambda x: lax.cond(x > 0, lambda x: gnp.sqrt(x), lambda x: 0. * x, x)
    near(glax.vmap(glax.grad(f))(gnp.array([0., -1., 4.])), [0, 0, .25])
    near(glax.grad(lambda x: glax.vmap(f)(x).sum())(gnp.array([0., -1., 4.])), [0, 0, .25])
    near(glax.vmap(glax.grad(f))(gnp.array([0., -1.])), [0, 0])
    near(glax.vmap(lambda x: lax.cond(x > 0, lambda x: x ** 2, lambda x: x ** 3, x))(gnp.array([-1., 2.])), [-1, 4])
    near(glax.vmap(glax.grad(lambda x: lax.cond(x > 0, lambda x: x ** 2, lambda x: x ** 3, x)))(
        gnp.array([-1., 0., 2.])), [3, 0, 4])
    shared = lambda w, x: lax.cond(x > 0, lambda: w * gnp.log(x), lambda: w)
    near(glax.grad(lambda w: glax.vmap(shared, (None, 0))(w, gnp.array([0., 1., -3.])).sum())(2.), 2.)


def test_a_mapped_choice_in_a_loop():
    step = lambda i, s: lax.cond(i % 2 == 0, lambda s: s, lambda s: gnp.abs(s) - 1, s)
    f = lambda p, x: lax.fori_loop(0, 10, lambda i, s: lax.cond(p, lambda s: s, lambda s: gnp.abs(s) - 1, s), x)
    near(glax.vmap(f)(gnp.array([True, False, True]), gnp.ones((3, 4))), np.outer([1., -1., 1.], np.ones(4)))
    near(lax.fori_loop(0, 3, step, 5.), 4.)


def test_a_choice_within_a_scan_differentiates():
    def f(x):
        step = lambda c, _: ((lax.cond(c[1], lambda v: v * x, lambda v: v, c[0]), c[1]), None)
        return lax.scan(step, (1., True), None, length=4)[0][0]

    near(glax.grad(f)(3.), 108)
    check_grads(f, (1.5,), order=2)


# ---- scan and map ----------------------------------------------------------------------------------------------


def test_scan_promotes_a_carry_that_begins_narrow():
    for start in (0, np.int32(0), np.float16(0), False):
        total, ys = lax.scan(lambda c, x: (c + x, c), start, gnp.arange(3.))
        assert total.dtype == ys.dtype == np.float32
        near(ys, [0, 0, 1])
    assert lax.scan(lambda c, x: (0, x), gnp.float32(1), gnp.arange(3))[0].dtype == np.float32
    step = lambda t: lambda c, _: ((c[0] + 1, c[1]), c[1] + t)
    near(glax.grad(lambda t: lax.scan(step(t), (0, 1.), None, length=10)[1].sum())(2.), 10.)


def test_scan_of_trees_in_reverse_and_unrolled():
    xs = {"a": np.arange(6., dtype=np.float32).reshape(3, 2), "b": np.array([1, 2, 3], np.int32)}
    step = lambda c, x: ({"s": c["s"] * .5 + x["a"]}, (c["s"], x["b"] * 2))
    for reverse in (False, True):
        wanted, rows = np.zeros(2), []
        for i in (2, 1, 0) if reverse else (0, 1, 2):
            rows.append(wanted)
            wanted = wanted * .5 + xs["a"][i]
        for unroll in (1, 2, 3, 50, True, False):
            carry, (ys, zs) = lax.scan(step, {"s": gnp.zeros(2)}, xs, reverse=reverse, unroll=unroll)
            near(carry["s"], wanted)
            near(ys, rows[::-1] if reverse else rows)
            near(zs, [2, 4, 6])


def test_scan_of_no_steps_and_of_no_arrays():
    carry, ys = lax.scan(lambda c, x: (c + 1, (c, x)), 1., gnp.ones((0, 2)))
    assert float(carry) == 1 and ys[0].shape == (0,) and ys[1].shape == (0, 2)
    assert lax.scan(lambda c, _: (c, None), 2., None, 3)[1] is None
    assert lax.scan(lambda c, x: (None, x), None, gnp.arange(2))[0] is None


def test_gradients_of_scans():
    def rnn(w, h, xs):
        h, ys = lax.scan(lambda h, x: (gnp.tanh(w @ h + x), h.sum()), h, xs)
        return h.sum() + (ys ** 2).sum()

    rng = np.random.default_rng(0)
    args = tuple(rng.normal(size=s).astype(np.float32) for s in ((3, 3), (3,), (4, 3)))
    check_grads(rnn, args, order=2)
    batch = np.stack([args[2], args[2][::-1] * 2])
    rows = [np.asarray(glax.grad(rnn)(args[0], args[1], xs)) for xs in batch]
    near(glax.vmap(glax.grad(rnn), (None, None, 0))(*args[:2], batch), np.stack(rows))
    near(glax.jit(glax.grad(rnn))(*args), rows[0])


def test_linear_transpose_of_a_scan():
    ms = gnp.arange(12.).reshape(2, 2, 3)
    f = lambda v: lax.scan(lambda c, m: (c + m.T @ (m @ v), None), gnp.zeros(3), ms)[0]
    near(glax.linear_transpose(f, gnp.zeros(3))(gnp.array([1., 0., 0.]))[0], [126, 144, 162])
    counted = lambda v: lax.fori_loop(0, 3, lambda i, c: c * i + v, v)
    near(glax.linear_transpose(counted, 1.)(1.)[0], float(counted(1.)))


def test_map_is_a_stack_in_batches_too():
    xs = gnp.arange(7.)
    for size in (None, 1, 3, 7, 10):
        out = lax.map(lambda x: {"y": gnp.ones(2) * x}, xs, batch_size=size)
        near(out["y"], np.arange(7.)[:, None] * np.ones(2))
    assert lax.map(lambda x: x, gnp.ones((0, 3)), batch_size=2).shape == (0, 3)
    near(glax.grad(lambda x: lax.map(lambda y: y ** 2, x, batch_size=2).sum())(gnp.arange(3.)), [0, 2, 4])


# ---- while and fori --------------------------------------------------------------------------------------------


def test_while_loop():
    assert int(lax.while_loop(lambda c: c < 100, lambda c: c * 2, 3)) == 192
    value = lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 2.), (0, 1))
    assert float(value[1]) == 8 and value[1].dtype == np.float32
    f = lambda x, n: lax.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, c[1] * gnp.sin(x)), (0, x))[1]
    out, tangent = glax.jvp(lambda x: f(x, 3), (2.,), (1.,))
    near(tangent, np.sin(2) ** 3 + 2 * 3 * np.sin(2) ** 2 * np.cos(2))
    near(glax.vmap(f)(gnp.array([1., 2.]), gnp.array([0, 2])), [1, 2 * np.sin(2) ** 2])


def test_nested_mapped_while_loops():
    def f(a, bs):
        loop = lambda b: lax.while_loop(lambda c: c[0] < a, lambda c: (c[0] + 1, c[1] + b), (0., 0.))[1]
        return glax.vmap(loop)(bs)

    near(glax.vmap(f, (0, None))(gnp.arange(3.), gnp.arange(5.)), np.outer(np.arange(3.), np.arange(5.)))
    near(glax.vmap(f, (0, None))(gnp.arange(3.), gnp.arange(3.)), np.outer(np.arange(3.), np.arange(3.)))


def test_reverse_mode_of_a_while_loop_says_where_it_is():
    f = lambda x: lax.while_loop(lambda c: c < 5, lambda c: c * 2, x)
    with pytest.raises(ValueError, match=r"test_control_flow\.py:\d+.*fori_loop.*scan.*max_steps"):
        glax.grad(f)(1.)


@pytest.mark.parametrize("most", [0, 1, 2, 3, 7, 12, 30])
def test_bounded_while_loop(most):
    loop = lambda x: lax.while_loop(lambda c: c < 50, lambda c: c * x, 1., max_steps=most)
    steps = min(most, int(np.ceil(np.log(50) / np.log(1.5))))
    near(loop(1.5), 1.5 ** steps)
    near(glax.grad(loop)(1.5), steps * 1.5 ** (steps - 1))
    near(glax.vmap(glax.grad(loop))(gnp.array([1.5, 60.])), [steps * 1.5 ** (steps - 1), float(steps > 0)])


def test_memory_of_a_bounded_loop_grows_with_the_square_root():
    loop = lambda x: lax.while_loop(lambda c: c < 50, lambda c: c * x, 1., max_steps=10_000)
    pulled = glax.rewrite.vjp(glax.make_jaxpr(loop)(1.).jaxpr, [True])
    assert max(_sizes(pulled.forward) + _sizes(pulled.backward)) == 100


def _sizes(jaxpr):
    own = [v.aval.size for e in jaxpr.eqns for v in e.outputs]
    return own + [n for e in jaxpr.eqns for sub in e.op.sub_jaxprs() for n in _sizes(sub)]


def test_fori_loop_with_known_and_with_computed_bounds():
    f = lambda lower, upper, x: lax.fori_loop(lower, upper, lambda i, s: s * x + i, 0)
    near(f(2, 5, 2.), (2 * 2 + 3) * 2 + 4)
    near(glax.jit(f)(2, 5, 2.), 18)
    near(f(5, 2, 2.), 0)
    near(glax.grad(f, 2)(2, 5, 2.), 2 * 2 * 2 + 3)
    near(glax.vmap(f, (None, 0, None))(0, gnp.array([0, 1, 3]), 2.), [0, 0, 4])
    assert lax.fori_loop(0, 3, lambda i, x: x + i.astype(x.dtype), np.int8(0)).dtype == np.int8
    near(lax.fori_loop(np.int8(0), 3, lambda i, x: x + i, 0), 3)
    near(lax.fori_loop(0, 7, lambda i, x: x + i, 0., unroll=3), 21)


def test_index_in_a_mapped_slice():
    f = glax.vmap(lambda x, i: lax.dynamic_index_in_dim(x, i, keepdims=False), (None, 0))
    near(glax.jacrev(f)(gnp.array([1.]), gnp.array([1])), [[1.]])


# ---- associative_scan, and running in Python -------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 1, 2, 3, 5, 8, 13])
@pytest.mark.parametrize("reverse", [False, True])
def test_associative_scan(size, reverse):
    x = np.random.default_rng(size).normal(size=(2, size)).astype(np.float32)
    flip = (lambda a: a[:, ::-1]) if reverse else (lambda a: a)
    near(lax.associative_scan(gnp.add, x, reverse, axis=1), flip(np.cumsum(flip(x), axis=1)))
    linear = lambda f, g: (f[0] * g[0], f[1] * g[0] + g[1])
    a, b = lax.associative_scan(linear, (x, x), reverse, axis=-1)
    total = [np.ones(2), np.zeros(2)]
    for i in range(size):
        column = flip(x)[:, i]
        total = [total[0] * column, total[1] * column + column]
        near(flip(np.asarray(a))[:, i], total[0])
        near(flip(np.asarray(b))[:, i], total[1])


def test_without_jit_control_flow_runs_in_python():
    seen = []

    def step(c, x):
        seen.append(float(c))
        return c + x, c

    with glax.config.override(disable_jit=True):
        total, ys = lax.scan(step, 0., gnp.arange(3.))
        near(lax.fori_loop(0, 3, lambda i, s: s + float(i), 0.), 3.)
        near(lax.while_loop(lambda c: float(c) < 5, lambda c: c * 2, 1.), 8)
        near(glax.grad(lambda x: lax.while_loop(lambda c: c < 5, lambda c: c * 2, x))(1.), 8)
        near(lax.cond(True, lambda: 1, lambda: "never staged"), 1)
        assert lax.switch(1, [lambda: "a", lambda: "b"]) == "b"
        near(lax.scan(step, 0., gnp.arange(2.), reverse=True)[1], [1, 0])
    near(ys, [0, 0, 1])
    assert seen[:3] == [0, 0, 1]


def test_the_counter_of_a_fori_loop_yields_to_the_dtype_of_the_value():
    for dtype, start, step, wanted in ((gnp.uint32, 0xF0000000, lambda i, c: c >> i, 503316480),
                                       (gnp.int8, 1, lambda i, c: c * (i + 1), 6),
                                       (gnp.int16, 0, lambda i, c: c + i, 3),
                                       (gnp.bfloat16, 0, lambda i, c: c + gnp.square(i), 5)):
        for run in (lambda f: f(), lambda f: glax.jit(f)()):
            out = run(lambda dtype=dtype, start=start, step=step: lax.fori_loop(0, 3, step, gnp.array(start, dtype)))
            assert out.dtype == dtype and float(out) == wanted
        with glax.disable_jit():
            assert lax.fori_loop(0, 3, step, gnp.array(start, dtype)).dtype == dtype
    assert lax.fori_loop(0, 3, lambda i, c: c + i, 0).weak_type
    n = glax.jit(lambda n: lax.fori_loop(0, n, lambda i, c: c + i, gnp.int8(0)))(3)
    assert n.dtype == gnp.int8 and int(n) == 3


def test_bounded_loops_of_python_numbers_run_without_jit():
    with glax.disable_jit():
        assert float(lax.while_loop(lambda c: c < 10, lambda c: c * 2, 2., max_steps=7)) == 16.


def test_functions_called_on_numbers_are_given_arrays():
    g = lambda x: x.astype(gnp.float32) * 2
    assert float(glax.checkpoint(g)(0.5)) == 1.
    assert float(lax.custom_root(lambda x: x.astype(gnp.float32) - 2., 1., lambda f, x: x - f(x), lambda g, y: y)) == 2.
