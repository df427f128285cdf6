"""Policies of ``checkpoint``: which intermediate values are kept for the derivative.

A policy is a function (operation, *operand types, **parameters) -> bool. Those here are values: they are compared,
printed and pickled by content.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from .ir import Operation, PythonFunction, register_parameter_class
from .ir import ops as o

__all__ = [
    "checkpoint_dots", "checkpoint_dots_with_no_batch_dims", "dots_saveable", "dots_with_no_batch_dims_saveable",
    "everything_saveable", "nothing_saveable", "offload_dot_with_no_batch_dims", "save_and_offload_only_these_names",
    "save_any_names_but_these", "save_anything_except_these_names", "save_from_both_policies",
    "save_only_these_names",
]

Policy = Callable[..., bool]


@register_parameter_class
@dataclass(frozen=True)
class EverythingSaveable:
    """Keep everything: as if nothing were checkpointed."""

    def __call__(self, op: Operation, *avals: Any, **params: Any) -> bool:
        return True


@register_parameter_class
@dataclass(frozen=True)
class NothingSaveable:
    """Keep the checkpointed function's arguments only."""

    def __call__(self, op: Operation, *avals: Any, **params: Any) -> bool:
        return False


@register_parameter_class
@dataclass(frozen=True)
class DotsSaveable:
    """Keep results of matrix products; with ``without_batch_dims`` of those without batch dimensions."""

    without_batch_dims: bool = False

    def __call__(self, op: Operation, *avals: Any, **params: Any) -> bool:
        if op.name == "conv_general_dilated":
            return not self.without_batch_dims
        if not isinstance(op, o.DotGeneral):
            return False
        return not (self.without_batch_dims and op.dimension_numbers[1][0])


@register_parameter_class
@dataclass(frozen=True)
class NamedSaveable:
    """Keep values by the names that checkpoint_name gave them.

    Attributes:
        names: the names.
        listed: whether to keep these, or the others.
        unnamed: whether to keep values without a name.
    """

    names: tuple[str, ...]
    listed: bool
    unnamed: bool = False

    def __call__(self, op: Operation, *avals: Any, **params: Any) -> bool:
        if not isinstance(op, o.Name):
            return self.unnamed
        return (op.label in self.names) == self.listed


@register_parameter_class
@dataclass(frozen=True)
class EitherSaveable:
    """Keep what one of two policies keeps."""

    first: Any
    second: Any

    def __call__(self, op: Operation, *avals: Any, **params: Any) -> bool:
        return self.first(op, *avals, **params) or self.second(op, *avals, **params)


everything_saveable = EverythingSaveable()
nothing_saveable = NothingSaveable()
dots_saveable = checkpoint_dots = DotsSaveable()
dots_with_no_batch_dims_saveable = checkpoint_dots_with_no_batch_dims = DotsSaveable(True)


def _names(what: str, names: tuple[Any, ...]) -> tuple[str, ...]:
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{what} takes names, got {name!r} of type {type(name).__name__}")
    return tuple(sorted(set(names)))


def save_only_these_names(*names_which_can_be_saved: str) -> Policy:
    """Keep the values with these names, and nothing else."""
    return NamedSaveable(_names("save_only_these_names", names_which_can_be_saved), True)


def save_any_names_but_these(*names_not_to_save: str) -> Policy:
    """Keep the values with names other than these, and nothing else."""
    return NamedSaveable(_names("save_any_names_but_these", names_not_to_save), False)


def save_anything_except_these_names(*names_not_to_save: str) -> Policy:
    """Keep everything but the values with these names."""
    return NamedSaveable(_names("save_anything_except_these_names", names_not_to_save), False, True)


def save_from_both_policies(policy_1: Policy, policy_2: Policy) -> Policy:
    """Keep what one of two policies keeps."""
    return EitherSaveable(as_policy(policy_1), as_policy(policy_2))


def save_and_offload_only_these_names(*, names_which_can_be_saved: Any, names_which_can_be_offloaded: Any,
                                      offload_src: str, offload_dst: str) -> NoReturn:
    """Not available: programs run in the memory of one device."""
    raise NotImplementedError(f"save_and_offload_only_these_names: keeping values in {offload_dst} memory is not "
                              f"available; keep them on the device with save_only_these_names")


def offload_dot_with_no_batch_dims(offload_src: str, offload_dst: str) -> NoReturn:
    """Not available: programs run in the memory of one device."""
    raise NotImplementedError(f"offload_dot_with_no_batch_dims: keeping values in {offload_dst} memory is not "
                              f"available; keep them on the device with dots_with_no_batch_dims_saveable")


_DATA = (EverythingSaveable, NothingSaveable, DotsSaveable, NamedSaveable, EitherSaveable)


def as_policy(policy: Any) -> Any:
    """A policy as a static parameter: itself if it is a value, else wrapped so that it is compared by identity."""
    if policy is None or isinstance(policy, (*_DATA, PythonFunction)):
        return policy
    if not callable(policy):
        raise TypeError(f"a checkpoint policy is a function (operation, *types, **parameters) -> bool, got {policy!r}")
    return PythonFunction.of(policy)
