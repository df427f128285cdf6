"""Lowering of control flow: one case or while, however many steps there are.

Regions use the values around them, so constants are no part of what a loop carries.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...ir import Eqn, dtypes, lower_rule
from ...ir import ops as o
from ...ir.types import ShapedArray, shaped_array
from ..writer import FunctionWriter, function_type, tensor_type
from .elementwise import changing_type, compare, convert
from .packed import WHOLE, unpacked
from .shape import numbers

_BOOL, _INT32, _INT64 = np.dtype(bool), np.dtype(np.int32), np.dtype(np.int64)
Names = Sequence[str]


@lower_rule.register(o.Cond)
def _cond(op: o.Cond, write: FunctionWriter, eqn: Eqn, index: str, *names: str) -> list[str]:
    if len(op.branches) == 1:
        return write.program(op.branches[0], names)
    aval, outs = eqn.inputs[0].aval, [v.aval for v in eqn.outputs]
    low, high = write.scalar(0, aval.dtype), write.scalar(len(op.branches) - 1, aval.dtype)
    chosen = write.value(f"stablehlo.clamp {low}, {index}, {high} : {tensor_type(aval)}")
    regions = [write.region((), outs, lambda b=b: write.program(b, names)) for b in op.branches]
    return write.values(f'"stablehlo.case"({chosen}) ({", ".join(regions)}) : {function_type((aval,), outs)}',
                        len(outs))


def while_loop(write: FunctionWriter, carry: Names, avals: Sequence[ShapedArray], condition: Callable[..., Names],
               body: Callable[..., Names]) -> list[str]:
    """Write a loop; condition and body are called with the names of the carry."""
    again = write.region(avals, (shaped_array((), _BOOL),), condition)
    step = write.region(avals, avals, body)
    return write.values(f'"stablehlo.while"({", ".join(carry)}) ({again}, {step}) : {function_type(avals, avals)}',
                        len(avals))


@lower_rule.register(o.While)
def _while(op: o.While, write: FunctionWriter, eqn: Eqn, *names: str) -> list[str]:
    first, second = op.cond_consts, op.cond_consts + op.body_consts
    return while_loop(write, names[second:], [v.aval for v in eqn.outputs],
                      lambda *carry: write.program(op.cond_jaxpr, [*names[:first], *carry]),
                      lambda *carry: write.program(op.body_jaxpr, [*names[first:second], *carry]))


@lower_rule.register(o.Scan)
def _scan(op: o.Scan, write: FunctionWriter, eqn: Eqn, *names: str) -> list[str]:
    start = op.num_consts + op.num_carry
    consts, carry = names[:op.num_consts], list(names[op.num_consts:start])
    avals = [v.aval for v in eqn.outputs]
    xs = [_Stack.of(write, name, a.aval) for name, a in zip(names[start:], eqn.inputs[start:])]
    ys = [_Stack.empty(write, aval) for aval in avals[op.num_carry:]]
    loop = _Loop(op, write, consts, xs, ys)
    unroll = min(op.unroll, op.length)
    turns = op.length // unroll if unroll else 0
    state = [*carry, *[y.name for y in ys]]
    if turns > 1:
        state = loop.run(state, avals[:op.num_carry], turns, unroll)
    for i in range(turns * unroll if turns > 1 else 0, op.length):
        state = loop.step(write.scalar(i, loop.counter.dtype), state)
    return [*state[:op.num_carry], *[y.packed(write, name) for y, name in zip(ys, state[op.num_carry:])]]


@dataclass(frozen=True, slots=True)
class _Stack:
    """An array that a loop reads or writes a slice of in each step, in a dtype of whole bytes.

    Attributes:
        name, aval: the array.
        dtype: the dtype of the slices that the program takes or gives.
    """

    name: str
    aval: ShapedArray
    dtype: np.dtype

    @classmethod
    def of(cls, write: FunctionWriter, name: str, aval: ShapedArray) -> _Stack:
        return cls(*unpacked(write, name, aval), aval.dtype)

    @classmethod
    def empty(cls, write: FunctionWriter, aval: ShapedArray) -> _Stack:
        whole = WHOLE.get(aval.dtype, aval.dtype)
        return cls(write.scalar(0, whole, aval.shape), shaped_array(aval.shape, whole), aval.dtype)

    @property
    def row(self) -> ShapedArray:
        """The type of a slice that keeps its leading axis, of size 1."""
        return shaped_array((1, *self.aval.shape[1:]), self.aval.dtype)

    @property
    def slice(self) -> ShapedArray:
        return shaped_array(self.aval.shape[1:], self.aval.dtype)

    def starts(self, write: FunctionWriter, index: str, counter: ShapedArray) -> tuple[str, list[ShapedArray]]:
        zero = [write.scalar(0, counter.dtype)] * (self.aval.ndim - 1)
        return ", ".join([index, *zero]), [counter] * self.aval.ndim

    def read(self, write: FunctionWriter, index: str, counter: ShapedArray) -> str:
        starts, types = self.starts(write, index, counter)
        row = write.value(f"stablehlo.dynamic_slice {self.name}, {starts}, sizes = {numbers(self.row.shape)} : "
                          f"{function_type((self.aval, *types), (self.row,))}")
        return convert(write, changing_type(write, "reshape", row, self.row, self.slice), self.slice, self.dtype)

    def updated(self, write: FunctionWriter, stack: str, value: str, index: str, counter: ShapedArray) -> str:
        given = shaped_array(self.slice.shape, self.dtype)
        row = changing_type(write, "reshape", convert(write, value, given, self.aval.dtype), self.slice, self.row)
        starts, types = self.starts(write, index, counter)
        return write.value(f"stablehlo.dynamic_update_slice {stack}, {row}, {starts} : "
                           f"{function_type((self.aval, self.row, *types), (self.aval,))}")

    def packed(self, write: FunctionWriter, stack: str) -> str:
        return convert(write, stack, self.aval, self.dtype)


@dataclass(frozen=True, slots=True)
class _Loop:
    """A scan being written; its state is the names of the carry and of the results so far."""

    op: o.Scan
    write: FunctionWriter
    consts: Names
    xs: Sequence[_Stack]
    ys: Sequence[_Stack]

    @property
    def counter(self) -> ShapedArray:
        return shaped_array((), _INT32 if self.op.length <= dtypes.iinfo(_INT32).max else _INT64)

    def step(self, count: str, state: Names) -> list[str]:
        """Write one step, the count-th to be done."""
        op, write, counter = self.op, self.write, self.counter
        index = count
        if op.reverse and (self.xs or self.ys):
            last = write.scalar(op.length - 1, counter.dtype)
            index = write.value(f"stablehlo.subtract {last}, {count} : {tensor_type(counter)}")
        carry, stacks = state[:op.num_carry], state[op.num_carry:]
        operands = [*self.consts, *carry, *[x.read(write, index, counter) for x in self.xs]]
        outs = write.program(op.jaxpr, operands) if op.unroll == 1 else write.call(op.jaxpr, operands, "scan_step")
        return [*outs[:op.num_carry], *[y.updated(write, stack, value, index, counter)
                                        for y, stack, value in zip(self.ys, stacks, outs[op.num_carry:])]]

    def run(self, state: Names, carry_avals: Sequence[ShapedArray], turns: int, unroll: int) -> list[str]:
        """Write a loop of so many turns, each of so many steps."""
        write, counter = self.write, self.counter

        def add(x: str, n: int) -> str:
            return write.value(f"stablehlo.add {x}, {write.scalar(n, counter.dtype)} : {tensor_type(counter)}")

        def again(count: str, *inner: str) -> list[str]:
            return [compare(write, "LT", count, write.scalar(turns * unroll, counter.dtype), counter)]

        def body(count: str, *inner: str) -> list[str]:
            for k in range(unroll):
                inner = self.step(add(count, k) if k else count, inner)
            return [add(count, unroll), *inner]

        avals = [counter, *carry_avals, *[y.aval for y in self.ys]]
        return while_loop(write, [write.scalar(0, counter.dtype), *state], avals, again, body)[1:]
