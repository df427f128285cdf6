"""Pytrees: nested containers and the leaves in them, on jaxlib's C++ flattening with a registry of our own.

A registry of our own, because jaxlib's default one belongs to whoever else uses jaxlib in the process.
"""

from __future__ import annotations

import copyreg
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from jaxlib import _jax

__all__ = [
    "DictKey",
    "FlattenedIndexKey",
    "GetAttrKey",
    "KeyPath",
    "PyTreeDef",
    "SequenceKey",
    "all_leaves",
    "columns",
    "explain_mismatch",
    "fast_flatten",
    "flatten",
    "flatten_axes",
    "flatten_one_level",
    "flatten_one_level_with_keys",
    "flatten_with_path",
    "is_leaf_def",
    "is_node_type",
    "keystr",
    "map_tree",
    "mismatches",
    "register_dataclass_node",
    "register_node",
    "registry",
    "treedef_tuple",
    "unflatten",
]

# ---- all that touches jaxlib's private interface ---------------------------------------------------------------

PyTreeDef = _jax.pytree.PyTreeDef
SequenceKey = _jax.pytree.SequenceKey
DictKey = _jax.pytree.DictKey
GetAttrKey = _jax.pytree.GetAttrKey
FlattenedIndexKey = _jax.pytree.FlattenedIndexKey
registry = _jax.pytree.PyTreeRegistry()

fast_flatten = registry.flatten  # (tree, is_leaf), positional only: a third less per call than `flatten`
_flatten_with_path = registry.flatten_with_path
_one_level = registry.flatten_one_level
_one_level_with_keys = registry.flatten_one_level_with_keys
_register_node = registry.register_node
_register_dataclass_node = registry.register_dataclass_node
is_node_type = registry.is_node


def treedef_tuple(treedefs: Iterable[PyTreeDef]) -> PyTreeDef:
    """The structure of a tuple whose elements have these structures."""
    return _jax.pytree.treedef_tuple(registry, list(treedefs))


def all_leaves(values: Iterable[Any]) -> bool:
    """Whether no element of `values` is a container."""
    return _jax.pytree.all_leaves(registry, values)


def _our_registry() -> Any:
    return registry


def _reduce_registry(other: Any) -> Any:
    """How a registry pickles, which a treedef's state contains: ours by reference, any other one as it did before."""
    return (_our_registry, ()) if other is registry else _reduce_other(other)


_reduce_other = copyreg.dispatch_table.get(type(registry), type(registry).__reduce__)
copyreg.pickle(type(registry), _reduce_registry)

# ---- flattening ------------------------------------------------------------------------------------------------

KeyPath = tuple[Any, ...]
IsLeaf = Callable[[Any], bool]


def flatten(tree: Any, is_leaf: IsLeaf | None = None) -> tuple[list[Any], PyTreeDef]:
    """The leaves of a tree, in order, and its structure.

    >>> from glax.ir import tree
    >>> tree.flatten({"b": 1, "a": (2, None)})
    ([2, 1], PyTreeDef({'a': (*, None), 'b': *}))
    """
    try:
        return fast_flatten(tree, is_leaf)
    except (SystemError, ValueError, TypeError) as error:
        raise _explained(tree, error) from error.__cause__


def _explained(tree: Any, error: Exception) -> Exception:
    """The error for one that jaxlib or Python raised at a tree that is endless, or has dicts without order."""
    if isinstance(error.__cause__, RecursionError):
        return ValueError("a tree of arguments or results contains itself, or is nested too deeply")
    if "sorting pytree dictionary keys" in str(error) or "not supported between instances" in str(error):
        return _of_unsorted_keys(tree) or error
    return error


def _of_unsorted_keys(tree: Any) -> ValueError | None:
    """The error for the first dict whose keys cannot be put in order, if there is one."""
    pending: list[tuple[str, Any]] = [("", tree)]
    while pending:
        path, x = pending.pop()
        if isinstance(x, dict) and not isinstance(x, OrderedDict):
            try:
                pending.extend((f"{path}[{key!r}]", x[key]) for key in sorted(x))
            except TypeError as cause:
                kinds = ", ".join(sorted({type(key).__name__ for key in x}))
                where = f" at {path}" if path else ""
                return ValueError(f"the keys of a dict in a tree must be comparable with one another; those of the "
                                  f"dict{where} are of types {kinds}: {cause}")
        elif isinstance(x, (list, tuple)):
            pending.extend((f"{path}[{i}]", part) for i, part in enumerate(x))
    return None


def unflatten(treedef: PyTreeDef, leaves: Iterable[Any]) -> Any:
    """The tree of this structure with these leaves; ValueError when their number is wrong."""
    return treedef.unflatten(leaves)


def flatten_with_path(
    tree: Any, is_leaf: IsLeaf | None = None, is_leaf_takes_path: bool = False
) -> tuple[list[tuple[KeyPath, Any]], PyTreeDef]:
    """As `flatten`, with each leaf's key path: pairs ``(path, leaf)``. `is_leaf` may take the path first."""
    given = is_leaf if is_leaf is None or is_leaf_takes_path else lambda _path, x: is_leaf(x)
    try:
        return _flatten_with_path(tree, given)
    except (SystemError, ValueError, TypeError) as error:
        raise _explained(tree, error) from error.__cause__


def _not_a_container(tree: Any) -> ValueError:
    return ValueError(f"expected a registered container, got a leaf of type {type(tree).__name__}: {tree!r}")


def flatten_one_level(tree: Any) -> tuple[tuple[Any, ...], Any]:
    """The children of a container and its static part; ValueError for a leaf."""
    found = _one_level(tree)
    if found is None:
        raise _not_a_container(tree)
    return tuple(found[0]), found[1]


def flatten_one_level_with_keys(tree: Any) -> tuple[tuple[tuple[Any, Any], ...], Any]:
    """As `flatten_one_level`, each child with its key: ``((key, child), ...)`` and the static part."""
    found = _one_level_with_keys(tree)
    if found is None:
        raise _not_a_container(tree)
    return tuple(found[0]), found[1]


def is_leaf_def(treedef: PyTreeDef) -> bool:
    """Whether `treedef` is the structure of a single leaf."""
    return treedef.num_nodes == 1 and treedef.num_leaves == 1


def columns(treedef: PyTreeDef, tree: Any, rest: Iterable[Any], is_leaf: IsLeaf | None = None) -> list[list[Any]]:
    """For each of `rest`, its parts in the places of the leaves of `tree`, whose structure is `treedef`.

    Raises ValueError naming the key path where one of `rest` does not begin with that structure.
    """
    out = []
    for number, other in enumerate(rest, start=2):
        try:
            out.append(treedef.flatten_up_to(other))
        except ValueError as error:
            found = mismatches(tree, other, prefix=True, is_leaf=is_leaf)
            where = _describe(f"tree {number}", found) or str(error)
            raise ValueError(f"the structures of the trees differ: {where}") from None
    return out


def map_tree(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf | None = None) -> Any:
    """The tree of `f` applied to the leaves of `tree` and to what the `rest` have in the same places.

    Raises ValueError naming the key path when one of `rest` does not begin with the structure of `tree`.
    """
    leaves, treedef = flatten(tree, is_leaf)
    if not rest:
        return treedef.unflatten(map(f, leaves))
    return treedef.unflatten(map(f, leaves, *columns(treedef, tree, rest, is_leaf)))


# ---- registration ----------------------------------------------------------------------------------------------


def _check_new_node(node_type: Any) -> None:
    if not isinstance(node_type, type):
        raise TypeError(f"expected a class to register as a pytree node, got {node_type!r}")


def register_node(
    node_type: type,
    flatten_node: Callable[[Any], tuple[Iterable[Any], Any]],
    unflatten_node: Callable[[Any, Any], Any],
    flatten_with_keys: Callable[[Any], tuple[Iterable[tuple[Any, Any]], Any]] | None = None,
) -> None:
    """Make instances of `node_type` containers.

    `flatten_node` gives ``(children, aux)`` where `aux` is hashable, `unflatten_node(aux, children)` rebuilds, and
    `flatten_with_keys` gives ``((key, child), ...)`` in place of the children. A type is registered once: ValueError.
    """
    _check_new_node(node_type)
    _register_node(node_type, flatten_node, unflatten_node, flatten_with_keys)


def register_dataclass_node(node_type: type, data_fields: Iterable[str], meta_fields: Iterable[str]) -> None:
    """Make instances of a dataclass containers of their `data_fields`; the `meta_fields` are static and hashable."""
    _check_new_node(node_type)
    _register_dataclass_node(node_type, list(data_fields), list(meta_fields))


def _sorted_keys(d: dict[Any, Any]) -> tuple[Any, ...]:
    return tuple(sorted(d))


register_node(
    OrderedDict,
    lambda d: (tuple(d.values()), tuple(d)),
    lambda keys, values: OrderedDict(zip(keys, values, strict=True)),
    lambda d: (tuple((DictKey(k), v) for k, v in d.items()), tuple(d)),
)
register_node(
    defaultdict,
    lambda d: (tuple(d[k] for k in _sorted_keys(d)), (d.default_factory, _sorted_keys(d))),
    lambda aux, values: defaultdict(aux[0], zip(aux[1], values, strict=True)),
    lambda d: (tuple((DictKey(k), d[k]) for k in _sorted_keys(d)), (d.default_factory, _sorted_keys(d))),
)
register_node(
    deque,
    lambda d: (tuple(d), d.maxlen),
    lambda maxlen, values: deque(values, maxlen),
    lambda d: (tuple((SequenceKey(i), x) for i, x in enumerate(d)), d.maxlen),
)

# ---- paths and prefixes ----------------------------------------------------------------------------------------


def _bare_key(key: Any) -> str:
    for attribute in ("key", "idx", "name"):
        if hasattr(key, attribute):
            return str(getattr(key, attribute))
    return str(key)


def keystr(keys: KeyPath, *, simple: bool = False, separator: str = "") -> str:
    """A key path as text: ``['a'][0].x``, or with `simple` the bare keys joined by `separator`.

    >>> from glax.ir import tree
    >>> path = (tree.DictKey("a"), tree.SequenceKey(0))
    >>> tree.keystr(path), tree.keystr(path, simple=True, separator="/")
    ("['a'][0]", 'a/0')
    """
    return separator.join(map(_bare_key if simple else str, keys))


class _Placeholder:
    """Stands for a leaf where only a structure is known."""

    def __repr__(self) -> str:
        return "*"


def flatten_axes(name: str, treedef: PyTreeDef, axis_tree: Any) -> list[Any]:
    """One entry of `axis_tree` for every leaf of `treedef`, of which it is a prefix; None counts as an entry.

    Raises ValueError, calling `axis_tree` by `name` and saying at which key path it leaves the structure.

    >>> from glax.ir import tree
    >>> _, treedef = tree.flatten((1, {"a": 2, "b": 3}))
    >>> tree.flatten_axes("in_axes", treedef, (0, None))
    [0, None, None]
    """
    if type(axis_tree) is int or axis_tree is None:
        return [axis_tree] * treedef.num_leaves
    entries, prefix = fast_flatten(axis_tree, _is_none)
    out: list[Any] = []
    if _broadcast(prefix, treedef, iter(entries), out):
        return out
    full = treedef.unflatten([_Placeholder()] * treedef.num_leaves)
    found = mismatches(axis_tree, full, prefix=True, is_leaf=_is_none)
    short = name.rsplit(": ")[-1]
    where = _describe(short, found, "it has {}, the value has {}") or f"{prefix} is no prefix of {treedef}"
    raise ValueError(f"{name} must be a tree prefix of the value it is for: {where}")


def _is_none(x: Any) -> bool:
    return x is None


def _broadcast(prefix: PyTreeDef, full: PyTreeDef, entries: Iterator[Any], out: list[Any]) -> bool:
    """Append each entry as often as the part of `full` that it stands for has leaves; False when they do not match."""
    if is_leaf_def(prefix):
        out.extend([next(entries)] * full.num_leaves)
        return True
    parts, wholes = prefix.children(), full.children()
    return (
        prefix.node_data() == full.node_data()
        and len(parts) == len(wholes)
        and all(_broadcast(p, w, entries, out) for p, w in zip(parts, wholes, strict=True))
    )


Mismatch = tuple[KeyPath, str, str]


def mismatches(
    expected: Any, got: Any, *, prefix: bool = False, is_leaf: IsLeaf | None = None, path: KeyPath = ()
) -> Iterator[Mismatch]:
    """Where two trees differ in structure: ``(key path, what `expected` has there, what `got` has there)``.

    With `prefix`, a leaf of `expected` stands for any subtree of `got`.
    """
    expected_leaf, got_leaf = _is_leaf(expected, is_leaf), _is_leaf(got, None if prefix else is_leaf)
    if expected_leaf and (prefix or got_leaf):
        return
    if expected_leaf or got_leaf or type(expected) is not type(got):
        yield path, _show(expected, expected_leaf), _show(got, got_leaf)
        return
    left, left_aux = flatten_one_level_with_keys(expected)
    right, right_aux = flatten_one_level_with_keys(got)
    if [k for k, _ in left] != [k for k, _ in right]:
        yield path, _show_keys(expected, left), _show_keys(got, right)
    elif left_aux != right_aux:
        yield path, _show_aux(expected, left_aux), _show_aux(got, right_aux)
    else:
        for (key, a), (_, b) in zip(left, right, strict=True):
            yield from mismatches(a, b, prefix=prefix, is_leaf=is_leaf, path=(*path, key))


def _is_leaf(x: Any, is_leaf: IsLeaf | None) -> bool:
    return (is_leaf is not None and is_leaf(x)) or not is_node_type(type(x))


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."


def _show(x: Any, leaf: bool) -> str:
    if x is None:
        return "None"
    if not leaf:
        children = len(flatten_one_level(x)[0])
        return f"a {type(x).__name__} of {children} {'child' if children == 1 else 'children'}"
    return "a leaf" if isinstance(x, _Placeholder) else f"a leaf of type {type(x).__name__}: {_shortened(repr(x))}"


def _show_keys(x: Any, children: tuple[tuple[Any, Any], ...]) -> str:
    keys = [key for key, _ in children]
    if all(isinstance(key, SequenceKey | FlattenedIndexKey) for key in keys):
        return f"a {type(x).__name__} of length {len(keys)}"
    return f"a {type(x).__name__} with keys {_shortened(', '.join(map(_bare_key, keys)))}"


def _show_aux(x: Any, aux: Any) -> str:
    return f"a {type(x).__name__} with static part {_shortened(repr(aux))}"


def _describe(name: str, found: Iterator[Mismatch], template: str = "expected {}, got {}") -> str:
    """The first mismatch in words, or nothing when there is none."""
    return next((f"at {name}{keystr(path)}, {template.format(left, right)}" for path, left, right in found), "")


def explain_mismatch(name: str, expected_tree: Any, got_tree: Any) -> str:
    """One line per place where two trees (or two PyTreeDefs) differ in structure; empty when they do not.

    >>> from glax.ir import tree
    >>> tree.explain_mismatch("carry", {"a": (1, 2)}, {"a": (1, 2, 3)})
    "at carry['a'], expected a tuple of length 2, got a tuple of length 3"
    """
    expected, got = (
        x.unflatten([_Placeholder()] * x.num_leaves) if isinstance(x, PyTreeDef) else x
        for x in (expected_tree, got_tree)
    )
    return "\n".join(_describe(name, iter([found])) for found in mismatches(expected, got))
