"""The functions of `glax.tree_util` under short names: ``glax.tree.map`` and so on."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from .tree_util import tree_all as all
from .tree_util import tree_broadcast as broadcast
from .tree_util import tree_flatten as flatten
from .tree_util import tree_flatten_with_path as flatten_with_path
from .tree_util import tree_leaves as leaves
from .tree_util import tree_leaves_with_path as leaves_with_path
from .tree_util import tree_map as map
from .tree_util import tree_map_with_path as map_with_path
from .tree_util import tree_reduce as reduce
from .tree_util import tree_reduce_associative as reduce_associative
from .tree_util import tree_structure as structure
from .tree_util import tree_transpose as transpose
from .tree_util import tree_unflatten as unflatten

__all__ = [
    "all",
    "broadcast",
    "flatten",
    "flatten_with_path",
    "leaves",
    "leaves_with_path",
    "map",
    "map_with_path",
    "reduce",
    "reduce_associative",
    "static",
    "structure",
    "transpose",
    "unflatten",
]


def static(*, metadata: Mapping[Any, Any] | None = None, **kwargs: Any) -> Any:
    """`dataclasses.field` for a field that `register_dataclass` keeps out of the leaves; the same arguments.

    >>> from dataclasses import dataclass
    >>> import glax.tree, glax.tree_util
    >>> @glax.tree_util.register_dataclass
    ... @dataclass
    ... class Scaled:
    ...     x: float
    ...     unit: str = glax.tree.static(default="m")
    >>> glax.tree.leaves(Scaled(2.0))
    [2.0]
    """
    return dataclasses.field(metadata={"static": True, **(metadata or {})}, **kwargs)
