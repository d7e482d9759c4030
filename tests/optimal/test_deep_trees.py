"""Depths that no table needs: a budget of 2^20 splits costs neither time nor memory."""

import numpy as np
import pytest

from sktree_opt import OptimalTreeClassifier, OptimalTreeRegressor


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
