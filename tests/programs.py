"""Random well-typed programs, for the laws.

Values are small integers in floats, so that different ways of computing the same agree to the last bits, and
operations are smooth near them or constant, so that differences tell derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from glax.ir import Builder, Jaxpr, Literal, Tracer, Var, assemble, building, shaped_array
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

    def __init__(self, draw: Draw, dtype: np.dtype, smooth: bool):
        self.draw, self.dtype, self.smooth = draw, dtype, smooth
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
    fs = [f for f in UNARY if not d.smooth or f not in (o.floor, o.abs_, o.sign)]
    return d.draw(st.sampled_from(fs))(d.pick_float())


def binary(d: Drawing) -> Tracer:
    x = d.pick_float()
    y = d.fitted(d.pick_float(), x.shape)
    return d.draw(st.sampled_from(BINARY))(x, y)


def with_constant(d: Drawing) -> Tracer:
    constant = d.dtype.type(d.draw(st.integers(-2, 2)))
    return d.draw(st.sampled_from([o.add, o.mul]))(d.pick_float(), constant)


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
    program = build(d.draw, [x.aval for x in operands], d.dtype, d.smooth, depth - 1, 3)
    return o.jit_call(program, operands, "inner")


STEPS = [unary, binary, with_constant, reduction, extreme, product, transposed, reshaped, broadcasted, sliced, padded,
         reversed_, joined, selected, dotted, gathered, dynamic_sliced, cumulated, converted, counted]


def build(draw: Draw, avals: list, dtype: np.dtype, smooth: bool, depth: int, most: int) -> Jaxpr:
    """A program of random equations."""
    builder = Builder("random program")
    with building(builder):
        d = Drawing(draw, dtype, smooth)
        d.values.extend(builder.add_input(a) for a in avals)
        for _ in range(draw(st.integers(1, most))):
            if depth > 0 and draw(st.integers(0, 4)) == 0:
                d.values.extend(called(d, depth))
                continue
            made = draw(st.sampled_from(STEPS))(d)
            if made.size <= 64:
                d.values.append(made)
        count = draw(st.integers(1, 3))
        outs = [draw(st.sampled_from(d.values)) for _ in range(count - 1)] + [d.values[-1]]
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
             ) -> tuple[Jaxpr, list[np.ndarray]]:
    """A program and arguments for it.

    Args:
        dtype: the dtype of its floats.
        smooth: whether to leave out what has kinks at the values drawn.
        depth: how deep calls nest.
        most: how many equations there are at most, at each depth.
    """
    shapes = draw(st.lists(st.sampled_from(SHAPES), min_size=1, max_size=3))
    avals = [shaped_array(s, dtype) for s in shapes]
    if draw(st.booleans()):
        avals.append(shaped_array((), I32))
    jaxpr = build(draw, avals, dtype, smooth, depth, most)
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    return jaxpr, [np.asarray(rng.integers(-2, 3, a.shape), a.dtype) if a.dtype == I32 or not smooth
                   else np.asarray(rng.integers(-8, 9, a.shape) / 4 + .0625, a.dtype) for a in avals]
