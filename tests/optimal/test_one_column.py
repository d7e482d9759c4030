"""The best tree on one column of numbers, against brute force and against the thresholds engine."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sktree_opt import OptimalTreeClassifier, OptimalTreeRegressor
from sktree_opt.optimal.run._plan import use_engine
from tests.effort import examples
from tests.reference.brute_force_thresholds import (
    best_cost,
    classification_leaf,
    gini_leaf,
    squared_error_leaf,
)


def fit_column(model, *data, **fit_params):
    """Fit by dynamic programming over the column, however few its values."""
    with use_engine("column"):
        return model.fit(*data, **fit_params)


@examples(60)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["error", "cost", "gini", "squared_error"]))
def test_no_tree_is_better(seed, objective):
    rng = np.random.default_rng(seed)
    n_rows = rng.integers(1, 9)
    x = rng.integers(0, rng.choice([2, 5, 100]), n_rows).astype(float)
    is_classifier = objective != "squared_error"
    y = rng.integers(0, 3, n_rows) if is_classifier else rng.normal(size=n_rows).round(1)
    weights = np.ones(n_rows) if rng.random() < 0.5 else rng.integers(1, 5, n_rows).astype(float)
    limits = {"max_depth": 3, "min_samples_leaf": int(rng.integers(1, max(2, n_rows // 3 + 1)))}
    costs = rng.integers(0, 4, (3, 3)) if objective == "cost" else 1 - np.eye(3)
    if objective == "cost":
        limits["cost_matrix"] = costs[np.ix_(np.unique(y), np.unique(y))]
        costs = np.where(np.isin(np.arange(3), y), costs, 100)
    max_splits = int(rng.integers(1, 8))
    penalty = float(rng.choice([0.0, 0.01, 0.1]))
    kind = OptimalTreeClassifier if is_classifier else OptimalTreeRegressor
    model = kind(
        objective=objective, max_leaf_nodes=max_splits + 1, complexity_cost=penalty, **limits
    )
    fit_column(model, x[:, None], y, sample_weight=weights)
    leaf = {
        "error": lambda: classification_leaf(y, weights, costs),
        "cost": lambda: classification_leaf(y, weights, costs),
        "gini": lambda: gini_leaf(y, weights),
        "squared_error": lambda: squared_error_leaf(y, weights),
    }[objective]()
    expected = best_cost(
        [(i, (float(v),)) for i, v in enumerate(x)],
        leaf,
        [False],
        weights,
        max_depth=3,
        max_splits=max_splits,
        min_rows=limits["min_samples_leaf"],
        split_cost=penalty * weights.sum(),
    )
    assert model.status_ == "optimal"
    np.testing.assert_allclose(model.objective_, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("objective", ["error", "balanced_error", "gini", "squared_error"])
@pytest.mark.parametrize(("max_depth", "penalty"), [(3, 0.0), (None, 0.03), (2, 0.01)])
def test_answers_are_those_of_the_engine(objective, max_depth, penalty):
    rng = np.random.default_rng(len(objective))
    x = rng.normal(size=(60, 1)).round(2)
    wave = np.sin(3 * x[:, 0]) + rng.normal(scale=0.4, size=60)
    is_classifier = objective != "squared_error"
    y = (wave > 0).astype(int) + (wave > 0.8) if is_classifier else wave
    kind = OptimalTreeClassifier if is_classifier else OptimalTreeRegressor
    model = kind(objective=objective, max_depth=max_depth, complexity_cost=penalty)
    weights = rng.integers(1, 4, 60)
    found = fit_column(model, x, y, sample_weight=weights).objective_
    n_leaves = model.get_n_leaves()
    assert model.get_depth() == int(np.ceil(np.log2(n_leaves)))
    other = kind(objective=objective, max_depth=max_depth, complexity_cost=penalty)
    with use_engine("bits"):
        other.fit(x, y, sample_weight=weights)
    assert other.status_ == "optimal"
    np.testing.assert_allclose(found, other.objective_, rtol=1e-9)
    assert n_leaves == other.get_n_leaves()


def test_many_values_are_proved_without_a_limit_on_depth():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2000, 1))
    y = np.where(rng.random(2000) < 0.2, rng.integers(0, 2, 2000), np.sin(4 * x[:, 0]) > 0)
    tree = OptimalTreeClassifier(max_depth=None, complexity_cost=0.005).fit(x, y)
    assert tree.status_ == "optimal"
    assert tree.search_stats_["has_fewest_tests"]
    errors = (tree.predict(x) != y).sum()
    assert tree.objective_ == pytest.approx(errors + 10 * (tree.get_n_leaves() - 1))


@pytest.mark.parametrize("column", [[0.0, 1.0, np.nan] * 40, list("abc") * 40])
def test_holes_and_categories_are_left_to_the_other_engines(column):
    X = np.array(column, dtype=object if isinstance(column[0], str) else float)[:, None]
    y = np.arange(120) % 3
    assert fit_column(OptimalTreeClassifier(max_depth=3), X, y).score(X, y) == 1.0


def test_a_stopped_search_is_left_to_the_engine():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(3000, 1)), rng.integers(0, 2, 3000)
    tree = OptimalTreeClassifier(max_depth=4, time_limit=1e-6)
    with pytest.warns(match="time_limit"):
        tree.fit(x, y)
    assert tree.status_ == "time_limit"
    optimum = OptimalTreeClassifier(max_depth=4).fit(x, y).objective_
    assert tree.lower_bound_ <= optimum <= (tree.predict(x) != y).sum() == tree.objective_
