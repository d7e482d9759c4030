"""Regression trees over all thresholds against brute force and against binary tests."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from sktree_opt.optimal import OptimalTreeClassifier, OptimalTreeRegressor, optimal_path
from sktree_opt.optimal.objectives._for_data import target_objective
from sktree_opt.optimal.run._plan import Plan, use_engine
from sktree_opt.optimal.run._problem import Limits, Problem
from sktree_opt.optimal.run._thresholds_solver import search_thresholds
from sktree_opt.optimal.thresholds._threshold_search import SWITCHES
from sktree_opt.preprocessing._table import Table
from sktree_opt.simd._dispatch import available_instruction_sets
from tests.effort import examples
from tests.optimal.common import new_session, training_data
from tests.reference.best_groups import best_groups
from tests.reference.brute_force_queries import least_costs
from tests.reference.brute_force_thresholds import (
    absolute_error_leaf,
    best_cost,
    gini_leaf,
    squared_error_leaf,
)


def fit_table(model, *data, off=(), **fit_params):
    """Fit by the search over all thresholds, however few there are."""
    with use_engine("thresholds", off):
        return model.fit(*data, **fit_params)


def fit_tests(model, *data, **fit_params):
    """Fit by the search over binary tests, however many there are."""
    with use_engine("bits"):
        return model.fit(*data, **fit_params)


@st.composite
def problems(draw, max_rows, max_depth):
    """A table with ties, categories and holes, targets, weights and parameters."""
    n_rows = draw(st.integers(1, max_rows))
    n_columns = draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = np.empty((n_rows, n_columns))
    nominal = np.zeros(n_columns, dtype=bool)
    for j in range(n_columns):
        n_values = draw(st.sampled_from([2, 4, 100]))
        X[:, j] = rng.integers(0, n_values, n_rows) + 0.5
        nominal[j] = n_values <= 4 and draw(st.booleans())
        if draw(st.booleans()):
            X[rng.random(n_rows) < 0.3, j] = np.nan
    y = rng.normal(draw(st.sampled_from([0.0, 1e4])), 1.0, n_rows)
    y = y.round(draw(st.sampled_from([0, 1, 12])))
    weights = draw(
        st.sampled_from([None, rng.integers(1, 5, n_rows).astype(float), rng.random(n_rows) + 0.1])
    )
    depth = draw(st.integers(0, max_depth))
    parameters = {
        "max_depth": depth,
        "max_leaf_nodes": draw(st.none() | st.integers(2, 2**depth + 1)),
        "min_samples_leaf": draw(st.sampled_from([1, 1, 2])),
        "min_weight_leaf": draw(st.sampled_from([0.0, 0.0, 0.6])),
        "complexity_cost": draw(st.sampled_from([0.0, 0.0, 0.01, 0.2])),
        "categorical_features": nominal,
    }
    total = n_rows if weights is None else weights.sum()
    parameters["min_samples_leaf"] = min(parameters["min_samples_leaf"], n_rows)
    parameters["min_weight_leaf"] = min(parameters["min_weight_leaf"], total)
    return X, y, weights, parameters


def check_brute_force(problem, model, leaf):
    X, y, weights, parameters = problem
    model = fit_table(model.set_params(**parameters), X, y, sample_weight=weights)
    weights = np.ones(len(y)) if weights is None else weights
    leaves = parameters["max_leaf_nodes"]
    expected = best_cost(
        list(enumerate(map(tuple, X.tolist()))),
        leaf(y.tolist(), weights.tolist()),
        parameters["categorical_features"],
        weights.tolist(),
        max_depth=parameters["max_depth"],
        max_splits=None if leaves is None else leaves - 1,
        min_rows=parameters["min_samples_leaf"],
        min_weight=parameters["min_weight_leaf"],
        split_cost=parameters["complexity_cost"] * weights.sum(),
    )
    assert model.status_ == "optimal"
    assert model.objective_ == pytest.approx(expected, rel=1e-8, abs=1e-8)
    tree = model.tree_
    split_cost = parameters["complexity_cost"] * weights.sum() * tree.n_splits
    leaves, _ = tree.walk(model._encoder.transform(X))
    costs = [
        leaf(y[leaves == k].tolist(), weights[leaves == k].tolist())(
            [(i, ()) for i in range(int((leaves == k).sum()))]
        )
        for k in np.unique(leaves)
    ]
    assert sum(costs) + split_cost == pytest.approx(expected, rel=1e-8, abs=1e-8)
    assert tree.depth <= parameters["max_depth"]
    is_leaf = tree.nodes["n_children"] == 0
    assert tree.nodes["n_samples"][is_leaf].min() >= parameters["min_samples_leaf"]
    assert tree.nodes["weight"][is_leaf].min() >= parameters["min_weight_leaf"] - 1e-9


@examples(100)
@given(problem=problems(max_rows=16, max_depth=2))
def test_squared_error_equals_brute_force(problem):
    check_brute_force(problem, OptimalTreeRegressor(), squared_error_leaf)


@examples(100)
@given(problem=problems(max_rows=16, max_depth=2), threshold=st.sampled_from([-0.5, 0.0, 9.0]))
def test_gini_of_two_classes_equals_brute_force(problem, threshold):
    X, y, *others = problem
    labels = np.where(y - y.mean() > threshold, 1, -1)
    model = OptimalTreeClassifier(objective="gini")
    check_brute_force((X, labels, *others), model, gini_leaf)
    assert "n_passes" in model.search_stats_


@examples(30)
@given(problem=problems(max_rows=9, max_depth=3))
def test_squared_error_equals_brute_force_at_depth_three(problem):
    check_brute_force(problem, OptimalTreeRegressor(), squared_error_leaf)


@examples(60)
@given(problem=problems(max_rows=12, max_depth=2))
def test_absolute_error_equals_brute_force(problem):
    check_brute_force(
        problem, OptimalTreeRegressor(objective="absolute_error"), absolute_error_leaf
    )


@examples(20)
@given(problem=problems(max_rows=8, max_depth=3))
def test_absolute_error_equals_brute_force_at_depth_three(problem):
    check_brute_force(
        problem, OptimalTreeRegressor(objective="absolute_error"), absolute_error_leaf
    )


@examples(10)
@given(problem=problems(max_rows=30, max_depth=3), absolute=st.booleans())
def test_same_optimum_without_each_technique(problem, absolute):
    X, y, weights, parameters = problem
    objective = "absolute_error" if absolute else "squared_error"
    expected = fit_table(
        OptimalTreeRegressor(objective=objective, **parameters), X, y, sample_weight=weights
    )
    for off in [(name,) for name in SWITCHES] + [SWITCHES]:
        model = OptimalTreeRegressor(objective=objective, **parameters)
        fit_table(model, X, y, sample_weight=weights, off=off)
        scale = max(1.0, abs(expected.objective_))
        assert model.objective_ == pytest.approx(expected.objective_, abs=1e-9 * scale), off


@pytest.mark.parametrize("objective", ["squared_error", "absolute_error"])
def test_same_tree_for_any_number_of_threads(objective):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.sin(3 * X[:, 0]) + (X[:, 1] > 0) + rng.normal(size=200)
    trees = [
        OptimalTreeRegressor(objective=objective, n_jobs=n_jobs).fit(X, y).tree_
        for n_jobs in (1, 2, 3)
    ]
    assert trees[1] == trees[0]
    assert trees[2] == trees[0]


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_targets_of_any_size(scale):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 1))
    y = (X[:, 0] > 0.3) + rng.random(400) / 4
    model = OptimalTreeRegressor(max_depth=1).fit(X, y * scale)
    expected = OptimalTreeRegressor(max_depth=1).fit(X, y)
    assert model.tree_.nodes["threshold"][0] == expected.tree_.nodes["threshold"][0]
    assert model.objective_ == pytest.approx(expected.objective_ * scale**2, rel=1e-9)


def test_a_time_limit_leaves_a_tree():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 8)), rng.normal(size=2000)
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        model = OptimalTreeRegressor(max_depth=4, time_limit=0.2).fit(X, y)
    assert ((model.predict(X) - y) ** 2).sum() == pytest.approx(model.objective_)


def test_absolute_error_refuses_what_it_cannot_do():
    X = np.arange(12.0).reshape(6, 2) % 7
    model = OptimalTreeRegressor(
        objective="absolute_error", categorical_splits="subset", categorical_features=[True, False]
    )
    message = "'absolute_error' needs categorical_splits='one_vs_rest'.*'x0'"
    with pytest.raises(ValueError, match=message):
        model.fit(X, np.arange(6.0))


def test_path_of_the_absolute_error():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.normal(size=60)
    path = optimal_path(OptimalTreeRegressor(max_depth=2, objective="absolute_error"), X, y)
    for depth in (1, 2):
        model = OptimalTreeRegressor(max_depth=depth, objective="absolute_error").fit(X, y)
        assert path.objectives[depth, -1] == pytest.approx(model.objective_)


@examples(60)
@given(data=st.data())
def test_tables_of_pairs_equal_binary_tests(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    n_columns, n_values = data.draw(st.integers(2, 6)), data.draw(st.integers(3, 11))
    n_rows = data.draw(st.sampled_from([300, 600]))
    X = rng.integers(0, n_values, (n_rows, n_columns)) ** 2.0
    weights = rng.random(n_rows) if data.draw(st.booleans()) else None
    y = X[:, 0] % 3 + (X[:, 1] > 4) * rng.integers(0, 3, n_rows) + rng.normal(size=n_rows)
    model = OptimalTreeRegressor(
        max_depth=data.draw(st.sampled_from([2, 3, 3, 4])),
        complexity_cost=data.draw(st.sampled_from([0.0, 0.01, 0.2])),
    )
    if model.max_depth == 4:
        X = X[:, :3]
    has_holes = data.draw(st.booleans())
    if has_holes:
        X[rng.random(X.shape) < rng.choice([0.0, 0.1, 0.3], X.shape[1])] = np.nan
    if data.draw(st.booleans()):
        X = X[rng.integers(0, n_rows // 4, n_rows)]
    binary = fit_tests(clone(model), X, y, sample_weight=weights)
    table = fit_table(clone(model), X, y, sample_weight=weights)
    # A leaf that costs less than any test needs no tables.
    assert has_holes or len(table.tree_.nodes) == 1 or table.search_stats_["n_swept"] > 0
    assert table.gap_ == pytest.approx(0.0, abs=1e-12)
    assert table.objective_ == pytest.approx(binary.objective_, rel=1e-9)
    for technique in ("intervals", "equal_rows", "column_bounds"):
        plain = fit_table(clone(model), X, y, sample_weight=weights, off=(technique,))
        assert plain.objective_ == pytest.approx(table.objective_, rel=1e-9), technique


@pytest.mark.parametrize("max_depth", [2, 3])
def test_tables_of_pairs_decide_ties_as_binary_tests_do(max_depth):
    rng = np.random.default_rng(0)
    for _ in range(20):
        # The last columns are the first ones again, and reversed.
        X = rng.integers(0, 4, (300, 3)).astype(float)
        X = np.hstack([X, X, 3.0 - X])
        y = (X[:, 0] > 1) + (X[:, 1] > 0) * (X[:, 2] > 2) + rng.integers(0, 3, 300)
        binary = fit_tests(OptimalTreeRegressor(max_depth=max_depth), X, y)
        table = fit_table(OptimalTreeRegressor(max_depth=max_depth), X, y)
        assert table.search_stats_["n_swept"] > 0
        assert (table.tree_.nodes["feature"] == binary.tree_.nodes["feature"]).all()
        np.testing.assert_array_equal(
            table.tree_.nodes["threshold"], binary.tree_.nodes["threshold"]
        )


def test_few_values_are_searched_by_tables_of_pairs():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 8, (2000, 10)), rng.normal(size=2000)
    assert OptimalTreeRegressor(max_depth=3).fit(X, y).search_stats_["n_swept"] > 0
    # Of two values a column of zeros and ones says as much, and counts faster.
    assert "n_swept" not in OptimalTreeRegressor(max_depth=3).fit(X > 3, y).search_stats_


@pytest.mark.parametrize("share_of_holes", [0.0, 0.1])
def test_tables_of_pairs_on_any_number_of_threads(share_of_holes):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 7, (2000, 6)).astype(float)
    y = np.where(X[:, 0] > 3, X[:, 1], X[:, 2]) + rng.normal(size=2000)
    X[rng.random(X.shape) < share_of_holes] = np.nan
    models = [fit_table(OptimalTreeRegressor(n_jobs=n_jobs), X, y) for n_jobs in (1, 2, 3)]
    assert models[0].search_stats_["n_swept"] > 0
    assert models[0].objective_ == pytest.approx(models[0].lower_bound_, rel=1e-9)
    assert models[1].tree_ == models[0].tree_
    assert models[2].tree_ == models[0].tree_


@pytest.mark.parametrize("technique", ["equal_rows", "leaf_groups"])
def test_bounds_without_tests_end_a_search(technique):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, (200, 4))
    y = 10.0 * (X[:, 0] > 4) + 20.0 * (X[:, 1] > 4)
    noise = rng.normal(size=200)
    # No tree tells equal rows apart; and none of four leaves has a better cut of the targets.
    X, y = np.vstack([X, X]), np.append(y + noise, y - noise)
    found = [
        solve_regression(X, y, off)
        for off in (("value_sweep",), ("value_sweep", "equal_rows", "leaf_groups"))
    ]
    assert found[0].cost == pytest.approx(found[1].cost, rel=1e-9)
    assert found[0].stats["n_nodes"] == 0 < found[1].stats["n_nodes"]
    other = {"equal_rows": "leaf_groups", "leaf_groups": "equal_rows"}[technique]
    alone = solve_regression(X, y, ("value_sweep", other))
    assert alone.stats["n_nodes"] == 0
    assert alone.lower_bound == pytest.approx(alone.cost, rel=1e-9)


@examples(60)
@given(data=st.data())
def test_few_leaves_bound_equals_the_best_groups(data):
    targets = np.array(data.draw(st.lists(st.integers(-9, 9), min_size=2, max_size=7)), float)
    weights = np.array(data.draw(st.lists(st.integers(1, 3), min_size=7, max_size=7)), float)
    weights = weights[: len(targets)]
    n_leaves = data.draw(st.integers(2, 4))
    # Without a test, the root's bound is all that is known.
    X = np.arange(len(targets), dtype=float)[:, np.newaxis]
    X[np.argsort(targets, kind="stable"), 0] = np.arange(len(targets))
    model = OptimalTreeRegressor(max_depth=4, max_leaf_nodes=n_leaves)
    fit_table(model, X, targets, sample_weight=weights)
    # Of sorted targets a tree can have any groups that are intervals.
    expected = best_groups(targets, weights, n_leaves)
    assert model.objective_ == pytest.approx(expected, abs=1e-8)
    assert model.lower_bound_ == pytest.approx(expected, abs=1e-8)


def solve_regression(X, y, off):
    """A search by ranks to depth three and three tests, without some techniques."""
    data, limits = training_data(X, y, n_classes=0), Limits(max_depth=3, max_splits=3)
    problem = Problem(data, target_objective("squared_error", data), limits)
    plan = Plan(problem, "", table=Table.from_matrix(data.matrix), off=off)
    return search_thresholds(plan, new_session(limits))


def test_absolute_error_predicts_medians():
    X = np.repeat([[0.0], [1.0]], [3, 4], axis=0)
    model = OptimalTreeRegressor(max_depth=1, objective="absolute_error")
    model.fit(X, [1.0, 2.0, 30.0, 5.0, 6.0, 8.0, 100.0])
    assert model.predict([[0.0], [1.0]]).tolist() == [2.0, 7.0]
    assert model.objective_ == (1.0 + 28.0) + (2.0 + 1.0 + 1.0 + 93.0)


@examples(30)
@given(problem=problems(max_rows=60, max_depth=3))
def test_squared_error_equals_binary_tests(problem):
    X, y, weights, parameters = problem
    X = np.nan_to_num(X, nan=0.5)
    binary = fit_tests(OptimalTreeRegressor(**parameters), X, y, sample_weight=weights)
    assert "n_passes" not in binary.search_stats_
    table = fit_table(OptimalTreeRegressor(**parameters), X, y, sample_weight=weights)
    by_ranks = {"n_passes", "n_swept"} & set(table.search_stats_)
    assert by_ranks or not (X != 0.5).any()
    assert table.objective_ == pytest.approx(binary.objective_, rel=1e-8, abs=1e-8)


@examples(60)
@given(data=st.data())
def test_tables_of_pairs_know_how_rough_they_are(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    n_rows = data.draw(st.sampled_from([30, 200, 600]))
    n_columns, n_values = data.draw(st.integers(1, 5)), data.draw(st.integers(2, 11))
    X = rng.integers(0, n_values, (n_rows, n_columns)) ** 2.0
    y = X[:, 0] % 3 + rng.normal(size=n_rows) * data.draw(st.sampled_from([0.0, 0.1, 1.0]))
    targets = data.draw(st.sampled_from(["plain", "far", "outlier", "heavy tails", "ties"]))
    if targets == "far":
        y += 1e6
    elif targets == "outlier":
        y[0] = 1e5
    elif targets == "heavy tails":
        y = np.exp(3.0 * rng.normal(size=n_rows))
    elif targets == "ties":
        y = np.round(y)
    weights = {
        "none": None,
        "whole": rng.integers(0, 4, n_rows).astype(float),
        "real": rng.random(n_rows),
        "spread": 10.0 ** rng.uniform(-6, 0, n_rows),
    }[data.draw(st.sampled_from(["none", "whole", "real", "spread"]))]
    X[rng.random(X.shape) < data.draw(st.sampled_from([0.0, 0.2]))] = np.nan
    model = OptimalTreeRegressor(
        max_depth=data.draw(st.sampled_from([2, 3])),
        complexity_cost=data.draw(st.sampled_from([0.0, 0.01])),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SKTREE_OPT_SIMD", data.draw(st.sampled_from(available_instruction_sets())))
        table = fit_table(clone(model), X, y, sample_weight=weights)
        walked = fit_table(clone(model), X, y, sample_weight=weights, off=("value_sweep",))
    far = 1e-10 * np.average(y**2, weights=weights)
    assert table.objective_ == pytest.approx(walked.objective_, rel=1e-8, abs=far)
    assert table.lower_bound_ == pytest.approx(table.objective_, rel=1e-8, abs=far)


@examples(200)
@given(seed=st.integers(0, 2**32 - 1), scale=st.sampled_from([1.0, 1e-8, 1e8]))
def test_costs_that_rounding_tells_apart_are_equal(seed, scale):
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(2, 9))
    X, y = rng.integers(0, 3, (n_rows, 2)), rng.normal(size=n_rows).round(1) + 1000.0
    weights = scale * rng.integers(1, 4, n_rows) * rng.choice([1.0, 0.1, 1 / 3])
    tests = [X[:, j] <= t + 0.5 for j in range(2) for t in range(2)]
    rows = list(zip(np.column_stack(tests).tolist(), y, weights, strict=True))

    def errors(leaf):
        return min(sum(w * abs(target - middle) for _, target, w in leaf) for _, middle, _ in leaf)

    for depth in (1, 2):
        costs = least_costs(rows, depth, bool, errors)
        least = min(costs.values()) + 1e-11 * weights.sum()
        fewest = min(n_splits for (n_splits, _), cost in costs.items() if cost <= least)
        model = OptimalTreeRegressor(max_depth=depth, objective="absolute_error")
        model.fit(X, y, weights)
        assert model.objective_ <= least
        # Where sums are rounded, the first root test of that cost is taken.
        is_sure = depth == 1 or model.search_stats_["has_fewest_tests"]
        assert fewest <= model.tree_.n_splits <= fewest + (not is_sure)
