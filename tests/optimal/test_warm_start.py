"""A search that goes on from the last one."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from sktree_opt.optimal import (
    OptimalTreeClassifier,
    SmallestTreeClassifier,
    TreeSetClassifier,
)
from tests.optimal.common import random_table


def fresh(model, X, y, weights=None):
    return clone(model).set_params(warm_start=False).fit(X, y, sample_weight=weights)


@pytest.mark.parametrize(
    "change",
    [{"max_depth": 5}, {"max_leaf_nodes": 9}, {"complexity_cost": 0.004}, {"max_depth": 3}],
)
@pytest.mark.parametrize("objective", ["error", "gini"])
def test_another_question_costs_only_what_is_new(change, objective, global_random_seed):
    X, y = random_table(global_random_seed)
    model = OptimalTreeClassifier(
        max_depth=4, max_leaf_nodes=8, objective=objective, warm_start=True
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
        OptimalTreeClassifier(objective="f1"),
        TreeSetClassifier(n_trees=3),
        SmallestTreeClassifier(),
        SmallestTreeClassifier(max_error=110.0),
    ],
    ids=str,
)
def test_other_searches_keep_what_they_found(question, global_random_seed):
    X, y = random_table(global_random_seed, m=10)
    model = clone(question).set_params(warm_start=True).fit(X, y)
    for change in ({"max_leaf_nodes": 6}, {"max_leaf_nodes": None}, {"complexity_cost": 0.01}):
        model.set_params(**change).fit(X, y)
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
