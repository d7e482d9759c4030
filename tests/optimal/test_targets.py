"""Answers of regression trees, and targets that are at the end of what floats are."""

import tracemalloc

import numpy as np
import pytest

from sktree_opt.optimal import OptimalTreeClassifier, OptimalTreeRegressor


@pytest.mark.parametrize("thresholds", ["all", 2])
@pytest.mark.parametrize("objective", ["squared_error", "absolute_error"])
@pytest.mark.parametrize("weighted", [False, True])
def test_constant_leaves_answer_their_targets_exactly(thresholds, objective, weighted):
    rng = np.random.default_rng(0)
    X = np.repeat([0, 1, 2, 3], [7, 6, 11, 5])[:, np.newaxis]
    y = np.array([0.3, 10.0, 0.0, 1e6 / 3.0])[X[:, 0]]
    weights = rng.uniform(0.1, 3.0, len(y)) if weighted else None
    thresholds = 4 if thresholds == 2 else thresholds
    model = OptimalTreeRegressor(max_depth=2, objective=objective, thresholds=thresholds)
    model.fit(X, y, sample_weight=weights)
    assert model.predict(X).tolist() == y.tolist()
    assert model.objective_ == model.lower_bound_ == 0.0
    assert OptimalTreeRegressor(objective=objective).fit(X, np.full(29, 1e308)).objective_ == 0.0


def test_the_objective_is_what_the_answers_cost(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    for offset in (0.0, 1e6):
        model = OptimalTreeRegressor(max_depth=2).fit(X, y + offset)
        distances = y + offset - model.predict(X)
        assert model.objective_ == pytest.approx((distances**2).sum(), rel=1e-9)
        root = model.tree_.nodes["impurity"][0]
        assert root == pytest.approx(np.var(y + offset), rel=1e-9)


@pytest.mark.parametrize("thresholds", ["all", 3])
@pytest.mark.parametrize("scale", [1e300, 1e155, 1e-160, 1e-300])
def test_targets_whose_errors_are_no_floats_are_refused(thresholds, scale):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2))
    model = OptimalTreeRegressor(max_depth=2, thresholds=thresholds).fit(X, X[:, 0])
    before = dict(vars(model))
    with pytest.raises(ValueError, match="targets y are up to"):
        model.fit(X, X[:, 0] * scale)
    assert vars(model) == before
    with pytest.raises(ValueError, match="targets y are up to"):
        model.fit(X[:2], [-1e308, 1.5e308])


@pytest.mark.parametrize("parameters", [{}, {"thresholds": 3}])
def test_memory_is_linear_in_the_number_of_classes(parameters):
    rng = np.random.default_rng(0)
    n_classes = 3000
    X, y = rng.normal(size=(6000, 2)), np.arange(6000) % n_classes
    tracemalloc.start()
    model = OptimalTreeClassifier(max_depth=1, **parameters).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert model.objective_ == np.count_nonzero(model.predict(X) != y) == 6000 - 4
    # A matrix of classes by classes has nine million numbers.
    assert peak < 2 * 9e6


def test_more_classes_than_can_be_searched_are_refused():
    X, y = np.arange(20_000.0).reshape(-1, 1), np.arange(20_000) // 2
    with pytest.raises(ValueError, match="y has 10000 classes; .* at most 8192"):
        OptimalTreeClassifier(thresholds=3).fit(X, y)
    model = OptimalTreeClassifier(max_depth=1).fit(X, y)
    assert model.objective_ == 20_000 - 4
