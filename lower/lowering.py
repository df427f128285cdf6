"""From a jaxpr to the text of a StableHLO module."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..ir import Jaxpr
from ..ir.collector import without_collector
from . import rules
from .ordering import with_ordered_effects
from .writer import ModuleWriter

__all__ = ["Module", "lower", "rules"]


class Module(NamedTuple):
    """A StableHLO module.

    Attributes:
        text: the module, whose entry is ``main``.
        host_callbacks: the Python functions that its callbacks call, by index.
    """

    text: str
    host_callbacks: tuple = ()


@without_collector
def lower(jaxpr: Jaxpr, name: str = "program", donated: Sequence[int] = ()) -> Module:
    """Write a program as a StableHLO module.

    Args:
        jaxpr: the program.
        name: the module's name.
        donated: positions of inputs whose memory may be reused for the results.
    """
    module = ModuleWriter()
    module.main(with_ordered_effects(jaxpr), donated)
    return Module(module.text(name), tuple(module.host_callbacks))
