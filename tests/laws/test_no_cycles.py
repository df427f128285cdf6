"""What staging and rewriting make is freed when it is dropped: nothing waits for Python's collector of cycles.

A cycle would keep the arrays that a function captured, however large, until the collector happens to run.
"""

from __future__ import annotations

import gc
from collections import Counter

import pytest

import glax
import glax.numpy as gnp
from glax import lax
from glax.experimental import checkify

X, CAPTURED = gnp.arange(3.), gnp.arange(3.)


def f(x):
    return gnp.sin(x) * CAPTURED + gnp.where(x > 0, x, CAPTURED).sum()


def total(x):
    return f(x).sum()


def branches_in_python(x):
    return (x * CAPTURED).sum() if x.sum() > 0 else x.sum()


@glax.custom_jvp
def with_jvp(x):
    return gnp.sin(x) * CAPTURED


with_jvp.defjvp(lambda primals, tangents: (with_jvp(*primals), tangents[0] * CAPTURED))


@glax.custom_vjp
def with_vjp(x):
    return gnp.sin(x) * CAPTURED


with_vjp.defvjp(lambda x: (with_vjp(x), x), lambda residual, g: (g * residual * CAPTURED,))


def scanned(x):
    return lax.scan(lambda carry, row: (carry + gnp.sin(row) * CAPTURED, carry), x, gnp.ones((4, 3)))


CASES = {
    "operation": lambda: f(X),
    "jit": lambda: glax.jit(lambda x: f(x))(X),
    "jit of a tree": lambda: glax.jit(lambda tree: {"y": f(tree["x"])})({"x": X}),
    "make_jaxpr": lambda: glax.make_jaxpr(f)(X),
    "eval_shape": lambda: glax.eval_shape(f, X),
    "lower and compile": lambda: glax.jit(lambda x: f(x)).lower(X).compile()(X),
    "jvp": lambda: glax.jvp(f, (X,), (X,)),
    "linearize": lambda: glax.linearize(f, X)[1](X),
    "vjp": lambda: glax.vjp(f, X)[1](X),
    "grad": lambda: glax.grad(total)(X),
    "grad of grad": lambda: glax.grad(lambda x: glax.grad(total)(x).sum())(X),
    "grad of jit": lambda: glax.grad(glax.jit(lambda x: total(x)))(X),
    "hessian": lambda: glax.hessian(total)(X),
    "vmap": lambda: glax.vmap(lambda x: x * CAPTURED.sum())(X),
    "vmap of grad": lambda: glax.vmap(glax.grad(lambda x: gnp.sin(x) * CAPTURED.sum()))(X),
    "linear_transpose": lambda: glax.linear_transpose(lambda x: x * CAPTURED, X)(X),
    "Python's if": lambda: glax.grad(branches_in_python)(X),
    "custom_jvp": lambda: glax.grad(lambda x: with_jvp(x).sum())(X),
    "custom_vjp": lambda: glax.grad(lambda x: with_vjp(x).sum())(X),
    "checkpoint": lambda: glax.grad(lambda x: glax.checkpoint(f)(x).sum())(X),
    "scan": lambda: scanned(X),
    "grad of scan": lambda: glax.grad(lambda x: scanned(x)[0].sum())(X),
    "while_loop": lambda: lax.while_loop(lambda x: x.sum() < 100, lambda x: x + CAPTURED, X),
    "fori_loop": lambda: lax.fori_loop(0, 3, lambda i, x: x + CAPTURED, X),
    "cond": lambda: lax.cond(True, lambda x: x + CAPTURED, lambda x: x, X),
    "switch": lambda: lax.switch(1, [lambda x: x + CAPTURED, lambda x: x * CAPTURED], X),
    "checkify": lambda: checkify.checkify(lambda x: f(x))(X),
    "random": lambda: glax.random.normal(glax.random.key(0), (3,)),
}


@pytest.mark.parametrize("name", CASES)
def test_nothing_is_left_in_a_cycle(name):
    case = CASES[name]
    case()  # what is made once and kept is made now
    gc.collect()
    gc.disable()
    try:
        case()
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        left = Counter(type(x).__qualname__ for x in gc.garbage)
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert not left
