"""Bounds from tables of pairs of binned columns: no optimum changes, on nodes of any size."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sktree_opt.preprocessing._table import Table
from sktree_opt.simd._dispatch import available_instruction_sets
from tests.effort import examples
from tests.optimal.thresholds.common import solve
from tests.optimal.thresholds.test_solve import counts, noisy_table, rows_of, tables, weights_of
from tests.reference.brute_force_thresholds import best_cost, classification_leaf

# Small nodes, too, and those with few errors.
ALWAYS = ("large_bins",)


@st.composite
def problems(draw, max_rows, max_depth):
    """A table of several kinds of columns, labels, weights and limits."""
    matrix, n_categories, rng = draw(tables(max_rows=max_rows, max_columns=4))
    n_classes = draw(st.integers(2, 4))
    y = rng.integers(0, n_classes, len(matrix))
    if draw(st.booleans()):
        signal = np.nan_to_num(matrix[:, 0]) > np.nanmedian(np.append(matrix[:, 0], 0.0))
        y = np.where(rng.random(len(matrix)) < 0.3, y, signal)
    depth = draw(st.integers(2, max_depth))
    limits = {
        "n_classes": n_classes,
        "max_depth": depth,
        "max_splits": draw(st.none() | st.integers(1, 2**depth - 1)),
        "min_samples_leaf": min(len(matrix), draw(st.sampled_from([1, 1, 3]))),
        "complexity_cost": draw(st.sampled_from([0.0, 0.0, 0.02])),
    }
    return matrix, n_categories, y, draw(weights_of(rng, len(matrix))), limits


@examples(150)
@given(problem=problems(max_rows=18, max_depth=2), data=st.data())
def test_equals_brute_force(problem, data):
    matrix, n_categories, y, weights, limits = problem
    expected = best_cost(
        rows_of(matrix),
        classification_leaf(y, weights, 1.0 - np.eye(limits["n_classes"])),
        n_categories >= 0,
        weights,
        max_depth=limits["max_depth"],
        max_splits=limits["max_splits"],
        min_rows=limits["min_samples_leaf"],
        min_weight=0.0,
        split_cost=limits["complexity_cost"] * weights.sum(),
    )
    assume(not math.isinf(expected))
    found = solve(Table.from_matrix(matrix, n_categories), y, weights, off=ALWAYS, **limits)
    assert found.status == "optimal"
    assert found.objective == pytest.approx(expected, rel=1e-9, abs=1e-9)


@examples(80)
@given(problem=problems(max_rows=100, max_depth=3))
def test_changes_no_optimum(problem):
    matrix, n_categories, y, weights, limits = problem
    table = Table.from_matrix(matrix, n_categories)
    expected = solve(table, y, weights, off=("bins",), **limits)
    found = solve(table, y, weights, off=ALWAYS, **limits)
    assert found.objective == pytest.approx(expected.objective, rel=1e-9, abs=1e-9)
    assert found.lower_bound <= expected.objective + 1e-9
    if limits["min_samples_leaf"] == 1:
        assert found.lower_bound == pytest.approx(found.objective, rel=1e-9, abs=1e-9)


def test_many_categories_share_a_bin():
    rng = np.random.default_rng(0)
    matrix = np.column_stack([rng.integers(0, 60, 400), rng.normal(size=(400, 2))]).astype(float)
    matrix[rng.random(400) < 0.1, 0] = np.nan
    y = ((matrix[:, 0] == 7) | (matrix[:, 1] > 1.0)) ^ (rng.random(400) < 0.1)
    table = Table.from_matrix(matrix, np.array([60, -1, -1]))
    expected = solve(table, y, n_classes=2, max_depth=2, off=("bins",))
    found = solve(table, y, n_classes=2, max_depth=2, off=ALWAYS)
    assert found.objective == expected.objective
    assert found.stats["n_bounded"] > 0


def test_same_tree_for_any_number_of_threads_and_instruction_set(monkeypatch):
    table, y = noisy_table(200, 4, 3)
    results = [
        solve(table, y, n_classes=3, max_depth=3, n_threads=n_threads, off=ALWAYS)
        for n_threads in (1, 2, 8)
    ]
    for name in available_instruction_sets():
        monkeypatch.setenv("SKTREE_OPT_SIMD", name)
        results.append(solve(table, y, n_classes=3, max_depth=3, off=ALWAYS))
    assert results[0].stats["n_bounded"] > 0
    for result in results[1:]:
        assert result.tree == results[0].tree
        assert counts(result) == counts(results[0])


def test_large_tables_take_fewer_passes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 8))
    X[rng.random(X.shape) < 0.05] = np.nan
    y = ((X[:, 0] > 0) ^ (X[:, 1] > 0.5)) ^ (rng.random(6000) < 0.2)
    table = Table.from_matrix(X)
    results = [solve(table, y, n_classes=2, max_depth=2, off=off) for off in ((), ("bins",))]
    assert results[0].objective == results[1].objective
    assert results[0].stats["n_passes"] < results[1].stats["n_passes"] / 3


def test_limits_end_it_with_a_true_bound():
    table, y = noisy_table(3000, 8)
    best = solve(table, y, n_classes=2, max_depth=2).objective
    for seconds in (0.005, 0.02, 0.1):
        found = solve(
            table, y, n_classes=2, max_depth=3, time_limit=seconds, n_threads=2, off=ALWAYS
        )
        assert found.status == "time_limit"
        assert 0.0 <= found.lower_bound <= best
        assert found.lower_bound <= found.objective
