"""Acceptable subsets that are collected, in one fit or in several."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning

from sktree_opt.subset import AcceptableSubsetSelector, BootstrapError
from tests.processes import interrupt_after, needs_sigint

OPTIONS = {"delta": 0.01, "error": "cross_validation", "random_state": 0, "collect": True}


def some_table():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:, :9], y


def listed(selector):
    return [(tuple(s["features"]), s["error"]) for s in selector.acceptable_subsets_]


def test_warm_start_completes_the_list():
    X, y = some_table()
    whole = AcceptableSubsetSelector(**OPTIONS).fit(X, y)
    assert whole.collect_status_ == "optimal"
    # The list hangs on the selected tree, so a search for it comes first, to its end.
    selector = AcceptableSubsetSelector(**OPTIONS, warm_start=True, time_limit=0.02)
    n_found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        while selector.fit(X, y).collect_status_ != "optimal":
            n_found.append(selector.n_acceptable_)
            selected = tuple(np.flatnonzero(selector.support_))
            # A limit may come before the first tree is rated.
            found = [features for features, _ in listed(selector)]
            assert selected in found or selector.n_acceptable_ == 0
            selector = pickle.loads(pickle.dumps(selector))
            selector.set_params(time_limit=1.5 * selector.time_limit)
    assert n_found
    assert selector.status_ == "optimal"
    assert selector.n_acceptable_ == whole.n_acceptable_
    assert sorted(listed(selector)) == sorted(listed(whole))
    again = selector.fit(X, y)
    assert listed(again) == listed(selector)


def test_a_limit_of_the_list_is_none_of_the_selection(monkeypatch):
    X, y = some_table()
    search_best = AcceptableSubsetSelector._search_best

    def search_and_stop(self, search, *arguments):
        found = search_best(self, search, *arguments)
        search.control.restart(0.0)
        return found

    monkeypatch.setattr(AcceptableSubsetSelector, "_search_best", search_and_stop)
    with pytest.warns(ConvergenceWarning, match="acceptable_subsets_ has the .* found so far"):
        selector = AcceptableSubsetSelector(**OPTIONS).fit(X, y)
    assert selector.status_ == "optimal"
    assert selector.collect_status_ == "time_limit"
    assert selector.n_acceptable_ == 1
    assert listed(selector) == [(tuple(np.flatnonzero(selector.support_)), selector.error_)]


@needs_sigint
def test_ctrl_c_keeps_what_has_been_searched():
    X, y = load_breast_cancer(return_X_y=True)
    options = {"error": BootstrapError(10), "random_state": 0, "time_limit": None}
    selector = AcceptableSubsetSelector(**options, warm_start=True)
    assert interrupt_after(1.0, lambda: selector.fit(X, y))
    assert selector.status_ == "stopped"
    n_before = selector._unfinished["state"]["n_decisions"]
    with pytest.warns(ConvergenceWarning):
        selector.set_params(time_limit=1.5).fit(X, y)
    assert selector._unfinished["state"]["n_decisions"] > n_before
    # Without, nothing is kept.
    fresh = AcceptableSubsetSelector(**options)
    assert interrupt_after(0.2, lambda: fresh.fit(X, y))
    assert not hasattr(fresh, "_unfinished")


@needs_sigint
def test_an_interrupted_search_ends_at_the_same_subset():
    X, y = some_table()
    options = {"error": "cross_validation", "random_state": 0}
    whole = AcceptableSubsetSelector(**options).fit(X, y)
    selector = AcceptableSubsetSelector(**options, warm_start=True)
    for delay in (0.02, 0.05, 0.1):
        interrupt_after(delay, lambda: selector.fit(X, y))
    selector.fit(X, y)
    assert selector.status_ == "optimal"
    assert selector.error_ == whole.error_
    assert selector.n_features_ == whole.n_features_
