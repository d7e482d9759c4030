"""Enumeration and best subsets against all subsets."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sktree_opt.subset._streams import ORDERS, DistinctStream, OnDemandStream
from sktree_opt.utils._control import SearchControl
from tests.subset.cases import cases


def features_of(stream):
    return sorted(tuple(features.tolist()) for features, _, _ in stream)


@settings(max_examples=100, deadline=None)
@given(cases(max_columns=5))
def test_all_and_only_the_distinct_trees(case):
    brute, problem = case.brute_force(), case.problem()
    expected = brute.distinct()
    for budget in (1 << 30, 0):
        stream = OnDemandStream(problem, SearchControl(), budget=budget)
        found = list(stream)
        assert sorted(tuple(features.tolist()) for features, _, _ in found) == expected
        assert stream.is_done
        assert stream.stats["n_decisions"] == len(expected) - 1
        assert stream.progress == pytest.approx(1.0)
        for features, cost, _ in found:
            assert problem.to_error(cost) == pytest.approx(brute.error_of(features.tolist()))
    for order in ORDERS:
        stream = DistinctStream(problem, SearchControl(), order=order)
        assert features_of(stream) == expected
        assert stream.progress == pytest.approx(1.0)
        assert stream.stats["n_distinct"] == len(expected) <= stream.stats["n_built"]
        assert stream.stats["max_alive"] <= brute.n_features + 1


@settings(max_examples=100, deadline=None)
@given(cases(max_columns=5), st.sampled_from([0.0, 0.0, 0.03, 0.2]), st.data())
def test_the_best_subset_is_the_best(case, penalty, data):
    brute, problem = case.brute_force(), case.problem()
    penalty_cost = round(penalty * problem.total_cost / problem.cost_unit)
    penalty = problem.to_error(penalty_cost)
    best = min(
        (e + penalty * len(brute.used[s]), len(brute.used[s])) for s, e in brute.errors.items()
    )
    streams = [
        OnDemandStream(
            problem,
            SearchControl(),
            only_best=True,
            lookahead=lookahead,
            class_bound=class_bound,
            penalty=penalty_cost,
        )
        for lookahead in (0, 1, 2)
        for class_bound in (True, False)
    ]
    streams.append(DistinctStream(problem, SearchControl(), accepts=True, penalty=penalty_cost))
    for stream in streams:
        *_, (features, cost, _) = stream
        error = brute.error_of(features.tolist())
        assert problem.to_error(cost) == pytest.approx(error)
        assert error + penalty * len(features) == pytest.approx(best[0])
        assert len(features) == best[1]
        assert brute.used[tuple(features.tolist())] == tuple(features.tolist())


@settings(max_examples=100, deadline=None)
@given(cases(max_columns=5), st.floats(0.0, 0.5))
def test_acceptable_subsets_are_acceptable(case, delta):
    brute, problem = case.brute_force(), case.problem()
    slack = int(delta * problem.total_cost / problem.cost_unit)
    best = min(brute.errors.values())
    for stream in (
        OnDemandStream(problem, SearchControl(), only_best=True, slack=slack),
        DistinctStream(problem, SearchControl(), accepts=True, slack=slack),
    ):
        *_, (_, cost, _) = stream
        assert problem.to_error(cost) <= best + delta + 1e-12
    limit = round(best * problem.total_cost / problem.cost_unit) + slack
    wanted = {
        used
        for subset, used in brute.used.items()
        if brute.errors[subset] <= problem.to_error(limit) + 1e-12
    }
    stream = OnDemandStream(problem, SearchControl(), limit=limit)
    assert features_of(stream) == sorted(wanted)
