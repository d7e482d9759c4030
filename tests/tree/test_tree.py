"""The immutable Tree: its numbers, and that it can be copied, stored, shared and not broken."""

import copy
import json
import pickle

import joblib
import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from sktree_opt.tree import Tree
from sktree_opt.tree._node import NODE_DTYPE
from tests.effort import examples
from tests.reference import naive_predict
from tests.tree.random_tree import COLUMNS, encode, random_rows, random_tree

seeds = st.integers(0, 2**32 - 1)


def stump(**changes):
    """x0 <= 0.5, with two leaves; `changes` overwrite fields of the root."""
    nodes = np.zeros(3, dtype=NODE_DTYPE)
    nodes["kind"] = [1, 0, 0]
    nodes["feature"] = [0, -1, -1]
    nodes["first_child"] = [1, -1, -1]
    nodes["n_children"] = [2, 0, 0]
    nodes["missing_branch"] = -1
    nodes["category_start"] = -1
    nodes["threshold"] = [0.5, np.nan, np.nan]
    nodes["impurity"] = [1.0, 0.0, 0.5]
    nodes["weight"] = [4.0, 1.0, 3.0]
    nodes["n_samples"] = [4, 1, 3]
    for name, value in changes.items():
        nodes[name][0] = value
    return nodes


VALUES = np.array([[2.0, 2.0], [1.0, 0.0], [1.0, 2.0]])


def make(nodes=None, values=VALUES, category_branch=(), n_features=2, is_classifier=True):
    nodes = stump() if nodes is None else nodes
    return Tree(nodes, values, category_branch, n_features=n_features, is_classifier=is_classifier)


def test_numbers_of_a_stump():
    tree = make()
    assert (tree.n_nodes, tree.n_leaves, tree.n_splits, tree.depth) == (3, 2, 1, 1)
    assert tree.features.tolist() == [0]
    assert tree.parents().tolist() == [-1, 0, 0]
    assert tree.node_depths().tolist() == [0, 1, 1]
    assert tree.children(0) == slice(1, 3)
    assert tree.children(1) == slice(0, 0)
    assert repr(tree) == "<Tree: classification, 1 tests, 2 leaves, depth 1>"
    np.testing.assert_allclose(tree.node_values(), [[0.5, 0.5], [1, 0], [1 / 3, 2 / 3]])
    # The other feature is not used.
    assert tree.importances().tolist() == [1.0, 0.0]


def test_a_lone_leaf():
    nodes = stump()[1:2]
    tree = make(nodes, VALUES[1:2], n_features=0)
    assert (tree.n_leaves, tree.depth, tree.features.tolist()) == (1, 0, [])
    assert tree.importances().tolist() == []
    leaves, values = tree.evaluate(np.empty((3, 0)), tree.node_values())
    assert leaves.tolist() == [0, 0, 0]
    assert values.tolist() == [[1.0, 0.0]] * 3
    assert tree.decision_path(np.empty((2, 0))).toarray().tolist() == [[1], [1]]


@given(seeds, st.booleans())
@examples(60)
def test_shape_agrees_with_a_plain_walk(seed, is_classifier):
    tree = random_tree(np.random.default_rng(seed), is_classifier=is_classifier)
    parents, depths, leaves, stack = [-1] * tree.n_nodes, [0] * tree.n_nodes, 0, [0]
    while stack:
        index = stack.pop()
        node = tree.nodes[index]
        leaves += node["n_children"] == 0
        for child in range(node["first_child"], node["first_child"] + node["n_children"]):
            parents[child], depths[child] = index, depths[index] + 1
            stack.append(child)
    assert tree.parents().tolist() == parents
    assert tree.node_depths().tolist() == depths
    assert (tree.depth, tree.n_leaves) == (max(depths), leaves)


@pytest.mark.parametrize(
    "copied",
    [
        lambda tree: pickle.loads(pickle.dumps(tree)),
        copy.copy,
        copy.deepcopy,
        lambda tree: Tree.from_json(tree.to_json()),
        lambda tree: Tree.from_dict(json.loads(json.dumps(tree.to_dict(), allow_nan=False))),
    ],
    ids=["pickle", "copy", "deepcopy", "json", "dict"],
)
@given(seed=seeds, is_classifier=st.booleans())
@examples(25)
def test_copies_are_equal(copied, seed, is_classifier):
    tree = random_tree(np.random.default_rng(seed), is_classifier=is_classifier)
    other = copied(tree)
    assert other == tree
    assert hash(other) == hash(tree)
    assert not other.nodes.flags.writeable
    X = encode(random_rows(np.random.default_rng(seed), 30))
    leaves, values = tree.evaluate(X, tree.node_values())
    other_leaves, other_values = other.evaluate(X, other.node_values())
    assert leaves.tolist() == other_leaves.tolist()
    np.testing.assert_array_equal(values, other_values)


def test_equality_sees_every_difference():
    tree = make()
    assert tree == make()
    assert len({tree, make()}) == 1
    assert tree != "a tree"
    assert tree != make(n_features=3)
    assert tree != make(is_classifier=False)
    assert tree != make(values=VALUES + 1.0)
    assert tree != make(values=VALUES[:, :1])
    for name in ("threshold", "impurity", "weight", "n_samples", "missing_branch", "feature"):
        changed = stump(**{name: 0 if name == "missing_branch" else 1.25})
        changed["feature"][0] = 1 if name == "feature" else 0
        assert tree != make(changed), name
    one_test = {"kind": 4, "category_start": 0, "n_categories": 2, "threshold": np.nan}
    one, other = (
        make(stump(**one_test), category_branch=[0, 1]),
        make(stump(**one_test), VALUES, [1, 0]),
    )
    assert one != other


def test_equality_takes_no_notice_of_padding_and_signed_zero():
    nodes = stump(threshold=-0.0)
    nodes["pad"], nodes["pad2"] = 7, 9
    tree, other = make(nodes), make(stump(threshold=0.0))
    assert tree == other
    assert hash(tree) == hash(other)


def test_immutable():
    tree = make()
    for array in (tree.nodes, tree.values, tree.category_branch):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(AttributeError, match="immutable"):
        tree.nodes = stump()
    with pytest.raises(AttributeError, match="immutable"):
        tree.n_features = 5
    with pytest.raises(AttributeError, match="immutable"):
        del tree.values


ONE_CATEGORY = {"kind": 3, "category_start": 0, "n_categories": 2}


@pytest.mark.parametrize(
    ("changes", "arguments"),
    [
        ({"kind": 6}, {}),
        ({"kind": 0}, {}),
        ({"feature": 2}, {}),
        ({"feature": -1}, {}),
        ({"first_child": 0}, {}),
        ({"first_child": 2}, {}),
        ({"n_children": 1}, {}),
        ({"n_children": 3}, {}),
        ({"n_children": -2}, {}),
        ({"missing_branch": 2}, {}),
        ({"missing_branch": -2}, {}),
        ({"threshold": np.nan}, {}),
        ({"threshold": np.inf}, {}),
        ({"weight": np.nan}, {}),
        ({"weight": -1.0}, {}),
        (ONE_CATEGORY, {"category_branch": [0]}),
        (ONE_CATEGORY, {"category_branch": [0, 2]}),
        (ONE_CATEGORY, {"category_branch": [0, -1]}),
        ({**ONE_CATEGORY, "category_start": -1}, {"category_branch": [0, 1]}),
        ({**ONE_CATEGORY, "n_categories": -1}, {"category_branch": [0, 1]}),
        ({}, {"values": VALUES[:2]}),
        ({}, {"values": VALUES[0]}),
        ({}, {"n_features": 0}),
    ],
)
def test_arrays_that_are_no_tree_are_refused(changes, arguments):
    with pytest.raises(ValueError, match="tree"):
        make(stump(**changes), **arguments)


def test_more_arrays_that_are_no_tree():
    with pytest.raises(ValueError, match="at least one node"):
        make(stump()[:0], VALUES[:0])
    # A cycle, a node without a parent, and nobody to distribute a missing value to.
    nodes = stump()
    nodes[1] = nodes[0]
    with pytest.raises(ValueError, match="describe a tree"):
        make(nodes)
    with pytest.raises(ValueError, match="describe a tree"):
        make(np.concatenate([stump(), stump()[1:2]]), np.concatenate([VALUES, VALUES[:1]]))
    nodes = stump()
    nodes["weight"] = 0.0
    with pytest.raises(ValueError, match="describe a tree"):
        make(nodes)
    nodes["missing_branch"] = 1
    assert make(nodes).n_leaves == 2


@given(seeds)
@examples(100)
def test_no_corrupted_array_leads_a_walk_astray(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng)
    nodes, category_branch = tree.nodes.copy(), tree.category_branch.copy()
    name = rng.choice([n for n in NODE_DTYPE.names if not n.startswith("pad")])
    index = rng.integers(tree.n_nodes)
    nodes[name][index] = rng.choice([-2, -1, 0, 1, 2, 3, 7, 100])
    if len(category_branch):
        category_branch[rng.integers(len(category_branch))] = rng.integers(-1, 4)
    try:
        other = make(nodes, tree.values, category_branch, n_features=tree.n_features)
    except ValueError:
        reject()
    X = encode(random_rows(rng, 40))
    leaves, values = other.evaluate(X, other.node_values())
    assert np.all(other.nodes["kind"][leaves] == naive_predict.LEAF)
    np.testing.assert_allclose(values.sum(axis=1), 1.0)


def test_json_of_another_version_is_refused():
    state = make().to_dict()
    with pytest.raises(ValueError, match="format 99"):
        Tree.from_dict({**state, "format_version": 99})
    with pytest.raises(ValueError, match="describe a tree"):
        Tree.from_dict({**state, "nodes": {**state["nodes"], "feature": [9, -1, -1]}})


def test_memory_mapped(tmp_path):
    tree = random_tree(np.random.default_rng(0))
    joblib.dump(tree, tmp_path / "tree.joblib")
    mapped = joblib.load(tmp_path / "tree.joblib", mmap_mode="r")
    assert mapped == tree
    # Still the file, not a copy of it in memory.
    base = mapped.nodes
    while not isinstance(base, np.memmap) and base is not None:
        base = base.base
    assert isinstance(base, np.memmap)


def leaves_of(tree, X):
    return tree.evaluate(X, tree.node_values())[0].tolist()


def test_shared_by_processes_and_threads(tmp_path):
    rng = np.random.default_rng(1)
    tree = random_tree(rng, max_depth=6)
    X = encode(random_rows(rng, 500), COLUMNS)
    expected = leaves_of(tree, X)
    # joblib hands large arrays to processes as read-only memory maps.
    joblib.dump((tree, X), tmp_path / "shared")
    found = [leaves_of(*joblib.load(tmp_path / "shared", mmap_mode="r"))]
    found += joblib.Parallel(n_jobs=4, backend="threading")(
        joblib.delayed(leaves_of)(tree, X) for _ in range(8)
    )
    assert all(leaves == expected for leaves in found)
