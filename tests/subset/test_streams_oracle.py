"""Enumeration and best subsets against all subsets."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sktree_opt.subset._streams import ORDERS, DistinctStream, OnDemandStream, search_slices
from sktree_opt.utils._control import SearchControl
from tests.subset.cases import cases, examples

# Every bound, and the order of the search, switched off or over.
BEST_RULES = [
    {},
    {"lookahead": 0},
    {"lookahead": 1},
    {"lookahead": 3},
    {"class_bound": False},
    {"twin_bound": False},
    {"size_bound": False},
    {"choices": False},
    {"best_first": True},
    dict.fromkeys(["lookahead", "class_bound", "twin_bound", "size_bound", "choices"], 0),
]


def features_of(stream):
    return sorted(tuple(features.tolist()) for features, _, _ in stream)


@examples(40)
@given(cases(max_columns=5, with_groups=True))
def test_all_and_only_the_distinct_trees(case):
    brute, problem = case.brute_force(), case.problem()
    expected = brute.distinct()
    orders = []
    for options in ({}, {"budget": 0}, {"n_threads": 3}):
        stream = OnDemandStream(problem, SearchControl(), **options)
        found = list(stream)
        orders.append([tuple(features.tolist()) for features, _, _ in found])
        assert sorted(orders[-1]) == expected
        assert stream.is_done
        assert stream.stats["n_decisions"] == len(expected) - 1
        assert stream.progress == pytest.approx(1.0)
        for features, cost, _ in found:
            assert problem.to_error(cost) == pytest.approx(brute.error_of(features.tolist()))
    assert orders[0] == orders[1] == orders[2]
    for order in ORDERS:
        stream = DistinctStream(problem, SearchControl(), order=order)
        assert features_of(stream) == expected
        assert stream.progress == pytest.approx(1.0)
        assert stream.stats["n_distinct"] == len(expected) <= stream.stats["n_built"]
        assert stream.stats["max_alive"] <= brute.n_features + 1


@examples(40)
@given(cases(max_columns=5, with_groups=True), st.sampled_from([0.0, 0.0, 0.03, 0.2]))
def test_the_best_subset_is_the_best(case, penalty):
    brute, problem = case.brute_force(), case.problem()
    penalty_cost = round(penalty * problem.total_cost / problem.cost_unit)
    penalty = problem.to_error(penalty_cost)
    rated = [
        (e + penalty * len(brute.used[s]), len(brute.used[s])) for s, e in brute.errors.items()
    ]
    least = min(objective for objective, _ in rated)
    # Sums of penalties and errors may tie but for rounding.
    best = least, min(size for objective, size in rated if objective <= least + 1e-9)
    streams = [
        OnDemandStream(problem, SearchControl(), only_best=True, penalty=penalty_cost, **rules)
        for rules in BEST_RULES
    ]
    streams.append(DistinctStream(problem, SearchControl(), accepts=True, penalty=penalty_cost))
    for stream in streams:
        *_, (features, cost, _) = stream
        error = brute.error_of(features.tolist())
        assert problem.to_error(cost) == pytest.approx(error)
        assert error + penalty * len(features) == pytest.approx(best[0])
        assert len(features) == best[1]
        assert brute.used[tuple(features.tolist())] == tuple(features.tolist())


@examples(40)
@given(cases(max_columns=5, with_groups=True), st.floats(0.0, 0.5))
def test_acceptable_subsets_are_acceptable(case, delta):
    brute, problem = case.brute_force(), case.problem()
    slack = int(delta * problem.total_cost / problem.cost_unit)
    best = min(brute.errors.values())
    streams = [
        OnDemandStream(problem, SearchControl(), only_best=True, slack=slack, **rules)
        for rules in BEST_RULES
    ]
    streams.append(DistinctStream(problem, SearchControl(), accepts=True, slack=slack))
    for stream in streams:
        *_, (_, cost, _) = stream
        assert problem.to_error(cost) <= best + delta + 1e-12
    limit = round(best * problem.total_cost / problem.cost_unit) + slack
    wanted = {
        used
        for subset, used in brute.used.items()
        if brute.errors[subset] <= problem.to_error(limit) + 1e-12
    }
    for rules in ({}, {"lookahead": 0}, {"class_bound": False}, {"n_threads": 2}):
        stream = OnDemandStream(problem, SearchControl(), limit=limit, **rules)
        assert features_of(stream) == sorted(wanted)


@examples(40)
@given(cases(max_rows=40, max_columns=10), st.integers(0, 3), st.sampled_from([0.0, 0.1]))
def test_the_result_does_not_depend_on_who_searches(case, n_slices, delta):
    problem = case.problem()
    slack = int(delta * problem.total_cost / problem.cost_unit)
    rules = {"only_best": True, "slack": slack}
    here = results_of(OnDemandStream(problem, SearchControl(), **rules))
    for options in ({"n_threads": 3}, {"budget": 0}):
        assert here == results_of(OnDemandStream(problem, SearchControl(), **rules, **options))
    # Some rounds by a copy of the problem, and the rest by a search that takes up what is left.
    copy = pickle.loads(pickle.dumps(problem))
    stream = OnDemandStream(problem, SearchControl(), **rules)
    found = []
    for _ in range(n_slices):
        if (planned := stream.plan()) is not None:
            results, status, _ = search_slices(copy, *planned, rules)
            assert status == "optimal"
            found += stream.merge(results)
    start = found[-1] if found else None
    rest = OnDemandStream(problem, SearchControl(), start=start, state=stream.state, **rules)
    found = [tree_of(tree) for tree in found] + results_of(rest)
    assert found == here
    assert rest.is_done


def tree_of(found):
    features, cost, n_leaves = found
    return tuple(features.tolist()), cost, n_leaves


def results_of(stream):
    return [tree_of(found) for found in stream]
