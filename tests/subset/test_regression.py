"""The selectors with regression trees: errors are those of the trees they fit."""

import numpy as np
import pytest
from sklearn.base import is_classifier, is_regressor
from sklearn.datasets import load_diabetes
from sklearn.model_selection import GroupKFold

from sktree_opt import (
    AcceptableSubsetSelector,
    BootstrapError,
    CrossValidationError,
    DistinctTreeEnumerator,
    DTsbeSelector,
    GreedyTreeRegressor,
)
from sktree_opt.export import export_text

TREE = GreedyTreeRegressor(max_depth=3, min_samples_leaf=10)
LOSSES = {"squared_error": np.square, "absolute_error": np.abs}
SEARCHES = [AcceptableSubsetSelector, DTsbeSelector, DistinctTreeEnumerator]


@pytest.fixture(scope="module")
def data():
    X, y = load_diabetes(return_X_y=True)
    X = X.copy()
    X[::7, 2] = np.nan
    return X, y, np.random.default_rng(0).uniform(0.5, 2.0, len(y))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("search", SEARCHES[:2])
def test_the_error_is_that_of_the_tree(data, search, loss):
    X, y, weights = data
    build, held_back = np.arange(len(y))[::2], np.arange(len(y))[1::2]
    error = CrossValidationError(cv=[(build, held_back)])
    model = search(TREE, error=error, loss=loss).fit(X, y, weights)
    tree = model.tree_on(model.support_, X[build], y[build], weights[build])
    losses = LOSSES[loss](y[held_back] - tree.predict(X[held_back]))
    assert model.error_ == pytest.approx(np.average(losses, weights=weights[held_back]))
    np.testing.assert_allclose(
        model.predict(X), TREE.fit(X[:, model.support_], y, weights).predict(X[:, model.support_])
    )


def test_of_all_subsets_none_is_better(data):
    X, y, _ = data
    X = X[:, :6]
    found = DistinctTreeEnumerator(TREE, error="search", random_state=0, max_trees=1).fit(X, y)
    backward = DTsbeSelector(TREE, random_state=0).fit(X, y)
    for method in ("on_demand", "dtaccept"):
        best = AcceptableSubsetSelector(TREE, method=method, random_state=0).fit(X, y)
        assert best.status_ == "optimal"
        assert best.error_ == found.errors_[0] <= backward.error_


@pytest.mark.parametrize("error", ["search", "training", "bootstrap", "cross_validation"])
def test_error_estimates(data, error):
    X, y, _ = data
    model = AcceptableSubsetSelector(TREE, error=error, random_state=0).fit(X, y)
    assert 0.0 < model.error_ < y.var()


def test_groups_stay_together(data):
    X, y, _ = data
    groups = np.arange(len(y)) // 20
    for cv in (3, GroupKFold(3)):
        error = CrossValidationError(cv=cv)
        model = DTsbeSelector(TREE, error=error, random_state=0).fit(X, y, groups=groups)
        assert model.error_ < y.var()


def test_a_function_rates_the_trees(data):
    X, y, _ = data
    model = AcceptableSubsetSelector(
        TREE, error=lambda tree: tree.get_n_leaves(), max_features=2, min_features=1
    ).fit(X[:, :4], y)
    assert model.error_ == model.get_n_leaves()


@pytest.mark.parametrize("search", SEARCHES)
def test_it_is_a_regressor(data, search):
    X, y, _ = data
    model = search(TREE).fit(X, y)
    assert is_regressor(model)
    assert not is_classifier(model)
    assert not hasattr(model, "predict_proba")
    assert not hasattr(model, "classes_")
    assert 0.0 < model.score(X, y) < 1.0
    assert "<=" in export_text(model)
    with pytest.raises(ValueError, match="'pessimistic' counts wrong classes"):
        search(TREE, error="pessimistic").fit(X, y)
    with pytest.raises(ValueError, match="loss='absolute_error' is only supported for regression"):
        search(loss="absolute_error").fit(X, y > 100)


def test_units_of_large_and_small_numbers(data):
    """A factor of the target is one of its losses."""
    X, y, _ = data
    model = AcceptableSubsetSelector(TREE, error=BootstrapError(2), random_state=0).fit(X, y)
    for factor in (2.0**300, 2.0**-300):
        other = AcceptableSubsetSelector(TREE, error=BootstrapError(2), random_state=0)
        other.fit(X, y * factor)
        np.testing.assert_array_equal(other.support_, model.support_)
        assert other.error_ == pytest.approx(model.error_ * factor**2)
