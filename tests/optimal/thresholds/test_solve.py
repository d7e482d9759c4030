"""The search over all thresholds against brute force, and against its own limits."""

import json
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sktree_opt.preprocessing._table import Table
from sktree_opt.simd._dispatch import available_instruction_sets
from tests.effort import examples
from tests.optimal.thresholds.common import solve
from tests.reference.brute_force_thresholds import best_cost, classification_leaf, divisions


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


@examples(400)
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
        rows_of(matrix),
        classification_leaf(y, weights, cost_matrix),
        n_categories >= 0,
        weights,
        max_depth=max_depth,
        max_splits=max_splits,
        min_rows=min_rows,
        min_weight=min_weight,
        split_cost=split_cost,
    )
    arguments = {
        "n_classes": n_classes,
        "max_depth": max_depth,
        "max_splits": max_splits,
        "min_samples_leaf": min_rows,
        "min_weight_leaf": min_weight,
        "complexity_cost": complexity_cost,
        "cost_matrix": cost_matrix if use_costs else None,
    }
    table = Table.from_matrix(matrix, n_categories)
    # Estimators refuse minima that not even all rows meet.
    assume(not math.isinf(expected))
    result = solve(table, y, weights, **arguments)
    assert result.status == "optimal"
    assert result.objective == pytest.approx(expected, rel=1e-9, abs=1e-9)
    if min_rows == 1 and min_weight == 0.0:
        assert result.lower_bound == pytest.approx(expected, rel=1e-9, abs=1e-9)
    else:
        assert result.lower_bound <= expected + 1e-9
    tree = result.tree
    assert cost_of(tree, matrix, y, weights, cost_matrix, split_cost) == pytest.approx(
        result.objective, rel=1e-9, abs=1e-9
    )
    assert tree.depth <= max_depth
    assert max_splits is None or tree.n_splits <= max_splits
    leaves = tree.nodes[tree.nodes["n_children"] == 0]
    assert leaves["n_samples"].min() >= min_rows
    assert leaves["weight"].min() >= min_weight - 1e-9


@examples(60)
@given(data=st.data())
def test_depth_three_is_the_best_pair_of_depth_two(data):
    # Larger than brute force can be, so that intervals, bounds and all lanes of a pass take part.
    matrix, n_categories, rng = data.draw(tables(max_rows=60, max_columns=4))
    n_rows, n_classes = len(matrix), data.draw(st.integers(2, 4))
    # Labels that follow the first column, with noise.
    signal = np.nan_to_num(matrix[:, 0]) > np.nanmedian(np.append(matrix[:, 0], 0.0))
    y = np.where(rng.random(n_rows) < 0.3, rng.integers(0, n_classes, n_rows), signal)
    weights = data.draw(weights_of(rng, n_rows))
    limits = {
        "n_classes": n_classes,
        "min_samples_leaf": data.draw(st.sampled_from([1, 4])),
    }
    assume(n_rows >= limits["min_samples_leaf"])

    def cost(rows, max_depth):
        if len(rows) < limits["min_samples_leaf"]:
            return math.inf
        table = Table.from_matrix(matrix[rows], n_categories)
        return solve(table, y[rows], weights[rows], max_depth=max_depth, **limits).objective

    everything = np.arange(n_rows)
    best = cost(everything, 0)
    for left, right in divisions(rows_of(matrix), n_categories >= 0):
        sides = [np.array([i for i, _ in side]) for side in (left, right)]
        best = min(best, cost(sides[0], 2) + cost(sides[1], 2))
    assert cost(everything, 3) == pytest.approx(best, rel=1e-9, abs=1e-9)


def real_set(data_dir, name):
    table = np.loadtxt(data_dir / "continuous" / f"{name}.txt.gz")
    return table[:, 1:].copy(), np.unique(table[:, 0], return_inverse=True)[1]


@pytest.mark.parametrize("depth", [2, 3])
def test_equals_published_optima(data_dir, depth):
    with (data_dir / "reference" / "continuous.jsonl").open() as file:
        expected = [json.loads(line) for line in file]
    expected = [e for e in expected if e["depth"] == depth and e["optimal"]]
    assert len(expected) == 8
    for entry in expected:
        X, y = real_set(data_dir, entry["name"])
        result = solve(Table.from_matrix(X), y, n_classes=int(y.max()) + 1, max_depth=depth)
        assert (entry["name"], result.objective) == (entry["name"], entry["err"])
        assert result.lower_bound == entry["err"]
        leaves, _ = result.tree.walk(X)
        assert (result.tree.values.argmax(axis=1)[leaves] != y).sum() == entry["err"]


def noisy_table(n_rows, n_columns, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    y = ((X[:, 0] > 0) ^ (X[:, 1] > 0.5)) + rng.integers(0, n_classes - 1, n_rows)
    y = np.where(rng.random(n_rows) < 0.3, rng.integers(0, n_classes, n_rows), y)
    return Table.from_matrix(X), y


def counts(result):
    return {name: value for name, value in result.stats.items() if name != "seconds"}


@pytest.mark.parametrize("n_classes", [2, 3])
def test_same_tree_for_any_number_of_threads(n_classes):
    table, y = noisy_table(300, 4, n_classes)
    results = [
        solve(table, y, n_classes=n_classes, max_depth=3, n_threads=n_threads)
        for n_threads in (1, 2, 3, 8)
    ]
    for result in results[1:]:
        assert result.tree == results[0].tree
        assert counts(result) == counts(results[0])


@pytest.mark.parametrize("instruction_set", available_instruction_sets())
def test_same_tree_with_any_instruction_set(monkeypatch, instruction_set):
    for n_classes in (2, 3):
        table, y = noisy_table(200, 3, n_classes)
        for weights in (np.ones(200), np.full(200, 3.0) + (y == 1), 0.1 + (y == 1) / 3.0):
            expected = solve(table, y, weights, n_classes=n_classes, max_depth=3)
            with monkeypatch.context() as patch:
                patch.setenv("SKTREE_OPT_SIMD", instruction_set)
                result = solve(table, y, weights, n_classes=n_classes, max_depth=3)
            assert result.tree == expected.tree
            assert counts(result) == counts(expected)


def test_weight_is_repetition():
    table, y = noisy_table(150, 3)
    weights = np.random.default_rng(1).integers(1, 4, 150)
    X = np.column_stack([table.values[j][table.codes[j]] for j in range(3)])
    repeated = Table.from_matrix(np.repeat(X, weights, axis=0))
    weighted = solve(table, y, weights, n_classes=2, max_depth=3)
    unweighted = solve(repeated, np.repeat(y, weights), n_classes=2, max_depth=3)
    assert weighted.objective == unweighted.objective


def test_thresholds_are_midpoints_of_neighbours():
    table = Table.from_matrix(np.array([[1.0], [2.0], [4.0], [8.0]]))
    result = solve(table, [0, 0, 1, 1], n_classes=2, max_depth=2)
    assert result.tree.n_splits == 1
    assert result.tree.nodes["threshold"][0] == 3.0


def test_smaller_tree_first():
    # One test suffices; depth two must not add another.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    result = solve(Table.from_matrix(X), X[:, 2] > 0.1, n_classes=2, max_depth=3)
    assert result.tree.n_splits == 1
    assert result.tree.nodes["feature"][0] == 2
