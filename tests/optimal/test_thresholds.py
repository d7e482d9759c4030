"""Chosen thresholds: which ones, that the proof is relative to them, and as a parameter."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import KBinsDiscretizer, StandardScaler

from sktree_opt.optimal import (
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    OptimalTreeRegressor,
    optimal_path,
)
from sktree_opt.preprocessing import MDLPDiscretizer
from sktree_opt.preprocessing._binary_tests import BinaryTests, midpoints
from sktree_opt.preprocessing._encoder import TableEncoder
from sktree_opt.preprocessing._table import Table
from sktree_opt.preprocessing._thresholds import (
    REGRESSION_THRESHOLDS,
    THRESHOLDS,
    resolve_thresholds,
)
from sktree_opt.tree._node import NUMERIC
from sktree_opt.utils._validation import check_training_data
from tests.effort import examples
from tests.reference.brute_force_tree import best_cost

NAN = float("nan")


def offered(thresholds, X, y, weights=None):
    """The binary tests of a choice, as the classifiers make them."""
    encoder = TableEncoder()
    data = check_training_data(OptimalTreeClassifier(), encoder, X, y, weights, is_classifier=True)
    table = Table.from_matrix(data.matrix, encoder.n_categories_)
    return BinaryTests.from_table(table, resolve_thresholds(thresholds).codes(table, data))


def all_thresholds(tests):
    return midpoints(tests.lower, tests.upper)


def thresholds_of(tests, feature):
    return all_thresholds(tests)[(tests.feature == feature) & (tests.kind == NUMERIC)].tolist()


CHOICES = [
    *THRESHOLDS,
    1,
    4,
    MDLPDiscretizer(),
    KBinsDiscretizer(3, encode="ordinal", strategy="uniform"),
]


@pytest.mark.parametrize("choice", CHOICES, ids=str)
@examples(25)
@given(seed=st.integers(0, 2**32 - 1))
def test_thresholds_are_between_values_of_the_column(choice, seed):
    rng = np.random.default_rng(seed)
    n_rows = rng.integers(1, 60)
    X = rng.integers(0, rng.choice([1, 2, 30], 3), (n_rows, 3)) / 4.0
    X[rng.random(n_rows) < 0.2, 1] = NAN
    y = np.where(rng.random(n_rows) < 0.3, rng.integers(0, 3, n_rows), X[:, 0] > 2.0)
    tests = offered(choice, X, y)
    for j in range(3):
        values = np.unique(X[~np.isnan(X[:, j]), j])
        found = thresholds_of(tests, j)
        assert all(values[0] < threshold < values[-1] for threshold in found)
        assert not np.isin(found, values).any()
        # A column without missing values has each test once, in ascending order.
        if j != 1:
            assert found == sorted(set(found))


def test_quantiles_of_weights():
    X = np.arange(100.0)[:, np.newaxis]
    y = np.arange(100) % 2
    assert thresholds_of(offered(3, X, y), 0) == [24.5, 49.5, 74.5]
    assert len(thresholds_of(offered("quantile", X, y), 0)) == 10
    # Half of the weight is on the last ten rows.
    weights = np.where(np.arange(100) < 90, 1.0, 9.0)
    assert thresholds_of(offered(1, X, y, weights), 0) == [89.5]
    few = offered(3, np.array([[0.0], [1.0], [1.0], [5.0]]), [0, 1, 0, 1])
    assert thresholds_of(few, 0) == [0.5, 3.0]


def test_mdlp_is_the_discretizer():
    X, y = load_iris(return_X_y=True)
    X[::7, 2] = NAN
    tests = offered("mdlp", X, y)
    for j, expected in enumerate(MDLPDiscretizer().fit(X, y).thresholds_):
        assert sorted(set(thresholds_of(tests, j))) == expected.tolist()


def test_ensemble_finds_what_matters():
    rng = np.random.default_rng(0)
    X = rng.random((400, 3))
    y = (X[:, 0] > 0.3) ^ (X[:, 1] > 0.6)
    tests = offered("ensemble", X, y)
    assert tests.n_tests < 150
    model = OptimalTreeClassifier(max_depth=2, thresholds="ensemble").fit(X, y)
    assert model.objective_ <= 4.0
    again = offered("ensemble", X, y)
    assert all_thresholds(again).tolist() == all_thresholds(tests).tolist()
    # Only the order of the values counts.
    monotone = offered("ensemble", np.exp(5.0 * X), y)
    assert monotone.bits.tolist() == tests.bits.tolist()


def test_a_fitted_transformer_is_taken_as_it_is():
    X, y = load_iris(return_X_y=True)
    fitted = KBinsDiscretizer(2, encode="ordinal", strategy="uniform").fit(X[20:])
    tests = offered(fitted, X, y)
    for j in range(4):
        below = X[:, j] < fitted.bin_edges_[j][1]
        (index,) = np.flatnonzero(tests.feature == j)
        np.testing.assert_array_equal(X[:, j] <= all_thresholds(tests)[index], below)
    # A clone is not fitted, and is fitted to these rows.
    unfitted = offered(clone(fitted), X, y)
    assert all_thresholds(unfitted).tolist() != all_thresholds(tests).tolist()
    model = OptimalTreeClassifier(max_depth=1, thresholds=FrozenEstimator(fitted))
    assert clone(model).fit(X, y).tree_.nodes["threshold"][0] in all_thresholds(tests)
    with pytest.raises(ValueError, match="fitted on 4 columns, but X has 3"):
        offered(fitted, X[:, :3], y)
    with pytest.raises(ValueError, match="neither thresholds_ nor bin_edges_"):
        offered(StandardScaler(), X, y)


@pytest.mark.parametrize("choice", [2, "mdlp", "ensemble", KBinsDiscretizer(3)], ids=str)
@pytest.mark.filterwarnings("ignore:Bins whose width:UserWarning")
def test_the_proof_is_relative_to_the_thresholds(choice, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = rng.integers(0, 12, (40, 3)).astype(float)
    X[rng.random(40) < 0.1, 2] = NAN
    y = np.where(rng.random(40) < 0.2, rng.integers(0, 3, 40), (X[:, 0] > 4) + (X[:, 1] > 7))
    y = np.unique(y, return_inverse=True)[1]
    tests = offered(choice, X, y)
    passes = np.unpackbits(tests.bits, axis=1, bitorder="little")[:, : tests.n_tests]
    problem = {
        "X": passes.tolist(),
        "y": y.tolist(),
        "n_classes": 3,
        "weights": [1.0] * 40,
        "objective": "error",
        "min_samples_leaf": 1,
        "min_weight_leaf": 0.0,
        "split_cost": 0.0,
    }
    model = OptimalTreeClassifier(max_depth=2, thresholds=choice).fit(X, y)
    assert model.status_ == "optimal"
    assert model.objective_ == best_cost(list(range(40)), 2, 3, problem)
    assert (model.predict(X) != y).sum() == model.objective_
    whole = OptimalTreeClassifier(max_depth=2).fit(X, y)
    assert model.objective_ >= whole.objective_
    asked = model.tree_.nodes[model.tree_.nodes["kind"] == NUMERIC]
    for node in asked:
        assert node["threshold"] in thresholds_of(tests, node["feature"])


def test_scope_tells_the_choice():
    X, y = load_iris(return_X_y=True)
    scopes = {
        str(choice): clone(OptimalTreeClassifier(max_depth=1, thresholds=choice))
        .fit(X, y)
        .optimality_scope_
        for choice in CHOICES
    }
    assert "every threshold" in scopes["all"]
    assert "up to 4 quantiles" in scopes["4"]
    assert "MDL" in scopes["mdlp"]
    assert "KBinsDiscretizer" in scopes[str(CHOICES[-1])]
    assert all("depth at most 1 with at most 2 leaves" in scope for scope in scopes.values())
    searched = OptimalTreeClassifierCV(max_depth=1, thresholds=3).fit(X, y)
    assert "up to 3 quantiles" in searched.optimality_scope_


def test_in_a_grid_search():
    X, y = load_breast_cancer(return_X_y=True)
    grid = {"thresholds": [2, "mdlp", "ensemble", MDLPDiscretizer(), "quantile"]}
    search = GridSearchCV(OptimalTreeClassifier(max_depth=2), grid, cv=3).fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    assert scores.min() > 0.85
    # The name stands for the transformer.
    assert scores[1] == scores[3]
    assert search.best_estimator_.status_ == "optimal"


@pytest.mark.parametrize("choice", [*REGRESSION_THRESHOLDS, 5], ids=str)
def test_regression(choice):
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:120, :4].round(2), y[:120]
    whole = OptimalTreeRegressor(max_depth=2).fit(X, y)
    model = OptimalTreeRegressor(max_depth=2, thresholds=choice).fit(X, y)
    assert model.status_ == "optimal"
    assert model.objective_ >= whole.objective_ * (1 - 1e-9)
    assert model.objective_ <= 1.3 * whole.objective_
    assert ((model.predict(X) - y) ** 2).sum() == pytest.approx(model.objective_)


def test_path_takes_thresholds():
    X, y = load_iris(return_X_y=True)
    path = optimal_path(OptimalTreeClassifier(max_depth=2, thresholds=2), X, y)
    model = OptimalTreeClassifier(max_depth=2, thresholds=2).fit(X, y)
    assert path.objectives[2, 3] == model.objective_


@pytest.mark.parametrize("choice", [*THRESHOLDS, 3, MDLPDiscretizer()], ids=str)
def test_tables_with_little_in_them(choice):
    for X in ([[1.0]], [[NAN], [NAN]], [[2.0], [2.0]], [[0.0], [1.0]], [[NAN], [1.0]]):
        y = list(range(len(X)))
        model = OptimalTreeClassifier(max_depth=1, thresholds=choice).fit(X, y)
        assert model.status_ == "optimal"
    for bad in (0, "some", 2.5, None):
        with pytest.raises(ValueError, match="thresholds"):
            OptimalTreeClassifier(thresholds=bad).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="thresholds"):
        OptimalTreeRegressor(thresholds="mdlp").fit([[0.0], [1.0]], [0, 1])


def test_categories_are_left_alone():
    X = [["a", 1.0], ["b", 2.0], ["c", 3.0], ["a", 4.0]] * 3
    y = [1, 0, 0, 1] * 3
    for choice in (1, "mdlp", "ensemble", MDLPDiscretizer()):
        model = OptimalTreeClassifier(max_depth=1, thresholds=choice).fit(X, y)
        assert model.objective_ == 0.0


@pytest.mark.parametrize("choice", ["quantile", "mdlp", "ensemble", 3])
def test_no_time_to_choose(choice):
    X, y = load_iris(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        model = OptimalTreeClassifier(max_depth=3, thresholds=choice, time_limit=0.0).fit(X, y)
    assert (model.status_, model.objective_, model.lower_bound_) == ("time_limit", 100.0, 0.0)
    is_short = "as many as there was time to choose" in model.optimality_scope_
    assert is_short == (choice in ("mdlp", "ensemble"))


@given(seed=st.integers(0, 2**32 - 1))
def test_outcomes_of_few_cuts(seed):
    rng = np.random.default_rng(seed)
    X = rng.permutation(np.repeat(np.arange(40.0), 2))[:, np.newaxis]
    X[rng.random(80) < rng.choice([0.0, 0.2])] = NAN
    tests = offered(int(rng.integers(1, 12)), X, np.arange(80) % 2)
    passes = np.unpackbits(tests.bits, axis=1, bitorder="little")[:, : tests.n_tests] == 1
    for k, threshold in enumerate(all_thresholds(tests)):
        missing = np.isnan(X[:, 0])
        below = X[:, 0] <= threshold if tests.kind[k] == NUMERIC else missing
        expected = np.where(missing, tests.missing_branch[k] == 0, below)
        assert (passes[:, k] == expected).all()
