"""The search over all thresholds against brute force, and against its own limits."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sktree_opt.optimal.continuous import solve_table
from sktree_opt.preprocessing import Table
from tests.reference.brute_force_thresholds import best_cost, classification_leaf


@st.composite
def tables(draw, max_rows, max_columns=3):
    """A matrix with ties, holes and categories, and n_categories of its columns."""
    n_rows = draw(st.integers(1, max_rows))
    n_columns = draw(st.integers(1, max_columns))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    matrix = np.empty((n_rows, n_columns))
    n_categories = np.full(n_columns, -1)
    for j in range(n_columns):
        n_values = draw(st.sampled_from([2, 3, 5, 100]))
        matrix[:, j] = rng.integers(0, n_values, n_rows)
        if n_values <= 5 and draw(st.booleans()):
            n_categories[j] = n_values
        if draw(st.booleans()):
            matrix[rng.random(n_rows) < 0.3, j] = np.nan
    return matrix, n_categories, rng


@st.composite
def weights_of(draw, rng, n_rows):
    kind = draw(st.sampled_from(["unit", "integer", "real"]))
    if kind == "unit":
        return np.ones(n_rows)
    if kind == "integer":
        return rng.integers(1, 5, n_rows).astype(float)
    return rng.random(n_rows) + 0.1


def rows_of(matrix):
    return list(enumerate(map(tuple, matrix.tolist())))


def cost_of(tree, matrix, y, weights, cost_matrix, split_cost):
    """What a tree costs on its training rows, by prediction."""
    leaves, _ = tree.walk(matrix)
    assert (leaves >= 0).all()
    total = split_cost * tree.n_splits
    for leaf in np.unique(leaves):
        inside = leaves == leaf
        answers = [
            sum(w * cost_matrix[c][a] for c, w in zip(y[inside], weights[inside], strict=True))
            for a in range(len(cost_matrix))
        ]
        total += min(answers)
    return total


@settings(max_examples=400, deadline=None)
@given(data=st.data())
def test_equals_brute_force(data):
    max_depth = data.draw(st.integers(0, 3))
    matrix, n_categories, rng = data.draw(tables(max_rows=[20, 20, 16, 9][max_depth]))
    n_rows = len(matrix)
    n_classes = data.draw(st.integers(2, 4))
    y = rng.integers(0, n_classes, n_rows)
    weights = data.draw(weights_of(rng, n_rows))
    cost_matrix = 1.0 - np.eye(n_classes)
    use_costs = data.draw(st.booleans())
    if use_costs:
        cost_matrix = rng.integers(0, 5, (n_classes, n_classes)).astype(float)
    max_splits = data.draw(st.none() | st.integers(0, 2**max_depth - 1))
    min_rows = data.draw(st.sampled_from([1, 1, 2, 3]))
    min_weight = data.draw(st.sampled_from([0.0, 0.0, 1.5]))
    complexity_cost = data.draw(st.sampled_from([0.0, 0.0, 0.01, 0.2]))
    split_cost = complexity_cost * weights.sum()
    expected = best_cost(
        rows_of(matrix), classification_leaf(y, weights, cost_matrix), n_categories >= 0, weights,
        max_depth=max_depth, max_splits=max_splits, min_rows=min_rows, min_weight=min_weight,
        split_cost=split_cost,
    )
    arguments = dict(
        n_classes=n_classes, max_depth=max_depth, max_splits=max_splits,
        min_samples_leaf=min_rows, min_weight_leaf=min_weight, complexity_cost=complexity_cost,
        cost_matrix=cost_matrix if use_costs else None,
    )
    table = Table.from_matrix(matrix, n_categories)
    if math.isinf(expected):
        with pytest.raises(ValueError, match="min_samples_leaf"):
            solve_table(table, y, weights, **arguments)
        return
    result = solve_table(table, y, weights, **arguments)
    assert result.status == "optimal"
    assert result.objective == pytest.approx(expected, rel=1e-9, abs=1e-9)
    if min_rows == 1 and min_weight == 0.0:
        assert result.lower_bound == pytest.approx(result.objective, rel=1e-9, abs=1e-9)
    else:
        assert result.lower_bound <= result.objective
    tree = result.tree
    assert cost_of(tree, matrix, y, weights, cost_matrix, split_cost) == pytest.approx(
        result.objective, rel=1e-9, abs=1e-9
    )
    assert tree.depth <= max_depth
    assert max_splits is None or tree.n_splits <= max_splits
    leaves = tree.nodes[tree.nodes["n_children"] == 0]
    assert leaves["n_samples"].min() >= min_rows
    assert leaves["weight"].min() >= min_weight - 1e-9
