"""Input that is seldom tried: vast weights, odd splits, threads, wide sparse tables."""

import threading

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris

from sktree_opt.greedy import GreedyTreeClassifier
from sktree_opt.subset import (
    AcceptableSubsetSelector,
    CrossValidationError,
    DistinctTreeEnumerator,
    DTsbeSelector,
    SearchError,
)

SELECTORS = [AcceptableSubsetSelector, DTsbeSelector]
ALL = [*SELECTORS, DistinctTreeEnumerator]


@pytest.mark.parametrize("weight", [1e-300, 0.3, 7.0, 1e20, 1e59])
@pytest.mark.parametrize("selector", SELECTORS)
def test_equal_weights_of_any_size(selector, weight):
    X, y = load_iris(return_X_y=True)
    plain = selector(random_state=0).fit(X, y)
    weighted = selector(random_state=0).fit(X, y, sample_weight=np.full(len(y), weight))
    assert np.array_equal(weighted.support_, plain.support_)
    assert weighted.error_ == pytest.approx(plain.error_)


@pytest.mark.parametrize("selector", SELECTORS)
def test_a_row_given_twice_weighs_twice(selector):
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    build, search = rng.integers(0, 90, 150), rng.integers(90, 150, 80)
    order = rng.permutation(len(y))
    X, y = X[order], y[order]
    repeated = selector(error=CrossValidationError([(build, search)])).fit(X, y)
    counts = np.bincount(np.r_[build, search], minlength=len(y))
    split = [(np.unique(build), np.unique(search))]
    weighted = selector(error=CrossValidationError(split)).fit(X, y, sample_weight=counts)
    assert repeated.error_ == pytest.approx(weighted.error_)
    assert np.array_equal(repeated.support_, weighted.support_)


@pytest.mark.parametrize(
    ("cv", "message"), [([], "no split"), ([([0, 1], [500])], "does not have")]
)
def test_splits_that_cannot_be(cv, message):
    X, y = load_iris(return_X_y=True)
    for estimator in ALL:
        with pytest.raises(ValueError, match=message):
            estimator(error=CrossValidationError(cv)).fit(X, y)


def test_splits_as_masks_and_from_the_end():
    X, y = load_iris(return_X_y=True)
    last = np.arange(150) % 3 == 0
    rows = np.flatnonzero(last)
    errors = {
        DTsbeSelector(error=CrossValidationError([split])).fit(X, y).error_
        for split in ((~last, last), (np.flatnonzero(~last), rows), (~last, rows - 150))
    }
    assert len(errors) == 1


@pytest.mark.parametrize("estimator", ALL)
def test_two_threads(estimator):
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :7]
    alone = estimator(random_state=0).fit(X, y).tree_.nodes.tobytes()
    found = [None, None]

    def fit(place):
        found[place] = estimator(random_state=0).fit(X, y).tree_.nodes.tobytes()

    threads = [threading.Thread(target=fit, args=(place,)) for place in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [alone, alone]


@pytest.mark.parametrize("estimator", ALL)
def test_few_rows_and_few_columns(estimator):
    for X, y in [
        ([[1.0]], [1]),
        ([[1.0], [2.0]], ["a", "b"]),
        ([[np.nan, 1.0]] * 6, [0, 1] * 3),
        ([[1.0, 2.0]] * 6, [-1, 1] * 3),
    ]:
        fitted = estimator(error="training").fit(X, y)
        assert fitted.tree_.n_nodes <= 3
        assert len(fitted.predict(X)) == len(y)


def wide_table(n_columns=20_000):
    """Few numbers in many columns; column 17 tells the class, but for some rows."""
    rng = np.random.default_rng(0)
    n_rows = 120
    X = sparse.random(n_rows, n_columns, density=0.002, format="lil", random_state=rng)
    y = rng.integers(0, 2, n_rows)
    X[:, 17] = np.where(rng.random(n_rows) < 0.9, y, 1 - y)[:, None]
    return X.tocsr(), y


def test_twenty_thousand_sparse_columns():
    X, y = wide_table()
    selector = DTsbeSelector(GreedyTreeClassifier(min_samples_leaf=2), random_state=0).fit(X, y)
    assert selector.support_[17]
    selected = selector.transform(X)
    assert sparse.issparse(selected)
    assert selected.shape == (120, selector.n_features_)
    dense = DTsbeSelector(GreedyTreeClassifier(min_samples_leaf=2), random_state=0)
    assert np.array_equal(dense.fit(X.toarray(), y).support_, selector.support_)


def test_a_function_that_raises_stop_iteration_has_not_ended_the_search():
    X, y = load_iris(return_X_y=True)
    for estimator in ALL:
        with pytest.raises(RuntimeError, match="raised StopIteration"):
            estimator(error=lambda tree: next(iter([]))).fit(X, y)


def test_search_rows_of_no_weight():
    X, y = load_iris(return_X_y=True)
    tree = GreedyTreeClassifier(class_weight={0: 1, 1: 1, 2: 0})
    split = [(np.arange(100), np.arange(100, 150))]
    for selector in SELECTORS:
        with pytest.raises(ValueError, match="with a weight cannot be split"):
            selector(tree, error=CrossValidationError(split)).fit(X, y)
        fitted = selector(tree, error="bootstrap", random_state=0).fit(X, y)
        assert np.isfinite(fitted.error_)


@pytest.mark.parametrize("error", [SearchError(), CrossValidationError(3)])
def test_no_split_parts_a_group(error):
    X, y = load_breast_cancer(return_X_y=True)
    X, groups = X[:, :4], np.arange(569) % 7
    with pytest.raises(ValueError, match="cv puts rows of the group .* on both sides"):
        DTsbeSelector(error=CrossValidationError([(np.arange(300), np.arange(300, 569))])).fit(
            X, y, groups=groups
        )
    selector = DTsbeSelector(error=error, random_state=0).fit(X, y, groups=groups)
    assert selector.status_ == "optimal"


@pytest.mark.parametrize("n_rows", [2, 3])
def test_few_rows_can_be_split(n_rows):
    X, y = np.arange(n_rows)[:, None], np.arange(n_rows) % 2
    for seed in range(30):
        assert DTsbeSelector(random_state=seed).fit(X, y).status_ == "optimal"
