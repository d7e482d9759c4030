"""Searches that are not given the time for a proof: good trees, and bounds that are true."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import DecisionTreeClassifier

from sktree_opt.optimal import OptimalTreeClassifier, OptimalTreeRegressor
from sktree_opt.optimal.run import _driver, _floors
from tests.optimal.common import load_binary, random_table

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
            max_depth=depth, max_splits=cart.get_n_leaves() - 1, time_limit=0.4
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


@pytest.mark.parametrize("max_splits", [None, 9])
@pytest.mark.parametrize("objective", ["error", "gini", "balanced_error"])
def test_incumbents_close_the_gap(max_splits, objective, global_random_seed):
    X, y = random_table(global_random_seed, m=12, n_classes=3)
    model = OptimalTreeClassifier(
        max_depth=4, max_splits=max_splits, objective=objective, time_limit=60.0
    ).fit(X, y)
    seconds, objectives, bounds = np.array(model.incumbents_).T
    assert (np.diff(seconds) >= 0).all()
    assert (np.diff(objectives) <= 0).all()
    assert (np.diff(bounds) >= 0).all()
    assert bounds.max() <= model.objective_ * (1 + 1e-12)
    assert objectives[-1] == pytest.approx(model.objective_)
    assert bounds[-1] == pytest.approx(model.objective_)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("max_splits", [None, 10, 25])
def test_dives_are_trees_within_the_limits(n_classes, max_splits, global_random_seed):
    X, y = random_table(global_random_seed, m=14, n_classes=n_classes)
    model = OptimalTreeClassifier(max_depth=6, max_splits=max_splits, min_samples_leaf=3)
    problem = model._prepare(X, y, None, is_classifier=True)
    control = problem.control()
    engine = problem.engine(control)
    engine.begin(6, problem.limits.max_splits)
    costs = []
    for discrepancies in range(5):
        engine.dive(discrepancies)
        tree, objective = model._make_tree(problem, engine.known_tree())
        assert objective == engine.cost
        assert tree.depth <= 6
        assert tree.n_splits <= problem.limits.max_splits
        assert tree.nodes["n_samples"][tree.nodes["n_children"] == 0].min() >= 3
        costs.append(objective)
    assert costs == sorted(costs, reverse=True)


def test_enough_discrepancies_find_the_optimum(global_random_seed):
    X, y = random_table(global_random_seed, n=60, m=6)
    expected = OptimalTreeClassifier(max_depth=4).fit(X, y)
    problem = OptimalTreeClassifier(max_depth=4)._prepare(X, y, None, is_classifier=True)
    engine = problem.engine(problem.control())
    engine.begin(4, 15)
    engine.dive(20)
    assert engine.cost == expected.objective_


QUESTIONS = [{"objective": "f1"}, {"objective": "mcc"}, {"objective": "g_mean"}, {"n_trees": 4}]


@pytest.mark.parametrize("question", [*QUESTIONS, {"objective": lambda fp, fn: fp + 3 * fn}])
def test_bounds_of_a_search_that_was_stopped(question, global_random_seed):
    X, y = random_table(global_random_seed, m=10)
    weights = np.random.default_rng(global_random_seed).uniform(0.5, 2.0, len(y))
    for sample_weight in (None, weights):
        proved = OptimalTreeClassifier(max_depth=3, **question).fit(X, y, sample_weight)
        problem_model = OptimalTreeClassifier(max_depth=3, time_limit=100.0, **question)
        bounded = problem_model.fit(X, y, sample_weight)
        assert bounded.status_ == "optimal"
        floors = [bound for _, _, bound in bounded.incumbents_[:-1]]
        assert max(floors) <= proved.objective_ * (1 + 1e-9)
        # Not trivial: at least half of the way from no errors to the optimum.
        assert max(floors) >= 0.5 * proved.objective_


@pytest.mark.parametrize("objective", ["error", "balanced_error", "gini", "entropy"])
def test_equal_rows_bound_every_tree(objective, global_random_seed):
    X, y = random_table(global_random_seed, m=5, n_classes=3)
    model = OptimalTreeClassifier(max_depth=5, objective=objective)
    problem = model._prepare(X, y, None, is_classifier=True)
    floor = _floors.equal_rows_floor(problem)
    assert 0.0 < floor <= model.fit(X, y).objective_ * (1 + 1e-12)
    reg = OptimalTreeRegressor(max_depth=5)
    floor = _floors.equal_rows_floor(reg._prepare(X, y, None, is_classifier=False))
    assert 0.0 < floor <= reg.fit(X, y).objective_ * (1 + 1e-12)


def test_a_tree_that_is_worse_than_its_search_is_no_answer(monkeypatch):
    X, y = random_table(0)
    search = _driver.search

    def lie(problem):
        result = search(problem)
        result.cost -= 1
        return result

    monkeypatch.setattr(_driver, "search", lie)
    model = OptimalTreeClassifier(max_depth=2)
    with pytest.raises(RuntimeError, match="its tree has"):
        model.fit(X, y)
    assert not hasattr(model, "tree_")


def test_the_bound_of_a_stopped_search_is_not_trivial(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = rng.integers(0, 2, (3000, 10))[:, rng.integers(0, 10, 40)] ^ (rng.random((1, 40)) < 0.5)
    X[:, 10:] &= X[:, rng.integers(0, 10, 30)]
    y = rng.integers(0, 3, 3000)
    with pytest.warns(ConvergenceWarning):
        model = OptimalTreeClassifier(max_depth=7, time_limit=0.05).fit(X, y)
    assert model.lower_bound_ > 300
