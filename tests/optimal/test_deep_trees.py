"""Trees of any depth, and depths that no table needs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sktree_opt import OptimalTreeClassifier, OptimalTreeRegressor
from sktree_opt.optimal.bits._bit_engine import ANY_DEPTH
from sktree_opt.optimal.objectives._leaf_objectives import OBJECTIVES
from sktree_opt.optimal.run._bits_solver import Levels, make_engine
from sktree_opt.optimal.run._plan import use_engine
from sktree_opt.optimal.run._session import Session
from sktree_opt.utils._control import SearchControl
from tests.effort import examples
from tests.optimal.cases import REGRESSION, problems, reference_of
from tests.optimal.common import VARIANTS, plan_of, random_table
from tests.reference.brute_force_tree import best_cost_of_any_depth


def noise(n_rows, n_columns, seed):
    rng = np.random.default_rng(seed)
    X = (rng.random((n_rows, n_columns)) < 0.5).astype(int)
    return X, rng.integers(0, 2, n_rows), rng.normal(size=n_rows)


@pytest.mark.parametrize("objective", ["error", "gini", "entropy"])
def test_deeper_trees_are_no_worse(objective):
    X, y, _ = noise(60, 6, 0)
    found = [
        OptimalTreeClassifier(max_depth=depth, objective=objective, complexity_cost=0.01).fit(X, y)
        for depth in (6, 17, 18, 19, 20)
    ]
    # No path of six columns has more than six tests that part its rows.
    assert [model.status_ for model in found] == ["optimal"] * 5
    np.testing.assert_allclose([m.objective_ for m in found], found[0].objective_, rtol=1e-12)


def test_a_limit_on_leaves_that_no_tree_reaches_is_none():
    X, _, y = noise(60, 6, 1)
    models = [
        OptimalTreeRegressor(max_depth=20, max_leaf_nodes=most, complexity_cost=0.001).fit(X, y)
        for most in (None, 500_000)
    ]
    assert models[0].objective_ == models[1].objective_


@pytest.mark.parametrize("objective", [*OBJECTIVES, REGRESSION])
@examples(40)
@given(data=st.data())
def test_no_tree_of_any_depth_is_better(objective, data):
    X, y, weights, options = data.draw(problems(objective, max_columns=6))
    options["complexity_cost"] = data.draw(st.sampled_from([0.002, 0.01, 0.03, 0.1]))
    options |= {"max_depth": None, "max_leaf_nodes": None}
    reference = reference_of(X, y, weights, options)
    expected = best_cost_of_any_depth(range(len(reference["X"])), reference)
    kind = OptimalTreeRegressor if objective == REGRESSION else OptimalTreeClassifier
    with use_engine("bits"):
        tree = kind(**options).fit(X, y, sample_weight=weights)
    assert tree.status_ == "optimal"
    assert tree.objective_ == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert tree.optimality_scope_.startswith("all trees, with")


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_techniques_do_not_change_the_optimum_of_any_depth(variant, n_classes):
    X, y = random_table(n_classes, n=60, m=6, n_classes=n_classes)
    model = OptimalTreeClassifier(max_depth=None, complexity_cost=0.01)
    expected = model.fit(X, y).objective_
    with use_engine("bits", **VARIANTS[variant]):
        assert model.fit(X, y).objective_ == expected
    assert model.status_ == "optimal"


def test_a_tree_may_have_a_level_for_each_column():
    # Each row of class 1 is told from those of class 0 by a column of its own.
    X = np.concatenate([np.eye(12, dtype=int), np.zeros((30, 12), dtype=int)])
    y = (X.sum(axis=1) > 0).astype(int)
    tree = OptimalTreeClassifier(max_depth=None, complexity_cost=0.5 / len(y)).fit(X, y)
    assert (tree.get_depth(), tree.objective_, tree.status_) == (12, 6.0, "optimal")
    np.testing.assert_array_equal(tree.predict(X), y)


def test_equally_good_trees_of_any_depth_part_the_rows_evenly():
    values = np.arange(16)
    X = (values[:, None] > np.arange(15)).astype(int)
    tree = OptimalTreeClassifier(max_depth=None, complexity_cost=0.01).fit(X, values % 2)
    assert (tree.get_depth(), tree.get_n_leaves()) == (4, 16)


def test_threads_find_the_same_tree_of_any_depth():
    X, y = random_table(5, n=150, m=12)
    trees = [
        OptimalTreeClassifier(max_depth=None, complexity_cost=0.004, n_jobs=n_jobs).fit(X, y).tree_
        for n_jobs in (1, 2)
    ]
    np.testing.assert_array_equal(*(tree.nodes["feature"] for tree in trees))


def test_a_stop_ends_the_search_by_discrepancy():
    X, y = random_table(5, n=150, m=12)
    plan = plan_of(OptimalTreeClassifier(max_depth=None, complexity_cost=0.004), X, y)
    control, calls = SearchControl(), []
    engine = make_engine(plan.problem, plan.tests, control)
    engine.begin(ANY_DEPTH, 149, 0.6)
    levels = Levels(plan.problem, plan.tests, Session(control), engine)

    def stop(discrepancies):
        calls.append(discrepancies)
        control.request_stop()

    levels._search_discrepancies = stop
    levels._keep_up_with(1e9)
    assert calls == [0]


def test_a_stopped_search_of_any_depth_has_a_bound():
    X, y, _ = noise(400, 40, 2)
    tree = OptimalTreeClassifier(max_depth=None, complexity_cost=0.004, time_limit=0.3)
    with pytest.warns(match="time_limit"):
        tree.fit(X, y)
    # Of a tree with three tests, the least that is left out.
    assert 3 * 0.004 * 400 <= tree.lower_bound_ < tree.objective_
    assert tree.objective_ == pytest.approx(
        (tree.predict(X) != y).sum() + 1.6 * (tree.get_n_leaves() - 1)
    )
