"""Enumeration and best subsets against all subsets."""

import pickle

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sktree_opt.subset.complete._streams import OnDemandStream, search_slices
from sktree_opt.subset.errors._parts import EstimatePart
from sktree_opt.utils._control import SearchControl
from tests.effort import examples
from tests.subset.cases import Case, cases
from tests.subset.checks import assert_acceptable, assert_best, assert_distinct


@examples(150)
@given(cases(max_columns=5, with_groups=True))
def test_all_and_only_the_distinct_trees(case):
    assert_distinct(case, case.brute_force())


@examples(150)
@given(cases(max_columns=5, with_groups=True), st.sampled_from([0.0, 0.0, 0.03, 0.2]))
def test_the_best_subset_is_the_best(case, penalty):
    assert_best(case, case.brute_force(), penalty)


def test_the_bound_of_a_branch_that_no_case_goes_down():
    # The search row has a category that no case has; the case without a value does not go there.
    table = [[0]] * 12 + [[1], [2], [None]]
    y = [0] * 11 + [1, 0, 0, 1]
    rows = np.delete(np.arange(15), 13)
    part = EstimatePart(rows, np.ones(14), np.array([13]), np.ones(1))
    parameters = {
        "nominal_split": "multiway",
        "min_split_weight": 2,
        "min_leaf_weight": 0,
        "max_depth": None,
    }
    case = Case(table, [True], y, [part], "information_gain", parameters)
    assert_acceptable(case, case.brute_force(), 0.0)


@examples(150)
@given(cases(max_columns=5, with_groups=True), st.floats(0.0, 0.5))
def test_acceptable_subsets_are_acceptable(case, delta):
    assert_acceptable(case, case.brute_force(), delta)


@examples(150)
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


@examples(60)
@given(cases(max_columns=6), st.sampled_from([0.0, 0.0, 0.1]))
def test_lower_bounds_hold_while_they_rise(case, delta):
    problem = case.problem()
    trees = list(OnDemandStream(problem, SearchControl()))
    start = max(trees, key=lambda tree: (tree[1], len(tree[0])))
    brute = case.brute_force()
    least = min(brute.errors.values())
    slack = int(delta * problem.total_cost / problem.cost_unit)
    rules = {"start": start, "only_best": True, "slack": slack}
    stream = OnDemandStream(problem, SearchControl(), **rules)
    found, bounds = [], [stream.lower_bound]
    while (piece := stream.run_round()) is not None:
        found += piece
        bounds.append(stream.lower_bound)
    assert stream.is_done
    assert bounds == sorted(bounds)
    best = found[-1] if found else start
    assert all(problem.to_error(bound) <= least + 1e-12 for bound in bounds)
    assert least <= problem.to_error(best[1]) + 1e-12
    assert best[1] <= bounds[-1] + slack
    if slack == 0:
        fewest = min(len(brute.used[s]) for s, e in brute.errors.items() if e <= least + 1e-12)
        assert len(best[0]) == fewest
    expected = [tree_of(tree) for tree in found]
    assert results_of(OnDemandStream(problem, SearchControl(), n_threads=3, **rules)) == expected
    assert results_by_rounds(problem, **rules) == expected


def results_by_rounds(problem, *, start, **rules):
    """Each round by another search, from the state that the one before has left."""
    state, found = None, []
    while True:
        stream = OnDemandStream(problem, SearchControl(), start=start, state=state, **rules)
        trees = stream.run_round()
        if trees is None:
            return [tree_of(tree) for tree in found]
        found += trees
        start = found[-1] if found else start
        state = stream.state


def tree_of(found):
    features, cost, n_leaves = found
    return tuple(features.tolist()), cost, n_leaves


def results_of(stream):
    return [tree_of(found) for found in stream]
