"""Objectives of optimal trees against trying every tree."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sktree_opt.optimal import OptimalTreeClassifier, OptimalTreeRegressor
from sktree_opt.optimal.objectives import OBJECTIVES
from tests.optimal.common import examples
from tests.reference.brute_force_tree import best_cost


@st.composite
def problems(draw, objective):
    n = draw(st.integers(2, 24))
    m = draw(st.integers(1, 4))
    k = draw(st.integers(1, 4))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    # Few distinct rows make equal and contradictory ones.
    distinct = rng.integers(0, 2, (draw(st.integers(1, n)), m))
    X = distinct[rng.integers(0, len(distinct), n)]
    regression = objective == "squared_error"
    y = rng.normal(size=n).round(draw(st.integers(0, 3))) if regression else rng.integers(0, k, n)
    kind = draw(st.sampled_from(["none", "whole", "real", "few"]))
    weights = {
        "none": None,
        "whole": rng.integers(1, 6, n).astype(float),
        "real": rng.uniform(0.1, 3.0, n),
        "few": rng.choice([0.3, 1.7], n),
    }[kind]
    depth = draw(st.integers(0, 3))
    options = {
        "max_depth": depth,
        "max_splits": draw(st.none() | st.integers(0, 2**depth)),
        "min_samples_leaf": draw(st.integers(1, min(n, 4))),
        "complexity_cost": draw(st.sampled_from([0.0, 0.0, 0.01, 0.05, 0.2])),
    }
    total = n if weights is None else float(weights.sum())
    options["min_weight_leaf"] = draw(st.sampled_from([0.0, 0.0, 0.1 * total]))
    if objective == "cost":
        k = len(np.unique(y))
        options["cost_matrix"] = draw(
            st.sampled_from([rng.integers(0, 4, (k, k)).astype(float), rng.uniform(0, 2, (k, k))])
        )
    return X, y, weights, options


def reference_cost(X, y, weights, options, objective):
    n = len(X)
    codes = y if objective == "squared_error" else np.unique(y, return_inverse=True)[1]
    weights = [1.0] * n if weights is None else weights.tolist()
    depth = options["max_depth"]
    splits = 2**depth - 1 if options["max_splits"] is None else options["max_splits"]
    problem = {
        "X": X.tolist(),
        "y": codes.tolist(),
        "n_classes": 0 if objective == "squared_error" else int(codes.max()) + 1,
        "weights": weights,
        "objective": objective,
        "costs": options.get("cost_matrix"),
        "min_samples_leaf": options["min_samples_leaf"],
        "min_weight_leaf": options["min_weight_leaf"],
        "split_cost": options["complexity_cost"] * sum(weights),
    }
    return best_cost(list(range(n)), depth, splits, problem)


def check_problem(problem, objective):
    X, y, weights, options = problem
    estimator = OptimalTreeRegressor if objective == "squared_error" else OptimalTreeClassifier
    tree = estimator(objective=objective, **options).fit(X, y, sample_weight=weights)
    expected = reference_cost(X, y, weights, options, objective)
    assert tree.status_ == "optimal"
    assert tree.objective_ == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert tree.tree_.depth <= options["max_depth"]
    if options["max_splits"] is not None:
        assert tree.tree_.n_splits <= options["max_splits"]
    leaves = tree.tree_.nodes[tree.tree_.nodes["n_children"] == 0]
    assert leaves["n_samples"].min() >= options["min_samples_leaf"]
    assert leaves["weight"].min() >= options["min_weight_leaf"] - 1e-9


@pytest.mark.parametrize("objective", [*OBJECTIVES, "squared_error"])
@settings(max_examples=examples(150), deadline=None)
@given(data=st.data())
def test_no_tree_is_better(objective, data):
    check_problem(data.draw(problems(objective)), objective)
