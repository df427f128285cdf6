"""Checks of values in functions that are transformed and compiled, which cannot raise while they run.

``check`` states what is to hold. ``checkify`` turns a function with checks, and on wish with tests for NaN, for
division by zero and for indices out of bounds, into one that returns the first error beside its output. That function
has no effects: jit, vmap and grad apply to it like to any other.

>>> import glax, glax.numpy as gnp
>>> from glax.experimental import checkify
>>> def f(x):
...     checkify.check(x > 0, "x must be positive, got {x}", x=x)
...     return gnp.log(x)
>>> error, y = glax.jit(checkify.checkify(f))(-1.)
>>> error.get()
'x must be positive, got -1.0 (`check` failed)'
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import Any

import numpy as np

from .. import rewrite
from .._calls import apply_program, function_name, leaf_avals, of_leaves, require_callable, stage_function
from .._formats import fields_of
from ..ir import aval_of, bind, current_builder, is_value, tree
from ..ir import ops as o
from ..ir.ops.checks import JaxRuntimeError, place_text
from ..rewrite.check_sites import Site, places_of
from ..tree_util import register_pytree_node

__all__ = [
    "Error", "JaxRuntimeError", "all_checks", "automatic_checks", "check", "check_error", "checkify", "debug_check",
    "div_checks", "float_checks", "index_checks", "init_error", "nan_checks", "user_checks",
]

user_checks: frozenset[str] = frozenset(["user"])
nan_checks: frozenset[str] = frozenset(["nan"])
index_checks: frozenset[str] = frozenset(["index"])
div_checks: frozenset[str] = frozenset(["div"])
float_checks: frozenset[str] = nan_checks | div_checks
automatic_checks: frozenset[str] = float_checks | index_checks
all_checks: frozenset[str] = automatic_checks | user_checks


class Error:
    """The first error of a function that was given checks, or none. A pytree: it goes through jit, vmap and scan.

    Where the function was mapped by vmap there is an error, or none, for each index.
    """

    __slots__ = ("_flag", "_code", "_values", "_sites")

    def __init__(self, flag: Any, code: Any, values: Sequence[Any], sites: tuple[Site, ...]):
        self._flag, self._code, self._values, self._sites = flag, code, tuple(values), sites

    def get(self) -> str | None:
        """What is wrong; None where nothing is. For a mapped function, a line for each index with an error."""
        flags = np.asarray(self._flag)
        if not flags.shape:
            return self._text(()) if flags else None
        places = np.flatnonzero(flags)
        if not places.size:
            return None
        indices = [np.unravel_index(i, flags.shape) for i in places]
        return "\n".join(f"at mapped index {place_text(i, flags.shape)}: {self._text(index)}"
                         for i, index in zip(places, indices))

    def _text(self, index: tuple) -> str:
        site = self._sites[int(np.asarray(self._code)[index])]
        slots = [aval_of(x).update(shape=aval_of(x).shape[len(index):]) for x in self._values]
        return site.text([np.asarray(self._values[i])[index] for i in places_of(site, slots)])

    def get_exception(self) -> JaxRuntimeError | None:
        """The error as an exception; None where there is none."""
        text = self.get()
        return None if text is None else JaxRuntimeError(text)

    def throw(self) -> None:
        """Raise JaxRuntimeError where there is an error."""
        exception = self.get_exception()
        if exception is not None:
            raise exception

    def __repr__(self) -> str:
        leaves = [self._flag, self._code, *self._values]
        known = all(isinstance(x, (bool, np.generic, np.ndarray)) or hasattr(x, "block_until_ready") for x in leaves)
        return f"Error({self.get()})" if known else "Error(<staged>)"


register_pytree_node(Error, lambda e: ((e._flag, e._code, e._values), e._sites),
                     lambda sites, children: Error(*children, sites))

init_error = Error(np.bool_(False), np.int32(0), (), ())


def check(pred: Any, msg: str, *fmt_args: Any, debug: bool = False, **fmt_kwargs: Any) -> None:
    """State that a condition holds when the program runs.

    Called on values, it raises at once where the condition does not hold. In a function that is being staged it
    becomes part of the program, which ``checkify`` then turns into one that returns the error; a program with checks
    that is compiled without checkify is an error.

    Args:
        pred: a bool scalar.
        msg: what to say where it is False: a format string for the values.
        fmt_args, fmt_kwargs: arrays or numbers to show in the message.
        debug: whether to leave the check out of programs, and not to raise, where there is no checkify.

    Raises:
        JaxRuntimeError: the condition is known, and False.
        TypeError: pred is not a bool scalar, msg not a string, or a value not an array.
        ValueError: msg names a value that was not given.

    >>> from glax.experimental import checkify
    >>> checkify.check(1 > 2, "{} is not more than {}", 1, 2)
    Traceback (most recent call last):
    glax.ir.ops.checks.JaxRuntimeError: 1 is not more than 2 (`check` failed)
    """
    if not isinstance(msg, str):
        raise TypeError(f"check: msg must be a string, got {msg!r} of type {type(msg).__name__}")
    if not is_value(pred) or aval_of(pred).shape != () or aval_of(pred).dtype != bool:
        got = aval_of(pred).short() if is_value(pred) else repr(pred)
        raise TypeError(f"check: pred must be a bool scalar, got {got}; use numpy.all for arrays")
    for name, x in (*enumerate(fmt_args), *fmt_kwargs.items()):
        if not is_value(x):
            raise TypeError(f"check: the values to show must be arrays or numbers, got {x!r} of type "
                            f"{type(x).__name__} for {name!r}")
    _require_fields(msg, len(fmt_args), fmt_kwargs)
    op = o.Check(f"{msg} (`check` failed)", tuple(fmt_kwargs), "user", bool(debug))
    bind(op, pred, *fmt_args, *fmt_kwargs.values())


def debug_check(pred: Any, msg: str, *fmt_args: Any, **fmt_kwargs: Any) -> None:
    """A check that only checkify heeds: ``check`` with debug=True."""
    check(pred, msg, *fmt_args, debug=True, **fmt_kwargs)


def _require_fields(msg: str, count: int, names: dict[str, Any]) -> None:
    """Raise unless every field of a format string is given."""
    for field in fields_of(msg):
        if not (field in names if isinstance(field, str) else field < count):
            raise ValueError(f"check: msg {msg!r} shows the value {str(field)!r}, but there are {count} values by "
                             f"position and {sorted(names)} by name")


def check_error(error: Error) -> None:
    """Raise an error where there is one: at once where it is known, else as checks of the program being staged.

    So a function can handle what another function's checks found, and leave the rest to the checkify around it.

    Raises:
        JaxRuntimeError: there is an error.
        TypeError: ``error`` is no Error.
    """
    if not isinstance(error, Error):
        raise TypeError(f"check_error takes an Error, as checkify returns, got {error!r}")
    if current_builder() is None:
        error.throw()
        return
    shape = aval_of(error._flag).shape
    slots = [aval_of(x).update(shape=aval_of(x).shape[len(shape):]) for x in error._values]
    for code, site in enumerate(error._sites):
        failed = o.and_(error._flag, o.eq(error._code, np.int32(code)))
        values = [error._values[i] for i in places_of(site, slots)]
        bind(o.Check(site.message, site.names, site.kind, False, site.mapped), o.not_(failed), *values)


def checkify(f: Callable[..., Any], errors: frozenset[str] = user_checks) -> Callable[..., tuple[Error, Any]]:
    """A function that also returns the first error that its checks find.

    Checks are found at every depth: in jitted functions, branches, loops and functions with rules of their own. What
    fails stops nothing; the output is what it would be anyway.

    Args:
        f: a function of arrays, or trees of arrays.
        errors: what to check: ``user_checks`` (calls of check), ``nan_checks`` (results that are NaN), ``div_checks``
            (division by zero), ``index_checks`` (indices out of bounds), or a union (|) of some of them;
            ``float_checks``, ``automatic_checks`` and ``all_checks`` are such.

    Returns:
        A function of the same arguments that returns a pair: the Error and the output.

    Raises:
        ValueError: errors holds something else.

    >>> import glax, glax.numpy as gnp
    >>> from glax.experimental import checkify
    >>> error, _ = checkify.checkify(lambda x, i: x[i], errors=checkify.index_checks)(gnp.arange(3.), 5)
    >>> error.get()  # doctest: +ELLIPSIS
    'out-of-bounds indexing for array of shape (3,): index 5 is out of bounds for axis 0 with size 3, at ...'
    >>> error.throw()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    glax.ir.ops.checks.JaxRuntimeError: out-of-bounds indexing for array of shape (3,): ...
    """
    require_callable("checkify", f)
    kinds = frozenset(errors)
    if not kinds <= all_checks:
        raise ValueError(f"checkify: errors must be made of user_checks, nan_checks, div_checks and index_checks, got "
                         f"{sorted(map(str, kinds - all_checks))}")
    what = f"checkify of {function_name(f)}"

    def checked(*args: Any, **kwargs: Any) -> tuple[Error, Any]:
        leaves, in_tree = tree.flatten((args, kwargs))
        avals = leaf_avals(what, (args, kwargs), leaves)
        staged = stage_function(of_leaves(f, in_tree), avals, what, known=leaves)
        program, sites, count = rewrite.checkify(staged.jaxpr, kinds)
        flag, code, *rest = apply_program(program, [*staged.captured, *leaves])
        return Error(flag, code, rest[:count], sites), tree.unflatten(staged.out_tree, rest[count:])

    return update_wrapper(checked, f)
