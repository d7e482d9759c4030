"""Importances against their definition, and what users rely on."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.feature_selection import SelectFromModel
from sklearn.inspection import permutation_importance

from sktree_opt import (
    GreedyTreeClassifier,
    GreedyTreeRegressor,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
)
from sktree_opt.datasets import load_loans
from tests.effort import examples
from tests.reference.naive_importances import importances
from tests.tree.random_tree import random_tree


@pytest.mark.parametrize("is_classifier", [True, False])
@examples(300)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_importances_are_those_of_the_definition(is_classifier, seed, has_other_answers):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, is_classifier=is_classifier)
    answers = rng.normal(size=(tree.n_nodes, 2)) if has_other_answers else None
    expected = np.array(importances(tree, tree.node_values() if answers is None else answers))
    if expected.sum() > 0:
        expected /= expected.sum()
    np.testing.assert_allclose(tree.importances(answers), expected, atol=1e-12)


def parity(n_bits):
    X = np.array(list(product([0.0, 1.0], repeat=n_bits)))
    return X, X.sum(axis=1).astype(int) % 2


def test_both_features_of_a_parity_count_the_same():
    X, y = parity(2)
    for model in (
        OptimalTreeClassifier(max_depth=2),
        GreedyTreeClassifier(allow_zero_gain=True),
        OptimalTreeRegressor(max_depth=2),
        GreedyTreeRegressor(allow_zero_gain=True),
    ):
        np.testing.assert_allclose(model.fit(X, y).feature_importances_, [0.5, 0.5])


def test_no_needed_feature_is_dropped(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = rng.integers(0, 2, size=(200, 6)).astype(float)
    y = (X[:, 1] != X[:, 4]).astype(int)
    selector = SelectFromModel(OptimalTreeClassifier(max_depth=2)).fit(X, y)
    assert np.flatnonzero(selector.get_support()).tolist() == [1, 4]


COSTS = [[0.0, 1.0], [7.0, 0.0]]


@pytest.mark.parametrize(
    "parameters",
    [
        {"objective": "f1"},
        {"objective": "mcc"},
        {"objective": "g_mean"},
        {"objective": "cost", "cost_matrix": COSTS},
        {"objective": "balanced_error"},
        {"objective": "entropy"},
    ],
    ids=str,
)
def test_every_tested_feature_counts_for_every_objective(parameters, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = rng.integers(0, 2, size=(300, 8)).astype(float)
    noise = rng.random(300) < 0.1
    y = ((X[:, 0] + X[:, 1] + X[:, 2] > 1) ^ noise).astype(int)
    model = OptimalTreeClassifier(max_depth=3, **parameters).fit(X, y)
    found = model.feature_importances_
    assert found.sum() == pytest.approx(1.0)
    answers = np.hstack([model.predict_proba(X), model.predict(X)[:, np.newaxis]])
    for j in range(X.shape[1]):
        flipped = X.copy()
        flipped[:, j] = 1.0 - flipped[:, j]
        other = np.hstack([model.predict_proba(flipped), model.predict(flipped)[:, np.newaxis]])
        assert (found[j] > 0.0) == (other != answers).any()


def test_targets_whose_squares_overflow_have_importances():
    X, y = load_diabetes(return_X_y=True)
    small = GreedyTreeRegressor(max_depth=3).fit(X, y).feature_importances_
    large = GreedyTreeRegressor(max_depth=3).fit(X, y * 2.0**480).feature_importances_
    np.testing.assert_allclose(large, small, rtol=1e-9)


def ranked_alike(model, X, y):
    found = model.fit(X, y).feature_importances_
    permuted = permutation_importance(model, X, y, n_repeats=10, random_state=0).importances_mean
    used = found > 0.0
    assert (permuted[~used] == 0.0).all()
    return spearmanr(found[used], permuted[used]).statistic


def test_order_agrees_with_permutation_importance():
    X, y = load_loans(return_X_y=True, as_frame=True)
    assert ranked_alike(OptimalTreeClassifier(max_depth=3), X, y) > 0.8
    assert ranked_alike(GreedyTreeClassifier(), X, y) > 0.8
    X, y = load_iris(return_X_y=True)
    assert ranked_alike(GreedyTreeClassifier(), X, y) > 0.8
    X, y = load_diabetes(return_X_y=True)
    assert ranked_alike(GreedyTreeRegressor(max_depth=4), X, y) > 0.8
    assert ranked_alike(OptimalTreeRegressor(max_depth=2), X, y) > 0.8


def test_large_trees_are_close_to_exact():
    X, y = load_breast_cancer(return_X_y=True)
    rng = np.random.default_rng(0)
    y = y ^ (rng.random(len(y)) < 0.2)
    tree = GreedyTreeClassifier().fit(X, y).tree_
    exact = tree.importances()
    rough = tree._importances(tree.node_values(), 1 / 30)
    assert not np.array_equal(rough, exact)
    np.testing.assert_allclose(rough, exact, atol=0.02)
    assert (rough[tree.features] > 0.0).all()
