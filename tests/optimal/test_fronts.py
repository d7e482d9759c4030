"""Fronts of a callable's errors, and callables that are none."""

import numpy as np
import pytest

from sktree_opt.optimal import OptimalTreeClassifier
from tests.optimal.common import random_table


def test_a_flat_callable_has_the_whole_front(global_random_seed):
    X, y = random_table(global_random_seed, m=8)
    expected = OptimalTreeClassifier(objective="f1", max_depth=3).fit(X, y).pareto_front_
    least = (expected["false_positives"] + expected["false_negatives"]).min()

    def flat(fp, fn):
        return max(fp + fn - 1.4 * least, 0.0)

    found = OptimalTreeClassifier(objective=flat, max_depth=3).fit(X, y)
    assert found.objective_ == 0.0
    for name in ("false_positives", "false_negatives", "n_splits"):
        assert found.pareto_front_[name].tolist() == expected[name].tolist()


def test_a_tree_without_errors_ends_the_search():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    model = OptimalTreeClassifier(objective="f1", max_depth=20).fit(X, [0, 1, 1, 0])
    assert model.pareto_front_["n_splits"].tolist() == [3]


def test_an_infinite_loss_has_no_gap():
    X, y = np.zeros((4, 1)), [0, 0, 1, 1]
    model = OptimalTreeClassifier(objective=lambda fp, fn: np.inf).fit(X, y)
    assert model.objective_ == np.inf
    assert model.gap_ == 0.0


@pytest.mark.parametrize(
    "falls",
    [
        lambda fp, fn: abs(fp - 20) + fn if fp < 60 else 1000,
        lambda fp, fn: fp + (fn if fn < 30 or fn > 100 else 0),
    ],
)
def test_callables_that_fall_between_the_corners(falls):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (300, 6)), rng.integers(0, 2, 300)
    with pytest.raises(ValueError, match="must not fall"):
        OptimalTreeClassifier(objective=falls, max_depth=2).fit(X, y)


def test_callables_that_fall_by_rounding_alone(global_random_seed):
    X, y = random_table(global_random_seed, m=8)
    n, p = np.bincount(y).tolist()

    def rates(fp, fn):
        return 1.0 - ((n - fp) / n * 0.3 + (p - fn) / p * 0.7)

    model = OptimalTreeClassifier(objective=rates, max_depth=2).fit(X, y)
    assert model.objective_ == pytest.approx(model.pareto_front_["loss"].min())
