"""Functions on pytrees: containers, nested as you like, of leaves.

Tuples, lists, dicts (by sorted key), namedtuples, None (no leaves), OrderedDict, defaultdict and deque are containers;
everything else is a leaf until it is registered. A path to a leaf is a tuple of keys, which `keystr` prints.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Protocol, TypeVar, runtime_checkable

from .ir import tree as _tree

__all__ = [
    "DictKey",
    "FlattenedIndexKey",
    "GetAttrKey",
    "KeyEntry",
    "KeyPath",
    "Partial",
    "PyTreeDef",
    "SequenceKey",
    "all_leaves",
    "build_tree",
    "default_registry",
    "flatten_one_level",
    "flatten_one_level_with_keys",
    "is_tree_node",
    "keystr",
    "register_dataclass",
    "register_pytree_node",
    "register_pytree_node_class",
    "register_pytree_with_keys",
    "register_pytree_with_keys_class",
    "register_static",
    "tree_all",
    "tree_broadcast",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_map",
    "tree_map_with_path",
    "tree_reduce",
    "tree_reduce_associative",
    "tree_structure",
    "tree_transpose",
    "tree_unflatten",
    "treedef_children",
    "treedef_is_leaf",
    "treedef_tuple",
]

PyTreeDef = _tree.PyTreeDef
SequenceKey = _tree.SequenceKey
DictKey = _tree.DictKey
GetAttrKey = _tree.GetAttrKey
FlattenedIndexKey = _tree.FlattenedIndexKey
default_registry = _tree.registry
keystr = _tree.keystr
flatten_one_level = _tree.flatten_one_level
flatten_one_level_with_keys = _tree.flatten_one_level_with_keys

IsLeaf = Callable[[Any], bool]
T = TypeVar("T")
Class = TypeVar("Class", bound=type)
_UNSET = object()


@runtime_checkable
class KeyEntry(Protocol):
    """One step of a key path: hashable, comparable, and printed as Python would write the step."""

    def __hash__(self) -> int: ...
    def __eq__(self, other: object) -> bool: ...
    def __str__(self) -> str: ...


KeyPath = tuple[KeyEntry, ...]


# ---- flatten and rebuild ---------------------------------------------------------------------------------------


def tree_flatten(tree: Any, is_leaf: IsLeaf | None = None) -> tuple[list[Any], PyTreeDef]:
    """The leaves of `tree`, in order, and its structure. Where `is_leaf` is true the walk stops: a leaf.

    >>> from glax import tree_util
    >>> tree_util.tree_flatten({"b": 1, "a": (2, None)})
    ([2, 1], PyTreeDef({'a': (*, None), 'b': *}))
    """
    return _tree.flatten(tree, is_leaf)


def _require_treedef(name: str, treedef: Any, argument: str = "treedef") -> PyTreeDef:
    if not isinstance(treedef, PyTreeDef):
        raise TypeError(f"{name}: {argument} must be a PyTreeDef, got {treedef!r} of type {type(treedef).__name__}")
    return treedef


def tree_unflatten(treedef: PyTreeDef, leaves: Iterable[Any]) -> Any:
    """The tree of structure `treedef` with these leaves; ValueError when their number is wrong.

    >>> from glax import tree_util
    >>> leaves, treedef = tree_util.tree_flatten([1, {"x": 2}])
    >>> tree_util.tree_unflatten(treedef, [10, 20])
    [10, {'x': 20}]
    """
    return _require_treedef("tree_unflatten", treedef).unflatten(leaves)


def tree_leaves(tree: Any, is_leaf: IsLeaf | None = None) -> list[Any]:
    """The leaves of `tree` in order.

    >>> from glax import tree_util
    >>> tree_util.tree_leaves([1, (2, [3])])
    [1, 2, 3]
    """
    return _tree.flatten(tree, is_leaf)[0]


def tree_structure(tree: Any, is_leaf: IsLeaf | None = None) -> PyTreeDef:
    """The structure of `tree`: hashable, comparable, picklable.

    >>> from glax import tree_util
    >>> tree_util.tree_structure([1, (2, 3)])
    PyTreeDef([*, (*, *)])
    """
    return _tree.flatten(tree, is_leaf)[1]


def tree_flatten_with_path(
    tree: Any, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path: bool = False
) -> tuple[list[tuple[KeyPath, Any]], PyTreeDef]:
    """As `tree_flatten`, each leaf with its path. With `is_leaf_takes_path`, `is_leaf` is called as (path, subtree).

    >>> from glax import tree_util
    >>> pairs, treedef = tree_util.tree_flatten_with_path({"a": [1, 2]})
    >>> [(tree_util.keystr(path), leaf) for path, leaf in pairs]
    [("['a'][0]", 1), ("['a'][1]", 2)]
    """
    return _tree.flatten_with_path(tree, is_leaf, is_leaf_takes_path)


def tree_leaves_with_path(
    tree: Any, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path: bool = False
) -> list[tuple[KeyPath, Any]]:
    """The leaves of `tree`, each with its path: the first half of `tree_flatten_with_path`.

    >>> from glax import tree_util
    >>> tree_util.tree_leaves_with_path((7,))
    [((SequenceKey(idx=0),), 7)]
    """
    return _tree.flatten_with_path(tree, is_leaf, is_leaf_takes_path)[0]


def build_tree(treedef: PyTreeDef, xs: Any) -> Any:
    """The tree of structure `treedef` from nested iterables: ``xs`` has an iterable wherever `treedef` a container.

    >>> from glax import tree_util
    >>> tree_util.build_tree(tree_util.tree_structure({"a": 0, "b": (0, 0)}), [1, [2, 3]])
    {'a': 1, 'b': (2, 3)}
    """
    return _require_treedef("build_tree", treedef).from_iterable_tree(xs)


def is_tree_node(typ: type) -> bool:
    """Whether instances of this type are containers.

    >>> from glax import tree_util
    >>> tree_util.is_tree_node(list), tree_util.is_tree_node(str)
    (True, False)
    """
    return _tree.is_node_type(typ)


def all_leaves(iterable: Iterable[Any], is_leaf: IsLeaf | None = None) -> bool:
    """Whether every element of `iterable` is a leaf.

    >>> from glax import tree_util
    >>> tree_util.all_leaves([1, "a"]), tree_util.all_leaves([1, (2,)])
    (True, False)
    """
    if is_leaf is None:
        return _tree.all_leaves(iterable)
    return all(is_leaf(x) or not _tree.is_node_type(type(x)) for x in iterable)


# ---- structures ------------------------------------------------------------------------------------------------


def treedef_is_leaf(treedef: PyTreeDef) -> bool:
    """Whether `treedef` is a single node: one leaf, or one empty container such as None.

    >>> from glax import tree_util
    >>> tree_util.treedef_is_leaf(tree_util.tree_structure(1))
    True
    """
    return _require_treedef("treedef_is_leaf", treedef).num_nodes == 1


def treedef_children(treedef: PyTreeDef) -> list[PyTreeDef]:
    """The structures of the children of the outermost container.

    >>> from glax import tree_util
    >>> tree_util.treedef_children(tree_util.tree_structure([1, (2, 3)]))
    [PyTreeDef(*), PyTreeDef((*, *))]
    """
    return _require_treedef("treedef_children", treedef).children()


def treedef_tuple(treedefs: Iterable[PyTreeDef]) -> PyTreeDef:
    """The structure of a tuple of trees with these structures.

    >>> from glax import tree_util
    >>> tree_util.treedef_tuple([tree_util.tree_structure(1), tree_util.tree_structure([2])])
    PyTreeDef((*, [*]))
    """
    return _tree.treedef_tuple([_require_treedef("treedef_tuple", t, "treedefs") for t in treedefs])


# ---- map and reduce --------------------------------------------------------------------------------------------


def tree_map(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf | None = None) -> Any:
    """Apply `f` to each leaf of `tree`, and to what each of `rest` has in the same place.

    The `rest` need only begin with the structure of `tree`; ValueError naming the key path when one does not.

    >>> from glax import tree_util
    >>> tree_util.tree_map(lambda a, b: a + b, {"x": 1, "y": (2,)}, {"x": 10, "y": (20,)})
    {'x': 11, 'y': (22,)}
    """
    return _tree.map_tree(f, tree, *rest, is_leaf=is_leaf)


def tree_map_with_path(
    f: Callable[..., Any],
    tree: Any,
    *rest: Any,
    is_leaf: Callable[..., bool] | None = None,
    is_leaf_takes_path: bool = False,
) -> Any:
    """As `tree_map`, calling `f` with the path of the leaf first.

    >>> from glax import tree_util
    >>> tree_util.tree_map_with_path(lambda path, x: f"{tree_util.keystr(path)}={x}", [1, (2,)])
    ['[0]=1', ('[1][0]=2',)]
    """
    pairs, treedef = _tree.flatten_with_path(tree, is_leaf, is_leaf_takes_path)
    others = _tree.columns(treedef, tree, rest, None if is_leaf_takes_path else is_leaf)
    return treedef.unflatten(f(path, x, *xs) for (path, x), *xs in zip(pairs, *others, strict=True))


def tree_all(tree: Any, *, is_leaf: IsLeaf | None = None) -> bool:
    """Whether all leaves are true; True for a tree without leaves.

    >>> from glax import tree_util
    >>> tree_util.tree_all([True, (1, False)])
    False
    """
    return all(tree_leaves(tree, is_leaf))


def tree_reduce(
    function: Callable[[T, Any], T], tree: Any, initializer: Any = _UNSET, is_leaf: IsLeaf | None = None
) -> T:
    """`functools.reduce` over the leaves: TypeError when there is neither a leaf nor an initializer.

    >>> import operator
    >>> from glax import tree_util
    >>> tree_util.tree_reduce(operator.add, {"a": 1, "b": (2, 3)})
    6
    """
    start = () if initializer is _UNSET else (initializer,)
    return functools.reduce(function, tree_leaves(tree, is_leaf), *start)


def tree_reduce_associative(
    operation: Callable[[T, T], T], tree: Any, *, identity: Any = _UNSET, is_leaf: IsLeaf | None = None
) -> T:
    """Combine the leaves pairwise, neighbours first, so that the depth is logarithmic; `operation` is associative.

    A tree without leaves gives `identity`, or TypeError when there is none.

    >>> from glax import tree_util
    >>> tree_util.tree_reduce_associative(lambda a, b: f"({a}{b})", list("abcd"))
    '((ab)(cd))'
    """
    level = tree_leaves(tree, is_leaf)
    if not level:
        if identity is _UNSET:
            raise TypeError("tree_reduce_associative: the tree has no leaves and no identity was given")
        return identity
    while len(level) > 1:
        paired = [operation(a, b) for a, b in zip(level[::2], level[1::2], strict=False)]
        level = paired + level[len(paired) * 2 :]
    return level[0]


def tree_transpose(outer_treedef: PyTreeDef, inner_treedef: PyTreeDef | None, pytree_to_transpose: Any) -> Any:
    """Turn a tree of structure outer-of-inner into one of structure inner-of-outer; TypeError when it is not that.

    With `inner_treedef` None, the inner structure is that of the first subtree.

    >>> from glax import tree_util
    >>> outer, inner = tree_util.tree_structure([0, 0]), tree_util.tree_structure({"a": 0, "b": 0})
    >>> tree_util.tree_transpose(outer, inner, [{"a": 1, "b": 2}, {"a": 3, "b": 4}])
    {'a': [1, 3], 'b': [2, 4]}
    """
    _require_treedef("tree_transpose", outer_treedef, "outer_treedef")
    leaves, treedef = _tree.flatten(pytree_to_transpose)
    if inner_treedef is None:
        inner_treedef = tree_structure(outer_treedef.flatten_up_to(pytree_to_transpose)[0])
    _require_treedef("tree_transpose", inner_treedef, "inner_treedef")
    rows, columns = outer_treedef.num_leaves, inner_treedef.num_leaves
    if treedef.num_leaves != rows * columns:
        expected = outer_treedef.compose(inner_treedef)
        raise TypeError(f"tree_transpose: expected a tree of structure {expected}, got {treedef}")
    return inner_treedef.unflatten([outer_treedef.unflatten(leaves[i::columns]) for i in range(columns)])


def tree_broadcast(prefix_tree: Any, full_tree: Any, is_leaf: IsLeaf | None = None) -> Any:
    """A tree like `full_tree` whose leaves are those of `prefix_tree`, each repeated over the subtree it stands for.

    Raises ValueError naming the key path when `prefix_tree` is not a prefix of `full_tree`.

    >>> from glax import tree_util
    >>> tree_util.tree_broadcast((0, 1), ({"a": 5, "b": 6}, 7))
    ({'a': 0, 'b': 0}, 1)
    """
    leaves, prefix = _tree.flatten(prefix_tree, is_leaf)
    (subtrees,) = _tree.columns(prefix, prefix_tree, [full_tree], is_leaf)
    repeated = [x for x, part in zip(leaves, subtrees, strict=True) for _ in tree_leaves(part)]
    return tree_structure(full_tree).unflatten(repeated)


# ---- registration ----------------------------------------------------------------------------------------------


def register_pytree_node(
    nodetype: type[T],
    flatten_func: Callable[[T], tuple[Iterable[Any], Hashable]],
    unflatten_func: Callable[[Any, Any], T],
    flatten_with_keys_func: Callable[[T], tuple[Iterable[tuple[Any, Any]], Hashable]] | None = None,
) -> None:
    """Make instances of `nodetype` containers; a type can be registered once (ValueError).

    ``flatten_func(x)`` gives the children and a hashable static part, ``unflatten_func(static, children)`` rebuilds.

    >>> from glax import tree_util
    >>> class Interval:
    ...     def __init__(self, low, high):
    ...         self.low, self.high = low, high
    >>> tree_util.register_pytree_node(Interval, lambda x: ((x.low, x.high), None), lambda _, xs: Interval(*xs))
    >>> tree_util.tree_leaves(Interval(1, 2))
    [1, 2]
    """
    _tree.register_node(nodetype, flatten_func, unflatten_func, flatten_with_keys_func)


def register_pytree_with_keys(
    nodetype: type[T],
    flatten_with_keys: Callable[[T], tuple[Iterable[tuple[Any, Any]], Hashable]],
    unflatten_func: Callable[[Any, Any], T],
    flatten_func: Callable[[T], tuple[Iterable[Any], Hashable]] | None = None,
) -> None:
    """As `register_pytree_node`, where the children come with the keys that name them: ``((key, child), ...)``.

    >>> from glax import tree_util
    >>> class Box:
    ...     def __init__(self, content):
    ...         self.content = content
    >>> key = tree_util.GetAttrKey("content")
    >>> tree_util.register_pytree_with_keys(Box, lambda b: (((key, b.content),), None), lambda _, xs: Box(*xs))
    >>> [tree_util.keystr(path) for path, _ in tree_util.tree_leaves_with_path(Box([1]))]
    ['.content[0]']
    """

    def without_keys(x: T) -> tuple[Iterable[Any], Hashable]:
        pairs, static = flatten_with_keys(x)
        return tuple(child for _, child in pairs), static

    _tree.register_node(nodetype, flatten_func or without_keys, unflatten_func, flatten_with_keys)


def register_pytree_node_class(cls: Class) -> Class:
    """Class decorator for a class with ``tree_flatten(self)`` and a classmethod ``tree_unflatten(cls, aux, children)``.

    >>> from glax import tree_util
    >>> @tree_util.register_pytree_node_class
    ... class Pair:
    ...     def __init__(self, a, b):
    ...         self.a, self.b = a, b
    ...     def tree_flatten(self):
    ...         return (self.a, self.b), None
    ...     @classmethod
    ...     def tree_unflatten(cls, aux, children):
    ...         return cls(*children)
    >>> tree_util.tree_map(lambda x: x + 1, Pair(1, 2)).b
    3
    """
    register_pytree_node(cls, operator.methodcaller("tree_flatten"), cls.tree_unflatten)
    return cls


def register_pytree_with_keys_class(cls: Class) -> Class:
    """As `register_pytree_node_class`, for a class with ``tree_flatten_with_keys`` (and, faster, ``tree_flatten``).

    >>> from glax import tree_util
    >>> @tree_util.register_pytree_with_keys_class
    ... class One:
    ...     def __init__(self, x):
    ...         self.x = x
    ...     def tree_flatten_with_keys(self):
    ...         return ((tree_util.GetAttrKey("x"), self.x),), None
    ...     @classmethod
    ...     def tree_unflatten(cls, aux, children):
    ...         return cls(*children)
    >>> tree_util.tree_leaves_with_path(One(5))
    [((GetAttrKey(name='x'),), 5)]
    """
    plain = operator.methodcaller("tree_flatten") if hasattr(cls, "tree_flatten") else None
    register_pytree_with_keys(cls, operator.methodcaller("tree_flatten_with_keys"), cls.tree_unflatten, plain)
    return cls


def _fields_by_metadata(nodetype: type) -> tuple[list[str], list[str]]:
    if not dataclasses.is_dataclass(nodetype):
        raise TypeError(f"register_dataclass: {nodetype!r} is not a dataclass; give both data_fields and meta_fields")
    fields = [f for f in dataclasses.fields(nodetype) if f.init]
    static = [f.name for f in fields if f.metadata.get("static", False)]
    return [f.name for f in fields if f.name not in static], static


def _check_fields(nodetype: type, data: list[str], meta: list[str], dropped: Sequence[str]) -> None:
    if both := sorted(set(data) & set(meta)):
        raise ValueError(f"register_dataclass: {', '.join(both)} in both data_fields and meta_fields")
    if not dataclasses.is_dataclass(nodetype):
        return
    needed = {f.name for f in dataclasses.fields(nodetype) if f.init} - set(dropped)
    if missing := sorted(needed - {*data, *meta}):
        raise ValueError(
            f"register_dataclass: {nodetype.__name__} has the fields {', '.join(missing)}, which are in none of "
            "data_fields, meta_fields and drop_fields"
        )
    if unknown := sorted({*data, *meta} - needed):
        raise ValueError(f"register_dataclass: {nodetype.__name__} has no init fields {', '.join(unknown)}")


def register_dataclass(
    nodetype: Class,
    data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None,
    drop_fields: Sequence[str] = (),
) -> Class:
    """Make instances of a dataclass containers of its data fields; its meta fields are static and hashable.

    Without lists, the fields marked ``glax.tree.static()`` (or ``field(metadata={"static": True})``) are the meta
    fields. Together the lists name every init field that is not in `drop_fields`: ValueError otherwise.

    >>> from dataclasses import dataclass, field
    >>> from glax import tree_util
    >>> @tree_util.register_dataclass
    ... @dataclass
    ... class Layer:
    ...     weight: float
    ...     name: str = field(metadata={"static": True})
    >>> tree_util.tree_map(lambda x: x * 2, Layer(1.5, "first"))
    Layer(weight=3.0, name='first')
    """
    if (data_fields is None) != (meta_fields is None):
        raise TypeError("register_dataclass: give both data_fields and meta_fields, or neither")
    if data_fields is None or meta_fields is None:
        data, meta = ([n for n in names if n not in drop_fields] for names in _fields_by_metadata(nodetype))
    else:
        data, meta = list(data_fields), list(meta_fields)
    _check_fields(nodetype, data, meta, drop_fields)
    _tree.register_dataclass_node(nodetype, data, meta)
    return nodetype


def register_static(cls: Class) -> Class:
    """Class decorator: instances are containers without leaves, the (hashable) instance itself being the static part.

    >>> from glax import tree_util
    >>> @tree_util.register_static
    ... class Mode(str):
    ...     pass
    >>> tree_util.tree_leaves(Mode("train"))
    []
    """
    _tree.register_node(cls, lambda x: ((), x), lambda x, _: x)
    return cls


# ---- Partial ---------------------------------------------------------------------------------------------------


class _OpaquePartial:
    """Calls a functools.partial, which would otherwise be merged into the Partial that wraps it."""

    def __init__(self, func: functools.partial[Any]) -> None:
        self.func = func

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.func(*args, **kwargs)

    def __hash__(self) -> int:
        return hash(self.func)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _OpaquePartial) and self.func == other.func

    def __repr__(self) -> str:
        return repr(self.func)


class Partial(functools.partial):
    """A `functools.partial` that is a container: the arguments are its children, the function is static.

    >>> from glax.tree_util import Partial, tree_leaves
    >>> add_two = Partial(lambda x, y: x + y, 2)
    >>> add_two(3), tree_leaves(add_two)
    (5, [2])
    """

    def __new__(cls, func: Callable[..., Any], *args: Any, **kwargs: Any) -> Partial:
        if isinstance(func, functools.partial) and not isinstance(func, Partial):
            func = _OpaquePartial(func)
        return super().__new__(cls, func, *args, **kwargs)


register_pytree_with_keys(
    Partial,
    lambda p: (((GetAttrKey("args"), p.args), (GetAttrKey("keywords"), p.keywords)), p.func),
    lambda func, parts: Partial(func, *parts[0], **parts[1]),
)
