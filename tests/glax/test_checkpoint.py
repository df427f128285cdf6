"""checkpoint: values, derivatives, what is computed again, and what policies keep."""

import numpy as np
import pytest

import glax
import glax.numpy as gnp
from glax import checkpoint_policies as policies
from glax.ad_checkpoint import checkpoint, checkpoint_name, print_saved_residuals, remat, saved_residuals
from glax.ir import check, parse


def layer(w, x):
    return gnp.sin(checkpoint_name(gnp.dot(w, x), "dot"))


def net(w, x):
    return layer(w, layer(w, gnp.exp(x))).sum()


W = np.linspace(-1, 1, 9, dtype=np.float32).reshape(3, 3)
X = np.array([.1, .2, .3], np.float32)
POLICIES = {
    "none": None, "nothing": policies.nothing_saveable, "everything": policies.everything_saveable,
    "dots": policies.dots_saveable, "named": policies.save_only_these_names("dot"),
    "others": policies.save_anything_except_these_names("dot"),
    "sines": lambda op, *avals, **params: op.name == "sin",
}


def count(f, name, *args):
    """How often an operation stands in a function's program, calls included."""
    def of(jaxpr):
        return sum((eqn.op.name == name) + sum(map(of, eqn.op.sub_jaxprs())) for eqn in jaxpr.eqns)

    return of(glax.make_jaxpr(f)(*args).jaxpr)


def near(got, wanted, rtol=1e-5):
    np.testing.assert_allclose(np.asarray(got), np.asarray(wanted), rtol=rtol, atol=1e-6)


@pytest.mark.parametrize("policy", POLICIES)
def test_values_and_derivatives_are_those_of_the_function(policy):
    f = checkpoint(net, policy=POLICIES[policy])
    near(f(W, X), net(W, X))
    near(glax.jit(f)(W, X), net(W, X))
    near(glax.grad(f)(W, X), glax.grad(net)(W, X))
    near(glax.jit(glax.grad(f, argnums=1))(W, X), glax.grad(net, argnums=1)(W, X))
    near(glax.jvp(f, (W, X), (W, X))[1], glax.jvp(net, (W, X), (W, X))[1])
    near(glax.hessian(f, argnums=1)(W, X), glax.hessian(net, argnums=1)(W, X), 1e-4)
    near(glax.vmap(glax.grad(f), (None, 0))(W, X[:, None] + X), glax.vmap(glax.grad(net), (None, 0))(W, X[:, None] + X))
    batched = lambda g: glax.grad(lambda w: glax.vmap(g, (None, 0))(w, X[:, None] + X).sum())
    near(batched(f)(W), batched(net)(W))


@pytest.mark.parametrize("policy, sines, dots, exps", [
    ("none", 2, 2, 1), ("nothing", 2, 2, 1), ("everything", 0, 0, 0), ("dots", 1, 0, 1), ("named", 1, 0, 1),
    ("sines", 1, 2, 1)])
def test_what_is_computed_again(policy, sines, dots, exps):
    f = checkpoint(net, policy=POLICIES[policy])
    back = lambda w, x: glax.vjp(f, w, x)[1](np.float32(1))
    plain = lambda w, x: glax.vjp(net, w, x)[1](np.float32(1))
    # The last sine is not needed again.
    for name, more in (("sin", sines), ("dot_general", dots), ("exp", exps)):
        again = count(back, name, W, X) - count(plain, name, W, X)
        assert again <= more, name
        assert again >= more - (name == "sin"), name


def test_what_is_kept():
    kept = {name: [str(a.shape) + origin.split(" from ")[0] for a, origin in saved_residuals(
        checkpoint(net, policy=policy), W, X)] for name, policy in POLICIES.items()}
    arguments = ["(3, 3)from the argument args[0]", "(3,)from the argument args[1]"]
    assert kept["none"] == kept["nothing"] == arguments
    assert kept["named"] == arguments + ["(3,)named 'dot'"] * 2
    assert kept["dots"] == arguments + ["(3,)output of dot_general"] * 2
    assert kept["sines"] == arguments + ["(3,)output of sin"]
    assert sorted({x.split(")")[1] for x in kept["everything"]}) == [
        "from the argument args[0]", "output of cos", "output of exp", "output of sin"]


def test_printing_what_is_kept(capsys):
    print_saved_residuals(checkpoint(net), W, x=X)
    assert capsys.readouterr().out == "f32[3,3] from the argument args[0]\nf32[3] from the argument kwargs['x']\n"


def test_policies_look_into_jitted_functions():
    f = checkpoint(glax.jit(net), policy=policies.dots_saveable)
    assert sum("dot_general" in origin for _, origin in saved_residuals(f, W, X)) == 2
    near(glax.grad(f)(W, X), glax.grad(net)(W, X))


def test_nested_checkpoints():
    f = checkpoint(lambda x: gnp.sin(checkpoint(lambda x: gnp.sin(gnp.sin(x)))(x)))
    g = lambda x: gnp.sin(gnp.sin(gnp.sin(x)))
    near(glax.grad(f)(1.), glax.grad(g)(1.))
    near(glax.grad(glax.grad(f))(1.), glax.grad(glax.grad(g))(1.))
    assert len(saved_residuals(f, 1.)) == 1


def test_closures_static_arguments_and_trees():
    def outer(k, x):
        f = checkpoint(lambda flag, p: gnp.sin(k * p["x"]) if flag else p["x"], static_argnums=(0,))
        return f(True, {"x": x})

    near(glax.grad(outer)(2., 3.), 3 * np.cos(6.))
    near(glax.jit(glax.grad(outer, argnums=(0, 1)))(2., 3.), [3 * np.cos(6.), 2 * np.cos(6.)])
    near(glax.vmap(glax.grad(outer))(np.ones(2), np.ones(2)), np.full(2, np.cos(1.)))


def test_python_control_flow_where_arguments_are_concrete():
    near(glax.grad(checkpoint(lambda x: gnp.sin(x) if x > 0 else x))(-1.), 1.)


def test_integers_and_a_decorator():
    @remat(policy=policies.nothing_saveable)
    def f(x, n):
        return x * n, n

    near(glax.grad(lambda x: f(x, 3)[0])(2.), 3.)
    assert f.__name__ == "f"


def test_programs_are_data():
    for policy in POLICIES.values():
        program = glax.make_jaxpr(glax.grad(checkpoint(net, policy=policy)))(W, X).jaxpr
        check(program)
        assert parse(str(program)) == program
    both = policies.save_from_both_policies(policies.dots_saveable, policies.save_any_names_but_these("a", "b"))
    program = glax.make_jaxpr(checkpoint(net, policy=both))(W, X).jaxpr
    assert parse(str(program)) == program
    assert both(program.eqns[0].op) is False


def test_the_compiler_is_kept_from_merging():
    text = lambda f: glax.jit(glax.grad(f)).lower(W, X).as_text()
    assert "optimization_barrier" in text(checkpoint(net))
    assert "optimization_barrier" not in text(checkpoint(net, prevent_cse=False))
    assert "optimization_barrier" not in glax.jit(checkpoint(net)).lower(W, X).as_text()


def test_policies_by_batch_dimensions():
    batched = lambda x: gnp.sin(gnp.matmul(x, x)).sum()
    xs = np.ones((2, 3, 3), np.float32)
    dots = lambda policy: sum("dot" in origin for _, origin in saved_residuals(checkpoint(batched, policy=policy), xs))
    assert dots(policies.dots_saveable) == 1
    assert dots(policies.dots_with_no_batch_dims_saveable) == 0


def test_errors():
    with pytest.raises(TypeError, match="takes a function"):
        checkpoint(3)
    with pytest.raises(TypeError, match="policy"):
        checkpoint(net, policy=3)
    with pytest.raises(TypeError, match="takes names"):
        policies.save_only_these_names(3)
    with pytest.raises(TypeError, match="string"):
        checkpoint_name(1., 3)
    with pytest.raises(NotImplementedError, match="pinned_host"):
        policies.offload_dot_with_no_batch_dims("device", "pinned_host")
    with pytest.raises(NotImplementedError, match="pinned_host"):
        policies.save_and_offload_only_these_names(names_which_can_be_saved=[], names_which_can_be_offloaded=["a"],
                                                   offload_src="device", offload_dst="pinned_host")
