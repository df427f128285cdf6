"""Random well-typed programs, for the laws.

Values are small integers in floats, so that different ways of computing the same agree to the last bits, and
operations are smooth near them or constant, so that differences tell derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

import glax
from glax.ir import (
    Builder,
    Jaxpr,
    Literal,
    ShapedArray,
    Tracer,
    Var,
    assemble,
    building,
    current_builder,
    shaped_array,
    stage,
)
from glax.ir import ops as o

F64, F32, I32, BOOL = (np.dtype(d) for d in ("float64", "float32", "int32", "bool"))
SHAPES = [(), (2,), (3,), (2, 3), (3, 1), (0, 2)]

Draw = Callable[[st.SearchStrategy], Any]
UNARY = [o.sin, o.cos, o.tanh, o.neg, o.logistic, o.square, o.abs_, o.sign, o.exp2, o.stop_gradient,
         lambda x: o.log(o.add(o.square(x), one(x))), lambda x: o.sqrt(o.add(o.square(x), one(x))),
         lambda x: o.integer_pow(x, 3), lambda x: o.div(x, o.add(o.square(x), one(x))), o.floor, o.erf, o.atan]
BINARY = [o.add, o.sub, o.mul, lambda x, y: o.div(x, o.add(o.square(y), one(y))), lambda x, y: o.mul(x, o.sin(y))]


def one(x: Tracer) -> np.generic:
    return x.dtype.type(1)


class Drawing:
    """The values that a program under construction has, and how to draw from them."""

    def __init__(self, draw: Draw, dtype: np.dtype, smooth: bool, whiles: bool = False):
        self.draw, self.dtype, self.smooth, self.whiles = draw, dtype, smooth, whiles
        self.values: list[Tracer] = []

    def pick(self, condition: Callable[[Tracer], bool] = lambda x: True) -> Tracer | None:
        fitting = [x for x in self.values if condition(x)]
        return self.draw(st.sampled_from(fitting)) if fitting else None

    def pick_float(self) -> Tracer:
        return self.pick(lambda x: x.dtype == self.dtype)

    def fitted(self, x: Tracer, shape: tuple[int, ...]) -> Tracer:
        """x reduced to a scalar unless it has a shape."""
        return x if x.shape in ((), shape) else o.reduce_sum(x, tuple(range(x.ndim)))


def unary(d: Drawing) -> Tracer:
    fs = [f for f in UNARY if not d.smooth or f not in (o.floor, o.abs_, o.sign, o.stop_gradient)]
    return d.draw(st.sampled_from(fs))(d.pick_float())


def binary(d: Drawing) -> Tracer:
    """An operation of two operands, or the same one in both orders."""
    x = d.pick_float()
    y = d.fitted(d.pick_float(), x.shape)
    f = d.draw(st.sampled_from(BINARY))
    if d.draw(st.booleans()):
        y = o.broadcast(y, x.shape)
        return o.add(f(x, y), o.sin(f(y, x)))
    return f(x, y)


def with_constant(d: Drawing) -> Tracer:
    constant = of_literals(d) if d.draw(st.booleans()) else d.dtype.type(d.draw(st.integers(-2, 2)))
    return d.draw(st.sampled_from([o.add, o.mul]))(d.pick_float(), constant)


def of_literals(d: Drawing) -> Tracer:
    """An operation all of whose operands are constants."""
    x, y = [d.dtype.type(d.draw(st.integers(-2, 2))) for _ in range(2)]
    made = d.draw(st.sampled_from([o.add, o.sub, o.mul, o.max_, o.lt, o.sin, o.neg, o.floor]))
    operands = (x,) if made in (o.sin, o.neg, o.floor) else (x, y)
    return o.convert_element_type(made(*operands), d.dtype)


def along_each_axis(d: Drawing) -> Tracer:
    """The same operation of the same operand, with each of the parameters that it may have."""
    x = d.pick_float()
    total = d.dtype.type(0)
    for axis in range(x.ndim):
        sums = o.sin(o.reduce_sum(x, (axis,)))
        total = o.add(o.mul(total, d.dtype.type(2)), d.fitted(sums, ()))
    return o.add(total, one(x))


def reduction(d: Drawing) -> Tracer:
    x = d.pick_float()
    axes = tuple(sorted(d.draw(st.sets(st.integers(0, x.ndim - 1))))) if x.ndim else ()
    return o.reduce_sum(x, axes)


def extreme(d: Drawing) -> Tracer:
    x = d.pick_float()
    if not x.ndim or 0 in x.shape or d.smooth:
        return o.neg(x)
    return d.draw(st.sampled_from([o.reduce_max, o.reduce_min]))(x, (d.draw(st.integers(0, x.ndim - 1)),))


def product(d: Drawing) -> Tracer:
    x = d.pick_float()
    return o.reduce_prod(x, (d.draw(st.integers(0, x.ndim - 1)),)) if x.ndim else o.square(x)


def transposed(d: Drawing) -> Tracer:
    x = d.pick_float()
    return o.transpose(x, tuple(d.draw(st.permutations(range(x.ndim)))))


def reshaped(d: Drawing) -> Tracer:
    x = d.pick_float()
    shape = d.draw(st.sampled_from([(x.size,), (1, x.size), (x.size, 1), x.shape]))
    return o.reshape(x, shape)


def broadcasted(d: Drawing) -> Tracer:
    x = d.pick_float()
    return o.broadcast_in_dim(x, (2, *x.shape), tuple(range(1, x.ndim + 1))) if x.ndim < 3 else x


def sliced(d: Drawing) -> Tracer:
    x = d.pick_float()
    lo = tuple(d.draw(st.integers(0, n)) for n in x.shape)
    hi = tuple(d.draw(st.integers(a, n)) for a, n in zip(lo, x.shape))
    return o.slice_(x, lo, hi, tuple(d.draw(st.integers(1, 2)) for _ in x.shape))


def padded(d: Drawing) -> Tracer:
    x = d.pick_float()
    config = tuple((d.draw(st.integers(0, 1)), d.draw(st.integers(0, 1)), d.draw(st.integers(0, 1))) for _ in x.shape)
    value = d.pick(lambda v: v.shape == () and v.dtype == d.dtype)
    return o.pad(x, d.dtype.type(2) if value is None else value, config)


def reversed_(d: Drawing) -> Tracer:
    x = d.pick_float()
    return o.rev(x, (0,)) if x.ndim else x


def joined(d: Drawing) -> Tracer:
    x = d.pick_float()
    return o.concatenate([x, o.sin(x)], d.draw(st.integers(0, x.ndim - 1))) if x.ndim else x


def selected(d: Drawing) -> Tracer:
    x = d.pick_float()
    y = d.fitted(d.pick_float(), x.shape)
    condition = o.gt(x, d.dtype.type(.5)) if d.draw(st.booleans()) else True
    return o.select_n(condition, o.broadcast(y, x.shape), x)


def dotted(d: Drawing) -> Tracer:
    x = d.pick_float()
    if not x.ndim:
        return o.mul(x, x)
    k = d.draw(st.integers(0, x.ndim - 1))
    return o.dot_general(x, o.cos(x), (((k,), (k,)), ((), ())))


def gathered(d: Drawing) -> Tracer:
    x = d.pick_float()
    if x.ndim != 1 or not x.size:
        return o.neg(x)
    numbers = o.GatherDimensionNumbers((), (0,), (0,))
    places = np.array([[d.draw(st.integers(0, x.size - 1))] for _ in range(2)], np.int32)
    return o.gather(x, places, numbers, (1,))


def dynamic_sliced(d: Drawing) -> Tracer:
    x = d.pick_float()
    if x.ndim != 1 or x.size < 2:
        return o.neg(x)
    start = d.pick(lambda v: v.dtype == I32 and v.shape == ())
    return o.dynamic_slice(x, [np.int32(d.draw(st.integers(0, 3))) if start is None else start], (x.size - 1,))


def cumulated(d: Drawing) -> Tracer:
    x = d.pick_float()
    return o.cumsum(x, d.draw(st.integers(0, x.ndim - 1)), d.draw(st.booleans())) if x.ndim else x


def converted(d: Drawing) -> Tracer:
    x = d.pick_float()
    through = F32 if d.dtype == F64 and not d.smooth else d.dtype
    return o.convert_element_type(o.convert_element_type(x, through), d.dtype)


def counted(d: Drawing) -> Tracer:
    x = d.pick_float()
    return o.convert_element_type(o.gt(x, d.dtype.type(.5)), I32)


def called(d: Drawing, depth: int) -> list[Tracer]:
    operands = [d.pick() for _ in range(d.draw(st.integers(1, 2)))]
    if not any(x.dtype == d.dtype for x in operands):
        operands.append(d.pick_float())
    program = build(d.draw, [x.aval for x in operands], d.dtype, d.smooth, depth - 1, 3, d.whiles)
    return o.jit_call(program, operands, "inner")


def fitting(d: Drawing, aval: ShapedArray) -> Any:
    """A value of a type, made of one that there is; floats are bounded, so that repetition does not blow them up."""
    if aval.dtype == I32:
        found = d.pick(lambda x: x.aval == aval)
        return found if found is not None and d.draw(st.booleans()) else np.int32(d.draw(st.integers(-1, 2)))
    x = d.pick_float()
    return o.sin(x) if x.shape == aval.shape else o.broadcast(o.tanh(d.fitted(x, ())), aval.shape)


def build_between(d: Drawing, ins: list[ShapedArray], outs: list[ShapedArray], depth: int) -> Jaxpr:
    """A program of random equations from given types to given types."""
    return build(d.draw, ins, d.dtype, d.smooth, depth - 1, 3, d.whiles, outs)


def some_floats(d: Drawing, most: int) -> list[Tracer]:
    return [d.pick_float() for _ in range(d.draw(st.integers(1, most)))]


def index_of_branch(d: Drawing) -> Any:
    found = d.pick(lambda x: x.dtype == I32 and x.shape == ())
    return np.int32(d.draw(st.integers(-1, 3))) if found is None else found


def branched(d: Drawing, depth: int) -> list[Tracer]:
    operands = [*some_floats(d, 2), d.pick()]
    outs = [d.pick_float().aval, d.pick().aval]
    outs = [a for a in outs if a.dtype == d.dtype or a.shape == ()]
    branches = [build_between(d, [x.aval for x in operands], outs, depth) for _ in range(d.draw(st.integers(1, 3)))]
    return o.cond(branches, index_of_branch(d), operands)


def scanned(d: Drawing, depth: int) -> list[Tracer]:
    consts, carry = some_floats(d, 2), some_floats(d, 2)
    whole = d.pick(lambda x: x.ndim and x.dtype == d.dtype)
    xs = [] if whole is None else [whole]
    length = whole.shape[0] if xs else d.draw(st.integers(0, 3))
    slices = [shaped_array(x.shape[1:], x.dtype) for x in xs]
    if d.draw(st.booleans()):
        carry.append(o.add(index_of_branch(d), np.int32(0)))
    ys = [shaped_array(d.draw(st.sampled_from([(), (2,)])), d.dtype)] * d.draw(st.integers(0, 2))
    types = [x.aval for x in carry]
    body = build_between(d, [*[x.aval for x in consts], *types, *slices], [*types, *ys], depth)
    return o.scan(body, length, consts, carry, xs, d.draw(st.booleans()), d.draw(st.integers(1, 2)))


def looped(d: Drawing, depth: int) -> list[Tracer]:
    """A few steps, as many as a counter says, which may be mapped."""
    consts, carry = some_floats(d, 2), some_floats(d, 2)
    types = [shaped_array((), I32), *[x.aval for x in carry]]
    go_on = build_condition(types, d.draw(st.integers(0, 3)))
    inner = build_between(d, [*[x.aval for x in consts], *types], types[1:], depth)
    start = o.add(index_of_branch(d), np.int32(0))
    return o.while_loop(go_on, counting(inner, len(consts)), [], consts, [start, *carry])


def build_condition(types: list[ShapedArray], limit: int) -> Jaxpr:
    return stage(lambda i, *carry: [o.lt(i, np.int32(limit))], types)[0]


def counting(step: Jaxpr, num_consts: int) -> Jaxpr:
    def counted(*xs: Tracer) -> list[Any]:
        return [o.add(xs[num_consts], np.int32(1)), *current_builder().splice(step, xs)]

    return stage(counted, step.in_avals)[0]


def nested(d: Drawing, depth: int) -> list[Tracer]:
    return d.draw(st.sampled_from([called, branched, scanned] + [looped] * d.whiles))(d, depth)


@glax.custom_jvp
def sine_by_rule(x):
    return o.sin(x)


@sine_by_rule.defjvp
def _(primals, tangents):
    (x,), (t,) = primals, tangents
    return sine_by_rule(x), o.mul(t, o.cos(x))


@glax.custom_vjp
def square_by_rule(x):
    return o.square(x)


square_by_rule.defvjp(lambda x: (o.square(x), x), lambda x, ct: (o.mul(ct, o.add(x, x)),))


def by_rule(d: Drawing) -> Tracer:
    """A call with a derivative rule of its own, or one that is computed again in reverse."""
    again = glax.checkpoint(lambda x: o.mul(o.sin(x), o.cos(x)))
    return d.draw(st.sampled_from([sine_by_rule, square_by_rule, again]))(d.pick_float())


STEPS = [unary, binary, with_constant, of_literals, along_each_axis, reduction, extreme, product,
         transposed, reshaped, broadcasted, sliced, padded, reversed_, joined, selected, dotted, gathered,
         dynamic_sliced, cumulated, converted, counted, by_rule]


def build(draw: Draw, avals: list, dtype: np.dtype, smooth: bool, depth: int, most: int, whiles: bool = False,
          out_avals: list | None = None) -> Jaxpr:
    """A program of random equations, and of given output types if any."""
    builder = Builder("random program")
    with building(builder):
        d = Drawing(draw, dtype, smooth, whiles)
        d.values.extend(builder.add_input(a) for a in avals)
        for _ in range(draw(st.integers(1, most))):
            if depth > 0 and draw(st.integers(0, 4)) == 0:
                d.values.extend(x for x in nested(d, depth) if x.size <= 64)
                continue
            made = draw(st.sampled_from(STEPS))(d)
            if made.size <= 64:
                d.values.append(made)
        count = draw(st.integers(1, 3))
        if out_avals is None:
            outs = [draw(st.sampled_from(d.values)) for _ in range(count - 1)] + [d.values[-1]]
        else:
            outs = [fitting(d, a) for a in out_avals]
        jaxpr, captured = builder.close(outs)
    assert all(isinstance(c, np.ndarray) for c in captured)
    return bind_constants(jaxpr, captured)


def bind_constants(jaxpr: Jaxpr, values: list) -> Jaxpr:
    """The program with captured arrays written in as literals."""
    consts = {v.index: Literal(x) for v, x in zip(jaxpr.in_binders, values)}
    if not consts:
        return jaxpr

    def put(a: Any) -> Any:
        return consts.get(a.index, a) if type(a) is Var else a

    eqns = [e._replace(inputs=tuple(map(put, e.inputs))) for e in jaxpr.eqns]
    return assemble(jaxpr.in_binders[len(values):], eqns, [put(a) for a in jaxpr.outs])


@st.composite
def programs(draw: Draw, dtype: np.dtype = F64, smooth: bool = True, depth: int = 2, most: int = 8,
             whiles: bool = False) -> tuple[Jaxpr, list[np.ndarray]]:
    """A program and arguments for it.

    Args:
        dtype: the dtype of its floats.
        smooth: whether to leave out what has kinks at the values drawn.
        depth: how deep calls and control flow nest.
        most: how many equations there are at most, at each depth.
        whiles: whether there are loops of unknown length, which have no reverse mode.
    """
    shapes = draw(st.lists(st.sampled_from(SHAPES), min_size=1, max_size=3))
    avals = [shaped_array(s, dtype) for s in shapes]
    if draw(st.booleans()):
        avals.append(shaped_array((), I32))
    jaxpr = build(draw, avals, dtype, smooth, depth, most, whiles)
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    return jaxpr, [np.asarray(rng.integers(-2, 3, a.shape), a.dtype) if a.dtype == I32 or not smooth
                   else np.asarray(rng.integers(-8, 9, a.shape) / 4 + .0625, a.dtype) for a in avals]
