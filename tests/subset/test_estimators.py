"""The three estimators as a user meets them."""

import os
import signal
import threading

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from sktree_opt.greedy import GreedyTreeClassifier
from sktree_opt.subset import (
    AcceptableSubsetSelector,
    DistinctTreeEnumerator,
    DTsbeSelector,
    subsets,
)
from sktree_opt.subset._errors import ERROR_ESTIMATORS

ALL = [AcceptableSubsetSelector, DistinctTreeEnumerator, DTsbeSelector]


@pytest.mark.parametrize("n", range(7))
def test_subsets_count_backwards(n):
    numbers = range(2**n - 1, -1, -1)
    expected = [tuple(i for i in range(n) if k >> (n - 1 - i) & 1) for k in numbers]
    assert list(subsets(n)) == expected


@pytest.mark.parametrize("error", ERROR_ESTIMATORS)
def test_complete_search_is_never_worse_than_elimination(error):
    X, y = load_iris(return_X_y=True)
    some = DTsbeSelector(error=error, random_state=0).fit(X, y)
    best = AcceptableSubsetSelector(error=error, random_state=0).fit(X, y)
    assert best.status_ == "optimal"
    assert best.gap_ == 0.0
    assert best.error_ <= some.error_ <= some.history_[0]["error"]


def test_callable_error_rates_fitted_trees():
    X, y = load_iris(return_X_y=True)
    rated = []

    def error(tree):
        rated.append(tuple(tree.tree_.features))
        return 1.0 - tree.score(X, y)

    by_hand = AcceptableSubsetSelector(error=error).fit(X, y)
    assert by_hand.error_ == pytest.approx(
        AcceptableSubsetSelector(error="training").fit(X, y).error_
    )
    assert len(rated) == len(set(rated))


def test_what_a_callable_raises_is_raised():
    def error(tree):
        raise RuntimeError("no such luck")

    for estimator in (DTsbeSelector, AcceptableSubsetSelector):
        with pytest.raises(RuntimeError, match="no such luck"):
            estimator(error=error).fit(*load_iris(return_X_y=True))


def test_methods_of_the_enumerator_agree():
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :8]
    on_demand = DistinctTreeEnumerator(max_trees=5).fit(X, y)
    paper = DistinctTreeEnumerator(method="dtdistinct", max_trees=5).fit(X, y)
    assert on_demand.overhead_ == 1.0 <= paper.overhead_
    assert on_demand.n_distinct_by_size_.tolist() == paper.n_distinct_by_size_.tolist()
    assert list(map(tuple, on_demand.supports_)) == list(map(tuple, paper.supports_))
    assert paper.max_alive_trees_ <= 9


def test_iter_trees_yields_the_trees_that_use_the_features():
    X, y = load_iris(return_X_y=True)
    enumerator = DistinctTreeEnumerator()
    seen = 0
    for features, tree in enumerator.iter_trees(X, y):
        assert tree.tree_.features.tolist() == features.tolist()
        seen += 1
    assert seen == DistinctTreeEnumerator().fit(X, y).n_distinct_


def test_collected_subsets_hold_their_error():
    X, y = load_iris(return_X_y=True)
    selector = AcceptableSubsetSelector(delta=0.1, collect=True, error="training").fit(X, y)
    for entry in selector.acceptable_subsets_:
        tree = selector.tree_on(entry["features"], X, y)
        assert 1.0 - tree.score(X, y) == pytest.approx(entry["error"])
    assert len(selector.acceptable_subsets_) > 1


def test_time_limit_gives_the_best_so_far():
    X, y = load_breast_cancer(return_X_y=True)
    selector = AcceptableSubsetSelector(time_limit=0.2, lookahead=0, error="cross_validation")
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        selector.fit(X, y)
    assert selector.status_ == "time_limit"
    assert 0.0 <= selector.lower_bound_ <= selector.objective_


@pytest.mark.parametrize("estimator", ALL)
def test_refused_parameters(estimator):
    X, y = load_iris(return_X_y=True)
    for parameters in ({"max_leaf_nodes": 4}, {"pruning": "reduced_error"}):
        with pytest.raises(ValueError, match=next(iter(parameters))):
            estimator(GreedyTreeClassifier(**parameters)).fit(X, y)


@pytest.mark.filterwarnings("ignore:No features were selected")
def test_nothing_useful_selects_nothing():
    X, y = np.zeros((20, 3)), np.arange(20) % 2
    for estimator in ALL:
        fitted = estimator(random_state=0).fit(X, y)
        assert fitted.tree_.n_nodes == 1
    assert DTsbeSelector(random_state=0).fit_transform(X, y).shape == (20, 0)


def test_search_over_delta():
    X, y = load_iris(return_X_y=True)
    selector = AcceptableSubsetSelector(random_state=0)
    search = GridSearchCV(selector, {"delta": [0.0, 0.05]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.8
    assert make_pipeline(DTsbeSelector(random_state=0), GreedyTreeClassifier()).fit(X, y)


@pytest.mark.parametrize("estimator", ALL)
def test_ctrl_c_ends_the_fit(estimator):
    X, y = load_breast_cancer(return_X_y=True)
    selector = estimator(error="bootstrap", n_bootstraps=60, time_limit=None, random_state=0)
    if estimator is DTsbeSelector:
        selector.set_params(method="sbe")
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        selector.fit(X, y)
    timer.join()
    assert not hasattr(selector, "tree_")
