"""A search that goes on from the last one, and one that begins with a known tree."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sktree_opt.greedy import GreedyTreeClassifier
from sktree_opt.optimal import OptimalTreeClassifier, OptimalTreeRegressor
from tests.optimal.common import random_table


def fresh(model, X, y, weights=None):
    return clone(model).set_params(warm_start=False).fit(X, y, sample_weight=weights)


@pytest.mark.parametrize(
    "change",
    [{"max_depth": 5}, {"max_splits": 8}, {"complexity_cost": 0.004}, {"max_depth": 3}],
)
@pytest.mark.parametrize("objective", ["error", "gini"])
def test_another_question_costs_only_what_is_new(change, objective, global_random_seed):
    X, y = random_table(global_random_seed)
    model = OptimalTreeClassifier(
        max_depth=4, max_splits=7, objective=objective, warm_start=True
    ).fit(X, y)
    model.set_params(**change).fit(X, y)
    expected = fresh(model, X, y)
    assert model.objective_ == pytest.approx(expected.objective_, rel=1e-12)
    assert model.tree_ == expected.tree_
    assert model.status_ == "optimal"
    counted = model.search_stats_["n_depth_two_counted"]
    assert counted < expected.search_stats_["n_depth_two_counted"]


def test_the_same_question_again_takes_almost_nothing(global_random_seed):
    X, y = random_table(global_random_seed)
    model = OptimalTreeClassifier(max_depth=4, warm_start=True).fit(X, y)
    counted = model.search_stats_["n_depth_two_counted"]
    assert model.fit(X, y).search_stats_["n_depth_two_counted"] < 0.2 * counted


def test_other_data_start_afresh(global_random_seed):
    X, y = random_table(global_random_seed)
    model = OptimalTreeClassifier(max_depth=4, warm_start=True).fit(X, y)
    weights = np.where(np.arange(len(y)) % 2, 1.0, 3.0)
    for other in [(X, 1 - y), (X[:-1], y[:-1]), (1 - X, y)]:
        assert model.fit(*other).objective_ == fresh(model, *other).objective_
    for keywords in [{"min_samples_leaf": 9}, {"class_weight": {0: 1, 1: 4}}]:
        model.set_params(**keywords).fit(X, y)
        assert model.objective_ == fresh(model, X, y).objective_
    model.fit(X, y, sample_weight=weights)
    assert model.objective_ == fresh(model, X, y, weights).objective_


@pytest.mark.parametrize(
    "question",
    [
        {"objective": "f1"},
        {"n_trees": 3},
        {"ranking": ("error", "size")},
        {"ranking": ("size", "error"), "max_error": 90.0},
    ],
)
def test_other_searches_keep_what_they_found(question, global_random_seed):
    X, y = random_table(global_random_seed, m=10)
    model = OptimalTreeClassifier(max_depth=3, warm_start=True, **question).fit(X, y)
    model.set_params(max_splits=5).fit(X, y)
    assert model.objective_ == fresh(model, X, y).objective_
    model.set_params(objective="error", n_trees=1, ranking=None, max_error=None).fit(X, y)
    assert model.objective_ == fresh(model, X, y).objective_


def test_a_search_that_was_stopped_goes_on(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X, y = rng.integers(0, 2, (500, 80)), rng.integers(0, 2, 500)
    model = OptimalTreeClassifier(max_depth=6, time_limit=0.1, warm_start=True)
    objectives = []
    for _ in range(3):
        with pytest.warns(ConvergenceWarning):
            objectives.append(model.fit(X, y).objective_)
    assert objectives == sorted(objectives, reverse=True)


def test_copies_and_pickles_keep_no_cache(global_random_seed):
    X, y = random_table(global_random_seed)
    model = OptimalTreeClassifier(max_depth=4, warm_start=True).fit(X, y)
    size = len(pickle.dumps(model))
    assert size < 2 * len(pickle.dumps(fresh(model, X, y)))
    for other in [pickle.loads(pickle.dumps(model)), copy.deepcopy(model), clone(model)]:
        other.fit(X, y)
        assert other.tree_ == model.tree_
        counted = other.search_stats_["n_depth_two_counted"]
        assert counted == model.search_stats_["n_depth_two_counted"]


@pytest.mark.parametrize("kind", ["optimal", "greedy", "scikit-learn", "frozen", "tree", "raw"])
def test_a_known_tree_is_the_first_upper_bound(kind, global_random_seed):
    X, y = random_table(global_random_seed)
    names = np.array(["no", "yes"])[y]
    cart = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, names)
    optimal = OptimalTreeClassifier(max_depth=3).fit(X, names)
    known = {
        "optimal": optimal,
        "greedy": GreedyTreeClassifier(max_depth=4, pruning=None).fit(X, names),
        "scikit-learn": cart,
        "frozen": FrozenEstimator(cart),
        "tree": optimal.tree_,
        "raw": cart.tree_,
    }[kind]
    errors = {
        "tree": optimal.objective_,
        "raw": np.count_nonzero(cart.predict(X) != names),
    }.get(kind)
    if errors is None:
        errors = np.count_nonzero(known.predict(X) != names)
    model = OptimalTreeClassifier(max_depth=4, initial_tree=known).fit(X, names)
    plain = OptimalTreeClassifier(max_depth=4).fit(X, names)
    assert errors in [objective for _, objective, _ in model.incumbents_]
    assert model.tree_ == plain.tree_
    assert model.objective_ == plain.objective_


def test_a_known_tree_that_is_optimal_is_proved(global_random_seed):
    X, y = random_table(global_random_seed)
    best = OptimalTreeClassifier(max_depth=4).fit(X, y)
    model = OptimalTreeClassifier(max_depth=4, initial_tree=best).fit(X, y)
    assert model.tree_ == best.tree_
    assert model.search_stats_["n_nodes"] < best.search_stats_["n_nodes"]
    assert model.incumbents_[1][1] == best.objective_


def test_a_known_tree_of_numbers_and_missing_values(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = rng.normal(size=(80, 3)).round(1)
    y = X[:, 0] + (X[:, 1] > 0) + rng.normal(size=80)
    cart = DecisionTreeRegressor(max_depth=2).fit(X, y)
    model = OptimalTreeRegressor(max_depth=2, initial_tree=cart).fit(X, y)
    assert model.objective_ == pytest.approx(OptimalTreeRegressor(max_depth=2).fit(X, y).objective_)
    weights = rng.integers(0, 3, 80).astype(float)
    cart = DecisionTreeRegressor(max_depth=2).fit(X, y, sample_weight=weights)
    model.set_params(initial_tree=cart).fit(X, y, sample_weight=weights)
    assert model.status_ == "optimal"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_depth": 1}, "initial_tree has depth 2"),
        ({"max_splits": 1}, "max_splits=1"),
        ({"min_samples_leaf": 140}, "smaller than min_samples_leaf"),
        ({"objective": "f1"}, "has no meaning"),
        ({"n_trees": 2}, "has no meaning"),
        ({"ranking": ("size", "error")}, "has no meaning"),
    ],
)
def test_known_trees_that_are_no_bound_are_refused(parameters, message):
    X, y = random_table(0)
    known = OptimalTreeClassifier(max_depth=2).fit(X, y)
    model = OptimalTreeClassifier(initial_tree=known, **parameters)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


def test_known_trees_whose_tests_are_not_in_the_table_are_refused():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 1, 0, 0]
    nominal = OptimalTreeClassifier(max_depth=1, categorical_features=[0]).fit(X, y)
    with pytest.raises(ValueError, match="Node 0 of initial_tree parts its 4 rows as no test"):
        OptimalTreeClassifier(initial_tree=nominal).fit(X, y)
    wide = OptimalTreeClassifier(max_depth=1).fit(np.hstack([X, X]), y)
    with pytest.raises(ValueError, match="2 columns is expected"):
        OptimalTreeClassifier(initial_tree=wide.tree_).fit(X, y)
    with pytest.raises(ValueError, match="must be a fitted tree"):
        OptimalTreeClassifier(initial_tree=DecisionTreeClassifier()).fit(X, y)
    with pytest.raises(ValueError, match="'initial_tree' parameter"):
        OptimalTreeClassifier(initial_tree="best").fit(X, y)
