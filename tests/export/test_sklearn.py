"""scikit-learn's own tree predicts the same, and says so where it cannot."""

import pickle

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, export_text, plot_tree

from sktree_opt.export import to_sklearn
from sktree_opt.export._sklearn import safe_thresholds
from sktree_opt.optimal import OptimalTreeClassifier
from sktree_opt.preprocessing._binary_tests import midpoints
from sktree_opt.tree import Tree
from tests.tree.random_tree import (
    COLUMNS,
    NUMERIC_COLUMNS,
    encode,
    model_of,
    random_rows,
    random_tree,
)

seeds = st.integers(0, 2**32 - 1)


def draw(seed, by_weight=False, columns=NUMERIC_COLUMNS, **options):
    rng = np.random.default_rng(seed)
    of_model = {name: options.pop(name) for name in ("costs", "smooth") if name in options}
    tree = random_tree(rng, columns, by_weight=by_weight, **options)
    rows = random_rows(rng, 60, columns)
    return model_of(tree, columns, **of_model), rows, encode(rows, columns)


@given(seeds, st.booleans())
@settings(max_examples=80, deadline=None)
def test_classifier(seed, smooth):
    model, rows, X = draw(seed, smooth=smooth)
    other = to_sklearn(model)
    assert type(other) is DecisionTreeClassifier
    np.testing.assert_array_equal(other.predict(X), model.predict(rows))
    np.testing.assert_allclose(other.predict_proba(X), model.predict_proba(rows))
    np.testing.assert_array_equal(other.apply(X), model.apply(rows))
    assert (other.decision_path(X) != model.decision_path(rows)).nnz == 0
    assert other.get_depth() == model.get_depth()
    assert other.get_n_leaves() == model.get_n_leaves()


@given(seeds)
@settings(max_examples=40, deadline=None)
def test_regressor(seed):
    model, rows, X = draw(seed, is_classifier=False)
    other = to_sklearn(model)
    assert type(other) is DecisionTreeRegressor
    np.testing.assert_array_equal(other.predict(X), model.predict(rows))


@given(seeds)
@settings(max_examples=40, deadline=None)
def test_without_missing_values_any_routing_will_do(seed):
    model, _, X = draw(seed, by_weight=True)
    tree = model.tree_
    nodes = tree.nodes.copy()
    # As if no training row had missed a value.
    nodes["n_samples"] = nodes["weight"] = 1 << (9 - tree.node_depths())
    model.tree_ = Tree(nodes, tree.values, n_features=tree.n_features, is_classifier=True)
    X[np.isnan(X)] = 1.0
    proba = model.tree_.evaluate(X, model.tree_.node_values())[1]
    np.testing.assert_allclose(to_sklearn(model).predict_proba(X), proba)


def test_the_tools_of_scikit_learn_take_it():
    pd = pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    model, _, X = draw(4)
    model.feature_names_in_ = np.array([c["name"] for c in NUMERIC_COLUMNS], dtype=object)
    other = to_sklearn(model)
    text = export_text(other, feature_names=other.feature_names_in_)
    assert text.count("class:") == other.get_n_leaves()
    assert len(plot_tree(other)) > 0
    frame = pd.DataFrame(np.nan_to_num(X), columns=other.feature_names_in_)
    copied = pickle.loads(pickle.dumps(other))
    np.testing.assert_array_equal(copied.predict_proba(frame), other.predict_proba(frame))
    assert clone(other).fit(frame, np.arange(len(X)) % 2).get_depth() > 0


def test_a_lone_leaf():
    model, rows, X = draw(0, max_depth=0)
    assert to_sklearn(model).predict(X).tolist() == model.predict(rows).tolist()


def test_category_tests_are_refused_by_name():
    for seed in range(20):
        model, _, _ = draw(seed, columns=COLUMNS[2:3])
        if np.isin(model.tree_.nodes["kind"], (2, 3, 4)).any():
            with pytest.raises(ValueError, match=r"The test 'colour .*' is on a category"):
                to_sklearn(model)


def test_distributed_rows_are_refused_by_name():
    refused = 0
    for seed in range(20):
        model, _, _ = draw(seed, by_weight=True)
        nodes = model.tree_.nodes
        tests = [
            i
            for i in np.flatnonzero(nodes["kind"] == 1)
            if nodes["n_samples"][model.tree_.children(i)].sum() > nodes["n_samples"][i]
        ]
        if tests:
            refused += 1
            with pytest.raises(ValueError, match=r"The test '.* <?=.*' sends rows that miss"):
                to_sklearn(model)
    assert refused > 5


def test_a_cost_matrix_that_decides_is_refused():
    costs = np.array([[0.0, 9.0, 9.0]] * 3)
    model, _, _ = draw(3, costs=costs)
    with pytest.raises(ValueError, match="cost matrix a leaf answers 'class 0'"):
        to_sklearn(model)
    # One that changes nothing is no obstacle.
    model, rows, X = draw(3, costs=1.0 - np.eye(3))
    np.testing.assert_array_equal(to_sklearn(model).predict(X), model.predict(rows))


floats32 = st.floats(-(2.0**100), 2.0**100, width=32)


@given(floats32, floats32, st.booleans())
@settings(max_examples=300, deadline=None)
def test_thresholds_between_float32_values(first, second, adjacent):
    if adjacent:
        second = float(np.nextafter(np.float32(first), np.float32(np.inf)))
    assume(first != second)
    lower, upper = sorted([first, second])
    (safe,) = safe_thresholds(np.array([midpoints(lower, upper)]))
    assert lower <= safe < upper
    assert safe == np.float32(safe)


@given(st.floats(-1e30, 1e30))
@settings(max_examples=200, deadline=None)
def test_thresholds_are_the_nearest_float32(threshold):
    (safe,) = safe_thresholds(np.array([threshold]))
    nearest = float(np.float32(threshold))
    assert abs(safe - threshold) == abs(nearest - threshold)
    # What equals the threshold still goes left, but for a tie that rounds up.
    assert nearest <= safe or abs(nearest - threshold) == abs(safe - threshold)


def test_extreme_thresholds():
    thresholds = np.array([1e300, -1e300, np.nan, 3.4e38])
    safe = safe_thresholds(thresholds)
    assert safe[0] >= np.finfo(np.float32).max
    assert safe[1] <= np.finfo(np.float32).min


@pytest.mark.parametrize(
    ("objective", "reason"),
    [("f1", "the metric"), ("balanced_error", "objective='balanced_error'")],
)
def test_answers_of_an_objective_are_explained(objective, reason):
    model = OptimalTreeClassifier(objective=objective, max_depth=1)
    model.fit([[0]] * 10 + [[1]] * 6, [1] * 4 + [0] * 6 + [0] * 6)
    with pytest.raises(ValueError, match=f"Because of {reason} a leaf answers '1'"):
        to_sklearn(model)
