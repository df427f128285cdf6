"""From a jaxpr to the text of a StableHLO module."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..ir import Jaxpr
from ..ir.collector import without_collector
from ..ir.jaxpr import require_jaxpr
from . import rules
from .ordering import with_ordered_effects
from .writer import ModuleWriter

__all__ = ["Module", "lower", "rules"]


class Module(NamedTuple):
    """A StableHLO module.

    Attributes:
        text: the module, whose entry is ``main``.
        host_callbacks: the Python functions that its callbacks call, by index.

    >>> import glax
    >>> module = glax.lower.lower(glax.ir.parse("{ lambda ; a:f32[]. let in (a,) }"))
    >>> module.text.split()[:2], module.host_callbacks
    (['module', '@program'], ())
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

    Returns:
        The module: its text, and the Python functions that it calls back.

    Raises:
        MissingRule: an operation has neither a rule in ``glax.ir.lower_rule`` nor an expansion.

    >>> import glax
    >>> program = glax.ir.parse("{ lambda ; a:f32[2]. let b:f32[2] = sin a in (b,) }")
    >>> print(glax.lower.lower(program, "sine").text.strip())
    module @sine {
      func.func public @main(%arg0: tensor<2xf32>) -> (tensor<2xf32>) {
        %0 = stablehlo.sine %arg0 : tensor<2xf32>
        return %0 : tensor<2xf32>
      }
    }
    """
    require_jaxpr("lower", jaxpr)
    module = ModuleWriter()
    module.main(with_ordered_effects(jaxpr), donated)
    return Module(module.text(name), tuple(module.host_callbacks))
