"""Every search against all subsets of up to twelve features, and on larger nodes."""

from hypothesis import given
from hypothesis import strategies as st

from tests.subset.cases import cases, examples, large_case
from tests.subset.checks import assert_acceptable, assert_best, assert_distinct, assert_steps

PENALTIES = st.sampled_from([0.0, 0.0, 0.03])
DELTAS = st.floats(0.0, 0.3)


def assert_all(case, penalty, delta):
    brute = case.brute_force()
    assert_distinct(case, brute)
    assert_best(case, brute, penalty)
    assert_acceptable(case, brute, delta)
    assert_steps(case, brute)


@examples(50)
@given(cases(max_rows=24, min_columns=6, max_columns=8), PENALTIES, DELTAS)
def test_up_to_eight_features(case, penalty, delta):
    assert_all(case, penalty, delta)


@examples(8)
@given(cases(max_rows=24, min_columns=10, max_columns=12), PENALTIES, DELTAS)
def test_up_to_twelve_features(case, penalty, delta):
    assert_all(case, penalty, delta)


@examples(60)
@given(st.integers(0, 2**32 - 1))
def test_nodes_of_hundreds_of_cases(seed):
    assert_all(large_case(seed), 0.0, 0.02)
