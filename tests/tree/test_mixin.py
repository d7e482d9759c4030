"""What every fitted tree estimator can do, on trees drawn at random."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import is_classifier, is_regressor
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from sktree_opt import OptimalTreeClassifier
from sktree_opt.export._json import FrozenTreeClassifier, FrozenTreeRegressor
from sktree_opt.tree._mixin import CELLS_AT_A_TIME
from tests.effort import examples
from tests.reference import naive_predict
from tests.tree.random_tree import COLUMNS, encode, model_of, random_rows, random_tree

seeds = st.integers(0, 2**32 - 1)


def draw(seed, n_rows=40, columns=COLUMNS, classifies=True, **of_model):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, columns, is_classifier=classifies)
    rows = random_rows(rng, n_rows, columns)
    return model_of(tree, columns, **of_model), rows, encode(rows, columns)


@given(seeds, st.sampled_from([False, True, 0.0, 2.5]), st.sampled_from([0.0, 0.0, 10.0]))
@examples(200)
def test_classifier(seed, smooth, shrinkage):
    model, rows, X = draw(seed, smooth=smooth, shrinkage=shrinkage)
    expected = [naive_predict.predict(model.tree_, row, smooth, shrinkage) for row in X]
    np.testing.assert_allclose(np.sum(expected, axis=1), 1.0)
    np.testing.assert_allclose(model.predict_proba(rows), expected, atol=1e-12)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(model.predict_log_proba(rows), np.log(model.predict_proba(rows)))
    # Smoothing is for probabilities; the class is that of the frequencies as they are.
    frequencies = np.array([naive_predict.predict(model.tree_, row) for row in X])
    chosen = np.searchsorted(model.classes_, model.predict(rows))
    best = frequencies.max(axis=1)
    np.testing.assert_allclose(frequencies[np.arange(len(X)), chosen], best, atol=1e-12)


@given(seeds)
@examples(60)
def test_cost_matrix(seed):
    costs = np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 1.0], [9.0, 1.0, 0.0]])
    model, rows, X = draw(seed, costs=costs)
    frequencies = np.array([naive_predict.predict(model.tree_, row) for row in X])
    expected_cost = frequencies @ costs
    chosen = np.searchsorted(model.classes_, model.predict(rows))
    least = expected_cost.min(axis=1)
    np.testing.assert_allclose(expected_cost[np.arange(len(X)), chosen], least, atol=1e-12)


@given(seeds)
@examples(60)
def test_regressor(seed):
    model, rows, X = draw(seed, classifies=False)
    expected = [naive_predict.predict(model.tree_, row)[0] for row in X]
    np.testing.assert_allclose(model.predict(rows), expected, atol=1e-12)


@given(seeds, st.booleans())
@examples(40)
def test_apply_and_decision_path(seed, classifies):
    model, rows, X = draw(seed, classifies=classifies)
    leaves, paths = model.apply(rows), model.decision_path(rows)
    assert leaves.dtype == np.int64
    assert sparse.issparse(paths)
    assert paths.shape == (len(X), model.tree_.n_nodes)
    for i, row in enumerate(X):
        shares = naive_predict.leaf_shares(model.tree_, row)
        assert shares[leaves[i]] == pytest.approx(max(shares.values()))
        reached = sorted({index for index, _ in naive_predict.visit(model.tree_, row)})
        assert paths[i].indices.tolist() == reached


def test_first_class_wins_a_tie():
    model, rows, _ = draw(0)
    tied = model.tree_.values.copy()
    tied[:] = 1.0
    tree = type(model.tree_)(
        model.tree_.nodes,
        tied,
        model.tree_.category_branch,
        n_features=len(COLUMNS),
        is_classifier=True,
    )
    assert set(model_of(tree).predict(rows)) == {"class 0"}


@pytest.mark.parametrize(
    ("make", "cells"),
    [
        (sparse.csr_matrix, CELLS_AT_A_TIME + 50),
        (sparse.csc_array, 50),
        (sparse.coo_array, 50),
    ],
)
def test_sparse_tables(make, cells, global_random_seed):
    # The larger table is predicted in two parts.
    columns = COLUMNS[:2] * 3
    model, _, X = draw(global_random_seed, n_rows=50, columns=columns)
    X[np.random.default_rng(global_random_seed).random(X.shape) < 0.5] = 0.0
    X = np.tile(X, (1 + cells // X.size, 1))
    table = make(X)
    np.testing.assert_array_equal(model.predict(table), model.predict(X))
    np.testing.assert_array_equal(model.predict_proba(table), model.predict_proba(X))
    np.testing.assert_array_equal(model.apply(table), model.apply(X))
    assert (model.decision_path(table) != model.decision_path(X)).nnz == 0


def test_threads_agree(global_random_seed):
    model, rows, _ = draw(global_random_seed, n_rows=10_000)
    one = model.predict(rows), model.predict_proba(rows), model.apply(rows)
    model.n_jobs = 2
    two = model.predict(rows), model.predict_proba(rows), model.apply(rows)
    for first, second in zip(one, two, strict=True):
        np.testing.assert_array_equal(first, second)


def test_numbers_and_kinds():
    model, _, _ = draw(1)
    regressor, _, _ = draw(1, classifies=False)
    assert is_classifier(model)
    assert is_regressor(regressor)
    assert model.get_depth() == model.tree_.depth
    assert model.get_n_leaves() == model.tree_.n_leaves
    np.testing.assert_array_equal(model.feature_importances_, model.tree_.importances())
    tags = model.__sklearn_tags__()
    assert tags.input_tags.allow_nan
    assert tags.input_tags.sparse
    assert tags.input_tags.string


@pytest.mark.parametrize("make", [FrozenTreeClassifier, FrozenTreeRegressor])
def test_before_fit(make):
    X = [[1.0] * len(COLUMNS)]
    for method in ("predict", "apply", "decision_path"):
        with pytest.raises(NotFittedError):
            getattr(make(), method)(X)
    for method in ("get_depth", "get_n_leaves"):
        with pytest.raises(NotFittedError):
            getattr(make(), method)()
    assert not hasattr(make(), "feature_importances_")


def test_other_columns_at_predict():
    pd = pytest.importorskip("pandas")
    model, rows, _ = draw(2)
    names = [column["name"] for column in COLUMNS]
    model.feature_names_in_ = np.array(names, dtype=object)
    frame = pd.DataFrame(rows, columns=names)
    model.predict(frame)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[names[::-1]])
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame.rename(columns={"height": "depth"}))
    with pytest.raises(ValueError, match="minimum of 1 is required"):
        model.predict(frame.iloc[:0])
    del model.feature_names_in_
    with pytest.raises(ValueError, match="7 features as input"):
        model.predict(rows[:, :-1])


@pytest.mark.parametrize("smoothing", [{"leaf_smoothing": 3.0}, {"hierarchical_shrinkage": 5.0}])
def test_optimal_trees_are_smoothed_too(smoothing):
    X, y = load_iris(return_X_y=True)
    model = OptimalTreeClassifier(max_depth=2).fit(X, y)
    smooth = OptimalTreeClassifier(max_depth=2, **smoothing).fit(X, y)
    assert smooth.tree_ == model.tree_
    np.testing.assert_array_equal(smooth.predict(X), model.predict(X))
    arguments = {"smooth": smoothing.get("leaf_smoothing", False)}
    arguments["shrinkage"] = smoothing.get("hierarchical_shrinkage", 0.0)
    expected = [naive_predict.predict(model.tree_, row, **arguments) for row in X]
    np.testing.assert_allclose(smooth.predict_proba(X), expected)
    assert (smooth.predict_proba(X) > 0.0).all()
