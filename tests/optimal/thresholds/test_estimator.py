"""Estimators on tables with many thresholds: which search they run, and that both agree."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.preprocessing import KBinsDiscretizer

from sktree_opt.optimal import (
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    SmallestTreeClassifier,
    TreeSetClassifier,
    optimal_path,
)
from sktree_opt.optimal.run._plan import use_engine
from sktree_opt.optimal.run._thresholds_solver import coarse_table
from sktree_opt.optimal.thresholds._threshold_search import SWITCHES
from sktree_opt.preprocessing._binary_tests import midpoints
from sktree_opt.preprocessing._encoder import TableEncoder
from sktree_opt.preprocessing._table import Table
from sktree_opt.preprocessing._thresholds import resolve_thresholds
from sktree_opt.simd._dispatch import available_instruction_sets
from tests.effort import examples


def both_ways(model, *data, **fit_params):
    """The model fitted by binary tests, and by the search over all thresholds."""
    fitted = []
    for engine in ("bits", "thresholds"):
        with use_engine(engine):
            fitted.append(clone(model).fit(*data, **fit_params))
    binary, table = fitted
    assert "n_passes" not in binary.search_stats_
    return binary, table


@st.composite
def mixed_tables(draw, max_rows=40):
    """Columns with ties, categories and holes, as a matrix and which columns are nominal."""
    n_rows = draw(st.integers(2, max_rows))
    n_columns = draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_values = draw(st.lists(st.sampled_from([2, 4, 50]), min_size=n_columns, max_size=n_columns))
    # A value that is no 0 or 1, for which there is another way in.
    X = np.column_stack([rng.integers(0, n, n_rows) for n in n_values]) + 0.5
    nominal = np.array([n <= 4 and draw(st.booleans()) for n in n_values])
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.2]))] = np.nan
    return X, nominal, rng


@examples(100)
@given(data=st.data())
def test_same_optimum_as_binary_tests(data):
    X, nominal, rng = data.draw(mixed_tables())
    n_rows, n_classes = len(X), data.draw(st.integers(1, 4))
    y = rng.integers(0, n_classes, n_rows)
    n_classes = len(np.unique(y))
    objective = data.draw(st.sampled_from(["error", "balanced_error", "cost"]))
    costs = None
    if objective == "cost":
        costs = data.draw(
            st.sampled_from(
                [
                    rng.integers(0, 4, (n_classes, n_classes)).astype(float),
                    rng.uniform(0, 2, (n_classes, n_classes)),
                    np.outer(rng.integers(0, 3, n_classes), np.ones(n_classes)),
                ]
            )
        )
    weights = data.draw(
        st.sampled_from([None, rng.integers(0, 4, n_rows) + (y == y[0]), rng.random(n_rows) + 0.1])
    )
    class_weight = data.draw(st.sampled_from([None, "balanced", {0: 0.0, 1: 2.5}]))
    if isinstance(class_weight, dict):
        present = np.unique(y if weights is None else y[weights > 0])
        class_weight = {c: float(2 * k) for k, c in enumerate(present)}
        if len(present) == 1:
            class_weight = None
    max_depth = data.draw(st.integers(0, 3))
    model = OptimalTreeClassifier(
        max_depth=max_depth,
        max_leaf_nodes=data.draw(st.none() | st.integers(2, 2**max_depth + 1)),
        min_samples_leaf=data.draw(st.sampled_from([1, 1, 2])),
        min_weight_fraction_leaf=data.draw(st.sampled_from([0.0, 0.0, 0.1])),
        objective=objective,
        cost_matrix=costs,
        complexity_cost=data.draw(st.sampled_from([0.0, 0.0, 0.01, 0.2])),
        class_weight=class_weight,
        categorical_features=nominal,
    )
    assume(weights is None or np.count_nonzero(weights) >= model.min_samples_leaf)
    if objective == "cost" and weights is not None:
        assume(len(np.unique(y[weights > 0])) == n_classes)
    binary, table = both_ways(model, X, y, sample_weight=weights)
    assert "n_passes" in table.search_stats_
    assert table.status_ == binary.status_ == "optimal"
    assert table.gap_ == 0.0
    scale = 1e-9 * max(1.0, abs(binary.objective_))
    assert table.objective_ == pytest.approx(binary.objective_, rel=1e-9, abs=scale)
    assert table.tree_.depth <= max_depth
    assert model.max_leaf_nodes is None or table.tree_.n_leaves <= model.max_leaf_nodes
    leaves = table.tree_.nodes[table.tree_.nodes["n_children"] == 0]
    assert leaves["n_samples"].min() >= model.min_samples_leaf
    # A leaf is where the walk says that its rows are.
    ended, _ = table.tree_.walk(table._encoder.transform(X))
    kept = slice(None) if weights is None else weights > 0
    counts = np.bincount(ended[kept], minlength=len(table.tree_.nodes))
    is_leaf = table.tree_.nodes["n_children"] == 0
    assert (counts[is_leaf] == leaves["n_samples"]).all()


def test_many_thresholds_are_searched_as_ranks():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 8))
    y = np.where(X[:, 0] * X[:, 1] > 0.3, "yes", "no")
    model = OptimalTreeClassifier(max_depth=2).fit(X, y)
    assert model.status_ == "optimal"
    assert model.gap_ == 0.0
    assert (model.predict(X) != y).sum() == model.objective_
    assert "n_passes" in model.search_stats_


@pytest.mark.parametrize(
    "other",
    [
        OptimalTreeClassifier(max_depth=1, objective="entropy"),
        OptimalTreeClassifier(max_depth=1, objective="g_mean"),
        SmallestTreeClassifier(max_depth=1),
        TreeSetClassifier(max_depth=1, n_trees=2),
    ],
    ids=str,
)
def test_other_questions_go_to_binary_tests(other):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    y = X[:, 0] + X[:, 1] + rng.normal(size=150) > 0
    assert "n_passes" in OptimalTreeClassifier(max_depth=1).fit(X, y).search_stats_
    assert "n_passes" not in clone(other).fit(X, y).search_stats_


@examples(40)
@given(data=st.data())
def test_chosen_thresholds_either_way(data):
    X, nominal, rng = data.draw(mixed_tables())
    y = rng.integers(0, 3, len(X))
    thresholds = data.draw(st.sampled_from([1, 3, "mdlp", "ensemble", KBinsDiscretizer(3)]))
    if not isinstance(thresholds, (int, str)):
        nominal[:] = False
        X[np.isnan(X)] = 0.5
        y = np.append(y, [0, 1])
        X = np.vstack([X, np.arange(2 * X.shape[1]).reshape(2, -1)])
    model = OptimalTreeClassifier(
        max_depth=data.draw(st.integers(1, 3)),
        thresholds=thresholds,
        categorical_features=nominal,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        binary, table = both_ways(model, X, y)
        offered = coarse_table(*choose_cuts(X, nominal, y, thresholds))[1]
    assert "n_passes" in table.search_stats_
    assert table.objective_ == binary.objective_ == (table.predict(X) != y).sum()
    asked = table.tree_.nodes["threshold"]
    for feature, threshold in zip(table.tree_.nodes["feature"], asked, strict=True):
        assert np.isnan(threshold) or threshold in midpoints(*offered[feature].T)


def choose_cuts(X, nominal, y, thresholds):
    """A table, and where its columns may be cut."""
    encoder = TableEncoder(nominal)
    matrix = encoder.fit_transform(X)
    table = Table.from_matrix(matrix, encoder.n_categories_)
    classes, codes = np.unique(y, return_inverse=True)
    data = SimpleNamespace(y=codes.astype(np.int32), weights=np.ones(len(y)), classes=classes)
    return table, resolve_thresholds(thresholds).codes(table, data)


def test_few_chosen_thresholds_go_to_binary_tests():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = X[:, 0] + X[:, 1] > 0.1
    few, many = (OptimalTreeClassifier(max_depth=2, thresholds=n).fit(X, y) for n in (10, 200))
    assert "n_passes" not in few.search_stats_
    assert "n_passes" in many.search_stats_
    assert many.objective_ <= few.objective_


def test_unknown_engines_are_refused():
    with pytest.raises(ValueError, match="name must be one of"), use_engine("magic"):
        pass


def test_few_thresholds_go_to_binary_tests():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, size=(200, 3))
    model = OptimalTreeClassifier(max_depth=2).fit(X, X[:, 0] > 2)
    assert "n_passes" not in model.search_stats_


@examples(15)
@given(data=st.data())
def test_same_path_as_binary_tests(data):
    X, nominal, rng = data.draw(mixed_tables())
    y = rng.integers(0, data.draw(st.integers(2, 3)), len(X))
    options = {
        "max_depth": 3,
        "min_samples_leaf": data.draw(st.sampled_from([1, 2])),
        "objective": data.draw(st.sampled_from(["error", "balanced_error"])),
        "categorical_features": nominal,
    }
    paths = []
    for engine in ("bits", "thresholds"):
        with use_engine(engine):
            paths.append(optimal_path(OptimalTreeClassifier(**options), X, y))
    binary, table = paths
    assert table.status == "optimal"
    assert table.objectives == pytest.approx(binary.objectives, abs=1e-9)
    for index, tree in enumerate(table.trees):
        depth, splits = np.argwhere(table.tree_index == index)[0]
        assert tree.depth <= depth
        assert tree.n_splits <= splits


def test_too_many_tests_for_binary_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1300, 8))
    y = (X[:, 0] > 0.2) ^ (rng.random(1300) < 0.1)
    path = optimal_path(OptimalTreeClassifier(max_depth=2), X, y)
    for depth in (1, 2):
        model = OptimalTreeClassifier(max_depth=depth).fit(X, y)
        assert path.objectives[depth, -1] == model.objective_
    chosen = OptimalTreeClassifierCV(max_depth=2, cv=2).fit(X, y)
    assert chosen.best_params_ == {"max_depth": 1, "max_leaf_nodes": 2}
    assert chosen.status_ == "optimal"
    assert chosen.score(X, y) == 1.0 - chosen.objective_ / 1300


@pytest.mark.parametrize("convert", [sparse.csr_matrix, sparse.csc_array])
def test_sparse_tables(convert):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5)) * (rng.random((600, 5)) < 0.3)
    y = X[:, 0] + X[:, 1] > 0.1
    dense = OptimalTreeClassifier(max_depth=2).fit(X, y)
    model = OptimalTreeClassifier(max_depth=2).fit(convert(X), y)
    assert "n_passes" in model.search_stats_
    assert model.tree_ == dense.tree_
    assert (model.predict(convert(X)) == dense.predict(X)).all()


def test_new_missing_values_fail_tests():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = X[:, 0] > 0.3
    model = OptimalTreeClassifier(max_depth=1).fit(X, y)
    assert "n_passes" in model.search_stats_
    assert model.predict([[np.nan, 0.0]]) == model.predict([[9.0, 0.0]])


@examples(40)
@given(data=st.data())
def test_tables_of_pairs_count_errors(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    n_rows = data.draw(st.sampled_from([60, 200, 400]))
    X = rng.integers(0, data.draw(st.integers(3, 8)), (n_rows, data.draw(st.integers(2, 5))))
    X = X.astype(float)
    noise = data.draw(st.sampled_from([0.1, 0.4]))
    y = (X[:, 0] > 1) ^ (X[:, 1] < 2) ^ (rng.random(n_rows) < noise)
    X[rng.random(X.shape) < rng.choice([0.0, 0.1, 0.3], X.shape[1])] = np.nan
    weights = {
        "none": None,
        "whole": rng.integers(0, 4, n_rows).astype(float),
        "heavy": rng.integers(1, 9, n_rows) * 2.0**20,
        "real": rng.random(n_rows),
    }[data.draw(st.sampled_from(["none", "whole", "heavy", "real"]))]
    model = OptimalTreeClassifier(
        max_depth=data.draw(st.sampled_from([3, 3, 4])),
        complexity_cost=data.draw(st.sampled_from([0.0, 0.01])),
        objective=data.draw(st.sampled_from(["error", "balanced_error"])),
    )
    if model.max_depth == 4:
        X = X[:, :3]
    with pytest.MonkeyPatch.context() as patch, use_engine("thresholds"):
        patch.setenv("SKTREE_OPT_SIMD", data.draw(st.sampled_from(available_instruction_sets())))
        table = clone(model).fit(X, y, sample_weight=weights)
    found = [table]
    for engine, off in (("bits", ()), ("thresholds", ("value_sweep",)), ("thresholds", SWITCHES)):
        with use_engine(engine, off):
            found.append(clone(model).fit(X, y, sample_weight=weights))
    for other in found:
        assert other.objective_ == pytest.approx(table.objective_, rel=1e-9)
        assert other.lower_bound_ == pytest.approx(other.objective_, rel=1e-9)
    predicted = table.predict(X) != y
    if model.objective == "error" and model.complexity_cost == 0.0:
        errors = predicted.sum() if weights is None else weights[predicted].sum()
        assert errors == pytest.approx(table.objective_, rel=1e-9)


def test_few_values_of_a_large_table_are_searched_by_tables_of_pairs():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 40, (20_000, 6)).astype(float)
    y = (X[:, 0] > 15) ^ (X[:, 1] + X[:, 2] > 40) ^ (rng.random(len(X)) < 0.2)
    found = [OptimalTreeClassifier(n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2)]
    assert found[0].search_stats_["n_swept"] > 0
    assert found[1].tree_ == found[0].tree_
    # Zeros and ones, more classes, minima and other sizes are counted faster by binary tests.
    for model, table, labels in (
        (OptimalTreeClassifier(), X > 20, y),
        (OptimalTreeClassifier(max_leaf_nodes=5), X, y),
        (OptimalTreeClassifier(min_samples_leaf=5), X, y),
        (OptimalTreeClassifier(), X, y + 2 * (X[:, 3] > 30)),
    ):
        assert "n_swept" not in model.fit(table, labels).search_stats_
