"""Error estimates as parameters of the selectors."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from sktree_opt.subset import (
    AcceptableSubsetSelector,
    BootstrapError,
    CrossValidationError,
    DistinctTreeEnumerator,
    DTsbeSelector,
    SearchError,
)
from sktree_opt.subset.errors import ERROR_ESTIMATES
from sktree_opt.subset.errors._parts import EstimateRequest

ALL = [AcceptableSubsetSelector, DistinctTreeEnumerator, DTsbeSelector]
CHANGED = [SearchError(0.25), CrossValidationError(3), BootstrapError(4)]


@pytest.mark.parametrize("name", ERROR_ESTIMATES)
def test_a_name_is_the_estimate_with_its_defaults(name):
    X, y = load_iris(return_X_y=True)
    of_name, of_object = (
        DTsbeSelector(error=error, random_state=0).fit(X, y)
        for error in (name, ERROR_ESTIMATES[name]())
    )
    assert of_name.error_ == of_object.error_
    assert np.array_equal(of_name.support_, of_object.support_)


@pytest.mark.parametrize("estimate", CHANGED, ids=repr)
@pytest.mark.parametrize("selector", ALL)
def test_estimates_are_cloned_and_shown(selector, estimate):
    whole = selector(error=estimate)
    copied = clone(whole)
    assert copied.error is not estimate
    assert copied.error.get_params() == estimate.get_params()
    assert repr(estimate) in repr(whole)
    assert repr(type(estimate)()) == f"{type(estimate).__name__}()"
    ((name, value),) = estimate.get_params().items()
    assert whole.get_params()[f"error__{name}"] == value
    assert clone(whole).set_params(**{f"error__{name}": 2}).error.get_params() == {name: 2}


def test_parameters_of_an_estimate_are_searched():
    X, y = load_iris(return_X_y=True)
    grid = {"error__size": [0.2, 0.4]}
    search = GridSearchCV(DTsbeSelector(error=SearchError(), random_state=0), grid, cv=2)
    assert search.fit(X, y).best_params_["error__size"] in grid["error__size"]


@pytest.mark.parametrize("size", [0.1, 0.25, 0.5])
def test_the_size_is_the_share_of_the_search_rows(size):
    y = np.arange(200) % 4
    (part,) = SearchError(size)._make_parts(EstimateRequest(y, np.ones(200), random_state=0))
    assert abs(len(part.search_rows) - 200 * size) <= 1
    assert np.ptp(np.bincount(y[part.search_rows])) <= 1
    assert np.array_equal(np.union1d(part.search_rows, part.build_rows), np.arange(200))


def test_the_632_bootstrap_weighs_its_parts():
    y = np.arange(60) % 2
    parts = BootstrapError(7)._make_parts(EstimateRequest(y, np.ones(60), random_state=0))
    assert len(parts) == 8
    assert sum(part.search_weights.sum() for part in parts[:-1]) == pytest.approx(0.632)
    assert parts[-1].search_weights.sum() == pytest.approx(0.368)


@pytest.mark.parametrize(
    ("estimate", "message"),
    [
        (SearchError(1.0), "'size' parameter of SearchError"),
        (SearchError("half"), "'size' parameter of SearchError"),
        (BootstrapError(0), "'n_bootstraps' parameter of BootstrapError"),
        (CrossValidationError(1), "'cv' parameter of CrossValidationError"),
        (CrossValidationError(151), "cv must be between 2 and the number of rows .150., got 151"),
        (SearchError, "'error' parameter of DTsbeSelector|not a number"),
    ],
)
def test_parameters_that_no_estimate_has(estimate, message):
    X, y = load_iris(return_X_y=True)
    selector = DTsbeSelector(error=estimate)
    with pytest.raises((ValueError, TypeError), match=message):
        selector.fit(X, y)
    assert not hasattr(selector, "n_features_in_")


def test_unknown_parameters_are_refused():
    with pytest.raises(ValueError, match=r"Invalid parameter 'cv' for SearchError\(\)"):
        SearchError().set_params(cv=3)


def test_a_continued_search_knows_its_estimate():
    X, y = load_iris(return_X_y=True)
    options = {"random_state": 0, "warm_start": True}
    selector = AcceptableSubsetSelector(error=CrossValidationError(3), **options).fit(X, y)
    before = selector._unfinished
    assert selector.fit(X, y)._unfinished["parts"] is before["parts"]
    selector.set_params(error__cv=4).fit(X, y)
    assert len(selector._unfinished["parts"]) == 4
    splitter = StratifiedKFold(5)
    selector.set_params(error=CrossValidationError(splitter)).fit(X, y)
    splitter.n_splits = 6
    assert len(selector.fit(X, y)._unfinished["parts"]) == 6
    assert len(selector.set_params(error="search").fit(X, y)._unfinished["parts"]) == 1
