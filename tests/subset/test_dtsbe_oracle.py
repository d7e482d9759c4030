"""Backward elimination against all subsets, and its methods against each other."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_equal

from sktree_opt.subset.elimination._backward import eliminate
from sktree_opt.subset.errors._parts import EstimatePart
from sktree_opt.utils._control import SearchControl
from tests.effort import examples
from tests.subset.cases import Case, cases
from tests.subset.checks import SAME_METHODS, assert_steps, steps_of

# The last builds every tree to its end.
OPTIONS = [{"n_threads": 3, "min_parallel_work": 0}, {"budget": 0}, {"gives_up": False}]


@examples(200)
@given(cases(max_columns=5, with_groups=True))
def test_steps_are_those_of_the_definition(case):
    assert_steps(case, case.brute_force())


def test_rare_values_of_a_column_without_an_order():
    # Merged at small nodes, which sort their cases where the column has no order.
    n_rows = 8
    part = EstimatePart(np.arange(n_rows), np.ones(n_rows), np.arange(n_rows), np.ones(n_rows))
    parameters = {"nominal_split": "multiway", "min_split_weight": 2, "min_leaf_weight": 1}
    case = Case(
        [[0, 0], [0, 0], [0, 1], [0, 0], [0, 0], [0, 0], [1, 0], [2, 1]],
        [False, False],
        [0, 0, 0, 1, 0, 0, 1, 1],
        [part],
        "information_gain",
        parameters | {"max_depth": None},
        order_index=None,
        merge_equal=(1.0, 0),
    )
    assert_steps(case, case.brute_force())


@examples(200)
@given(cases(max_rows=30, max_columns=10, with_groups=True))
def test_methods_agree(case):
    expected = steps_of(case, method="sbe")
    for method in SAME_METHODS:
        assert [step[:2] for step in steps_of(case, method=method)] == [s[:2] for s in expected]
        assert [step[2].expected for step in steps_of(case, method=method)] == expected_errors(
            expected
        )
    for options in OPTIONS:
        assert [step[:2] for step in steps_of(case, **options)] == [s[:2] for s in expected]


@examples(60)
@given(cases(max_rows=30, max_columns=10, with_groups=True), st.integers(0, 4))
def test_methods_agree_down_to_so_many_features(case, target):
    expected = steps_of(case, method="sbe", target_features=target)
    for options in OPTIONS:
        steps = steps_of(case, target_features=target, **options)
        assert [step[:2] for step in steps] == [step[:2] for step in expected]


@examples(40)
@given(cases(max_rows=30, max_columns=10))
def test_history_does_not_depend_on_threads_or_memory(case):
    expected = eliminate(case.problem(), SearchControl())[0]
    for options in OPTIONS[:2]:
        steps = eliminate(case.problem(), SearchControl(), **options)[0]
        for step, wanted in zip(steps, expected, strict=True):
            assert_equal(step, wanted)


def expected_errors(steps):
    return [step[2].expected for step in steps]
