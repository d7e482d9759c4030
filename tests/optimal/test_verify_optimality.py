"""The proof made again: what is optimal is proved, and doctored models are refuted."""

from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from sktree_opt import (
    GreedyTreeClassifier,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    verify_optimality,
)
from tests.effort import examples
from tests.fuzz import make, random_case


@pytest.mark.filterwarnings("ignore:The number of unique classes")
@examples(25)
@given(seed=st.integers(0, 2**20))
def test_random_tables(seed):
    X, y, weights, parameters, rng = random_case(seed)
    # Beyond, sums of squares differ by more than what counts as rounding.
    assume(weights is None or weights.max() <= 1e8 * weights[weights > 0].min())
    if parameters["objective"] == "cost":
        parameters["cost_matrix"] = rng.integers(0, 5, (len(np.unique(y)),) * 2)
    model = make(parameters).fit(X, y, weights)
    found = verify_optimality(model, X, y, weights)
    assert found.status == "proved", found
    assert found.objective == pytest.approx(model.objective_, rel=1e-7, abs=1e-9)
    # A claim of more than the truth is refuted, and so is a cost that the tree does not have.
    doctored = deepcopy(model)
    doctored.lower_bound_ = doctored.objective_ = model.objective_ + 0.5 + 0.1 * len(y)
    assert verify_optimality(doctored, X, y, weights).status == "refuted"


@pytest.mark.parametrize("objective", ["error", "balanced_error", "entropy"])
def test_a_worse_tree_that_claims_to_be_optimal(objective):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (40, 4)), rng.integers(0, 3, 40)
    model = OptimalTreeClassifier(max_depth=2, objective=objective).fit(X, y)
    worse = OptimalTreeClassifier(max_depth=1, objective=objective).fit(X, y)
    worse.max_depth = 2
    found = verify_optimality(worse, X, y)
    assert found.status == "refuted"
    assert "less than lower_bound_" in found.reason
    assert verify_optimality(model, X, y).status == "proved"
    model.min_samples_leaf = 30
    assert "smaller than the minimum" in verify_optimality(model, X, y).reason
    model.min_samples_leaf, model.max_depth = 1, 1
    assert "more levels" in verify_optimality(model, X, y).reason


def test_frames_categories_and_weights():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.choice(list("wxyz"), 40), "b": rng.integers(0, 4, 40)})
    y = np.where(frame["a"].isin(["x", "z"]), "yes", "no")
    for splits in ("one_vs_rest", "subset"):
        model = OptimalTreeClassifier(
            max_depth=2,
            categorical_splits=splits,
            class_weight="balanced",
            min_weight_fraction_leaf=0.05,
            complexity_cost=0.01,
        ).fit(frame, y, np.arange(40) % 3)
        assert verify_optimality(model, frame, y, np.arange(40) % 3).status == "proved"


def test_a_bound_of_a_stopped_search_and_a_proof_that_is_stopped():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(300, 8)), rng.normal(size=300)
    with pytest.warns(ConvergenceWarning):
        model = OptimalTreeRegressor(max_depth=4, time_limit=0.0).fit(X, y)
    assert verify_optimality(model, X, y).status == "proved"
    model.lower_bound_ = model.objective_ / 2.0
    found = verify_optimality(model, X, y, time_limit=0.0)
    assert (found.status, found.depth, found.n_subproblems) == ("time_limit", 0, 0)
    assert "0.0 s are over" in found.reason


def test_what_it_does_not_take():
    X, y = [[0.0], [1.0], [2.0]], [0, 1, 0]
    model = OptimalTreeClassifier(max_depth=1)
    with pytest.raises(TypeError, match="GreedyTreeClassifier"):
        verify_optimality(GreedyTreeClassifier(), X, y)
    for parameters in ({"thresholds": 2}, {"objective": "f1"}, {"targets": "forest"}):
        other = OptimalTreeClassifier(max_depth=1, **parameters).fit(X, y)
        with pytest.raises(ValueError, match=next(iter(parameters))):
            verify_optimality(other, X, y)
    with pytest.raises(ValueError, match="time_limit"):
        verify_optimality(model.fit(X, y), X, y, time_limit=-1.0)
