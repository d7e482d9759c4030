"""Objectives of optimal trees against trying every tree."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sktree_opt.optimal import OptimalTreeClassifier, OptimalTreeRegressor
from sktree_opt.optimal.objectives._leaf_objectives import OBJECTIVES
from tests.effort import examples
from tests.optimal.cases import REGRESSION, problems, reference_of
from tests.reference.brute_force_tree import best_cost


def check_problem(problem):
    X, y, weights, options = problem
    estimator = (
        OptimalTreeRegressor if options["objective"] == REGRESSION else OptimalTreeClassifier
    )
    reference = reference_of(X, y, weights, options)
    depth, leaves = options["max_depth"], options["max_leaf_nodes"]
    splits = 2**depth - 1 if leaves is None else leaves - 1
    expected = best_cost(list(range(len(reference["X"]))), depth, splits, reference)
    tree = estimator(**options).fit(X, y, sample_weight=weights)
    assert tree.status_ == "optimal"
    assert tree.objective_ == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert tree.tree_.depth <= depth
    assert tree.tree_.n_splits <= splits
    leaves = tree.tree_.nodes[tree.tree_.nodes["n_children"] == 0]
    assert leaves["n_samples"].min() >= options["min_samples_leaf"]
    assert leaves["weight"].min() >= options["min_weight_leaf"] - 1e-9


@pytest.mark.parametrize("objective", [*OBJECTIVES, REGRESSION])
@examples(150)
@given(data=st.data())
def test_no_tree_is_better(objective, data):
    X, y, weights, options = data.draw(problems(objective))
    options["complexity_cost"] = data.draw(st.sampled_from([0.0, 0.0, 0.01, 0.05, 0.2]))
    check_problem((X, y, weights, options))


@pytest.mark.parametrize("objective", ["gini", "entropy", "pessimistic_error"])
def test_a_class_that_counts_for_nothing(objective):
    X, y = [[0, 0], [1, 0], [1, 1]], [0, 1, 2]
    model = OptimalTreeClassifier(objective=objective, class_weight={0: 0.0, 1: 1.0, 2: 1.0})
    without = OptimalTreeClassifier(objective=objective).fit(X[1:], y[1:])
    assert model.fit(X, y).objective_ == pytest.approx(without.objective_)
