"""What holds for every greedy tree: Lemma 6, and all that a tree must not depend on."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import ExtraTreeClassifier

from sktree_opt.greedy import GreedyTreeClassifier, GreedyTreeRegressor, _grow
from sktree_opt.greedy._registries import (
    CLASSIFICATION_CRITERIA,
    NOMINAL_SPLITS,
    REGRESSION_CRITERIA,
)
from sktree_opt.preprocessing._table import Table
from sktree_opt.tree import Tree
from sktree_opt.utils._control import SearchControl
from tests.effort import examples

QUALITIES = {**CLASSIFICATION_CRITERIA, **REGRESSION_CRITERIA}
COSTS = np.array([[0, 1, 4], [3, 0, 1], [1, 2, 0]], dtype=float)


def random_problem(rng, n_rows=None, n_columns=None, weights="any"):
    """Matrix with nominal columns and missing values, number of categories, weights, targets."""
    n_rows = n_rows or int(rng.integers(2, 60))
    n_columns = n_columns or int(rng.integers(1, 8))
    matrix = rng.integers(0, rng.integers(2, 8), size=(n_rows, n_columns)).astype(float)
    if rng.random() < 0.5:
        matrix[:, 0] = rng.normal(size=n_rows)
    n_categories = np.where(rng.random(n_columns) < 0.4, 8, -1)
    n_categories[0] = -1
    if rng.random() < 0.5:
        matrix[rng.random(matrix.shape) < 0.15] = np.nan
    if rng.random() < 0.3:
        matrix[:, -1] = matrix[:, 0]
        n_categories[-1] = n_categories[0]
    kinds = {"any": rng.choice(["unit", "whole", "real"])}
    kind = kinds.get(weights, weights)
    w = None
    if kind == "whole":
        w = rng.integers(1, 4, size=n_rows).astype(float)
    elif kind == "real":
        w = rng.uniform(0.1, 3.0, size=n_rows)
    return matrix, n_categories, w, rng.integers(0, 3, size=n_rows), rng.normal(size=n_rows)


def induction(problem, quality, nominal_split="multiway", **settings):
    matrix, n_categories, weights, classes, numbers = problem
    is_classifier = quality in CLASSIFICATION_CRITERIA
    if nominal_split == "subset":
        n_categories = np.where(n_categories > 0, 8, -1)
    return _grow.Induction(
        Table.from_matrix(matrix, n_categories),
        classes if is_classifier else numbers,
        3 if is_classifier else 0,
        weights,
        COSTS if quality == "gini_cost" else None,
        measure=QUALITIES[quality].measure,
        gain_ratio=QUALITIES[quality].gain_ratio,
        above_average=QUALITIES[quality].above_average,
        nominal_split=_grow.NOMINAL_SPLITS[nominal_split],
        **settings,
    )


def as_tree(grown, n_features, is_classifier=True):
    return Tree(*grown.to_arrays(), n_features=n_features, is_classifier=is_classifier)


def grow(problem, quality, nominal_split="multiway", rows=None, features=None, **settings):
    learner = induction(problem, quality, nominal_split, **settings)
    grown = learner.grow(SearchControl(), rows, features)
    return as_tree(grown, problem[0].shape[1], quality in CLASSIFICATION_CRITERIA)


LIMITS = st.fixed_dictionaries(
    {
        "nominal_split": st.sampled_from(sorted(NOMINAL_SPLITS)),
        "min_leaf_weight": st.sampled_from([1.0, 2.0, 5.0]),
        "every_branch": st.booleans(),
        "allow_zero_gain": st.booleans(),
        "acceptable_error": st.sampled_from([0.0, 0.2]),
        "max_depth": st.sampled_from([None, 2]),
        "max_leaf_nodes": st.sampled_from([None, None, 4, 7]),
        "min_gain": st.sampled_from([0.0, 0.05]),
        "numeric_gain_penalty": st.booleans(),
    }
)


@pytest.mark.parametrize("quality", [name for name in QUALITIES if "average" not in name])
@examples(150)
@given(st.integers(0, 2**32 - 1), LIMITS)
def test_lemma_6(quality, seed, limits):
    """features(DT(S)) <= S' <= S gives DT(S') = DT(S)."""
    rng = np.random.default_rng(seed)
    problem = random_problem(rng)
    n_columns = problem[0].shape[1]
    features = np.flatnonzero(rng.random(n_columns) < 0.8)
    tree = grow(problem, quality, features=features, **limits)
    for _ in range(4):
        smaller = np.union1d(tree.features, features[rng.random(len(features)) < 0.5])
        assert grow(problem, quality, features=smaller, **limits) == tree
    assert set(tree.features) <= set(features)


@pytest.mark.parametrize("quality", QUALITIES)
@examples(60)
@given(st.integers(0, 2**32 - 1), LIMITS)
def test_threads_and_blocks_leave_no_trace(quality, seed, limits):
    """One thread or three, presorted blocks or sorting at each node: the same tree."""
    problem = random_problem(np.random.default_rng(seed))
    limits = limits | {"max_features": seed % 4, "seed": seed}
    tree = grow(problem, quality, **limits)
    for max_block_cases in (0, 7, 65535):
        one, three = (
            grow(problem, quality, n_threads=n_threads, max_block_cases=max_block_cases, **limits)
            for n_threads in (1, 3)
        )
        assert one == three
        assert_same_tree(one, tree)


def best_gains(X, y):
    """Largest information gain of each column, and whether it has two values."""

    def entropy(labels):
        shares = np.bincount(labels) / max(len(labels), 1)
        return -sum(p * np.log2(p) for p in shares if p > 0)

    gains = np.zeros(X.shape[1])
    for j, column in enumerate(X.T):
        for value in np.unique(column)[1:]:
            parts = y[column < value], y[column >= value]
            after = sum(len(part) * entropy(part) for part in parts) / len(y)
            gains[j] = max(gains[j], entropy(y) - after)
    return gains, np.array([len(np.unique(column)) > 1 for column in X.T])


@pytest.mark.parametrize("n_drawn", [1, 2, 3, 5])
def test_a_node_chooses_among_the_columns_drawn(n_drawn):
    """At most n - n_drawn columns are better than the test; with all columns it is the best."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 4, (60, 5)), rng.integers(0, 3, 60)
        clf = GreedyTreeClassifier(max_features=n_drawn, random_state=seed).fit(X, y)
        reached = clf.decision_path(X).toarray().astype(bool)
        for rows, feature in zip(reached.T, clf.tree_.nodes["feature"], strict=True):
            gains, varies = best_gains(X[rows], y[rows])
            if feature < 0:
                # As long as a column has a split, one is found.
                assert rows.sum() < 2 or gains.max() < 1e-9
            else:
                n_better = np.count_nonzero(gains > gains[feature] + 1e-9)
                assert n_better <= max(0, varies.sum() - n_drawn)
        if n_drawn == 5:
            assert clf.tree_ == GreedyTreeClassifier().fit(X, y).tree_


def test_columns_are_drawn_evenly_and_anew_for_each_node():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (200, 4)), rng.integers(0, 2, 200)
    trees = [
        GreedyTreeClassifier(max_features=1, max_depth=2, random_state=seed).fit(X, y).tree_.nodes
        for seed in range(400)
    ]
    root = np.array([nodes["feature"][0] for nodes in trees])
    below = np.array([nodes["feature"][1] for nodes in trees])
    # A pair of different columns is expected 33 times of 400: below, the column of the root is
    # constant.
    pairs = np.bincount(root * 4 + below, minlength=16).reshape(4, 4)
    assert not pairs.diagonal().any()
    assert pairs[~np.eye(4, dtype=bool)].min() > 15
    assert pairs.max() < 55
    again = GreedyTreeClassifier(max_features=1, max_depth=2, random_state=7).fit(X, y)
    assert again.tree_.nodes["feature"].tolist() == trees[7]["feature"].tolist()


@pytest.mark.parametrize(
    ("max_features", "n"),
    [("sqrt", 3), ("log2", 3), (0.25, 2), (0.01, 1), (4, 4), (40, 9)],
)
def test_max_features_counts_as_in_scikit_learn(max_features, n):
    X, y = np.random.default_rng(0).normal(size=(30, 9)), np.arange(30) % 2
    peer = ExtraTreeClassifier(max_features=max_features if max_features != 40 else 9).fit(X, y)
    assert peer.max_features_ == n
    for tree, target in ((GreedyTreeClassifier, y), (GreedyTreeRegressor, y + 0.5)):
        fitted = tree(max_features=max_features, random_state=3).fit(X, target)
        assert fitted.tree_ == tree(max_features=n, random_state=3).fit(X, target).tree_


def assert_same_tree(a, b):
    """Equal tests everywhere, and equal numbers but for the order of summation."""
    for name in ("kind", "feature", "first_child", "n_children", "n_samples"):
        np.testing.assert_array_equal(a.nodes[name], b.nodes[name])
    np.testing.assert_array_equal(a.nodes["threshold"], b.nodes["threshold"])
    np.testing.assert_array_equal(a.category_branch, b.category_branch)
    for name in ("impurity", "weight"):
        np.testing.assert_allclose(a.nodes[name], b.nodes[name], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(a.values, b.values, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("quality", QUALITIES)
@examples(80)
@given(st.integers(0, 2**32 - 1), LIMITS)
def test_a_weight_of_k_is_k_rows(quality, seed, limits):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, weights="whole")
    matrix, n_categories, weights, classes, numbers = problem
    copies = np.repeat(np.arange(len(weights)), weights.astype(int))
    repeated = (matrix[copies], n_categories, None, classes[copies], numbers[copies])
    a, b = grow(problem, quality, **limits), grow(repeated, quality, **limits)
    np.testing.assert_array_equal(a.nodes["feature"], b.nodes["feature"])
    np.testing.assert_array_equal(a.nodes["threshold"], b.nodes["threshold"])
    np.testing.assert_allclose(a.values, b.values, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(a.nodes["weight"], b.nodes["weight"], rtol=1e-9)


@pytest.mark.parametrize("quality", QUALITIES)
@examples(80)
@given(st.integers(0, 2**32 - 1))
def test_the_order_of_rows_leaves_no_trace(quality, seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng)
    order = rng.permutation(len(problem[0]))
    shuffled = tuple(
        part if part is None or len(part) != len(order) or part is problem[1] else part[order]
        for part in problem
    )
    assert_same_tree(grow(shuffled, quality), grow(problem, quality))


@pytest.mark.parametrize("quality", CLASSIFICATION_CRITERIA)
def test_rows_are_those_of_a_smaller_table(quality, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    problem = random_problem(rng, 200, 6)
    rows = np.flatnonzero(rng.random(200) < 0.6)
    smaller = tuple(part if part is None or part is problem[1] else part[rows] for part in problem)
    a, b = grow(problem, quality, rows=rows), grow(smaller, quality)
    np.testing.assert_array_equal(a.nodes["feature"], b.nodes["feature"])
    np.testing.assert_array_equal(a.nodes["threshold"], b.nodes["threshold"])
    np.testing.assert_allclose(a.values, b.values)


@examples(100)
@given(st.integers(0, 2**32 - 1), LIMITS)
def test_max_leaf_nodes_is_kept(seed, limits):
    problem = random_problem(np.random.default_rng(seed))
    full = grow(problem, "gini", **{**limits, "max_leaf_nodes": None})
    for most in (2, 3, 5, 9):
        tree = grow(problem, "gini", **{**limits, "max_leaf_nodes": most})
        assert tree.n_leaves <= max(most, 1)
        if full.n_leaves <= most:
            assert_same_tree(tree, full)
        elif limits["nominal_split"] != "multiway":
            assert tree.n_leaves == most


@pytest.mark.parametrize("estimator", [GreedyTreeClassifier, GreedyTreeRegressor])
def test_any_number_of_jobs_gives_the_same_tree(estimator, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = rng.normal(size=(20000, 12))
    X[rng.random(X.shape) < 0.01] = np.nan
    y = (np.nan_to_num(X[:, 0] * X[:, 1]) > 0).astype(int) ^ (rng.random(20000) < 0.1)
    trees = [estimator(n_jobs=n_jobs, max_depth=12).fit(X, y).tree_ for n_jobs in (1, 2, 5)]
    assert trees[0] == trees[1] == trees[2]
