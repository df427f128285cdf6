"""Calls of compiled functions: what finds their executables, and what must not."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from functools import partial
from itertools import permutations

import numpy as np
import pytest

import glax
import glax.numpy as gnp
from glax.ir.config import config, threads_overriding
from glax.ir.staging import threads_staging


def counted(f):
    """jit of f, and the list of how often f was staged."""
    stagings = []

    def recording(*args, **kwargs):
        stagings.append(None)
        return f(*args, **kwargs)

    return glax.jit(recording), stagings


def arrays():
    yield gnp.arange(3.)
    yield gnp.arange(3)
    yield np.arange(3)
    yield np.arange(3, dtype=np.float32)
    yield np.arange(3, dtype=np.float64)
    yield np.array([1e300, -1.5])
    yield np.array([2**40, 1])
    yield gnp.ones((3, 1))
    yield gnp.asarray(2.)
    yield glax.lax.full_like(gnp.asarray(1.), 2.)
    yield np.arange(6, dtype=">f4")[::-2]
    yield np.float32(2.)
    yield np.float64(2.)
    yield np.int64(2)
    yield np.asarray(2.)
    yield 2.
    yield -0.
    yield 1e300
    yield 2
    yield -2**31
    yield 2**31
    yield True
    yield 1 + 2j
    yield None
    yield ()


FORMS = {
    "positional": lambda f, x, y: f(x, y),
    "by name": lambda f, x, y: f(x, y=y),
    "by names": lambda f, x, y: f(a=x, b=y),
    "by other names": lambda f, x, y: f(a=x, c=y),
    "by names out of order": lambda f, x, y: f(b=x, a=y),
    "a dict by name": lambda f, x, y: f(a={"b": x}, c=y),
    "in a tuple": lambda f, x, y: f((x, y)),
    "in a dict": lambda f, x, y: f({"b": y, "a": x}),
    "one alone": lambda f, x, y: f(x),
    "none": lambda f, x, y: f(),
}


def total(*args, **kwargs):
    leaves = glax.tree.leaves((args, kwargs))
    return {"sum": sum((k + 1) * gnp.sum(x) for k, x in enumerate(leaves)), "count": len(leaves)}


def described(tree):
    leaves, structure = glax.tree.flatten(tree)
    return structure, [(np.asarray(x).tolist(), x.shape, x.dtype, x.weak_type) for x in map(gnp.asarray, leaves)]


def outcome(form, f, x, y):
    """What a call gives, or the error that it raises."""
    try:
        return described(form(f, x, y))
    except (OverflowError, TypeError) as error:
        return type(error), str(error).replace("of recording", "of total")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("x64", [False, True])
def test_calls_of_all_kinds_are_told_apart(x64):
    """One function, called twice in turn with pairs of arguments in every form, gives what a fresh one gives."""
    compiled, stagings = counted(total)
    kinds = list(arrays())
    pairs = [*zip(kinds, kinds[1:]), *zip(kinds, kinds[7:]), *zip(kinds[7:], kinds)]
    with glax.enable_x64(x64):
        staged = []
        for _ in range(2):
            for x, y in pairs:
                for form in FORMS.values():
                    assert outcome(form, compiled, x, y) == outcome(form, glax.jit(total), x, y)
            staged.append(len(stagings))
    assert staged[0] == staged[1], "the second round staged again"


@pytest.mark.parametrize("order", list(permutations(("a", "b", "c"))))
def test_names_in_any_order_are_told_apart_after_a_call_with_one_object_for_all(order):
    """Then the order of the names is not to be seen from the objects."""
    x, y, z = gnp.arange(3.), np.ones(3, np.float32), gnp.full(3, 5.)
    kinds = (x, (x, gnp.ones(3), z)), (y, (y + 1, y + 2, y + 3)), (1, (5, 3, 2)), (True, (0, True, True))
    for alike, others in kinds:
        for options in {}, {"static_argnames": "n"}, {"static_argnames": "b"} if type(alike) is int else {}:
            compiled = glax.jit(lambda a, b, c, n=1: a * 100 + b * 10 + c + n, **options)
            for _ in range(2):
                for values in (alike,) * 3, others:
                    named = dict(zip(order, values))
                    result = np.asarray(compiled(**named))
                    expected = np.asarray(named["a"] * 100 + named["b"] * 10 + named["c"] + 1)
                    assert result.tolist() == expected.tolist()


def test_a_failing_call_with_one_object_for_two_arguments_leaves_the_next_right():
    compiled = glax.jit(lambda a, b: a - b, donate_argnames="a")
    both = gnp.ones(3)
    with pytest.raises(RuntimeError):
        compiled(b=both, a=both)
    w, z = gnp.arange(3.), gnp.ones(3)
    assert np.asarray(compiled(b=z, a=w)).tolist() == [-1., 0., 1.]
    assert w.is_deleted() and not z.is_deleted()


def test_static_arguments_are_told_apart_by_type_and_value():
    seen = []

    def f(kind, x, scale=1, *, name="a"):
        seen.append((kind, scale, name))
        return {"y": x * scale, kind: x}

    compiled = glax.jit(f, static_argnums=(0, 2), static_argnames=("name", "scale"))
    x = np.arange(3., dtype=np.float32)
    calls = [(("k", x), {}), (("k", x, 1), {}), (("k", x, True), {}), (("k", x, 1.), {}), (("other", x, 2), {}),
             (("k", x), {"scale": 2}), (("k", x), {"name": "b"}), (("k",), {"x": x}), (("k", [x][0], 1), {"name": "a"})]
    for _ in range(3):
        for args, kwargs in calls:
            result = compiled(*args, **kwargs)
            expected = f(*args, **kwargs)
            assert described(result) == described(glax.tree.map(gnp.asarray, expected))
    del seen[:]
    for args, kwargs in calls:
        compiled(*args, **kwargs)
    assert not seen
    for _ in range(2):
        with pytest.raises(glax.errors.NonHashableStaticError, match="at position 0"):
            compiled([], x)


def test_donated_arguments_are_deleted_at_every_call():
    compiled = glax.jit(lambda x, y: x + y, donate_argnums=0)
    y = gnp.ones(3)
    for _ in range(3):
        x = gnp.arange(3.)
        assert np.asarray(compiled(x, y)).tolist() == [1., 2., 3.]
        assert x.is_deleted() and not y.is_deleted()
        host = np.arange(3, dtype=np.float32)
        assert np.asarray(compiled(host, y)).tolist() == [1., 2., 3.]
        assert host.tolist() == [0., 1., 2.]
        with pytest.raises(RuntimeError, match="deleted"):
            compiled(x, y)


def test_settings_of_a_moment_are_heeded():
    compiled, stagings = counted(lambda x: x * 2.)
    x = np.arange(3.)
    assert compiled(x).dtype == compiled(x).dtype == np.float32
    with glax.enable_x64():
        assert compiled(x).dtype == compiled(x).dtype == np.float64
        with glax.enable_x64(False):
            assert compiled(x).dtype == np.float32
    assert compiled(x).dtype == np.float32
    assert len(stagings) == 2
    with glax.disable_jit():
        compiled(x)
    assert len(stagings) == 3
    with config.override(debug_nans=True), pytest.raises(FloatingPointError):
        compiled(np.array([np.nan, 1., 2.]))
    with config.override(default_matmul_precision="highest"):
        compiled(x)
    assert len(stagings) == 4
    config.update("debug_nans", True)
    try:
        with glax.enable_x64(), pytest.raises(FloatingPointError):
            compiled(np.array([np.nan, 1., 2.]))
    finally:
        config.update("debug_nans", False)


def test_calls_inside_a_staged_function_are_recorded():
    compiled, x = glax.jit(gnp.sin), gnp.arange(3.)
    compiled(x)
    jaxpr = glax.make_jaxpr(lambda y: compiled(x) + compiled(y))(x)
    assert [eqn.op.name for eqn in jaxpr.eqns] == ["jit", "jit", "add"]
    assert not threads_staging


def test_other_threads_stage_and_override_apart():
    """While one thread stages, and another holds a setting, this one runs as if they were not there."""
    compiled, x = glax.jit(lambda x: x + 1), np.arange(3.)
    compiled(x)
    arrived, released = threading.Barrier(3), threading.Event()
    seen = {}

    def staging():
        def body(y):
            arrived.wait()
            released.wait()
            return compiled(x) + y

        seen["staged"] = [eqn.op.name for eqn in glax.make_jaxpr(body)(1.).eqns]

    def overriding():
        with glax.enable_x64():
            arrived.wait()
            released.wait()
            seen["dtype"] = compiled(x).dtype

    threads = [threading.Thread(target=f) for f in (staging, overriding)]
    for thread in threads:
        thread.start()
    arrived.wait()
    try:
        assert threads_staging and threads_overriding
        assert np.asarray(compiled(x)).tolist() == [1., 2., 3.]
        assert compiled(x).dtype == np.float32
    finally:
        released.set()
        for thread in threads:
            thread.join()
    assert seen == {"staged": ["jit", "add"], "dtype": np.float64}
    assert not threads_staging and not threads_overriding


def test_failures_leave_nothing_open():
    def fails(x):
        raise KeyError("of the user")

    for call in (glax.jit(fails), glax.make_jaxpr(glax.jit(fails)), glax.grad(lambda x: glax.jit(fails)(x))):
        for _ in range(2):
            with pytest.raises(KeyError, match="of the user"):
                call(1.)
    with pytest.raises(KeyError), config.override(debug_nans=True):
        raise KeyError
    assert not threads_staging and not threads_overriding


def test_deleted_arrays_are_refused_in_every_form():
    compiled = glax.jit(total)
    for name, form in FORMS.items():
        x, y = gnp.arange(3.), gnp.arange(3.)
        form(compiled, x, y)
        x.delete()
        if name != "none":
            for _ in range(2):
                with pytest.raises(RuntimeError, match="deleted"):
                    form(compiled, x, y)


def test_a_cleared_cache_is_filled_again():
    compiled, stagings = counted(lambda tree: tree["x"] + tree["y"])
    arguments = {"x": gnp.arange(3.), "y": np.ones(3, np.float32)}
    for _ in range(3):
        assert np.asarray(compiled(arguments)).tolist() == [1., 2., 3.]
    assert len(stagings) == 1
    compiled.clear_cache()
    for _ in range(3):
        assert np.asarray(compiled(arguments)).tolist() == [1., 2., 3.]
    assert len(stagings) == 2


@pytest.mark.parametrize("count", [4, 20_000, 300_000])
@pytest.mark.parametrize("offset", [0, 4, 16])
def test_the_caller_may_write_to_its_arrays_after_a_call(count, offset):
    compiled = glax.jit(lambda x, y: x + y)
    memory = np.empty(4 * count + 128, np.uint8)
    start = -memory.ctypes.data % 64 + offset
    x, one = memory[start:start + 4 * count].view(np.float32), np.float32(1)
    for _ in range(10):
        x[:] = 1
        result = compiled(x, one)
        x[:] = 5
        assert (np.asarray(result) == 2).all()


def race(runs, body):
    """Run a function in threads that start together; what they gave, or the errors they raised."""
    barrier, results = threading.Barrier(runs), []

    def one():
        barrier.wait()
        try:
            results.append(body())
        except Exception as error:
            results.append(error)

    threads = [threading.Thread(target=one) for _ in range(runs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_threads_may_make_the_first_call_together():
    constants = [gnp.asarray(np.full(5, i, np.float32)) for i in range(20)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for k in range(20):
            compiled = glax.jit(lambda x, k=k: sum(constants, x) * float(k))
            for result in race(6, partial(compiled, gnp.ones(5))):
                assert np.asarray(result).tolist() == [191. * k] * 5
    finally:
        sys.setswitchinterval(interval)


def holding(value):
    with glax.enable_x64(value):
        yield


def test_settings_that_end_in_another_order_are_seen_by_every_path():
    compiled, x = glax.jit(lambda x: (x, gnp.zeros(2))), gnp.arange(2.)

    def out_of_order():
        outer, inner = holding(True), holding(False)
        next(outer), next(inner)
        outer.close()
        inner.close()
        return [y.dtype for y in (compiled(x)[1], compiled(x)[1], compiled(x=x)[1], gnp.zeros(2))]

    [seen] = race(1, out_of_order)
    assert len(set(seen)) == 1
    assert compiled(x)[1].dtype == gnp.zeros(2).dtype == np.float32


def test_checks_outlive_one_that_ends_before_them():
    nans, infs = config.override(debug_nans=True), config.override(debug_infs=True)
    nans.__enter__()
    infs.__enter__()
    nans.__exit__()
    try:
        with pytest.raises(FloatingPointError):
            gnp.ones(2) / 0.
    finally:
        infs.__exit__()
    assert not config.slow_path


def test_donated_arguments_beside_static_ones_at_negative_positions():
    compiled = glax.jit(lambda x, n, y: (x + n, y + 2), donate_argnums=-1, static_argnums=-2)
    for _ in range(2):
        x, y = gnp.ones(4), gnp.ones(4)
        compiled(x, 3, y)
        assert y.is_deleted() and not x.is_deleted()


def test_what_was_compiled_checks_its_arguments_where_some_are_static():
    run = glax.jit(lambda d, n: d["a"] - d["b"] * n, static_argnums=1).lower({"a": 1., "b": 2.}, 3).compile()
    assert float(run({"a": 1., "b": 2.})) == -5.
    for args in (({"c": 1., "a": 2.},), (), ({"a": 1., "b": 2.}, 3)):
        with pytest.raises(TypeError, match="compiled for other arguments"):
            run(*args)
    with pytest.raises(TypeError, match="runs on values"):
        glax.grad(lambda x: run({"a": x, "b": x}))(1.)


def test_a_captured_array_that_is_gone_is_called_so():
    captured = gnp.arange(4.) * 1
    compiled = glax.jit(lambda x: x + captured)
    compiled(gnp.ones(4))
    captured.delete()
    with pytest.raises(RuntimeError, match="took from outside has been deleted"):
        compiled(gnp.ones(4))


def test_a_function_of_very_many_kinds_of_calls_forgets():
    compiled = glax.jit(lambda x, n: x + n, static_argnums=1)
    compiled(1., 0)
    compiled._entries.update((n, None) for n in range(5000))
    assert float(compiled(1., 1)) == 2.
    assert len(compiled._entries) == 1


def test_captured_values_come_before_arguments():
    captured = gnp.arange(3.)
    compiled = glax.jit(lambda x: (captured * x, {"sum": captured.sum()}))
    for _ in range(3):
        product, rest = compiled(gnp.full(3, 2.))
        assert np.asarray(product).tolist() == [0., 2., 4.]
        assert float(rest["sum"]) == 3.


def test_what_a_function_captured_is_given_up_with_it():
    """Nothing of a compiled function keeps itself alive by a cycle."""
    def used_once():
        captured = gnp.arange(3.)
        glax.jit(lambda x: {"product": x * captured})(captured)
        return weakref.ref(captured)

    gc.collect()
    gc.disable()
    try:
        assert used_once()() is None
    finally:
        gc.enable()
