"""Pytrees: round trips, registration, paths, prefixes, pickling and error texts."""

import copy
import functools
import pickle
from collections import OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jaxlib import _jax

from glax import tree as short_names
from glax import tree_util as tu
from glax.ir import tree

Point = namedtuple("Point", "x y")
keys = st.text("abc", max_size=2)


def containers(children):
    return st.one_of(
        st.lists(children, max_size=3),
        st.lists(children, max_size=3).map(tuple),
        st.lists(children, max_size=3).map(deque),
        st.dictionaries(keys, children, max_size=3),
        st.dictionaries(keys, children, max_size=3).map(OrderedDict),
        st.dictionaries(keys, children, max_size=3).map(lambda d: defaultdict(list, d)),
        st.tuples(children, children).map(lambda xy: Point(*xy)),
        st.just(None),
    )


trees = st.recursive(st.integers(0, 9), containers, max_leaves=8)


@tu.register_dataclass
@dataclass
class Layer:
    weight: object
    name: str = short_names.static(default="layer")


@tu.register_pytree_node_class
class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def tree_flatten(self):
        return (self.a, self.b), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children)


# ---- round trips -------------------------------------------------------------------------------------------------


@given(trees)
def test_unflatten_inverts_flatten(t):
    leaves, treedef = tu.tree_flatten(t)
    assert treedef.num_leaves == len(leaves) and tu.all_leaves(leaves)
    assert tu.tree_unflatten(treedef, leaves) == t == tu.tree_map(lambda x: x, t)
    assert type(tu.tree_unflatten(treedef, leaves)) is type(t)


@given(trees)
def test_treedefs_pickle_and_copy(t):
    treedef = tu.tree_structure(t)
    for other in (pickle.loads(pickle.dumps(treedef)), copy.deepcopy(treedef)):
        assert other == treedef and hash(other) == hash(treedef)
        assert tu.tree_leaves(tu.tree_unflatten(other, range(treedef.num_leaves))) == list(range(treedef.num_leaves))


def step(node, key):
    match key:
        case tu.GetAttrKey():
            return getattr(node, key.name)
        case tu.SequenceKey():
            return node[key.idx]
    return node[key.key]


@given(trees)
def test_paths_lead_to_their_leaves(t):
    pairs = tu.tree_leaves_with_path(t)
    assert all(functools.reduce(step, path, t) is leaf for path, leaf in pairs)
    assert [x for _, x in pairs] == tu.tree_leaves(t)
    named = tu.tree_map_with_path(lambda path, x, y: f"{tu.keystr(path)}={x}{y}", t, t)
    assert tu.tree_leaves(named) == [f"{tu.keystr(path)}={x}{x}" for path, x in pairs]


@given(trees, st.integers())
def test_broadcast_of_a_leaf_fills(t, x):
    assert tu.tree_broadcast(x, t) == tu.tree_map(lambda _: x, t)
    assert tree.flatten_axes("axes", tu.tree_structure(t), x) == [x] * len(tu.tree_leaves(t))
    assert tree.flatten_axes("axes", tu.tree_structure(t), None) == [None] * len(tu.tree_leaves(t))


@given(trees)
def test_a_tree_is_a_prefix_of_itself_and_matches_itself(t):
    leaves, treedef = tree.flatten(t)
    if None not in tu.tree_leaves(t, is_leaf=lambda x: x is None):
        assert tree.flatten_axes("axes", treedef, t) == leaves
    assert tree.explain_mismatch("x", t, t) == tree.explain_mismatch("x", treedef, treedef) == ""


@given(trees, trees)
def test_explanations_exist_exactly_when_structures_differ(a, b):
    differ = tu.tree_structure(a) != tu.tree_structure(b)
    assert bool(tree.explain_mismatch("x", a, b)) == differ
    assert bool(tree.explain_mismatch("x", tu.tree_structure(a), tu.tree_structure(b))) == differ


@given(st.lists(st.lists(st.integers(), min_size=3, max_size=3), min_size=1, max_size=4))
def test_transpose_twice(rows):
    outer, inner = tu.tree_structure(rows, is_leaf=lambda x: x is not rows), tu.tree_structure([0, 0, 0])
    turned = tu.tree_transpose(outer, inner, rows)
    assert turned == [list(column) for column in zip(*rows, strict=True)] == tu.tree_transpose(outer, None, rows)
    assert tu.tree_transpose(inner, outer, turned) == rows


# ---- containers --------------------------------------------------------------------------------------------------


def test_container_kinds():
    tree_ = (1, [2], {"b": 4, "a": 3}, Point(5, 6), None, OrderedDict(z=7, y=8), deque([9], maxlen=2))
    assert tu.tree_leaves(tree_) == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert tu.tree_map(lambda x: -x, tree_)[6] == deque([-9]) and tu.tree_map(abs, tree_)[6].maxlen == 2
    paths = [tu.keystr(path) for path, _ in tu.tree_leaves_with_path(tree_)]
    assert paths == ["[0]", "[1][0]", "[2]['a']", "[2]['b']", "[3].x", "[3].y", "[5]['z']", "[5]['y']", "[6][0]"]
    assert tu.tree_map(str, defaultdict(list, {"k": 1})).default_factory is list
    assert tu.is_tree_node(Point) and tu.is_tree_node(type(None)) and not tu.is_tree_node(str)


def test_insertion_order_of_a_dict_does_not_matter():
    assert tu.tree_structure({"a": 1, "b": 2}) == tu.tree_structure({"b": 1, "a": 2})


def test_registered_classes():
    layer = Layer(1, "first")
    assert tu.tree_leaves(layer) == [1] and tu.tree_map(lambda x: x + 1, layer) == Layer(2, "first")
    assert [tu.keystr(p) for p, _ in tu.tree_leaves_with_path(layer)] == [".weight"]
    assert tu.tree_structure(Layer(1, "a")) != tu.tree_structure(Layer(1, "b"))
    assert tu.tree_leaves(Pair(1, [2])) == [1, 2]
    assert pickle.loads(pickle.dumps(tu.tree_structure(layer))) == tu.tree_structure(layer)


def test_registration_errors():
    with pytest.raises(ValueError, match="Pair"):
        tu.register_pytree_node(Pair, lambda p: ((), None), lambda aux, xs: None)
    with pytest.raises(TypeError, match="expected a class to register"):
        tu.register_pytree_node("Pair", lambda p: ((), None), lambda aux, xs: None)

    @dataclass
    class Fields:
        x: int
        y: int
        z: int = field(default=0, init=False)

    with pytest.raises(TypeError, match="give both data_fields and meta_fields"):
        tu.register_dataclass(Fields, data_fields=["x"])
    with pytest.raises(TypeError, match="is not a dataclass"):
        tu.register_dataclass(int)
    with pytest.raises(ValueError, match="Fields has the fields y, which are in none of"):
        tu.register_dataclass(Fields, ["x"], [])
    with pytest.raises(ValueError, match="Fields has no init fields w"):
        tu.register_dataclass(Fields, ["x", "y", "w"], [])
    with pytest.raises(ValueError, match="x in both"):
        tu.register_dataclass(Fields, ["x", "y"], ["x"])
    assert tu.tree_leaves(tu.register_dataclass(Fields)(1, 2)) == [1, 2]


def test_partial():
    def f(x, y, z=0):
        return (x, y, z)

    part = tu.Partial(f, [1], z=2)
    assert tu.tree_leaves(part) == [1, 2] and part(5) == ([1], 5, 2)
    assert tu.tree_map(lambda x: x * 10, part)(5) == ([10], 5, 20)
    wrapped = tu.Partial(functools.partial(f, 1), 2)
    assert tu.tree_leaves(wrapped) == [2] and wrapped() == (1, 2, 0)
    assert tu.tree_structure(wrapped) == tu.tree_structure(tu.tree_map(lambda x: x, wrapped))


def test_our_registry_is_ours_alone():
    default = _jax.pytree.default_registry()
    assert tu.default_registry is not default and not default.is_node(Pair)
    assert default.flatten(Pair(1, 2))[0] != [1, 2]
    with pytest.raises(AttributeError, match="__name__"):
        pickle.dumps(_jax.pytree.PyTreeRegistry())


# ---- functions ---------------------------------------------------------------------------------------------------


def test_reductions():
    t = {"a": 1, "b": (2, 3)}
    assert tu.tree_reduce(lambda x, y: x + y, t) == 6 and tu.tree_reduce(lambda x, y: x + y, t, 10) == 16
    assert tu.tree_reduce(lambda x, y: x, (), None) is None
    assert tu.tree_reduce_associative(lambda x, y: x + y, list("abcde")) == "abcde"
    assert tu.tree_reduce_associative(max, (), identity=0) == 0
    with pytest.raises(TypeError, match="no identity"):
        tu.tree_reduce_associative(max, ())
    assert tu.tree_all(()) and not tu.tree_all([1, 0])
    assert not tu.tree_all([[], 1], is_leaf=lambda x: x == [])


def is_tuple(x):
    return isinstance(x, tuple)


def test_is_leaf():
    assert tu.tree_leaves([(1, 2), 3], is_leaf=is_tuple) == [(1, 2), 3]
    assert tu.all_leaves([(1, 2), 3], is_leaf=is_tuple) and not tu.all_leaves([[1], 3], is_leaf=is_tuple)
    assert tu.tree_map(lambda x, y: (x, y), [(1,), 3], [[8], 9], is_leaf=is_tuple) == [((1,), [8]), (3, 9)]
    pairs = tu.tree_leaves_with_path([[1, 2], 3], lambda path, _: len(path) == 1, is_leaf_takes_path=True)
    assert [x for _, x in pairs] == [[1, 2], 3]
    assert tu.tree_map_with_path(lambda p, x: (tu.keystr(p), x), [(1, 2)], is_leaf=is_tuple) == [("[0]", (1, 2))]


def test_treedefs():
    leaf, two = tu.tree_structure(1), tu.tree_structure((1, 2))
    assert tu.treedef_is_leaf(leaf) and not tu.treedef_is_leaf(two)
    assert tu.treedef_children(two) == [leaf, leaf] and tu.treedef_tuple([leaf, leaf]) == two
    assert tree.is_leaf_def(leaf) and not tree.is_leaf_def(tu.tree_structure(None))
    children, static = tu.flatten_one_level({"b": [1], "a": 2})
    assert children == (2, [1]) and list(static) == ["a", "b"]
    assert tu.flatten_one_level_with_keys([7])[0] == ((tu.SequenceKey(0), 7),)
    with pytest.raises(ValueError, match="expected a registered container, got a leaf of type int: 3"):
        tu.flatten_one_level(3)


def test_keystr():
    path = (tu.GetAttrKey("w"), tu.DictKey("k"), tu.SequenceKey(2), tu.FlattenedIndexKey(3))
    assert tu.keystr(path) == ".w['k'][2][<flat index 3>]"
    assert tu.keystr(path, simple=True, separator="/") == "w/k/2/3"
    assert all(isinstance(key, tu.KeyEntry) for key in path)


# ---- errors ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expected", "got", "text"),
    [
        ((1, 2), (1, 2, 3), "at x, expected a tuple of length 2, got a tuple of length 3"),
        ({"a": [1]}, {"a": (1,)}, "at x['a'], expected a list of 1 child, got a tuple of 1 child"),
        ({"a": 1}, {"b": 1}, "at x, expected a dict with keys a, got a dict with keys b"),
        ([1, 2.0], [1, [2]], "at x[1], expected a leaf of type float: 2.0, got a list of 1 child"),
        ([None], [3], "at x[0], expected None, got a leaf of type int: 3"),
        (Layer(1, "a"), Layer(1, "b"), "at x, expected a Layer with static part ('a',), got a Layer with static part "
                                       "('b',)"),
        ([1, (2,)], [(1,), 2], "at x[0], expected a leaf of type int: 1, got a tuple of 1 child\n"
                               "at x[1], expected a tuple of 1 child, got a leaf of type int: 2"),
    ],
)  # fmt: skip
def test_explain_mismatch(expected, got, text):
    assert tree.explain_mismatch("x", expected, got) == text


def test_tree_map_names_the_path():
    with pytest.raises(ValueError, match=r"at tree 2\['a'\], expected a tuple of length 1, got a tuple of length 2"):
        tu.tree_map(lambda x, y: x, {"a": (1,)}, {"a": (1, 2)})
    with pytest.raises(ValueError, match=r"at tree 3\[0\], expected a tuple of 1 child, got a leaf of type int: 5"):
        tu.tree_map_with_path(lambda p, x, y, z: x, [(1,)], [(2,)], [5])
    with pytest.raises(ValueError, match="expected None, got a leaf"):
        tu.tree_broadcast((None, 1), (2, 3))


def test_flatten_axes():
    treedef = tu.tree_structure((1, {"a": 2, "b": [3, 4]}, None))
    assert tree.flatten_axes("in_axes", treedef, (0, {"a": None, "b": 1}, None)) == [0, None, 1, 1]
    text = r"in_axes must be a tree prefix.*at in_axes\[1\], it has a dict with keys a, the value has a dict with keys "
    with pytest.raises(ValueError, match=text + "a, b"):
        tree.flatten_axes("in_axes", treedef, (0, {"a": None}, None))
    with pytest.raises(ValueError, match=r"at in_axes, it has a tuple of length 2, the value has a tuple of length 3"):
        tree.flatten_axes("in_axes", treedef, (0, 1))
    with pytest.raises(ValueError, match=r"at in_axes\[0\], it has a list of 1 child, the value has a leaf$"):
        tree.flatten_axes("in_axes", treedef, ([0], None, None))


def test_transpose_error():
    outer, inner = tu.tree_structure([0]), tu.tree_structure((0, 0))
    with pytest.raises(TypeError, match=r"expected a tree of structure PyTreeDef\(\[\(\*, \*\)\]\), got"):
        tu.tree_transpose(outer, inner, [(1, 2, 3)])
    with pytest.raises(ValueError, match="Too few leaves"):
        tu.tree_unflatten(inner, [1])


def test_short_names_are_the_same_functions():
    assert short_names.map is tu.tree_map and short_names.structure is tu.tree_structure
    assert set(short_names.__all__) - {"static"} == {n.removeprefix("tree_") for n in tu.__all__ if n[:5] == "tree_"}
