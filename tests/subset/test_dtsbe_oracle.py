"""Backward elimination against all subsets, and its methods against each other."""

import pytest
from hypothesis import given

from sktree_opt.subset._backward import METHODS, eliminate
from sktree_opt.utils._control import SearchControl
from tests.subset.cases import cases, examples


def run(case, **options):
    problem = case.problem()
    steps, _ = eliminate(problem, SearchControl(), **options)
    return [
        (
            tuple(step["removed"].tolist()),
            tuple(step["features"].tolist()),
            pytest.approx(problem.to_error(step["cost"]), abs=1e-12),
        )
        for step in steps
    ]


@examples(80)
@given(cases(max_columns=5, with_groups=True))
def test_steps_are_those_of_the_definition(case):
    brute = case.brute_force()
    for tie_goes_on in (True, False):
        expected = brute.eliminate(tie_goes_on)
        for method in METHODS:
            assert expected == run(case, tie_goes_on=tie_goes_on, method=method)


@examples(120)
@given(cases(max_rows=30, max_columns=10, with_groups=True))
def test_methods_agree(case):
    expected = run(case, method="sbe")
    for method in METHODS:
        assert [step[:2] for step in run(case, method=method)] == [s[:2] for s in expected]
        assert [step[2].expected for step in run(case, method=method)] == expected_errors(expected)
    for options in ({"n_threads": 3, "min_parallel_work": 0}, {"budget": 0}):
        assert [step[:2] for step in run(case, **options)] == [s[:2] for s in expected]


def expected_errors(steps):
    return [step[2].expected for step in steps]
