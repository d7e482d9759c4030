"""Trees of an enumeration: handed out one by one, kept, and grown on features that are named."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning

from sktree_opt.greedy import GreedyTreeClassifier
from sktree_opt.subset import AcceptableSubsetSelector, DistinctTreeEnumerator, DTsbeSelector
from sktree_opt.subset.complete._streams import ORDERS
from tests.processes import interrupt_after, needs_sigint

ALL = [AcceptableSubsetSelector, DistinctTreeEnumerator, DTsbeSelector]


def some_table(n_columns=6):
    X, y = load_breast_cancer(return_X_y=True)
    return X[:, :n_columns], y


@pytest.mark.parametrize("method", ["on_demand", "dtdistinct"])
def test_limits_are_told_and_can_be_lifted(method):
    X, y = some_table(9)
    everything = [tuple(f) for f, _ in DistinctTreeEnumerator(method=method).iter_trees(X, y)]
    trees = DistinctTreeEnumerator(method=method, time_limit=0.0).iter_trees(X, y)
    with pytest.warns(ConvergenceWarning, match="stopped at its time_limit after"):
        found = [tuple(f) for f, _ in trees]
    assert trees.status == "time_limit"
    assert len(found) < len(everything)
    assert list(trees) == []
    limits = [0.001] * 3 + [None]
    for limit in limits:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            found += [tuple(f) for f, _ in trees.resume(time_limit=limit)]
    assert trees.status == "optimal"
    assert trees.progress == 1.0
    assert trees.n_trees == len(found)
    assert sorted(found) == sorted(everything)


def test_what_the_caller_does_takes_no_time():
    X, y = some_table(7)
    trees = DistinctTreeEnumerator(time_limit=5.0).iter_trees(X, y)
    before = trees._seconds_left
    next(trees)
    trees._search.control.restart(0.0, None)  # as if the caller had taken longer than that
    next(trees)
    assert 0.0 < trees._seconds_left < before
    assert 0.0 < trees.progress < 1.0


@pytest.mark.parametrize("estimator", ALL)
def test_other_trees_leave_the_estimator_as_it_is(estimator):
    X, y = some_table()
    fitted = estimator().fit(X, y)
    before = dict(vars(fitted))
    answers = fitted.predict(X)
    tree = fitted.tree_on([1, 3], X, y)
    assert set(tree.tree_.features) <= {1, 3}
    with pytest.raises(ValueError, match="3 features"):
        fitted.tree_on([0], X[:, :3], y)
    assert vars(fitted) == before
    assert (fitted.predict(X) == answers).all()


def test_iterating_leaves_the_enumerator_as_it_is():
    X, y = some_table()
    enumerator = DistinctTreeEnumerator()
    next(enumerator.iter_trees(X, y))
    assert not hasattr(enumerator, "n_features_in_")
    enumerator.fit(X, y)
    next(enumerator.iter_trees(X[:, :3], y))
    assert enumerator.predict(X).shape == y.shape


def test_features_by_name_mask_and_index():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[:, :5]
    selector = DTsbeSelector().fit(X, y)
    mask = np.array([True, False, False, True, False])
    ways = [mask, [0, 3], [X.columns[0], X.columns[3]], np.array([3, 0])]
    trees = [selector.tree_on(way, X, y) for way in ways]
    for tree in trees[1:]:
        assert (tree.predict(X) == trees[0].predict(X)).all()
        assert tree.tree_.features.tolist() == trees[0].tree_.features.tolist()


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ([-1], "features names -1; X has columns 0 to 5"),
        ([6], "features names 6"),
        ([1.7], "indices or names of columns, got 1.7"),
        ([True, False], "mask of 2 columns; X has 6"),
        (["radius"], "'radius', but X has no column names"),
    ],
)
def test_features_that_are_no_columns(features, message):
    X, y = some_table()
    selector = DTsbeSelector().fit(X, y)
    with pytest.raises((ValueError, TypeError), match=message):
        selector.tree_on(features, X, y)
    named = DTsbeSelector().fit(pd.DataFrame(X, columns=list("abcdef")), y)
    with pytest.raises(ValueError, match="'g', which is not a column of X"):
        named.tree_on(["g"], pd.DataFrame(X, columns=list("abcdef")), y)


@pytest.mark.parametrize("order", ORDERS)
def test_kept_trees_are_fitted(order):
    X, y = some_table()
    enumerator = DistinctTreeEnumerator(method="dtdistinct", order=order, max_trees=4).fit(X, y)
    assert len(enumerator.trees_) == len(enumerator.supports_) == 4
    for tree, features, error in zip(
        enumerator.trees_, enumerator.supports_, enumerator.errors_, strict=True
    ):
        assert tree.tree_.features.tolist() == features.tolist()
        assert np.mean(tree.predict(X) != y) == pytest.approx(error)
    assert enumerator.trees_[0] is enumerator.estimator_
    assert enumerator.progress_ == 1.0
    assert enumerator.n_built_ >= enumerator.n_distinct_
    sizes = np.arange(7) @ enumerator.n_distinct_by_size_
    assert enumerator.feature_usage_.sum() * enumerator.n_distinct_ == pytest.approx(sizes)
    assert DistinctTreeEnumerator().fit(X, y).trees_ == []


def test_the_error_of_the_last_tree_is_told():
    X, y = some_table(4)
    trees = DistinctTreeEnumerator().iter_trees(X, y)
    assert np.isnan(trees.error)
    for _, tree in trees:
        assert trees.error == pytest.approx(np.mean(tree.predict(X) != y))


def test_a_failed_iteration_does_not_look_complete():
    X, y = some_table(5)
    n_calls = 0

    def rate(tree):
        nonlocal n_calls
        n_calls += 1
        if n_calls == 5:
            raise OSError("no connection")
        return 0.0

    trees = DistinctTreeEnumerator(error=rate).iter_trees(X, y)
    with pytest.raises(OSError, match="no connection"):
        list(trees)
    assert trees.status == "failed"
    assert trees.progress < 1.0
    with pytest.raises(RuntimeError, match="failed before"):
        next(trees.resume())


@pytest.mark.parametrize("method", ["on_demand", "dtdistinct"])
def test_an_interrupted_iteration_goes_on(method):
    X, y = some_table(6)
    expected = [tuple(f) for f, _ in DistinctTreeEnumerator(method=method).iter_trees(X, y)]
    trees = DistinctTreeEnumerator(method=method).iter_trees(X, y)
    fit_tree, found, n_calls = trees._fit_tree, [], 0

    def fit_or_interrupt(features):
        nonlocal n_calls
        n_calls += 1
        if n_calls % 4 == 3:
            raise KeyboardInterrupt
        return fit_tree(features)

    trees._fit_tree = fit_or_interrupt
    while trees.status == "running":
        try:
            found += [tuple(next(trees)[0])]
        except KeyboardInterrupt:
            continue
        except StopIteration:
            break
    assert found == expected
    assert trees.n_trees == len(expected)


@needs_sigint
@pytest.mark.parametrize("method", ["on_demand", "dtdistinct"])
def test_ctrl_c_loses_no_tree(method):
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :9]
    tree = GreedyTreeClassifier(min_samples_leaf=20)
    enumerator = DistinctTreeEnumerator(tree, method=method, time_limit=None)
    expected = sorted(tuple(f) for f, _ in enumerator.iter_trees(X, y))
    trees, found = enumerator.iter_trees(X, y), []

    def take():
        for features, _ in trees:
            found.append(tuple(features))

    for delay in (0.002, 0.01, 0.03, 0.06):
        interrupt_after(delay, take)
    found += [tuple(f) for f, _ in trees]
    assert trees.status == "optimal"
    assert trees.n_trees == len(expected)
    assert set(found) <= set(expected)
    # A tree that was made just before the signal may be lost between `next` and its caller.
    assert len(set(expected) - set(found)) <= 4


def test_limits_of_a_resumed_iteration_are_checked():
    trees = DistinctTreeEnumerator().iter_trees(*some_table(4))
    for limits in ({"time_limit": -1}, {"time_limit": "5"}, {"memory_limit": 0}):
        with pytest.raises(ValueError, match=f"The '{next(iter(limits))}' parameter"):
            trees.resume(**limits)
    with pytest.raises(ValueError, match="memory_limit must be"):
        trees.resume(memory_limit="much")
    assert len(list(trees.resume(memory_limit="2GB"))) > 1
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(trees)
