"""Bounds of optimal trees whose search is stopped, against brute force."""

import math

import numpy as np
import pytest

from sktree_opt.optimal import (
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    SmallestTreeClassifier,
    TreeSetClassifier,
    optimal_path,
)
from tests.effort import also_long
from tests.optimal.cases import leaf_rules, reference_of, rows_of
from tests.reference import brute_force_thresholds, pair_counts
from tests.reference.brute_force_k_best import all_trees
from tests.reference.brute_force_pareto import errors_of_all_trees
from tests.reference.brute_force_queries import first_by_ranking, least_costs
from tests.stopped import assert_bounds_hold, fitted_in, time_limits

COSTS = np.array([[0.0, 1.0, 4.0], [3.0, 0.0, 1.0], [1.0, 2.0, 0.0]])
LEAF_COSTS = {
    "error": pair_counts.error,
    "gini": pair_counts.gini,
    "entropy": pair_counts.entropy,
    "cost": pair_counts.cost_with(COSTS),
}


def labels_of(rule, rng, n_classes=3):
    y = np.where(rng.random(len(rule)) < 0.3, rng.integers(0, n_classes, len(rule)), rule)
    y[:n_classes] = np.arange(n_classes)
    return y


def binary_table(seed, n=1000, m=14, n_classes=3):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, m))
    rule = ((X[:, 0] ^ X[:, 1]) + X[:, 2] * X[:, 3]) % n_classes
    return X, labels_of(rule, rng, n_classes), rng.uniform(0.3, 2.0, n) if seed % 2 else None


def numeric_table(seed, n=120, m=2):
    """Columns with some 20 thresholds each, and holes."""
    rng = np.random.default_rng(seed)
    X = (4 * rng.normal(size=(n, m))).round() / 4
    rule = (X[:, 0] > 0).astype(int) ^ (X[:, 1] > 0.3)
    if seed % 3:
        X[rng.random((n, m)) < 0.05] = np.nan
    return X, labels_of(rule, rng, 2), rng.uniform(0.3, 2.0, n) if seed % 2 else None


def assert_classification(objective, table, tests, depth, complexity_cost, seed):
    _, y, weights = table
    unit = np.ones(len(y)) if weights is None else weights
    n_classes = y.max() + 1
    leaf_cost = LEAF_COSTS.get(objective)
    if objective == "balanced_error":
        leaf_cost = pair_counts.balanced_error_of(y, unit, n_classes)
    channels = pair_counts.class_channels(y, unit, n_classes)
    split_cost = complexity_cost * unit.sum()
    optimum = pair_counts.best_cost(tests, channels, leaf_cost, depth, split_cost)
    for n_jobs in (1, 2):
        model = OptimalTreeClassifier(
            max_depth=depth,
            objective=objective,
            cost_matrix=COSTS if objective == "cost" else None,
            complexity_cost=complexity_cost,
            n_jobs=n_jobs,
        )
        assert_bounds_hold(model, table, optimum, seed)


@pytest.mark.parametrize("complexity_cost", [0.0, 0.01])
@pytest.mark.parametrize("objective", [*LEAF_COSTS, "balanced_error"])
def test_classification(objective, complexity_cost, global_random_seed):
    table = binary_table(global_random_seed + len(objective))
    tests = table[0].astype(float)
    assert_classification(objective, table, tests, 4, complexity_cost, global_random_seed)


@pytest.mark.parametrize("objective", also_long("cost", "error"))
def test_classification_with_all_thresholds(objective, global_random_seed):
    X, y, weights = numeric_table(global_random_seed + len(objective))
    y[0] = 2  # costs of three classes
    tests = pair_counts.tests_of(X)
    assert_classification(objective, (X, y, weights), tests, 3, 0.0, global_random_seed)


def assert_regression(table, tests, depth, seed):
    X, y, weights = table
    y = y + np.random.default_rng(seed).normal(size=len(y))
    unit = np.ones(len(y)) if weights is None else weights
    channels = pair_counts.target_channels(y, unit)
    optimum = pair_counts.best_cost(tests, channels, pair_counts.squared_error, depth)
    for n_jobs in (1, 2):
        model = OptimalTreeRegressor(max_depth=depth, n_jobs=n_jobs)
        assert_bounds_hold(model, (X, y, weights), optimum, seed)


def test_regression(global_random_seed):
    table = binary_table(global_random_seed)
    assert_regression(table, table[0].astype(float), 4, global_random_seed)


def test_regression_with_all_thresholds(global_random_seed):
    table = numeric_table(global_random_seed)
    assert_regression(table, pair_counts.tests_of(table[0]), 3, global_random_seed)


def test_absolute_error(global_random_seed):
    X, y, weights = numeric_table(global_random_seed, n=18)
    y = y + np.random.default_rng(global_random_seed).normal(size=len(y)).round(1)
    unit = np.ones(len(y)) if weights is None else weights
    optimum = brute_force_thresholds.best_cost(
        list(enumerate(map(tuple, X.tolist()))),
        brute_force_thresholds.absolute_error_leaf(y, unit),
        [False] * X.shape[1],
        unit,
        max_depth=2,
    )
    model = OptimalTreeRegressor(max_depth=2, objective="absolute_error")
    assert_bounds_hold(model, (X, y, weights), optimum, global_random_seed, is_short=True)


def loss_of(metric, fp, fn, n_positive, n_negative):
    tp, tn = n_positive - fn, n_negative - fp
    if metric == "f1":
        return 1.0 - 2 * tp / (2 * tp + fp + fn) if tp else 1.0
    if metric == "g_mean":
        return 1.0 - math.sqrt(tp / n_positive * tn / n_negative)
    scale = math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    return 1.0 - (tp * tn - fp * fn) / scale if scale else 1.0


@pytest.mark.parametrize("metric", ["f1", "mcc", "g_mean"])
def test_metrics(metric, global_random_seed):
    X, y, _ = binary_table(global_random_seed, n=60, m=7, n_classes=2)
    rows = [(tuple(x), int(c), 1.0) for x, c in zip(X.tolist(), y, strict=True)]
    counts = int(y.sum()), int((1 - y).sum())
    points = errors_of_all_trees(rows, 2, bool)
    optimum = min(loss_of(metric, *point, *counts) for point in points)
    model = OptimalTreeClassifier(max_depth=2, objective=metric)
    assert_bounds_hold(model, (X, y), optimum, global_random_seed)


def test_several_trees(global_random_seed):
    X, y, weights = binary_table(global_random_seed, n=40, m=5)
    problem = reference_of(X, y, weights, {"objective": "gini", "class_weight": None})
    may_be_leaf, leaf_cost = leaf_rules(problem, 0)
    rows = [(i, row) for row, i in rows_of(problem)]
    costs = sorted(cost for cost, _ in all_trees(rows, 2, may_be_leaf, leaf_cost).values())[:5]
    model = TreeSetClassifier(max_depth=2, objective="gini", n_trees=5)
    assert_bounds_hold(model, (X, y, weights), costs[0], global_random_seed)
    for seconds in time_limits(0.002, global_random_seed, 10):
        found = fitted_in(seconds, model, X, y, weights).tree_objectives_
        assert all(np.asarray(found) >= np.array(costs[: len(found)]) - 1e-9)


@pytest.mark.parametrize("depth_cost", [0.0, 0.05])
@pytest.mark.parametrize("ranking", [("error", "size"), ("error", "depth", "size")])
def test_rankings(ranking, depth_cost, global_random_seed):
    X, y, _ = binary_table(global_random_seed, n=80, m=6)
    problem = reference_of(X, y, None, {"objective": "error", "class_weight": None})
    costs = least_costs(rows_of(problem), 3, *leaf_rules(problem))
    costs = {at: cost + depth_cost * len(X) * at[1] for at, cost in costs.items()}
    optimum = first_by_ranking(costs, ranking, 7, math.inf)[0]
    model = SmallestTreeClassifier(max_depth=3, ranking=ranking, depth_cost=depth_cost)
    assert_bounds_hold(model, (X, y), optimum, global_random_seed)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_paths(global_random_seed):
    X, y, _ = binary_table(global_random_seed, n=80, m=6)
    problem = reference_of(X, y, None, {"objective": "error", "class_weight": None})
    costs = least_costs(rows_of(problem), 3, *leaf_rules(problem))
    model = OptimalTreeClassifier(max_depth=3)
    whole = optimal_path(model, X, y)
    for seconds in time_limits(whole.search_stats["seconds"], global_random_seed, 20):
        path = optimal_path(model.set_params(time_limit=float(seconds)), X, y)
        for (depth, splits), bound in np.ndenumerate(path.lower_bounds):
            least = min(c for (n, d), c in costs.items() if n <= splits and d <= depth)
            assert bound <= least <= path.objectives[depth, splits]
