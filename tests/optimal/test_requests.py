"""What is asked of a classifier beside its data: goals, costs and weights of classes."""

import numpy as np
import pytest

from sktree_opt.greedy import GreedyTreeClassifier
from sktree_opt.optimal import (
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    SmallestTreeClassifier,
    TreeSetClassifier,
    optimal_path,
)

SETTINGS = [
    {"complexity_cost": 0.01},
    {"complexity_cost": 0.003, "class_weight": "balanced"},
    {"objective": "balanced_error"},
    {"objective": "gini"},
    {"objective": "entropy", "complexity_cost": 0.01},
    {"objective": "pessimistic_error"},
]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("parameters", SETTINGS)
def test_a_trees_own_objective_is_within_reach(parameters, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 2, (60, 6)), rng.integers(0, 3, 60)
    for weights in (None, rng.uniform(0.1, 3.0, 60), 10 ** rng.uniform(-3, 3, 60)):
        for depth in (1, 2):
            goal = OptimalTreeClassifier(max_depth=depth, **parameters).fit(X, y, weights)
            model = SmallestTreeClassifier(max_depth=2, max_error=goal.objective_, **parameters)
            model.fit(X, y, weights)
            assert model.objective_ <= goal.objective_ * (1 + 1e-8)
            assert model.tree_.n_splits <= goal.tree_.n_splits


def test_what_no_tree_reaches_is_said_with_all_digits():
    X, y = [[0], [0], [0], [1]], [0, 1, 1, 1]
    weights = [1 / 3, 1.0, 1.0, 1.0]
    model = SmallestTreeClassifier(max_depth=1, max_error=0.3333, min_weight_fraction_leaf=0.2)
    with pytest.raises(ValueError, match=r"0\.33333333") as raised:
        model.fit(X, y, weights)
    assert "max_error=0.3333;" in str(raised.value)
    assert "min_weight_fraction_leaf" in str(raised.value)


@pytest.mark.parametrize("objective", ["error", "balanced_error", "cost", "gini", "entropy"])
def test_several_trees_of_one_class(objective):
    costs = [[2.0]] if objective == "cost" else None
    model = TreeSetClassifier(n_trees=2, objective=objective, cost_matrix=costs)
    model.fit([[0], [1]], [1, 1])
    assert model.predict([[0]]).tolist() == [1]
    assert model.objective_ == (4.0 if objective == "cost" else 0.0)
    assert len(model.trees_) == 1


@pytest.mark.parametrize("estimator", [OptimalTreeClassifier, GreedyTreeClassifier])
@pytest.mark.parametrize(
    "class_weight", [{0: 3.0, 1: -0.5}, {1: -1}, {1: np.nan}, {0: np.inf}, {0: "heavy"}, {1: None}]
)
def test_weights_of_classes_are_numbers(estimator, class_weight):
    with pytest.raises(ValueError, match="class_weight"):
        estimator(class_weight=class_weight).fit([[0], [1]], [0, 1])


def test_weights_of_other_classes_are_not_asked_for():
    model = OptimalTreeClassifier(class_weight={0: 2.0, 1: 1.0, 7: 1.0}).fit([[0], [1]], [0, 1])
    assert model.objective_ == 0.0


def test_costs_of_classes_without_weight():
    costs = np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 5.0], [9.0, 9.0, 0.0]])
    X, y = [[0], [1], [2], [0]], [0, 1, 2, 1]
    model = OptimalTreeClassifier(objective="cost", cost_matrix=costs, max_depth=1)
    model.fit(X, y, [1, 1, 0, 1])
    fewer = OptimalTreeClassifier(objective="cost", cost_matrix=costs[:2, :2], max_depth=1)
    fewer.fit(X[:2] + X[3:], y[:2] + y[3:])
    assert model.objective_ == fewer.objective_ == 1.0
    assert model.predict(X).tolist() == fewer.predict(X).tolist()
    with pytest.raises(
        ValueError,
        match=r"cost_matrix must have shape \(3, 3\) because y has 3 classes, got shape \(2, 2\)",
    ):
        fewer.fit(X, y, [1, 1, 0, 1])
    with pytest.raises(ValueError, match="y has 2 classes.*fold"):
        model.fit(X[:2], y[:2])


def test_a_fold_may_lack_a_class():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (41, 4)), np.append(rng.integers(0, 2, 40), 2)
    costs = np.array([[0.0, 1.0, 3.0], [2.0, 0.0, 3.0], [1.0, 1.0, 0.0]])
    folds = [(np.arange(30), np.arange(30, 41)), (np.arange(10, 41), np.arange(10))]
    model = OptimalTreeClassifierCV(max_depth=2, cv=folds, objective="cost", cost_matrix=costs)
    model.fit(X, y)
    one = OptimalTreeClassifier(
        max_depth=1, objective="cost", cost_matrix=costs[:2, :2], max_leaf_nodes=2
    ).fit(X[:30], y[:30])
    assert model.cv_results_["split0_test_score"][1] == one.score(X[30:], y[30:])
    weights = np.append(np.ones(40), 0.0)
    assert model.fit(X, y, weights).classes_.tolist() == [0, 1]
    model = OptimalTreeClassifier(max_depth=1, objective="cost", cost_matrix=costs)
    path = optimal_path(model, X, y)
    assert path.objectives.shape == (2, 2)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"objective": "cost", "cost_matrix": [["a", "b"], ["c", "d"]]}, "cost_matrix"),
        ({"objective": "cost", "cost_matrix": [[0, 1], [1]]}, "cost_matrix"),
        ({"objective": lambda fp, fn: "x"}, "objective"),
        ({"objective": lambda fp, fn, tn: 0.0}, "objective"),
    ],
)
def test_what_is_no_number_is_named(parameters, message):
    with pytest.raises((ValueError, TypeError), match=message):
        OptimalTreeClassifier(**parameters).fit([[0], [1], [1]], [0, 1, 0])


def test_a_ranking_of_lists_is_refused():
    with pytest.raises(ValueError, match="ranking must contain each"):
        SmallestTreeClassifier(ranking=[["error"], ["size"]]).fit([[0], [1]], [0, 1])


def test_an_error_inside_a_callable_is_its_own():
    def broken(fp, fn):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        OptimalTreeClassifier(objective=broken).fit([[0], [1], [1]], [0, 1, 0])
