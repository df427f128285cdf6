"""jit, grad, vjp, jvp, linearize, vmap and the Jacobians, as a user calls them."""

from collections import OrderedDict

import numpy as np
import pytest

import glax
import glax.numpy as gnp
from glax import lax
from glax.ir import ClosedJaxpr, check


def near(got, wanted, within=1e-5):
    np.testing.assert_allclose(np.asarray(got), wanted, rtol=within, atol=within)


def test_jvp_of_trees_and_aux():
    def f(p, x):
        return {"y": p["w"] * x, "n": gnp.sin(x)}, (x, "kept")

    primals, tangents = ({"w": 2.}, 3.), ({"w": 1.}, 1.)
    out, tangent, aux = glax.jvp(f, primals, tangents, has_aux=True)
    near(out["y"], 6.)
    near(tangent["y"], 5.)
    near(tangent["n"], np.cos(3.))
    near(aux[0], 3.)
    assert aux[1] == "kept"


def test_integer_primals_have_float0_tangents():
    zero = np.zeros((), glax.float0)
    out, tangent = glax.jvp(lambda x, n: (x * 2., n + 1), (1., 3), (1., zero))
    assert int(out[1]) == 4 and tangent[1].dtype == glax.float0
    _, pull = glax.vjp(lambda x, n: x * n, 2., 3)
    slope, of_integer = pull(1.)
    near(slope, 3.)
    assert of_integer.dtype == glax.float0 and of_integer.shape == ()


def test_grad_arguments_and_aux():
    f = lambda a, b, c: (a * b + c).sum()
    near(glax.grad(f, 1)(2., 3., 4.), 2.)
    near(glax.grad(f, -1)(2., 3., 4.), 1.)
    near(glax.grad(f, (0, 1))(2., 3., 4.), [3., 2.])
    slope, aux = glax.grad(lambda x: (x ** 2, {"x": x}), has_aux=True)(3.)
    near(slope, 6.)
    near(aux["x"], 3.)
    (value, aux), slope = glax.value_and_grad(lambda x: (x ** 2, x), has_aux=True)(3.)
    near((value, aux, slope), (9., 3., 6.))
    near(glax.grad(lambda x, scale="unused": x * 3.)(1., scale="any object"), 3.)


def test_gradients_of_trees_keep_their_tree():
    params = OrderedDict(w=gnp.ones((2, 3)), b=[gnp.zeros(3), None, (gnp.ones(()),)])
    slopes = glax.grad(lambda p: (p["w"].sum(0) + p["b"][0]).sum() * p["b"][2][0])(params)
    assert glax.tree.structure(slopes) == glax.tree.structure(params)
    near(slopes["w"], np.ones((2, 3)))
    near(slopes["b"][2][0], 6.)


def test_holomorphic_and_complex():
    f = lambda z: z ** 3
    near(glax.grad(f, holomorphic=True)(1 + 2j), 3 * (1 + 2j) ** 2)
    near(glax.grad(lambda z: (z * z.conj()).real)(1 + 2j), 2 - 4j)
    with pytest.raises(TypeError, match="complex"):
        glax.grad(f, holomorphic=True)(1.)
    with pytest.raises(TypeError, match="holomorphic"):
        glax.grad(f)(1 + 2j)


def test_jacobians_and_hessians():
    f = lambda p: {"y": p[0] @ p[1], "z": p[1] ** 2}
    point = (gnp.arange(6.).reshape(2, 3), gnp.arange(3.))
    forward, reverse = glax.jacfwd(f)(point), glax.jacrev(f)(point)
    assert forward["y"][0].shape == (2, 2, 3) and forward["y"][1].shape == (2, 3)
    for a, b in zip(glax.tree.leaves(forward), glax.tree.leaves(reverse)):
        near(a, b)
    near(forward["z"][1], np.diag([0., 2., 4.]))
    h = glax.hessian(lambda x, y: (x ** 2 * y).sum(), argnums=(0, 1))(gnp.arange(2.), gnp.ones(2))
    near(h[0][0], np.diag([2., 2.]))
    near(h[0][1], np.diag([0., 2.]))
    jac, aux = glax.jacrev(lambda x: (x ** 2, x.sum()), has_aux=True)(gnp.arange(3.))
    near(jac, np.diag([0., 2., 4.]))
    near(aux, 3.)


def test_linearize_runs_the_function_once():
    calls = []

    def f(x):
        calls.append(1)
        return gnp.sin(x) * x

    y, derivative = glax.linearize(f, 2.)
    near(y, np.sin(2.) * 2.)
    for v in (1., 2., -1.):
        near(derivative(v), v * (np.cos(2.) * 2. + np.sin(2.)))
    assert len(calls) == 1


def test_pullbacks_are_pytrees():
    _, pull = glax.vjp(lambda x: gnp.sin(x), gnp.arange(3.))
    near(glax.jit(lambda pull, ct: pull(ct))(pull, gnp.ones(3))[0], np.cos(np.arange(3.)))
    leaves, treedef = glax.tree.flatten(pull)
    again = glax.tree.unflatten(treedef, leaves)
    near(again(gnp.ones(3))[0], np.cos(np.arange(3.)))


def test_linear_transpose():
    a = gnp.arange(6.).reshape(2, 3)
    transposed = glax.linear_transpose(lambda x: a @ x, glax.ShapeDtypeStruct((3,), "float32"))
    near(transposed(gnp.ones(2))[0], np.asarray(a).sum(0))
    with pytest.raises(TypeError, match="not linear"):
        glax.linear_transpose(lambda x: gnp.sin(x), 1.)(1.)


def test_vmap_axes_as_trees_and_prefixes():
    f = lambda p, x: (p["w"] * x + p["b"], x)
    w, b, x = gnp.arange(6.).reshape(3, 2), gnp.float32(1.), gnp.arange(6.).reshape(2, 3)
    y, same = glax.vmap(f, in_axes=({"w": 0, "b": None}, 1), out_axes=(-1, 0))({"w": w, "b": b}, x)
    near(y, (np.asarray(w) * np.asarray(x).T + 1.).T)
    near(same, np.asarray(x).T)
    near(glax.vmap(lambda x, y: x + y, in_axes=(None, 0))(1., gnp.arange(3.)), [1., 2., 3.])
    near(glax.vmap(lambda x, *, y: x + y)(gnp.arange(3.), y=gnp.arange(3.)), [0., 2., 4.])
    near(glax.vmap(lambda x: 7., out_axes=0)(gnp.arange(3.)), [7., 7., 7.])
    near(glax.vmap(lambda x: 7., out_axes=None)(gnp.arange(3.)), 7.)
    near(glax.vmap(lambda: 5., axis_size=3, in_axes=())(), [5., 5., 5.])
    near(glax.vmap(lambda x: x.sum(), in_axes=-1)(gnp.ones((2, 3))), [2., 2., 2.])


def test_jit_static_arguments():
    traces = []

    @glax.jit
    def plain(x):
        traces.append("plain")
        return x + 1

    def power(x, n, *, twice=False):
        traces.append((n, twice))
        for _ in range(n):
            x = x * 2.
        return x * 2. if twice else x

    by_number = glax.jit(power, static_argnums=1, static_argnames="twice")
    near(by_number(1., 3), 8.)
    near(by_number(1., 3, twice=True), 16.)
    near(glax.jit(power, static_argnums=1)(1., n=3), 8.)
    near(plain(1.), 2.)
    near(plain(2.), 3.)
    plain(1)
    assert traces.count("plain") == 2
    near(glax.jit(lambda x, n: x * n, static_argnums=(-1,))(2., 3), 6.)


def test_jit_equal_programs_share_an_executable():
    from glax.lower import executables
    x = gnp.arange(17.)
    glax.jit(lambda v: gnp.cos(v) * 3.)(x)
    before = executables.statistics().misses
    glax.jit(lambda other_name: gnp.cos(other_name) * 3.)(x)
    assert executables.statistics().misses == before


def test_jit_captures_and_constants():
    table = gnp.arange(5.)
    f = glax.jit(lambda i: table[i] * 2.)
    near(f(3), 6.)
    scale = np.float32(4.)
    near(glax.grad(lambda s: glax.jit(lambda x: x * s * scale)(2.))(3.), 8.)
    near(glax.vmap(lambda s: glax.jit(lambda x: x * s)(2.))(gnp.arange(3.)), [0., 2., 4.])


def test_jit_donation_deletes_the_argument():
    f = glax.jit(lambda x, y: x + y, donate_argnums=0)
    x = gnp.arange(1000.)
    near(f(x, 1.), np.arange(1000.) + 1)
    assert x.is_deleted()
    with pytest.raises(RuntimeError, match="deleted"):
        x + 1


def test_jit_as_decorator_and_method():
    class Model:
        def __init__(self, scale):
            self.scale = scale

        def __hash__(self):
            return hash(self.scale)

        @glax.jit(static_argnums=0)
        def scaled(self, x):
            return x * self.scale

    near(Model(3.).scaled(2.), 6.)

    @glax.jit(static_argnames=("n",))
    def f(x, n):
        return x * n

    near(f(2., n=3), 6.)
    assert f.__name__ == "f"


def test_stages():
    f = glax.jit(lambda x: {"y": gnp.sin(x)})
    lowered = f.lower(glax.ShapeDtypeStruct((3,), "float32"))
    assert "stablehlo.sine" in lowered.as_text() and "sine" in lowered.as_text("hlo")
    compiled = lowered.compile()
    near(compiled(np.zeros(3, np.float32))["y"], np.zeros(3))
    assert compiled.cost_analysis() is not None and "HloModule" in compiled.as_text()
    assert compiled.memory_analysis().argument_size_in_bytes == 12
    with pytest.raises(TypeError, match="compiled for"):
        compiled(np.zeros(4, np.float32))
    assert isinstance(f.trace(1.).jaxpr, ClosedJaxpr)
    assert f.eval_shape(1.)["y"].shape == ()


def test_make_jaxpr_and_eval_shape():
    program, shape = glax.make_jaxpr(lambda x, n: [x * n], static_argnums=1, return_shape=True)(1., 3)
    check(program)
    assert shape == [glax.ShapeDtypeStruct((), np.float32, weak_type=True)]
    out = glax.eval_shape(lambda a: {"m": a @ a.T}, glax.ShapeDtypeStruct((2, 3), np.float32))
    assert out["m"].shape == (2, 2)
    assert "mul" in str(glax.make_jaxpr(lambda: lax.mul(2., 2.))())


def test_x64_switch():
    assert glax.jit(lambda x: x * 2)(np.float64(1.)).dtype == np.float32
    with glax.enable_x64(True):
        assert glax.jit(lambda x: x * 2)(np.float64(1.)).dtype == np.float64
        assert gnp.arange(3.).dtype == np.float64
    assert gnp.arange(3.).dtype == np.float32


def test_results_do_not_alias_what_the_caller_can_write():
    x = np.zeros(4096, np.float32)
    results = [gnp.asarray(x), glax.jit(lambda v: v)(x), glax.vmap(lambda v: v)(x), glax.device_put(x),
               glax.jvp(lambda v: v, (x,), (x,))[0], glax.vjp(lambda v: v * 1., x)[0]]
    x[:] = -1.
    for result in results:
        near(result, np.zeros(4096))


def test_disable_jit_runs_python():
    seen = []

    @glax.jit
    def f(x):
        seen.append(float(x))
        return x * 2

    with glax.config.override(disable_jit=True):
        near(f(3.), 6.)
    assert seen == [3.]


def test_python_control_flow_on_values():
    def f(x):
        total = 0. * x
        while total < 10.:
            total = total + x if x > 1. else total + 2. * x
        return total * int(x)

    near(glax.grad(f)(3.), 4. * 3)
    near(glax.jacfwd(f)(3.), 12.)
    near(glax.linearize(f, 3.)[1](1.), 12.)
    near(glax.grad(lambda x: glax.grad(f)(x) * x if x > 0 else x)(3.), 12.)
    near(glax.grad(lambda x, n: sum(x ** i for i in range(int(n))))(2., 3), 5.)
    near(glax.grad(lambda x: x * x.item())(3.), 3.)
    program = glax.make_jaxpr(lambda v: glax.jvp(lambda x: x * 2. if True else x, (3.,), (v,))[1])(1.)
    assert len(program.eqns) >= 1


def test_nothing_is_computed_when_nobody_asks(monkeypatch):
    from glax import _concrete
    asked = []
    original = _concrete._evaluate_slice
    monkeypatch.setattr(_concrete, "_evaluate_slice", lambda b, i: asked.append(i) or original(b, i))
    glax.grad(lambda x: gnp.sin(x) * x)(2.)
    assert not asked
    glax.grad(lambda x: gnp.sin(x) * x if x > 0 else x)(2.)
    assert asked


@pytest.mark.parametrize("point", [2., np.float32(2.)])
def test_transformed_programs_are_well_formed_for_weak_and_strong_arguments(point):
    f = lambda x: lax.cond(x > 0, lambda x: gnp.sin(x) ** 2 - 3., lambda x: x, x) * 2
    directional = lambda f: lambda x: glax.jvp(f, (x,), (x,))[1]
    row = lambda f: lambda x: glax.vmap(f)(gnp.stack([x, x]))[0]
    linear = lambda f: lambda x: glax.linearize(f, x)[1](x)
    pulled = lambda f: lambda x: glax.vjp(f, x)[1](1.)[0]
    steps = [glax.grad, directional, row, glax.jit, linear, glax.checkpoint, pulled]
    for first in steps:
        for second in steps:
            with glax.config.override(check_rewrites=True):
                check(glax.make_jaxpr(second(first(f)))(point))


def test_derivatives_by_weak_scalars_are_weak():
    loss = lambda b, w: gnp.sum(gnp.ones(3) * b * w)
    slopes = glax.grad(loss, (0, 1))(0., gnp.ones(3))
    assert slopes[0].weak_type and not slopes[1].weak_type
    assert glax.grad(glax.grad(lambda x: x ** 2))(1.).weak_type
    assert glax.jacrev(lambda x: x * 2)(1.).weak_type and glax.jvp(lambda x: x * 2, (1.,), (1.,))[1].weak_type
    assert (gnp.ones((), gnp.bfloat16) * slopes[0]).dtype == gnp.bfloat16


def test_programs_keep_the_values_that_were_captured():
    table = np.ones(3, np.float32)
    program = glax.make_jaxpr(lambda x: x * table)(gnp.ones(3))
    traced = glax.jit(lambda x: x * table).trace(gnp.ones(3))
    found, text = {program}, str(program)
    table[:] = 5.
    assert program in found and str(program) == text
    near(traced.lower().compile()(gnp.ones(3)), np.ones(3))


def test_constants_that_differ_in_the_sign_of_zero():
    near(np.asarray(gnp.log(-1 + 0j)).imag, np.pi)
    near(np.asarray(gnp.log(complex(-1, -0.))).imag, -np.pi)


def test_double_precision_arrays_outlive_the_x64_mode():
    with glax.enable_x64(True):
        x = gnp.arange(3.)
    f = glax.jit(lambda y: y * 2)
    assert f.lower(x).compile()(x).dtype == f(x).dtype == glax.eval_shape(f, x).dtype == np.float64


def test_leaked_values_do_not_answer():
    leaked = []
    glax.grad(lambda x: leaked.append(x) or x)(1.)
    with pytest.raises(glax.errors.UnexpectedTracerError):
        float(leaked[0])


def test_settings_that_change_staging_are_part_of_what_was_staged():
    f = glax.jit(lambda x, y: x @ y)
    x = gnp.ones((2, 2))
    f(x, x)
    with glax.config.override(default_matmul_precision="highest"):
        assert "highest" in str(f.trace(x, x).jaxpr)
    add = glax.jit(lambda x, y: x + y)
    add(x, np.ones((2, 2), np.int32))
    add(x, np.ones((2, 2), np.int32))
    with glax.config.override(numpy_dtype_promotion="strict"), pytest.raises(ValueError, match="promotion"):
        add(x, np.ones((2, 2), np.int32))
    near(add(x, np.ones((2, 2), np.int32)), 2 * np.ones((2, 2)))
