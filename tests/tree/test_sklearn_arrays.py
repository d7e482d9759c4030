"""The arrays of scikit-learn's tree_ are those of the tree that to_sklearn makes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from sktree_opt.export import to_sklearn
from sktree_opt.optimal import OptimalTreeClassifier
from tests.effort import examples
from tests.tree.random_tree import (
    COLUMNS,
    NUMERIC_COLUMNS,
    encode,
    model_of,
    random_rows,
    random_tree,
)

seeds = st.integers(0, 2**32 - 1)
NAMES = [
    "children_left", "children_right", "feature", "missing_go_to_left", "value", "impurity",
    "n_node_samples", "weighted_n_node_samples", "n_classes",
]  # fmt: skip


@given(seeds, st.booleans())
@examples(60)
def test_they_are_those_of_the_converted_tree(seed, is_classifier):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, COLUMNS[:2], by_weight=False, is_classifier=is_classifier)
    other = to_sklearn(model_of(tree, COLUMNS[:2])).tree_
    for name in NAMES:
        np.testing.assert_array_equal(getattr(tree, name), getattr(other, name), err_msg=name)
        assert not getattr(tree, name).flags.writeable
    # scikit-learn's thresholds are finite and rounded to single precision.
    thresholds = np.minimum(tree.threshold, np.finfo(np.float32).max)
    np.testing.assert_allclose(thresholds, other.threshold, rtol=1e-7)
    for name in ("node_count", "max_depth", "n_outputs", "max_n_classes", "n_features"):
        assert getattr(tree, name) == getattr(other, name)
    for normalize in (True, False):
        np.testing.assert_allclose(
            tree.compute_feature_importances(normalize),
            other.compute_feature_importances(normalize),
            atol=1e-12,
        )


@given(seeds)
@examples(40)
def test_a_reader_of_the_arrays_finds_the_leaves(seed):
    """As tools do it; ordered categories are numbers."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, NUMERIC_COLUMNS, by_weight=False)
    X = encode(random_rows(rng, 30, NUMERIC_COLUMNS), NUMERIC_COLUMNS)
    expected = tree.walk(X)[0]
    for row, leaf in zip(X, expected, strict=True):
        node = 0
        while tree.children_left[node] != -1:
            x = row[tree.feature[node]]
            is_left = tree.missing_go_to_left[node] if np.isnan(x) else x <= tree.threshold[node]
            node = tree.children_left[node] if is_left else tree.children_right[node]
        assert node == leaf


def test_a_fitted_tree():
    X, y = load_iris(return_X_y=True)
    ours = OptimalTreeClassifier(max_depth=1).fit(X, y).tree_
    theirs = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, y).tree_
    for name in ("children_left", "children_right", "n_node_samples", "value"):
        mine, other = (np.sort(getattr(tree, name), 0) for tree in (ours, theirs))
        np.testing.assert_allclose(mine, other)


def test_categories_have_no_such_arrays():
    tree = OptimalTreeClassifier(max_depth=1).fit([["a"], ["b"]] * 3, [0, 1] * 3).tree_
    for name in ("children_left", "threshold", "value", "node_count"):
        assert not hasattr(tree, name)
        with pytest.raises(AttributeError, match="tests categories. sktree_opt.export.to_sklearn"):
            getattr(tree, name)
