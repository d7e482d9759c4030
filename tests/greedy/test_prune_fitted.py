"""Pruning of trees that are fitted already."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import ndtri
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sktree_opt import (
    GreedyTreeClassifier,
    GreedyTreeRegressor,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    cost_complexity_path,
    prune,
)
from tests.effort import examples
from tests.reference.naive_greedy_tree import Problem, close
from tests.reference.naive_pruning import cost_of_tree, error_based, estimate, nested, reduced_error

COSTS = [[0, 1.013, 3.927], [2.871, 0.503, 1.117], [0.939, 2.059, 0]]


def random_tables(rng, is_classifier):
    """Rows to grow from and rows to prune on; the second half of a table has other values too."""
    n_rows, n_columns = int(rng.integers(8, 60)), int(rng.integers(1, 5))
    X = rng.integers(0, rng.integers(2, 6), size=(n_rows, n_columns)).astype(float)
    X[:, 0] = rng.normal(size=n_rows).round(1)
    signal = np.nan_to_num(X[:, -1]).astype(int) % 3
    noise = rng.integers(0, 3, size=n_rows)
    y = np.where(rng.random(n_rows) < 0.4, noise, signal)
    y[:3] = [0, 1, 2]
    X[rng.random(X.shape) < rng.choice([0.0, 0.15])] = np.nan
    half = n_rows // 2
    y = y if is_classifier else y + rng.normal(size=n_rows)
    return X[:half], y[:half], X[half:], y[half:]


def problem_of(X, y, n_classes, costs=None):
    table = [[None if np.isnan(v) else v for v in row] for row in X.tolist()]
    return Problem(
        table, y.tolist(), [False] * X.shape[1], "entropy", n_classes=n_classes, costs=costs
    )


@pytest.mark.parametrize("is_classifier", [True, False])
@examples(150)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["distribute", "majority"]), st.booleans())
def test_reduced_error_on_other_rows(is_classifier, seed, missing, has_costs):
    rng = np.random.default_rng(seed)
    X, y, X_val, y_val = random_tables(rng, is_classifier)
    if is_classifier:
        costs = COSTS if has_costs and len(set(y)) == 3 else None
        model = GreedyTreeClassifier(cost_matrix=costs, missing=missing).fit(X, y)
        known = np.isin(y_val, model.classes_)
        X_val, y_val = X_val[known], y_val[known]
        codes = np.searchsorted(model.classes_, y_val)
    else:
        costs, codes = None, y_val
        model = GreedyTreeRegressor(missing=missing).fit(X, y)
    assume(len(X_val) > 0)
    pruned = prune(model, X_val, y_val)
    assert pruned.tree_.n_leaves <= model.tree_.n_leaves
    n_classes = len(model.classes_) if is_classifier else 0
    if missing == "majority":
        # Rows take one path: predictions are all there is to know.
        def loss(estimator):
            answers = estimator.predict(X_val)
            if not is_classifier:
                return np.sum((answers - y_val) ** 2)
            if costs is None:
                return np.sum(answers != y_val)
            return np.asarray(costs)[codes, np.searchsorted(model.classes_, answers)].sum()

        assert loss(pruned) <= loss(model) * (1 + 1e-9) + 1e-9
        return
    problem = problem_of(X_val, codes, n_classes, costs)
    cases = [(i, 1.0) for i in range(len(X_val))]
    expected = reduced_error(problem, nested(model.tree_), cases)
    assert pruned.tree_.n_leaves == expected.leaves()
    assert close(
        cost_of_tree(problem, nested(pruned.tree_), cases), cost_of_tree(problem, expected, cases)
    )


@examples(150)
@given(st.integers(0, 2**32 - 1))
def test_error_based_of_a_fitted_tree(seed):
    X, y, _, _ = random_tables(np.random.default_rng(seed), True)
    model = GreedyTreeClassifier().fit(X, y)
    pruned = prune(model, X, y, method="error_based").tree_
    at_once = GreedyTreeClassifier(pruning="error_based").fit(X, y).tree_
    assert pruned == at_once
    codes = np.searchsorted(model.classes_, y)
    problem, z = problem_of(X, codes, len(model.classes_)), float(ndtri(0.75))
    cases = [(i, 1.0) for i in range(len(X))]
    expected = error_based(problem, nested(model.tree_), cases, 0.25, z)
    ours = estimate(problem, nested(pruned), cases, 0.25, z)
    assert close(ours, estimate(problem, expected, cases, 0.25, z))


def test_weights_count_as_rows_when_pruning():
    X, y = load_breast_cancer(return_X_y=True)
    y = y ^ (np.random.default_rng(0).random(len(y)) < 0.1)
    X, X_val, y, y_val = train_test_split(X, y, random_state=0)
    weights = np.random.default_rng(1).integers(0, 4, size=len(y_val))
    model = GreedyTreeClassifier().fit(X, y)
    for method in ("reduced_error", "error_based"):
        weighted = prune(model, X_val, y_val, sample_weight=weights, method=method)
        copies = prune(
            model, np.repeat(X_val, weights, axis=0), np.repeat(y_val, weights), method=method
        )
        np.testing.assert_array_equal(
            weighted.tree_.nodes["feature"], copies.tree_.nodes["feature"]
        )


def test_optimal_trees_are_pruned_too():
    X, y = load_breast_cancer(return_X_y=True)
    X, X_val, y, y_val = train_test_split(X, y, random_state=0)
    model = OptimalTreeClassifier(max_depth=3).fit(X, y)
    pruned = prune(model, X_val, y_val)
    assert pruned.score(X_val, y_val) >= model.score(X_val, y_val)
    assert pruned.get_n_leaves() <= model.get_n_leaves()
    assert not hasattr(pruned, "objective_")
    X, y = load_diabetes(return_X_y=True)
    X, X_val, y, y_val = train_test_split(X, y, random_state=0)
    model = OptimalTreeRegressor(max_depth=2).fit(X, y)
    assert prune(model, X_val, y_val).score(X_val, y_val) >= model.score(X_val, y_val)


@pytest.mark.parametrize("loader", [load_iris, load_breast_cancer, load_diabetes])
def test_cost_complexity_path_is_that_of_scikit_learn(loader):
    X, y = loader(return_X_y=True)
    X = X.astype(np.float32)
    if loader is load_diabetes:
        ours, theirs = GreedyTreeRegressor(max_depth=4), DecisionTreeRegressor(max_depth=4)
    else:
        ours, theirs = (
            GreedyTreeClassifier(criterion="gini", max_depth=3),
            DecisionTreeClassifier(max_depth=3),
        )
    ours.fit(X, y)
    theirs.set_params(random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X))
    path = cost_complexity_path(ours)
    expected = theirs.cost_complexity_pruning_path(X, y)
    np.testing.assert_allclose(path.ccp_alphas, np.unique(expected.ccp_alphas), atol=1e-9)
    np.testing.assert_allclose(path.impurities[[0, -1]], expected.impurities[[0, -1]])
    for alpha, n_leaves in zip(path.ccp_alphas, path.n_leaves, strict=True):
        pruned = prune(ours, method="cost_complexity", ccp_alpha=alpha)
        assert pruned.get_n_leaves() == n_leaves
        their_pruned = theirs.set_params(ccp_alpha=alpha * (1 + 1e-9) + 1e-12).fit(X, y)
        assert their_pruned.get_n_leaves() == n_leaves


def test_bad_requests():
    X, y = load_iris(return_X_y=True)
    model = GreedyTreeClassifier().fit(X, y)
    for message, arguments in {
        "method must be one of": {"X": X, "y": y, "method": "rep"},
        "needs rows": {},
        "y has labels that the tree does not know": {"X": X, "y": y + 1},
        "ccp_alpha must not be negative": {"method": "cost_complexity", "ccp_alpha": -1},
        "confidence must be above 0": {"X": X, "y": y, "method": "error_based", "confidence": 1.0},
    }.items():
        with pytest.raises(ValueError, match=message):
            prune(model, **arguments)
    with pytest.raises(ValueError, match="is for classifiers"):
        prune(GreedyTreeRegressor().fit(X, y), X, y, method="error_based")
