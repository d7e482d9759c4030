"""The searches over regression trees against all subsets."""

from hypothesis import given
from hypothesis import strategies as st

from sktree_opt.subset.complete._streams import OnDemandStream
from sktree_opt.utils._control import SearchControl
from tests.effort import examples
from tests.subset.cases import cases
from tests.subset.checks import (
    assert_acceptable,
    assert_best,
    assert_distinct,
    assert_steps,
)
from tests.subset.test_streams_oracle import results_of

problems = cases(max_columns=5, with_groups=True, numbers=True)


@examples(60)
@given(problems)
def test_all_and_only_the_distinct_trees(case):
    assert_distinct(case, case.brute_force())


@examples(80)
@given(problems, st.sampled_from([0.0, 0.0, 0.03, 0.2]))
def test_the_best_subset_is_the_best(case, penalty):
    assert_best(case, case.brute_force(), penalty)


@examples(60)
@given(problems, st.floats(0.0, 2.0))
def test_acceptable_subsets_are_acceptable(case, delta):
    assert_acceptable(case, case.brute_force(), delta)


@examples(80)
@given(problems)
def test_steps_are_those_of_the_definition(case):
    assert_steps(case, case.brute_force())


@examples(40)
@given(cases(max_rows=40, max_columns=8, numbers=True))
def test_bounds_only_save_work(case):
    problem = case.problem()
    rules = {"only_best": True}
    found = results_of(OnDemandStream(problem, SearchControl(), **rules))
    assert found == results_of(OnDemandStream(problem, SearchControl(), **rules, n_threads=3))
    without = OnDemandStream(problem, SearchControl(), **rules, looks_ahead=False)
    assert [tree[1] for tree in results_of(without)][-1:] == [tree[1] for tree in found][-1:]
