"""Constraints on subsets as parameters of the selectors, and names in what they report."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning

from sktree_opt.greedy import GreedyTreeClassifier
from sktree_opt.subset import (
    AcceptableSubsetSelector,
    CrossValidationError,
    DistinctTreeEnumerator,
    DTsbeSelector,
)
from tests.effort import examples
from tests.reference.brute_force_subsets import all_subsets, verdicts_of
from tests.subset.cases import fit_with_midpoints

SPLIT = [(np.arange(0, 569, 2), np.arange(1, 569, 2))]
ERROR = CrossValidationError(SPLIT)


def some_table(n_columns=6, first=10):
    frame, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return frame.iloc[:, first : first + n_columns], y.to_numpy()


def errors_of(X, y, split):
    """By the columns that a tree uses, its error; each subset is tried on its own."""
    build, search = split
    found = {}
    for subset in all_subsets(X.shape[1]):
        masked = np.zeros(X.shape)
        masked[:, subset] = X[:, subset]
        tree = fit_with_midpoints(GreedyTreeClassifier(), masked[build], y[build])
        used = tuple(tree.tree_.features.tolist())
        found[used] = float(np.mean(tree.predict(masked[search]) != y[search]))
    return found


@pytest.fixture(scope="module")
def errors():
    frame, y = some_table()
    return errors_of(frame.to_numpy(), y, SPLIT[0])


@examples(100)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([{"delta": 0.0}, {"delta": 0.05}, {"max_error": 0.3}]),
    st.sampled_from([None, 0, 2]),
)
def test_verdicts_on_random_tables(seed, limit, max_features):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (40, 4)).astype(float)
    y = (X @ rng.integers(-1, 2, 4) + rng.normal(0, 0.7, 40) > 0).astype(int)
    split = (np.arange(0, 40, 2), np.arange(1, 40, 2))
    y[[0, 1, 2, 3]] = [0, 0, 1, 1]
    errors = errors_of(X, y, split)
    of_size = {u: e for u, e in errors.items() if max_features is None or len(u) <= max_features}
    largest = limit.get("max_error", min(of_size.values()) + limit.get("delta", 0.0))
    accepted = [used for used, error in of_size.items() if error <= largest + 1e-12]
    selector = AcceptableSubsetSelector(
        error=CrossValidationError([split]), collect=True, max_features=max_features, **limit
    )
    if not accepted:
        with pytest.raises(ValueError, match="No feature subset has a tree with max_error"):
            selector.fit(X, y)
        return
    selector.fit(X, y)
    assert selector.n_acceptable_ == len(accepted)
    assert selector.feature_verdicts_.tolist() == verdicts_of(accepted, 4)
    table = selector.feature_reliance_
    assert table["name"].tolist() == ["x0", "x1", "x2", "x3"]
    assert table["verdict"].tolist() == selector.feature_verdicts_.tolist()
    shares = [np.mean([feature in used for used in accepted]) for feature in range(4)]
    assert table["share"] == pytest.approx(shares)


def selected(selector):
    return tuple(np.flatnonzero(selector.support_).tolist())


@pytest.mark.parametrize("max_error", [0.02, 0.06, 0.08, 0.1, 0.2, 0.5])
def test_the_smallest_subset_up_to_an_error(errors, max_error):
    good = [(len(used), error) for used, error in errors.items() if error <= max_error + 1e-12]
    selector = AcceptableSubsetSelector(error=ERROR, max_error=max_error)
    if not good:
        with pytest.raises(ValueError, match="No feature subset has a tree with max_error"):
            selector.fit(*some_table())
        assert not hasattr(selector, "support_")
        return
    selector.set_params(collect=True).fit(*some_table())
    assert (selector.n_features_, selector.error_) == pytest.approx(min(good))
    assert errors[selected(selector)] == pytest.approx(selector.error_)
    assert selector.objective_ == selector.lower_bound_ == selector.n_features_
    assert selector.gap_ == 0.0
    assert selector.n_acceptable_ == len(good)
    accepted = [used for used, error in errors.items() if error <= max_error + 1e-12]
    assert selector.feature_verdicts_.tolist() == verdicts_of(accepted, 6)


@pytest.mark.parametrize("sizes", [(0, 2), (3, 3), (4, None), (0, 0), (6, 6)])
def test_sizes_of_the_best_subset(errors, sizes):
    low, high = sizes
    of_size = {
        used: error
        for used, error in errors.items()
        if low <= len(used) <= (6 if high is None else high)
    }
    selector = AcceptableSubsetSelector(error=ERROR, min_features=low, max_features=high)
    if not of_size:
        with pytest.raises(ValueError, match="No feature subset has a tree with min_features"):
            selector.fit(*some_table())
        return
    selector.fit(*some_table())
    assert selector.error_ == pytest.approx(min(of_size.values()))
    assert of_size[selected(selector)] == pytest.approx(selector.error_)
    assert selector.gap_ == 0.0


@pytest.mark.parametrize("delta", [0.0, 0.01, 0.05])
@pytest.mark.parametrize("max_features", [None, 3])
def test_verdicts_are_those_of_all_acceptable_trees(errors, delta, max_features):
    options = {"error": ERROR, "delta": delta, "collect": True, "max_features": max_features}
    selector = AcceptableSubsetSelector(**options).fit(*some_table())
    of_size = {u: e for u, e in errors.items() if max_features is None or len(u) <= max_features}
    accepted = [u for u, e in of_size.items() if e <= min(of_size.values()) + delta + 1e-12]
    assert selector.n_acceptable_ == len(accepted)
    assert selector.feature_verdicts_.tolist() == verdicts_of(accepted, 6)


def test_verdicts_before_the_end_hold():
    frame, y = load_breast_cancer(return_X_y=True, as_frame=True)
    frame = frame.iloc[:, :9]
    options = {"error": ERROR, "delta": 0.02, "collect": True}
    whole = AcceptableSubsetSelector(**options, time_limit=None).fit(frame, y)
    assert whole.collect_status_ == "optimal"
    assert "open" not in whole.feature_verdicts_
    stopped, limit = None, 0.003
    while stopped is None or stopped.collect_status_ != "optimal":
        stopped = AcceptableSubsetSelector(**options, time_limit=limit)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            stopped.fit(frame, y)
        known = stopped.feature_verdicts_ != "open"
        assert (stopped.feature_verdicts_[known] == whole.feature_verdicts_[known]).all()
        limit *= 1.7


@pytest.mark.parametrize("kept", [["area error"], [3], [False] * 3 + [True] + [False] * 2])
@pytest.mark.parametrize("selector", [AcceptableSubsetSelector, DTsbeSelector])
def test_features_that_are_kept(selector, kept):
    frame, y = some_table()
    fitted = selector(features_to_keep=kept, error=ERROR).fit(frame, y)
    assert fitted.support_[3]
    free = selector(error=ERROR).fit(frame, y)
    assert fitted.error_ >= free.error_ or selector is DTsbeSelector
    everything = selector(features_to_keep=range(6), error=ERROR).fit(frame, y)
    assert everything.support_.all()


def test_a_price_for_each_feature():
    frame, y = some_table()
    names = frame.columns
    one = AcceptableSubsetSelector(error=ERROR, feature_penalty=0.01).fit(frame, y)
    many = AcceptableSubsetSelector(error=ERROR, feature_penalty=[0.01] * 6).fit(frame, y)
    assert one.objective_ == many.objective_
    assert selected(one) == selected(many)
    dear = {names[j]: 1.0 for j in np.flatnonzero(one.support_)}
    other = AcceptableSubsetSelector(error=ERROR, feature_penalty=dear).fit(frame, y)
    assert not (other.support_ & one.support_).any()
    assert other.objective_ == pytest.approx(other.error_)


def test_a_maximum_forces_removals():
    frame, y = some_table()
    free = DTsbeSelector(error=ERROR).fit(frame, y)
    for most in range(free.n_features_ + 1):
        forced = DTsbeSelector(error=ERROR, max_features=most).fit(frame, y)
        assert forced.n_features_ <= most
        assert forced.history_[0]["error"] == free.history_[0]["error"]


def test_lists_of_features_are_names_where_there_are_names():
    frame, y = some_table()
    names = frame.columns
    steps = DTsbeSelector(error=ERROR).fit(frame, y).history_
    of_array = DTsbeSelector(error=ERROR).fit(frame.to_numpy(), y).history_
    assert len(steps) == len(of_array)
    for step, without in zip(steps, of_array, strict=True):
        for key in ("removed", "features"):
            assert step[key].tolist() == names[without[key]].tolist()
    enumerator = DistinctTreeEnumerator(max_trees=3).fit(frame, y)
    assert all(set(support) <= set(names) for support in enumerator.supports_)
    features, tree = next(enumerator.iter_trees(frame, y))
    assert features.tolist() == names[tree.tree_.features].tolist()
    selector = AcceptableSubsetSelector(error=ERROR, delta=0.02, collect=True).fit(frame, y)
    for subset in selector.acceptable_subsets_:
        assert subset["tree"].tree_ == selector.tree_on(subset["features"], frame, y).tree_
    assert (
        pd.Series(selector.feature_verdicts_, selector.feature_names_in_)
        .isin(["all", "some", "none"])
        .all()
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_error": 0.1, "delta": 0.1}, "max_error is not supported together with"),
        ({"max_error": 0.1, "feature_penalty": {0: 0.1}}, "max_error is not supported together"),
        ({"max_error": 0.1, "method": "dtaccept"}, "max_error is only supported with method="),
        ({"max_features": 3, "method": "dtaccept"}, "max_features is only supported with method="),
        ({"features_to_keep": [0], "method": "dtaccept"}, "features_to_keep is only supported"),
        ({"min_features": 7}, "min_features=7, but X has 6 features"),
        ({"max_features": 1, "min_features": 2}, "min_features asks for 2"),
        ({"max_features": 1, "features_to_keep": [0, 1]}, "features_to_keep asks for 2"),
        ({"feature_penalty": [0.1, 0.2]}, r"feature_penalty has shape \(2,\), but X has 6"),
        ({"feature_penalty": [-0.1] * 6}, "finite numbers that are not negative"),
        ({"feature_penalty": {"nothing": 0.1}}, "feature_penalty names 'nothing'"),
        ({"features_to_keep": ["nothing"]}, "features_to_keep names 'nothing'"),
    ],
)
def test_constraints_that_cannot_be_meant(options, message):
    selector = AcceptableSubsetSelector(**options)
    with pytest.raises((ValueError, TypeError), match=message):
        selector.fit(*some_table())
    assert not hasattr(selector, "n_features_in_")
