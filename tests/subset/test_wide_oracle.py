"""Every search against all subsets of up to twelve features, and on larger nodes."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sktree_opt.greedy import GreedyTreeClassifier
from sktree_opt.subset import AcceptableSubsetSelector, CrossValidationError, DistinctTreeEnumerator
from sktree_opt.subset.errors._parts import EstimatePart
from tests.effort import examples
from tests.stopped import assert_bounds_hold
from tests.subset.cases import Case, cases, large_case
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


def test_many_errors(global_random_seed):
    """Where failures are not explained, features that are out are not ranked."""
    rng = np.random.default_rng(global_random_seed)
    X = np.column_stack([rng.integers(0, n, 1500) for n in (2, 3, 4, 6, 9, 200, 1500)])
    y = (X[:, 2] + rng.normal(0, 4, 1500) > 1.5) ^ (X[:, 5] > 120)
    frame = pd.DataFrame(X.astype(float), columns=list("abdefgh"))
    frame["c"] = pd.Categorical(rng.choice(list("wxyz"), 1500))
    frame.iloc[::50, 3] = np.nan
    options = {
        "estimator": GreedyTreeClassifier(min_samples_leaf=20),
        "error": CrossValidationError(3),
        "random_state": 0,
    }
    of_all = DistinctTreeEnumerator(max_trees=1, **options).fit(frame, y)
    least = of_all.errors_[0]
    assert least * 1500 > 256  # Failures::MOST_WRONG
    selector = AcceptableSubsetSelector(**options).fit(frame, y)
    assert selector.status_ == "optimal"
    assert selector.error_ == pytest.approx(least)
    assert selector.n_features_ == len(of_all.supports_[0])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_bounds_of_stopped_searches(n_jobs, global_random_seed):
    rng = np.random.default_rng(global_random_seed + n_jobs)
    X = rng.integers(0, 5, (100, 8))
    y = ((X[:, 0] > 2) ^ (X[:, 1] > 1)).astype(int) ^ (rng.random(100) < 0.2)
    rows, weights = np.arange(100), np.ones(100)
    part = EstimatePart(rows, weights, rows, weights)
    parameters = {"nominal_split": "multiway", "min_split_weight": 2, "max_depth": 4}
    parameters["min_leaf_weight"] = 3
    case = Case(X.tolist(), [False] * 8, y.tolist(), [part], "information_gain", parameters)
    optimum = min(case.brute_force().errors.values())
    learner = GreedyTreeClassifier(max_depth=4, min_samples_leaf=3)
    model = AcceptableSubsetSelector(learner, error="training", n_jobs=n_jobs)
    assert_bounds_hold(model, (X, y), optimum, global_random_seed)
