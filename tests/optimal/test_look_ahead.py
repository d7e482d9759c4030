"""The look-ahead: its trees keep all limits and cost what it says, and proofs do not change."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sktree_opt.optimal import OptimalTreeClassifier, OptimalTreeRegressor
from sktree_opt.optimal.run import _look_ahead, _thresholds_solver
from sktree_opt.optimal.run._look_ahead import LookAhead
from sktree_opt.optimal.run._plan import use_engine
from sktree_opt.optimal.run._trees import tree_and_objective
from sktree_opt.tree._node import LEAF
from tests.effort import examples
from tests.optimal.common import new_session, plan_of

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

OBJECTIVES = ["error", "balanced_error", "cost", "gini", "squared_error", "absolute_error"]


def smooth_table(seed, n_rows=1200, n_values=9, n_columns=4):
    """Numbers of few values, and a target that a shallow tree does not tell."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, n_values, (n_rows, n_columns)).astype(float)
    score = np.sin(X[:, 0]) + np.where(X[:, 1] > n_values // 2, X[:, 2], X[:, 3]) / n_values
    return X, score + rng.normal(0, 0.3, n_rows)


def fit_table(model, *data, off=(), **fit_params):
    with use_engine("thresholds", off):
        return model.fit(*data, **fit_params)


@examples(40)
@given(st.data())
def test_look_ahead_keeps_all_limits(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    n_rows = data.draw(st.integers(4, 60))
    X = rng.integers(0, data.draw(st.integers(2, 30)), (n_rows, 3)).astype(float)
    X[rng.random(X.shape) < data.draw(st.sampled_from([0.0, 0.2]))] = np.nan
    objective = data.draw(st.sampled_from(OBJECTIVES))
    params = {
        "max_depth": data.draw(st.integers(1, 4)),
        "max_leaf_nodes": data.draw(st.sampled_from([None, 3, 5])),
        "min_samples_leaf": data.draw(st.sampled_from([1, 3])),
        "complexity_cost": data.draw(st.sampled_from([0.0, 0.02])),
        "categorical_features": data.draw(st.sampled_from([None, [0]])),
        "objective": objective,
    }
    weights = data.draw(st.sampled_from([None, rng.integers(1, 4, n_rows), rng.random(n_rows)]))
    if objective in ("squared_error", "absolute_error"):
        model, y = OptimalTreeRegressor(**params), rng.normal(size=n_rows).round(1)
    else:
        costs = np.array([[0.0, 1.0], [3.0, 0.0]]) if objective == "cost" else None
        model = OptimalTreeClassifier(**params, cost_matrix=costs)
        y = np.append([0, 1], rng.integers(0, 2, n_rows - 2))
    with use_engine("thresholds"):
        plan = plan_of(model, X, y, weights)
    problem, limits = plan.problem, plan.problem.limits
    with pytest.MonkeyPatch.context() as patch:
        # Three levels begin with few thresholds where a table is large.
        patch.setattr(_look_ahead, "LEAST_FOR_THREE", data.draw(st.sampled_from([0, np.inf])))
        look_ahead = LookAhead(problem, plan.table, new_session(limits)).grow()

    def tree_of(nodes):
        found = _thresholds_solver.tests_of_plan(nodes, plan.table, plan.around)
        return tree_and_objective(problem, *found)

    leaf = tree_of([(-1, 0, 1, 0, 0, -1)])[1]
    costs = [leaf, look_ahead.cost]
    for _ in look_ahead.improvements():
        costs.append(look_ahead.cost)
    assert costs == sorted(costs, reverse=True)
    tree, cost = tree_of(look_ahead.plan())
    assert cost == pytest.approx(look_ahead.cost, rel=1e-9, abs=1e-9)
    leaves = tree.nodes[tree.nodes["kind"] == LEAF]
    assert tree.depth <= limits.max_depth
    assert len(leaves) <= limits.max_splits + 1
    assert leaves["n_samples"].min() >= min(n_rows, limits.min_samples_leaf)
    # No tree, this one neither, costs less than the proved optimum of a search without it.
    exact = fit_table(model, X, y, off=("look_ahead",), sample_weight=weights)
    assert exact.status_ == "optimal"
    assert cost >= exact.objective_ - 1e-9 * max(1.0, leaf)


@pytest.mark.parametrize("kind", ["error", "costly", "squared_error"])
def test_proofs_do_not_change(kind, global_random_seed):
    X, score = smooth_table(global_random_seed)
    if kind == "squared_error":
        model, y = OptimalTreeRegressor(max_depth=4, max_leaf_nodes=5), score
    else:
        cost = 0.002 if kind == "costly" else 0.0
        model, y = OptimalTreeClassifier(max_depth=4, complexity_cost=cost), score > 0.5
        X = X[:, :3]
        X, y = np.vstack([X, X]), np.append(y, y)
    with use_engine("thresholds"):
        plan = plan_of(model, X, y)
    problem, found = plan.problem, []
    for looks_ahead in (True, False, True):
        session = new_session(problem.limits)
        first = LookAhead(problem, plan.table, session).grow() if looks_ahead else None
        found.append(_thresholds_solver.search_thresholds(plan, session, first))
    assert [one.status for one in found] == ["optimal"] * 3
    assert found[0].cost == pytest.approx(found[1].cost, rel=1e-9)
    trees = [tree_and_objective(problem, one.tests, one.nodes)[0] for one in found]
    assert trees[0] == trees[2]
    model.set_params(n_jobs=1)
    assert fit_table(model, X, y).tree_ == fit_table(model.set_params(n_jobs=2), X, y).tree_


@pytest.mark.parametrize("kind", ["error", "squared_error"])
def test_steps_that_end_with_their_turn_begin_anew(kind, global_random_seed):
    X, score = smooth_table(global_random_seed, n_rows=300, n_values=15)
    if kind == "squared_error":
        model, y = OptimalTreeRegressor(max_depth=4, max_leaf_nodes=5), score
    else:
        model, y = OptimalTreeClassifier(max_depth=4), score > 0.5
    with use_engine("thresholds"):
        plan = plan_of(model, X, y)
    session = new_session(plan.problem.limits)
    first = LookAhead(plan.problem, plan.table, session).grow()
    first.seconds_a_turn, first.growth_of_turns = 1e-4, 1.3
    found = _thresholds_solver.search_thresholds(plan, session, first)
    assert found.status == "optimal"
    exact = fit_table(model, X, y, off=("look_ahead",))
    assert found.cost == pytest.approx(exact.objective_, rel=1e-9)
    bounds = [bound for _, _, bound in found.incumbents]
    assert bounds == sorted(bounds)


@pytest.mark.parametrize("depth", [4, 6])
def test_trees_over_all_thresholds_beat_cart_at_once(depth, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = rng.normal(size=(5000, 6))
    score = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + rng.normal(0, 0.3, 5000)
    cart = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, score > 0)
    plan = plan_of(OptimalTreeClassifier(max_depth=depth), X, score > 0)
    grown = LookAhead(plan.problem, plan.table, new_session(plan.problem.limits)).grow()
    assert grown.cost < np.count_nonzero(cart.predict(X) != (score > 0))
    cart = DecisionTreeRegressor(max_depth=depth, random_state=0).fit(X, score)
    plan = plan_of(OptimalTreeRegressor(max_depth=depth), X, score)
    grown = LookAhead(plan.problem, plan.table, new_session(plan.problem.limits)).grow()
    assert grown.cost < ((cart.predict(X) - score) ** 2).sum()


@pytest.mark.parametrize("is_numeric", [False, True])
def test_three_levels_of_a_large_table_begin_with_few_thresholds(is_numeric, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 6))
    X[rng.random(X.shape) < 0.03] = np.nan
    known = np.nan_to_num(X)
    y = (known[:, 0] > 0.3) & (known[:, 1] < 0.7) | (known[:, 2] > 1.0) & (known[:, 3] > -0.5)
    y ^= rng.random(len(y)) < 0.12
    model = OptimalTreeRegressor if is_numeric else OptimalTreeClassifier
    few = model(thresholds="ensemble").fit(X, y)
    monkeypatch.setattr(_look_ahead, "LEAST_FOR_THREE", 0)
    first = model(search="lookahead").fit(X, y)
    assert first.status_ == "lookahead"
    assert first.objective_ <= few.objective_
    plan = plan_of(model(), X, y)
    begun = LookAhead.of_plan(plan, new_session(plan.problem.limits))
    assert begun.cost <= few.objective_ * (1.0 + 1e-9)


def test_a_search_without_time_answers_the_tree_of_the_look_ahead():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 12))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] > 0
    model = OptimalTreeClassifier(max_depth=6, time_limit=1.0).fit(X, y)
    assert model.status_ == "time_limit"
    assert model.objective_ == np.count_nonzero(model.predict(X) != y)
    assert model.objective_ < 0.3 * min(y.sum(), (~y).sum())
    times, costs, bounds = np.array(model.incumbents_).T
    assert (np.diff(times) >= 0).all()
    assert (np.diff(costs) <= 0).all()
    assert (np.diff(bounds) >= 0).all()
    assert costs[-1] == model.objective_


@pytest.mark.parametrize("kind", ["tests", "ranks", "targets", "categories"])
def test_a_search_that_looks_ahead(kind, global_random_seed, recwarn):
    X, score = smooth_table(global_random_seed, n_rows=500)
    y = score if kind == "targets" else score > 0.5
    X = np.vstack([X, X])
    y = np.append(y, y[::-1])
    model = OptimalTreeRegressor if kind == "targets" else OptimalTreeClassifier
    params = {"max_depth": 3, "categorical_features": [0] if kind == "categories" else None}
    with use_engine("bits" if kind == "tests" else "thresholds"):
        exact = model(**params).fit(X, y)
        found = model(**params, search="lookahead").fit(X, y)
        again = model(**params, search="lookahead", n_jobs=2).fit(X, y)
    assert not [one for one in recwarn if "stopped" in str(one.message)]
    assert exact.status_ == "optimal"
    assert found.status_ in ("lookahead", "optimal")
    assert 0.0 < found.lower_bound_ <= exact.objective_ * (1.0 + 1e-9)
    assert exact.objective_ <= found.objective_ * (1.0 + 1e-9)
    assert found.objective_ <= 1.1 * exact.objective_
    loss = (found.predict(X) - y) ** 2 if kind == "targets" else found.predict(X) != y
    assert found.objective_ == pytest.approx(loss.sum(), rel=1e-9)
    assert again.tree_ == found.tree_
    assert found.incumbents_[-1][1] == found.objective_


def test_a_search_that_looks_ahead_needs_a_sum_over_leaves():
    X, score = smooth_table(0, n_rows=100)
    with pytest.raises(ValueError, match="search='lookahead' is not supported"):
        OptimalTreeClassifier(objective="f1", search="lookahead").fit(X, score > 0.5)


def test_rows_that_no_engine_has_seen_are_answered_as_counted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 4))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] > 0
    plan = plan_of(OptimalTreeClassifier(max_depth=5), X, y)
    session = new_session(plan.problem.limits)
    grown = LookAhead(plan.problem, plan.table, session, most_cells=600).grow()
    found = _thresholds_solver.tests_of_plan(grown.plan(), plan.table, plan.around)
    tree = tree_and_objective(plan.problem, *found)[0]
    answers = tree.evaluate(X, tree.values)[1].argmax(axis=1)
    assert grown.cost == np.count_nonzero(answers != y)


def test_a_stopped_search_with_costs_answers_the_tree_it_knows():
    """The engine rounds the cost of the look-ahead's tree: it is that tree all the same."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 10))
    y = (X[:, 0] * X[:, 1] + rng.normal(size=200) > 0).astype(int)
    for cost in 0.0037 + 0.00026 * np.arange(6):
        model = OptimalTreeClassifier(max_depth=5, complexity_cost=cost, time_limit=0.1)
        model.fit(X, y)
        errors = np.count_nonzero(model.predict(X) != y)
        assert model.objective_ == pytest.approx(errors + 200 * cost * model.tree_.n_splits)
