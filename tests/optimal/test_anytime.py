"""Searches that are not given the time for a proof: good trees, and bounds that are true."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import DecisionTreeClassifier

from sktree_opt.optimal import (
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    SmallestTreeClassifier,
    TreeSetClassifier,
)
from sktree_opt.optimal.estimators import _classifier, _regressor, _tree_set_classifier
from sktree_opt.optimal.estimators.queries import _smallest_tree
from sktree_opt.optimal.run._bits_solver import make_engine
from sktree_opt.optimal.run._trees import equal_rows_bound, tree_and_objective
from sktree_opt.utils._control import SearchControl
from tests.optimal.common import load_binary, plan_of, random_table

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def errors(model, X, y):
    return int(np.count_nonzero(model.predict(X) != y))


@pytest.mark.parametrize("name", ["anneal", "german-credit", "tic-tac-toe", "yeast", "spambase"])
@pytest.mark.parametrize("depth", [6, 8])
def test_beyond_proofs_it_beats_cart_at_the_same_size(name, depth, data_dir):
    X, y = load_binary(data_dir, name)
    for leaves in (None, 20):
        cart = DecisionTreeClassifier(max_depth=depth, max_leaf_nodes=leaves, random_state=0)
        cart.fit(X, y)
        model = OptimalTreeClassifier(
            max_depth=depth, max_leaf_nodes=cart.get_n_leaves(), time_limit=0.4
        ).fit(X, y)
        assert model.tree_.depth <= depth
        assert model.get_n_leaves() <= cart.get_n_leaves()
        assert model.objective_ == errors(model, X, y)
        assert model.objective_ < errors(cart, X, y) or model.status_ == "optimal"


def test_a_good_tree_is_there_at_once(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = rng.integers(0, 2, (2000, 60))
    y = (X[:, 0] & X[:, 1]) ^ (X[:, 2] & X[:, 3]) ^ (rng.random(2000) < 0.2)
    cart = DecisionTreeClassifier(max_depth=7, random_state=0).fit(X, y)
    model = OptimalTreeClassifier(max_depth=7, time_limit=1.0).fit(X, y)
    first = next(t for t, objective, _ in model.incumbents_ if objective <= errors(cart, X, y))
    assert first < model.search_stats_["seconds"]
    assert model.objective_ < errors(cart, X, y)


@pytest.mark.parametrize("max_leaf_nodes", [None, 10])
@pytest.mark.parametrize("objective", ["error", "gini", "balanced_error"])
def test_incumbents_close_the_gap(max_leaf_nodes, objective, global_random_seed):
    X, y = random_table(global_random_seed, m=12, n_classes=3)
    model = OptimalTreeClassifier(
        max_depth=4, max_leaf_nodes=max_leaf_nodes, objective=objective, time_limit=60.0
    ).fit(X, y)
    seconds, objectives, bounds = np.array(model.incumbents_).T
    assert (np.diff(seconds) >= 0).all()
    assert (np.diff(objectives) <= 0).all()
    assert (np.diff(bounds) >= 0).all()
    assert bounds.max() <= model.objective_ * (1 + 1e-12)
    assert objectives[-1] == pytest.approx(model.objective_)
    assert bounds[-1] == pytest.approx(model.objective_)


@pytest.mark.parametrize("objective", ["error", "gini"])
def test_the_bound_rises_while_thresholds_are_searched(objective, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = rng.normal(size=(250, 4))
    y = (X[:, 0] * X[:, 1] + rng.normal(size=250) > 0).astype(int)
    model = OptimalTreeClassifier(objective=objective, n_jobs=2).fit(X, y)
    _, objectives, bounds = np.array(model.incumbents_).T
    assert (np.diff(bounds) >= 0).all()
    assert len(np.unique(bounds)) > 5
    assert (bounds <= model.objective_ * (1 + 1e-12)).all()
    again = clone(model).set_params(n_jobs=1).fit(X, y).incumbents_
    np.testing.assert_array_equal(np.array(again)[:, 1:], np.column_stack([objectives, bounds]))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("max_leaf_nodes", [None, 11, 26])
def test_limited_discrepancy_keeps_the_limits(n_classes, max_leaf_nodes, global_random_seed):
    X, y = random_table(global_random_seed, m=14, n_classes=n_classes)
    model = OptimalTreeClassifier(max_depth=6, max_leaf_nodes=max_leaf_nodes, min_samples_leaf=3)
    plan = plan_of(model, X, y)
    problem = plan.problem
    engine = make_engine(problem, plan.tests, SearchControl())
    engine.begin(6, problem.limits.max_splits)
    costs = []
    for discrepancies in range(5):
        engine.search_discrepancies(discrepancies)
        tree, objective = tree_and_objective(problem, plan.tests, engine.known_tree())
        assert objective == engine.cost
        assert tree.depth <= 6
        assert tree.n_splits <= problem.limits.max_splits
        assert tree.nodes["n_samples"][tree.nodes["n_children"] == 0].min() >= 3
        costs.append(objective)
    assert costs == sorted(costs, reverse=True)


def test_enough_discrepancies_find_the_optimum(global_random_seed):
    X, y = random_table(global_random_seed, n=60, m=6)
    expected = OptimalTreeClassifier(max_depth=4).fit(X, y)
    plan = plan_of(OptimalTreeClassifier(max_depth=4), X, y)
    engine = make_engine(plan.problem, plan.tests, SearchControl())
    engine.begin(4, 15)
    engine.search_discrepancies(20)
    assert engine.cost == expected.objective_


QUESTIONS = [
    OptimalTreeClassifier(objective="f1"),
    OptimalTreeClassifier(objective="mcc"),
    OptimalTreeClassifier(objective="g_mean"),
    OptimalTreeClassifier(objective=lambda fp, fn: fp + 3 * fn),
    TreeSetClassifier(n_trees=4),
]


@pytest.mark.parametrize("question", QUESTIONS, ids=range(len(QUESTIONS)))
def test_bounds_of_a_search_that_was_stopped(question, global_random_seed):
    X, y = random_table(global_random_seed, m=10)
    weights = np.random.default_rng(global_random_seed).uniform(0.5, 2.0, len(y))
    for sample_weight in (None, weights):
        proved = clone(question).set_params(time_limit=None).fit(X, y, sample_weight)
        bounded = clone(question).set_params(time_limit=100.0).fit(X, y, sample_weight)
        assert bounded.status_ == "optimal"
        bounds = [bound for _, _, bound in bounded.incumbents_[:-1]]
        assert max(bounds) <= proved.objective_ * (1 + 1e-9)
        # Not trivial: at least half of the way from no errors to the optimum.
        assert max(bounds) >= 0.5 * proved.objective_


@pytest.mark.parametrize("objective", ["error", "balanced_error", "gini", "entropy"])
def test_equal_rows_bound_every_tree(objective, global_random_seed):
    X, y = random_table(global_random_seed, m=5, n_classes=3)
    model = OptimalTreeClassifier(max_depth=5, objective=objective)
    plan = plan_of(model, X, y)
    bound = equal_rows_bound(plan.problem, plan.tests)
    assert 0.0 < bound <= model.fit(X, y).objective_ * (1 + 1e-12)
    reg = OptimalTreeRegressor(max_depth=5)
    plan = plan_of(reg, X, y)
    bound = equal_rows_bound(plan.problem, plan.tests)
    assert 0.0 < bound <= reg.fit(X, y).objective_ * (1 + 1e-12)


def test_a_tree_that_is_worse_than_its_search_is_no_answer(monkeypatch):
    X, y = random_table(0)
    search = _classifier.find_tree

    def lie(plan, session):
        solution = search(plan, session)
        return replace(solution, cost=solution.cost - 1)

    monkeypatch.setattr(_classifier, "find_tree", lie)
    model = OptimalTreeClassifier(max_depth=2)
    with pytest.raises(RuntimeError, match="its tree has"):
        model.fit(X, y)
    assert not hasattr(model, "tree_")


@pytest.mark.parametrize("estimator", [OptimalTreeClassifier, OptimalTreeRegressor])
def test_a_gap_within_rounding_is_a_proof(estimator, monkeypatch, recwarn):
    X, y = random_table(0)
    module = _classifier if estimator is OptimalTreeClassifier else _regressor
    search = module.find_tree

    def stopped(plan, session):
        solution = search(plan, session)
        bound = solution.cost * (1.0 - 1e-13)
        return replace(solution, lower_bound=bound, status="time_limit")

    monkeypatch.setattr(module, "find_tree", stopped)
    model = estimator(max_depth=2).fit(X, y + 0.1 * X[:, 0] if module is _regressor else y)
    assert (model.status_, model.gap_) == ("optimal", 0.0)
    assert model.lower_bound_ == model.objective_
    assert not recwarn


@pytest.mark.parametrize(
    ("model", "module"),
    [
        (SmallestTreeClassifier(), (_smallest_tree, "find_smallest_tree")),
        (TreeSetClassifier(n_trees=2), (_tree_set_classifier, "find_best_trees")),
    ],
    ids=str,
)
def test_a_proved_objective_is_no_proof_of_more(model, module, monkeypatch):
    X, y = random_table(0, m=8)
    search = getattr(*module)

    def stopped(*arguments):
        solution = search(*arguments)
        return replace(solution, lower_bound=solution.cost, status="time_limit")

    monkeypatch.setattr(*module, stopped)
    with pytest.warns(ConvergenceWarning, match="time_limit") as caught:
        model = clone(model).set_params(max_depth=2).fit(X, y)
    assert (model.status_, model.gap_) == ("time_limit", 0.0)
    # The objective is in the message once.
    assert str(caught[0].message).count(repr(model.objective_)) == 1


def test_the_bound_of_a_stopped_search_is_not_trivial(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = rng.integers(0, 2, (3000, 10))[:, rng.integers(0, 10, 40)] ^ (rng.random((1, 40)) < 0.5)
    X[:, 10:] &= X[:, rng.integers(0, 10, 30)]
    y = rng.integers(0, 3, 3000)
    with pytest.warns(ConvergenceWarning):
        model = OptimalTreeClassifier(max_depth=7, time_limit=0.05).fit(X, y)
    assert model.lower_bound_ > 300
