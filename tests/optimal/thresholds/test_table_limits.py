"""The search over all thresholds against its limits, and with its techniques off."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from sktree_opt.optimal import OptimalTreeClassifier, OptimalTreeRegressor
from sktree_opt.optimal.run._fallback import MOST_THRESHOLDS, FewTests
from sktree_opt.optimal.thresholds._threshold_search import SWITCHES
from sktree_opt.preprocessing._binary_tests import OneVsRest
from sktree_opt.preprocessing._table import Table
from tests.effort import examples
from tests.optimal.thresholds.common import solve
from tests.processes import in_two_threads


def noisy_table(n_rows, n_columns=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0.5) ^ (rng.random(n_rows) < 0.3)
    return X, y.astype(int)


def counts(result):
    return {name: value for name, value in result.stats.items() if name != "seconds"}


@examples(30)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_classes=st.integers(2, 3),
    max_splits=st.sampled_from([None, 4]),
    min_samples_leaf=st.sampled_from([1, 3]),
)
def test_same_optimum_without_each_technique(seed, n_classes, max_splits, min_samples_leaf):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, k, 60) for k in (60, 12, 3)]).astype(float)
    X[rng.random(X.shape) < rng.choice([0.0, 0.1])] = np.nan
    y = np.where(rng.random(60) < 0.3, rng.integers(0, n_classes, 60), X[:, 0] > 30)
    limits = {
        "max_depth": 3,
        "max_splits": max_splits,
        "min_samples_leaf": min_samples_leaf,
        "n_classes": n_classes,
    }
    table = Table.from_matrix(X, [-1, -1, 3])
    expected = solve(table, y, **limits)
    for off in [(name,) for name in SWITCHES] + [SWITCHES]:
        assert solve(table, y, off=off, **limits).objective == expected.objective, off


@pytest.mark.parametrize(
    ("technique", "counter"),
    [
        ("intervals", "n_root_tests_solved"),
        ("column_bounds", "n_passes"),
        ("caps", "n_passes"),
    ],
)
def test_techniques_change_the_work(technique, counter):
    X, y = noisy_table(150, 3)
    table = Table.from_matrix(X)
    limits = {"max_depth": 3, "max_splits": 4}
    with_it = solve(table, y, **limits)
    without = solve(table, y, off=(technique,), **limits)
    assert with_it.objective == without.objective
    assert counts(with_it)[counter] != counts(without)[counter]


def test_unknown_technique():
    X, y = noisy_table(10, 2)
    with pytest.raises(ValueError, match="off must hold names of"):
        solve(Table.from_matrix(X), y, max_depth=1, off=("magic",))


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("time_limit", [0.0, 0.02, 0.3])
def test_a_time_limit_leaves_a_tree(time_limit, n_jobs):
    X, y = noisy_table(3000)
    clf = OptimalTreeClassifier(max_depth=4, time_limit=time_limit, n_jobs=n_jobs)
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        clf.fit(X, y)
    assert "n_passes" in clf.search_stats_
    assert clf.status_ == "time_limit"
    assert clf.objective_ == (clf.predict(X) != y).sum()
    objectives = [cost for _, cost, _ in clf.incumbents_]
    assert objectives == sorted(objectives, reverse=True)
    assert objectives[-1] == clf.objective_


@examples(25)
@given(
    time_limit=st.floats(0.0, 0.004),
    max_depth=st.integers(1, 3),
    min_samples_leaf=st.sampled_from([1, 5]),
    seed=st.integers(0, 5),
)
def test_the_bound_of_a_stopped_search_is_one(time_limit, max_depth, min_samples_leaf, seed):
    X, y = noisy_table(250, 3, seed)
    limits = {"max_depth": max_depth, "min_samples_leaf": min_samples_leaf}
    table = Table.from_matrix(X)
    stopped = solve(table, y, time_limit=time_limit, **limits)
    optimum = solve(table, y, **limits)
    assert optimum.status == "optimal"
    assert stopped.lower_bound <= optimum.objective <= stopped.objective


def test_memory_limits():
    X, y = noisy_table(2000)
    free = OptimalTreeClassifier(max_depth=3, max_leaf_nodes=5).fit(X, y)
    for limit in ("10KB", "300KB", "600KB"):
        with pytest.warns(ConvergenceWarning, match="memory_limit"):
            clf = OptimalTreeClassifier(max_depth=3, memory_limit=limit).fit(X, y)
        assert clf.status_ == "memory_limit"
        assert clf.objective_ == (clf.predict(X) != y).sum()
        assert clf.lower_bound_ <= free.objective_
    enough = OptimalTreeClassifier(max_depth=3, max_leaf_nodes=5, memory_limit="20MB").fit(X, y)
    assert enough.tree_ == free.tree_


def test_fits_in_two_threads_agree_with_serial_ones():
    def tree_of(X, y):
        return OptimalTreeClassifier(max_depth=3).fit(X, y).tree_

    tables = [noisy_table(400, 4, seed) for seed in range(2)]
    assert in_two_threads(tree_of, tables) == [tree_of(*table) for table in tables]


def many_categories(n_rows, n_categories):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    names = [f"c{k % n_categories}" for k in range(n_rows)]
    X = pd.DataFrame({"a": rng.normal(size=n_rows), "b": rng.normal(size=n_rows), "name": names})
    return X, ((X["a"] > 0) ^ (rng.random(n_rows) < 0.2)).astype(int)


@pytest.mark.filterwarnings("ignore:The values of column 'name' are nearly distinct:UserWarning")
@pytest.mark.parametrize("estimator", [OptimalTreeClassifier, OptimalTreeRegressor])
@pytest.mark.parametrize("limit", [{"time_limit": 0.3}, {"memory_limit": "1MB"}])
def test_a_stopped_search_keeps_its_tree_beside_too_many_categories(estimator, limit):
    X, y = many_categories(12000, 12000)
    stump = estimator(max_depth=1).fit(X, y)
    model = estimator(max_depth=3, **limit)
    with pytest.warns(ConvergenceWarning, match="_limit"):
        model.fit(X, y)
    assert model.objective_ <= stump.objective_ or "memory_limit" in limit


def test_few_tests_are_not_made_where_that_alone_takes_too_long():
    X, y = many_categories(100_000, 9000)
    codes = X["name"].astype("category").cat.codes
    matrix = np.column_stack([X["a"], X["b"], codes])
    table = Table.from_matrix(np.asfortranarray(matrix), np.array([-1, -1, 9000]))
    encoder = SimpleNamespace(feature_names_=list(X))
    data = SimpleNamespace(classes=np.unique(y), has_unit_weights=True, encoder=encoder)
    few = FewTests(table, None, data, OneVsRest)
    assert few.number_in(0.006) == 0
    assert few.number_in(10.0) == MOST_THRESHOLDS
