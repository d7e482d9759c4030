"""Searches with constraints against all subsets: kept features, sizes, prices, a largest error."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sktree_opt.subset.complete._streams import DistinctStream, OnDemandStream
from sktree_opt.subset.elimination._backward import eliminate
from sktree_opt.utils._control import SearchControl
from tests.effort import examples
from tests.subset.cases import cases
from tests.subset.checks import (
    BEST_RULES,
    SAME_METHODS,
    assert_best,
    assert_distinct,
    features_of,
)

# Searches that differ in their bounds; the others are tried without constraints.
FEW_RULES = [
    {},
    {"looks_ahead": False},
    {"cuts_short": False},
    {"n_threads": 2},
]
KEPT = st.lists(st.integers(0, 4), max_size=2)


def best_of(problem, **rules):
    """The last tree of a search for the best: its features and error; None without any."""
    stream = OnDemandStream(problem, SearchControl(), only_best=True, **rules)
    trees = list(stream)
    assert stream.is_done
    if not trees:
        return None
    features, cost, _ = trees[-1]
    return tuple(features.tolist()), problem.to_error(cost), stream.lower_bound


def columns_of(case, kept):
    return sorted({column for column in kept if column < len(case.nominal)})


@examples(100)
@given(cases(max_columns=5, with_groups=True), KEPT, st.sampled_from([0.0, 0.03]))
def test_kept_features_are_in_every_subset(case, kept, penalty):
    kept = columns_of(case, kept)
    brute = case.brute_force(kept)
    problem = case.problem(kept=kept, has_penalty=penalty > 0.0)
    assert set(problem.kept_features.tolist()) == brute.kept
    assert features_of(OnDemandStream(problem, SearchControl())) == brute.distinct()
    prices = [problem.to_cost(penalty)] * brute.n_features
    least = min(error + penalty * len(brute.used[s]) for s, error in brute.errors.items())
    for rules in FEW_RULES:
        features, error, _ = best_of(problem, prices=prices, **rules)
        assert brute.kept <= set(features)
        assert error == pytest.approx(brute.error_of(features))
        assert error + penalty * len(features) == pytest.approx(least, abs=1e-6)


@examples(100)
@given(cases(max_columns=5, with_groups=True), KEPT, st.sampled_from([None, 0, 1, 2, 3]))
def test_eliminations_keep_features_and_go_down_to_a_maximum(case, kept, max_features):
    kept = columns_of(case, kept)
    brute = case.brute_force(kept)
    problem = case.problem(kept=kept)
    for tie_goes_on in (True, False):
        expected = brute.eliminate(tie_goes_on, max_features)
        for method in SAME_METHODS:
            steps, _ = eliminate(
                problem,
                SearchControl(),
                method=method,
                tie_goes_on=tie_goes_on,
                max_features=max_features,
            )
            found = [
                (
                    tuple(step["removed"].tolist()),
                    tuple(sorted({*step["features"].tolist(), *brute.kept})),
                    pytest.approx(problem.to_error(step["cost"]), abs=1e-12),
                )
                for step in steps
            ]
            assert found == expected


@examples(100)
@given(cases(max_columns=5, with_groups=True), st.data())
def test_every_feature_has_its_price(case, data):
    brute = case.brute_force()
    problem = case.problem(has_penalty=True)
    price = st.sampled_from([0.0, 0.01, 0.03, 0.2])
    each = np.array([data.draw(price) for _ in range(brute.n_features)])
    prices = [problem.to_cost(price) for price in each]
    least = min(error + each[list(brute.used[s])].sum() for s, error in brute.errors.items())
    streams = [
        OnDemandStream(problem, SearchControl(), only_best=True, prices=prices, **rules)
        for rules in FEW_RULES
    ]
    streams.append(DistinctStream(problem, SearchControl(), accepts=True, prices=prices))
    for stream in streams:
        *_, (features, cost, _) = stream
        error = brute.error_of(features.tolist())
        assert problem.to_error(cost) == pytest.approx(error)
        assert error + each[features].sum() == pytest.approx(least, abs=1e-6)


@examples(100)
@given(cases(max_columns=5, with_groups=True), st.integers(0, 4), st.integers(0, 3))
def test_the_best_subset_of_some_size(case, low, more):
    brute = case.brute_force()
    problem = case.problem()
    of_size = {
        brute.used[s]: error
        for s, error in brute.errors.items()
        if low <= len(brute.used[s]) <= low + more
    }
    sizes = {"min_size": low, "max_size": low + more}
    for rules in FEW_RULES:
        found = best_of(problem, **sizes, **rules)
        assert (found is None) == (not of_size)
        if found is not None:
            assert low <= len(found[0]) <= low + more
            assert found[1] == pytest.approx(of_size[found[0]])
            assert found[1] == pytest.approx(min(of_size.values()))
    stream = OnDemandStream(problem, SearchControl(), **sizes)
    assert features_of(stream) == sorted(of_size)


@examples(150)
@given(cases(max_columns=5, with_groups=True), st.floats(0.0, 0.6), KEPT)
def test_the_smallest_subset_that_is_good_enough(case, largest, kept):
    kept = columns_of(case, kept)
    brute = case.brute_force(kept)
    problem = case.problem(kept=kept)
    limit = int(np.floor(problem.to_cost(largest, exact=True) * (1.0 + 1e-9)))
    good = [
        (len(brute.used[s]), error)
        for s, error in brute.errors.items()
        if error <= problem.to_error(limit) + 1e-12
    ]
    for rules in [*FEW_RULES, *BEST_RULES]:
        found = best_of(problem, by_size=True, cost_limit=limit, **rules)
        assert (found is None) == (not good)
        if found is not None:
            features, error, lower_bound = found
            assert (len(features), error) == pytest.approx(min(good))
            assert error == pytest.approx(brute.error_of(features))
            assert lower_bound == len(features)


@examples(50)
@given(cases(max_columns=5, with_groups=True))
def test_constraints_that_exclude_nothing(case):
    brute = case.brute_force()
    assert_distinct(case, brute)
    assert_best(case, brute, 0.0)
