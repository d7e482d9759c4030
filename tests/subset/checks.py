"""What the searches must find on a table whose subsets have all been tried."""

import pytest

from sktree_opt.subset.complete._streams import ORDERS, DistinctStream, OnDemandStream
from sktree_opt.subset.elimination._backward import METHODS, eliminate
from sktree_opt.utils._control import SearchControl

# Every bound, and the order of the search, switched off or over.
BEST_RULES = [
    {},
    {"looks_ahead": False},
    {"cuts_short": False},
    {"leaves_out": False},
    {"looks_ahead": False, "cuts_short": False},
]


# Those that make the same steps.
SAME_METHODS = [method for method in METHODS if method != "black_box"]


def features_of(stream):
    return sorted(tuple(features.tolist()) for features, _, _ in stream)


def assert_distinct(case, brute):
    """All and only the distinct trees, each once, by every method and order."""
    problem = case.problem()
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
        stream = DistinctStream(problem, SearchControl(), order=order, n_threads=2)
        assert features_of(stream) == expected
        assert stream.progress == pytest.approx(1.0)
        assert stream.stats["n_distinct"] == len(expected) <= stream.stats["n_built"]
        assert stream.stats["max_alive"] <= brute.n_features + 1


def assert_best(case, brute, penalty):
    """The least error with penalties, and of those the fewest features, by every set of bounds."""
    problem = case.problem(has_penalty=penalty > 0.0)
    prices = [problem.to_cost(penalty)] * brute.n_features if penalty else None
    rated = [
        (e + penalty * len(brute.used[s]), len(brute.used[s])) for s, e in brute.errors.items()
    ]
    least = min(objective for objective, _ in rated)
    # Sums of penalties and errors may tie but for rounding.
    best = least, min(size for objective, size in rated if objective <= least + 1e-9)
    streams = [
        OnDemandStream(problem, SearchControl(), only_best=True, prices=prices, **rules)
        for rules in BEST_RULES
    ]
    streams.append(DistinctStream(problem, SearchControl(), accepts=True, prices=prices))
    for stream in streams:
        *_, (features, cost, _) = stream
        error = brute.error_of(features.tolist())
        assert problem.to_error(cost) == pytest.approx(error)
        assert error + penalty * len(features) == pytest.approx(best[0])
        assert len(features) == best[1]
        assert brute.used[tuple(features.tolist())] == tuple(features.tolist())


def assert_acceptable(case, brute, delta):
    """An error within `delta` of the least; and all the trees within it."""
    problem = case.problem()
    slack = int(delta * problem.total_cost / problem.cost_unit)
    best = min(brute.errors.values())
    # Losses of numbers are not whole, and rounded.
    tolerance = 1e-12 if case.loss is None else 1e-9
    streams = [
        OnDemandStream(problem, SearchControl(), only_best=True, slack=slack, **rules)
        for rules in BEST_RULES
    ]
    streams.append(DistinctStream(problem, SearchControl(), accepts=True, slack=slack))
    for stream in streams:
        *_, (_, cost, _) = stream
        assert problem.to_error(cost) <= best + delta + tolerance
    limit = round(best * problem.total_cost / problem.cost_unit) + slack
    if case.loss is not None:
        limit += round(tolerance * problem.total_cost / problem.cost_unit)
    wanted = {
        used
        for subset, used in brute.used.items()
        if brute.errors[subset] <= problem.to_error(limit) + 1e-12
    }
    for rules in ({}, {"looks_ahead": False}, {"n_threads": 2}):
        stream = OnDemandStream(problem, SearchControl(), limit=limit, **rules)
        assert features_of(stream) == sorted(wanted)


def steps_of(case, **options):
    """(removed, used features, error) of each step of an elimination."""
    problem = case.problem()
    steps, _ = eliminate(problem, SearchControl(), **options)
    return [
        (
            tuple(step["removed"].tolist()),
            tuple(step["features"].tolist()),
            pytest.approx(problem.to_error(step["cost"]), abs=1e-12 if case.loss is None else 1e-9),
        )
        for step in steps
    ]


def assert_steps(case, brute):
    """The steps of the definition, by every method."""
    for tie_goes_on in (True, False):
        expected = brute.eliminate(tie_goes_on)
        for method in SAME_METHODS:
            assert expected == steps_of(case, tie_goes_on=tie_goes_on, method=method)
        expected = brute.eliminate(tie_goes_on, black_box=True)
        assert expected == steps_of(case, tie_goes_on=tie_goes_on, method="black_box")
