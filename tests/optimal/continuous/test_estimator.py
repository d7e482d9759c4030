"""OptimalTreeClassifier on tables with many thresholds."""

import numpy as np
import pytest

from sktree_opt.optimal import OptimalTreeClassifier
from sktree_opt.optimal.continuous import solve_table
from sktree_opt.preprocessing import Table


@pytest.mark.parametrize("objective", ["error", "balanced_error"])
def test_classifier_searches_all_thresholds(objective):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.where(X[:, 0] * X[:, 1] > 0.3, "yes", "no")
    model = OptimalTreeClassifier(max_depth=2, objective=objective).fit(X, y)
    codes = (y == "yes").astype(int)
    weights = np.ones(200)
    if objective == "balanced_error":
        weights = (200 / (2 * np.bincount(codes)))[codes]
    expected = solve_table(Table.from_matrix(X), codes, weights, n_classes=2, max_depth=2)
    assert model.status_ == "optimal"
    assert model.objective_ == pytest.approx(expected.objective)
    assert model.gap_ == 0.0
    assert weights[model.predict(X) != y].sum() == pytest.approx(model.objective_)
    assert "n_passes" in model.search_stats_


def test_few_thresholds_go_to_binary_tests():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, size=(200, 3))
    model = OptimalTreeClassifier(max_depth=2).fit(X, X[:, 0] > 2)
    assert "n_passes" not in model.search_stats_
