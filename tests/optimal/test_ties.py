"""Of equally good trees always the same one: the smallest, however the search came to it."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sktree_opt.optimal import (
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    SmallestTreeClassifier,
)
from sktree_opt.optimal.run import _bits_solver
from sktree_opt.simd._dispatch import available_instruction_sets
from tests.effort import examples
from tests.optimal.common import load_binary
from tests.reference.brute_force_queries import least_costs


@st.composite
def tables(draw):
    """Few rows, with errors in every tree, or with none in some; and sometimes equal rows."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_columns = draw(st.integers(3, 5))
    X = rng.integers(0, 2, (draw(st.integers(6, 40)), n_columns))
    labels = draw(st.sampled_from(["any", "rule", "noise"]))
    y = rng.integers(0, draw(st.integers(2, 3)), len(X))
    if labels != "any":
        rule = np.where(X[:, 0], X[:, 1] & X[:, 2], X[:, -1] | X[:, 1])
        y = np.where(rng.random(len(X)) < 0.05 * (labels == "noise"), y, rule)
    weights = rng.integers(1, 4, len(X)).astype(float) if draw(st.booleans()) else None
    return X, y, weights


def other_ways(model, X, y, weights, max_depth):
    """The same search on two threads, after another one, and with a time limit."""
    parameters = model.get_params()
    kind = type(model)
    yield kind(**parameters | {"n_jobs": 2}).fit(X, y, weights)
    warm = kind(**parameters | {"warm_start": True}).fit(X, y, weights)
    yield warm
    warm.set_params(max_depth=max(2, max_depth - 1)).fit(X, y, weights)
    yield warm.set_params(max_depth=max_depth).fit(X, y, weights)
    yield kind(**parameters | {"time_limit": 1000.0}).fit(X, y, weights)


def fewest_tests(X, y, weights, max_depth):
    """Least errors, and the fewest tests of a tree that has no more, from all trees one by one."""
    weights = np.ones(len(y)) if weights is None else weights
    rows = [(tuple(row), c, w) for row, c, w in zip(X.tolist(), y, weights, strict=True)]

    def errors(leaf):
        sums = np.bincount([c for _, c, _ in leaf], weights=[w for *_, w in leaf])
        return float(sums.sum() - sums.max())

    costs = least_costs(rows, max_depth, bool, errors)
    return min((cost, n_splits) for (n_splits, _), cost in costs.items())


@examples(40)
@given(table=tables(), max_depth=st.integers(3, 4))
def test_it_is_the_smallest_and_always_the_same(table, max_depth):
    model = OptimalTreeClassifier(max_depth=max_depth).fit(*table)
    assert model.search_stats_["has_fewest_tests"]
    assert (model.objective_, model.tree_.n_splits) == fewest_tests(*table, max_depth)
    for other in other_ways(model, *table, max_depth):
        assert other.tree_ == model.tree_
        assert other.status_ == "optimal"


@examples(40)
@given(
    table=tables(),
    objective=st.sampled_from(["error", "gini", "entropy"]),
    max_depth=st.integers(3, 7),
    max_leaf_nodes=st.sampled_from([None, 5, 7]),
)
def test_any_objective_and_limits(table, objective, max_depth, max_leaf_nodes):
    model = OptimalTreeClassifier(
        max_depth=max_depth, max_leaf_nodes=max_leaf_nodes, objective=objective
    ).fit(*table)
    for other in other_ways(model, *table, max_depth):
        assert other.tree_ == model.tree_


@examples(20)
@given(table=tables(), max_depth=st.integers(3, 4))
def test_regressions(table, max_depth):
    X, y, weights = table
    model = OptimalTreeRegressor(max_depth=max_depth).fit(X, 1.5 * y, weights)
    for other in other_ways(model, X, 1.5 * y, weights, max_depth):
        assert other.tree_ == model.tree_


@examples(15)
@given(
    table=tables(),
    decimals=st.sampled_from([0, 1, 15]),
    max_depth=st.integers(1, 3),
    seed=st.integers(0, 99),
)
def test_absolute_errors(table, decimals, max_depth, seed):
    X, y, weights = table
    rng = np.random.default_rng(seed)
    y = (y + rng.integers(0, 3, len(y)) / 3.0).round(decimals)
    model = OptimalTreeRegressor(max_depth=max_depth, objective="absolute_error").fit(X, y, weights)

    def errors(leaf):
        return min(sum(w * abs(t - middle) for _, t, w in leaf) for _, middle, _ in leaf)

    unit = np.ones(len(y)) if weights is None else weights
    rows = [(tuple(row), t, w) for row, t, w in zip(X.tolist(), y, unit, strict=True)]
    costs = least_costs(rows, max_depth, bool, errors)
    least = min(costs.values())
    assert model.objective_ == pytest.approx(least, abs=1e-10)
    assert model.lower_bound_ == pytest.approx(least, abs=1e-10)
    has_fewest_tests = model.search_stats_["has_fewest_tests"]
    assert has_fewest_tests or decimals == 15
    # With so many decimals, sums that seem equal are not.
    assume(has_fewest_tests)
    if decimals < 15:
        fewest = min(n_splits for (n_splits, _), cost in costs.items() if cost <= least + 1e-10)
        assert model.tree_.n_splits == fewest
    order = rng.permutation(len(y))
    moved = OptimalTreeRegressor(max_depth=max_depth, objective="absolute_error", n_jobs=2)
    moved.fit(X[order], y[order], None if weights is None else weights[order])
    assert moved.tree_ == model.tree_


def test_a_smaller_tree_without_absolute_errors_may_be_given_up():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (40, 12)), rng.integers(0, 2, 40)
    model = OptimalTreeRegressor(max_depth=6, objective="absolute_error").fit(X, y)
    assert model.objective_ == model.lower_bound_ == 0.0
    assert not model.search_stats_["has_fewest_tests"]
    for other in other_ways(model, X, y, None, 6):
        assert other.tree_ == model.tree_


@pytest.mark.parametrize(("max_depth", "n_splits"), [(3, 6), (4, 6), (5, 6)])
def test_a_tree_without_errors_has_no_needless_tests(max_depth, n_splits):
    rng = np.random.default_rng(2130)
    X = rng.integers(0, 2, (int(rng.integers(60, 400)), int(rng.integers(6, 16))))
    deep = np.where(X[:, 3], X[:, 4] & X[:, 5], X[:, 1])
    y = np.where(X[:, 0], deep, X[:, 2])
    model = OptimalTreeClassifier(max_depth=max_depth).fit(X, y)
    assert model.tree_.n_splits == n_splits
    for other in other_ways(model, X, y, None, max_depth):
        assert other.tree_ == model.tree_


@pytest.mark.parametrize("max_depth", [4, 6, 8])
def test_larger_tables_without_errors(max_depth, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = rng.integers(0, 2, (300, 14))
    deep = np.where(X[:, 3], X[:, 4] & X[:, 5], X[:, 1])
    y = np.where(X[:, 0], deep, X[:, 2])
    model = OptimalTreeClassifier(max_depth=max_depth).fit(X, y)
    for other in other_ways(model, X, y, None, max_depth):
        assert other.tree_ == model.tree_


@pytest.mark.parametrize("name", ["mushroom", "segment", "wine"])
def test_the_search_for_a_smaller_tree_may_be_given_up(name, data_dir):
    X, y = load_binary(data_dir, name)
    model = OptimalTreeClassifier(max_depth=4).fit(X, y)
    ranked = SmallestTreeClassifier(max_depth=4).fit(X, y)
    assert model.objective_ == ranked.objective_ == 0.0
    if model.search_stats_["has_fewest_tests"]:
        assert model.tree_ == ranked.tree_
    assert model.tree_.n_splits >= ranked.tree_.n_splits
    for other in other_ways(model, X, y, None, 4):
        assert other.tree_ == model.tree_
        assert other.search_stats_["has_fewest_tests"] == model.search_stats_["has_fewest_tests"]


@pytest.mark.parametrize("decimals", [2, 6])
def test_tables_of_many_thresholds(decimals, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = rng.random((200, 4)).round(decimals)
    rule = (X[:, 0] > 0.5) ^ ((X[:, 1] > 0.3) & (X[:, 2] > 0.5))
    for y in (rule, np.where(rng.random(200) < 0.1, ~rule, rule)):
        model = OptimalTreeClassifier(max_depth=3).fit(X, y)
        assert "n_passes" in model.search_stats_
        for other in other_ways(model, X, y, None, 3):
            assert other.tree_ == model.tree_


@pytest.mark.parametrize("simd", available_instruction_sets())
def test_any_processor_gives_up_at_the_same_place(simd, data_dir, monkeypatch):
    X, y = load_binary(data_dir, "mushroom")
    expected = OptimalTreeClassifier(max_depth=4).fit(X, y)
    monkeypatch.setenv("SKTREE_OPT_SIMD", simd)
    model = OptimalTreeClassifier(max_depth=4).fit(X, y)
    assert model.tree_ == expected.tree_
    assert model.search_stats_["n_nodes"] == expected.search_stats_["n_nodes"]


def test_a_proof_stands_where_a_limit_comes_before_the_choice_among_ties(
    monkeypatch, global_random_seed
):
    def stopped(problem, tests, session, engine, off):
        session.control.request_stop()
        return engine.known_tree(), False

    rng = np.random.default_rng(global_random_seed)
    X = rng.integers(0, 2, (300, 14))
    y = np.where(X[:, 0], np.where(X[:, 3], X[:, 4] & X[:, 5], X[:, 1]), X[:, 2])
    monkeypatch.setattr(_bits_solver, "tree_of_one_thread", stopped)
    model = OptimalTreeClassifier(max_depth=4, warm_start=True).fit(X, y)
    assert model.status_ == "optimal"
    assert model.gap_ == model.objective_ == 0.0
    assert not model.search_stats_["has_fewest_tests"]
