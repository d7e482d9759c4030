"""The depth-two kernel of every instruction set, on all shapes of blocks and vectors."""

import functools

import numpy as np
import pytest

from sktree_opt.optimal.bits._bit_engine import BitEngine
from sktree_opt.optimal.objectives._leaf_objectives import OBJECTIVES
from sktree_opt.preprocessing._bits import pack_binary_matrix
from sktree_opt.simd._dispatch import available_instruction_sets
from sktree_opt.utils._control import SearchControl

# Around the lanes of all vectors, and the rows of all blocks.
N_COLUMNS = (1, 7, 9, 31, 32, 33, 49, 64, 65, 97)
PLAIN = ("similarity", "inheritance", "cache", "small_cache", "look_ahead", "merge_rows")


def engine_for(X, y, n_classes, weights=None, off=(), **constraints):
    ones = np.ones(len(y)) if weights is None else weights
    class_weights = np.bincount(y, weights=ones, minlength=n_classes)
    form = OBJECTIVES["error"].leaf_form(class_weights, ones)
    bits = pack_binary_matrix(X)
    return BitEngine(bits, X.shape[1], y, weights, form, SearchControl(), off=off, **constraints)


def depth_two_errors(X, y, n_classes, weights=None, min_samples=1):
    """Fewest errors of any tree of two levels, by all triples of columns."""
    weights = np.ones(len(y)) if weights is None else weights
    outcomes = np.hstack([X, 1 - X]).astype(float)
    by_class = [outcomes * (weights * (y == c))[:, np.newaxis] for c in range(n_classes)]
    pairs = np.array([outcomes.T @ one for one in by_class])
    rows = outcomes.T @ outcomes
    m = X.shape[1]
    right = pairs.max(axis=0)
    # [side of the root column][side of the column below]
    split = right[:, :m] + right[:, m:]
    split[(rows[:, :m] < min_samples) | (rows[:, m:] < min_samples)] = -np.inf
    leaf = pairs[:, np.arange(2 * m), np.arange(2 * m)].max(axis=0)
    best = np.maximum(leaf, split.max(axis=1))
    root = best[:m] + best[m:]
    n_side = np.diag(rows)
    root[(n_side[:m] < min_samples) | (n_side[m:] < min_samples)] = -np.inf
    all_rows = max(weights[y == c].sum() for c in range(n_classes))
    return weights.sum() - max(all_rows, root.max(initial=-np.inf))


def table(rng, n_rows, n_columns, n_classes):
    X = (rng.random((n_rows, n_columns)) < 0.4).astype(np.uint8)
    return X, rng.integers(0, n_classes, n_rows).astype(np.int32)


@functools.cache
def depth_two_tables(n_classes, seed):
    """Tables, settings of an engine, and the fewest errors of two levels."""
    rng = np.random.default_rng(seed)
    found = []
    for n_columns in N_COLUMNS:
        for n_rows in (5, 40, 300):
            X, y = table(rng, n_rows, n_columns, n_classes)
            weights = rng.integers(1, 6, n_rows).astype(float)
            for settings in ({}, {"weights": weights}):
                found.append((X, y, settings, depth_two_errors(X, y, n_classes, **settings)))
            errors = depth_two_errors(X, y, n_classes, min_samples=3)
            found.append((X, y, {"min_samples_leaf": 3}, errors))
    return found


@pytest.mark.parametrize("simd", available_instruction_sets())
@pytest.mark.parametrize("n_classes", [2, 3])
def test_depth_two_against_all_pairs(simd, n_classes, monkeypatch, global_random_seed):
    monkeypatch.setenv("SKTREE_OPT_SIMD", simd)
    for X, y, settings, expected in depth_two_tables(n_classes, global_random_seed):
        engine = engine_for(X, y, n_classes, **settings)
        engine.begin(2, 3)
        assert engine.cost == expected


@functools.cache
def depth_three_tables(n_classes, seed):
    """Tables and the fewest errors of three levels."""
    rng = np.random.default_rng(seed)
    found = []
    for n_columns in (9, 32, 33, 65):
        X, y = table(rng, 60, n_columns, n_classes)
        expected = depth_two_errors(X, y, n_classes)
        for column in X.T == 1:
            sides = [
                depth_two_errors(X[rows], y[rows], n_classes)
                for rows in (column, ~column)
                if rows.any()
            ]
            expected = min(expected, sum(sides))
        found.append((X, y, expected))
    return found


@pytest.mark.parametrize("simd", available_instruction_sets())
@pytest.mark.parametrize("n_classes", [2, 3])
def test_both_children_of_every_column(simd, n_classes, monkeypatch, global_random_seed):
    # Without any bound a tree of three levels solves both children of each root column, one of them
    # by what is left of the counts.
    monkeypatch.setenv("SKTREE_OPT_SIMD", simd)
    for X, y, expected in depth_three_tables(n_classes, global_random_seed):
        engine = engine_for(X, y, n_classes, off=PLAIN)
        engine.begin(3, 7)
        engine.deepen(3)
        assert engine.cost == expected


@pytest.mark.parametrize("simd", available_instruction_sets())
def test_counts_do_not_overflow(simd, monkeypatch):
    # As many rows as a 16-bit lane can count, of one class and of two.
    monkeypatch.setenv("SKTREE_OPT_SIMD", simd)
    for n_rows in (32_767, 32_768):
        X = np.zeros((n_rows, 3), dtype=np.uint8)
        X[: n_rows - 10, 0] = 1
        X[: n_rows // 2, 1] = 1
        for y in (X[:, 0] ^ 1, X[:, 1] & X[:, 0]):
            engine = engine_for(X, y.astype(np.int32), 2, off=("merge_rows",))
            engine.begin(2, 3)
            assert engine.cost == 0.0


@pytest.mark.parametrize("simd", available_instruction_sets())
def test_counts_of_full_columns_do_not_overflow(simd, monkeypatch):
    # Blocks count in bytes for a while: nearly all bits are set.
    monkeypatch.setenv("SKTREE_OPT_SIMD", simd)
    rng = np.random.default_rng(0)
    X = (rng.random((1500, 80)) < 0.995).astype(np.uint8)
    y = (X[:, 3] & X[:, 50] ^ (rng.random(1500) < 0.02)).astype(np.int32)
    engine = engine_for(X, y, 2)
    engine.begin(2, 3)
    assert engine.cost == depth_two_errors(X, y, 2)


def test_solving_the_root_again_changes_nothing(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X, y = table(rng, 100, 20, 2)
    engine = engine_for(X, y, 2)
    engine.begin(2, 3)
    engine.solve_root(3)
    assert engine.cost == depth_two_errors(X, y, 2)
