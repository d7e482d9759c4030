"""scikit-learn's own tree predicts the same."""

import pickle

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, export_text, plot_tree

from sktree_opt.datasets import load_loans
from sktree_opt.export import to_sklearn
from sktree_opt.export._sklearn import safe_thresholds
from sktree_opt.greedy import GreedyTreeClassifier
from sktree_opt.optimal import OptimalTreeClassifier
from sktree_opt.preprocessing._binary_tests import midpoints
from sktree_opt.tree import Tree
from tests.effort import examples
from tests.tree.random_tree import (
    COLUMNS,
    encode,
    model_of,
    random_rows,
    random_tree,
)

seeds = st.integers(0, 2**32 - 1)


NUMBERS = COLUMNS[:2]
COSTS = np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 1.0], [9.0, 1.0, 0.0]])


def draw(seed, by_weight=False, columns=NUMBERS, **options):
    rng = np.random.default_rng(seed)
    of_model = {name: options.pop(name) for name in ("costs", "smooth") if name in options}
    tree = random_tree(rng, columns, by_weight=by_weight, **options)
    rows = random_rows(rng, 60, columns)
    return model_of(tree, columns, **of_model), rows, encode(rows, columns)


def share_all_missing_values(tree):
    """The tree as if training rows had missed the value of every test that distributes."""
    nodes = tree.nodes.copy()
    for index in np.flatnonzero(nodes["missing_branch"] < 0):
        nodes["n_samples"][tree.children(index)] += 1000
    return Tree(nodes, tree.values, tree.category_branch, n_features=tree.n_features,
                is_classifier=tree.is_classifier)  # fmt: skip


@given(seeds, st.booleans())
@examples(80)
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
@examples(40)
def test_regressor(seed):
    model, rows, X = draw(seed, is_classifier=False)
    other = to_sklearn(model)
    assert type(other) is DecisionTreeRegressor
    np.testing.assert_array_equal(other.predict(X), model.predict(rows))


@given(seeds, st.sampled_from([None, True, False]), st.sampled_from([None, COSTS]), st.booleans())
@examples(100)
def test_categories_and_shared_rows(seed, by_weight, costs, smooth):
    """Every kind of test, through a transformer of scikit-learn."""
    model, rows, _ = draw(seed, by_weight, COLUMNS, max_depth=3, costs=costs, smooth=smooth)
    model.tree_ = share_all_missing_values(model.tree_)
    other = to_sklearn(model)
    assert type(other) is Pipeline
    assert type(other[-1]) is DecisionTreeClassifier
    np.testing.assert_array_equal(other.predict(rows), model.predict(rows))
    # Means of smoothed leaves may have another largest class than means of leaves.
    if costs is None and not smooth:
        kept = to_sklearn(model, leaf_values="probabilities")
        np.testing.assert_allclose(kept.predict_proba(rows), model.predict_proba(rows), atol=1e-12)
    answers = to_sklearn(model, leaf_values="answers")
    np.testing.assert_array_equal(answers.predict(rows), model.predict(rows))
    assert set(np.unique(answers.predict_proba(rows))) <= {0.0, 1.0}
    inner = other[-1].tree_
    is_test = inner.children_left >= 0
    weight = inner.weighted_n_node_samples
    below = weight[inner.children_left[is_test]] + weight[inner.children_right[is_test]]
    np.testing.assert_allclose(below, weight[is_test])
    assert (weight > 0).all()


@given(seeds, st.sampled_from([None, True, False]))
@examples(40)
def test_means_of_shared_rows(seed, by_weight):
    model, rows, _ = draw(seed, by_weight, COLUMNS, max_depth=3, is_classifier=False)
    model.tree_ = share_all_missing_values(model.tree_)
    np.testing.assert_allclose(to_sklearn(model).predict(rows), model.predict(rows), rtol=1e-12)


@given(seeds)
@examples(40)
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


@pytest.mark.parametrize(
    "model",
    [
        GreedyTreeClassifier(max_depth=4),
        GreedyTreeClassifier(nominal_split="subset", max_depth=4),
        OptimalTreeClassifier(max_depth=2),
        OptimalTreeClassifier(max_depth=2, objective="balanced_error", categorical_splits="subset"),
    ],
    ids=str,
)
def test_raw_tables(model):
    X, y = load_loans(return_X_y=True, as_frame=True)
    known, new, y_known, _ = train_test_split(X, y, random_state=0)
    model = model.fit(known, y_known)
    other = to_sklearn(model)
    np.testing.assert_array_equal(other.predict(new), model.predict(new))
    copied = pickle.loads(pickle.dumps(other))
    np.testing.assert_array_equal(copied.predict_proba(new), other.predict_proba(new))
    # The parameters are those of the tree, so that a new fit makes one of that size.
    again = clone(other).fit(known, y_known)
    assert again[-1].get_depth() <= other[-1].get_depth()
    assert again[-1].get_n_leaves() <= other[-1].get_n_leaves()


def test_the_tools_of_scikit_learn_take_it():
    pd = pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    model, _, X = draw(4)
    model.feature_names_in_ = np.array([c["name"] for c in NUMBERS], dtype=object)
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


def test_a_lone_leaf_of_a_table_with_categories():
    for columns in (COLUMNS, COLUMNS[2:]):
        model, rows, _ = draw(0, columns=columns, max_depth=0)
        assert to_sklearn(model).predict(rows).tolist() == model.predict(rows).tolist()


def test_trees_that_would_grow_too_much():
    nodes = 2**13 - 1
    X = np.random.default_rng(0).normal(size=(2000, 30))
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    tree = GreedyTreeClassifier().fit(X, (np.nansum(X, axis=1) > 0).astype(int))
    assert tree.tree_.n_nodes < nodes
    with pytest.raises(ValueError, match="needs more than 100000 nodes"):
        to_sklearn(tree)


def test_a_cost_matrix_that_decides():
    costs = np.array([[0.0, 9.0, 9.0]] * 3)
    model, rows, X = draw(3, costs=costs)
    with pytest.raises(ValueError, match="cost matrix a leaf answers 'class 0'"):
        to_sklearn(model, leaf_values="probabilities")
    np.testing.assert_array_equal(to_sklearn(model).predict(X), model.predict(rows))
    # One that changes nothing leaves the probabilities.
    model, rows, X = draw(3, costs=1.0 - np.eye(3))
    np.testing.assert_allclose(to_sklearn(model).predict_proba(X), model.predict_proba(rows))


floats32 = st.floats(-(2.0**100), 2.0**100, width=32)


@given(floats32, floats32, st.booleans())
@examples(300)
def test_thresholds_between_float32_values(first, second, adjacent):
    if adjacent:
        second = float(np.nextafter(np.float32(first), np.float32(np.inf)))
    assume(first != second)
    lower, upper = sorted([first, second])
    (safe,) = safe_thresholds(np.array([midpoints(lower, upper)]))
    assert lower <= safe < upper
    assert safe == np.float32(safe)


@given(st.floats(-1e30, 1e30))
@examples(200)
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


COSTS = {"objective": "cost", "cost_matrix": [[0, 1], [5, 0]]}


@pytest.mark.parametrize(
    ("objective", "reason"),
    [({"objective": "f1"}, "the metric"), (COSTS, "the cost matrix")],
)
def test_answers_of_an_objective_are_explained(objective, reason):
    model = OptimalTreeClassifier(**objective, max_depth=1)
    model.fit([[0]] * 10 + [[1]] * 6, [1] * 4 + [0] * 6 + [0] * 6)
    with pytest.raises(ValueError, match=f"Because of {reason} a leaf answers '1'"):
        to_sklearn(model, leaf_values="probabilities")
    assert to_sklearn(model).predict([[0], [1]]).tolist() == model.predict([[0], [1]]).tolist()


@pytest.mark.parametrize("holes", [False, True])
def test_arrays_of_codes(holes):
    X = np.array([[0.0, 1.0], [1.0, 2.0], [2.0, 1.0], [0.0, 3.0]] * 3)
    if holes:
        X[:, 0] = np.nan  # a column without any category
    model = OptimalTreeClassifier(max_depth=2, categorical_features=[0, 1])
    for y in ([0, 1, 1, 0] * 3, [0] * 12):
        other = to_sklearn(model.fit(X, y))
        np.testing.assert_array_equal(other.predict(X), model.predict(X))
