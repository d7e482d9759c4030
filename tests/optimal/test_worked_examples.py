"""The two tables of DL8's section 4, on which proportions fool a greedy tree."""

from math import log2

import numpy as np
import pytest

from sktree_opt import GreedyTreeClassifier, OptimalTreeClassifier

# A, B, C, class, number of rows: Figure 3 of Nijssen and Fromont, KDD 2007, and a table that is
# made like their Figure 4.
FIGURE_3 = [[1, 1, 0, 1, 40], [1, 1, 1, 1, 40], [0, 1, 0, 1, 5], [1, 0, 1, 1, 10], [0, 0, 0, 0, 10]]
FIGURE_4 = [
    [1, 0, 1, 1, 4],
    [1, 1, 0, 1, 4],
    [0, 0, 1, 1, 2],
    [0, 1, 0, 1, 2],
    [0, 0, 0, 0, 4],
    [0, 1, 1, 0, 4],
    [1, 0, 0, 0, 2],
    [1, 1, 1, 0, 2],
]


def table(lines):
    rows = np.repeat(np.array(lines)[:, :4], np.array(lines)[:, 4], axis=0)
    return rows[:, :3], rows[:, 3]


def entropy(labels):
    shares = np.bincount(labels) / len(labels)
    return -sum(p * log2(p) for p in shares if p > 0)


def gain(column, labels):
    """Information gain, and its ratio."""
    parts = [labels[column == value] for value in (0, 1)]
    after = sum(len(part) / len(labels) * entropy(part) for part in parts)
    return entropy(labels) - after, (entropy(labels) - after) / entropy(column)


def test_a_greedy_tree_misses_the_frequent_leaves():
    X, y = table(FIGURE_3)
    assert gain(X[:, 0], y) == pytest.approx((0.33, 0.54), abs=0.01)
    assert gain(X[:, 1], y) == pytest.approx((0.26, 0.37), abs=0.01)
    for criterion in ("information_gain", "gain_ratio"):
        greedy = GreedyTreeClassifier(criterion=criterion, min_samples_leaf=10).fit(X, y)
        assert greedy.tree_.nodes["feature"][0] == 0
        assert np.count_nonzero(greedy.predict(X) != y) == 5
    optimal = OptimalTreeClassifier(max_depth=2, min_samples_leaf=10).fit(X, y)
    assert optimal.tree_.nodes["feature"][0] == 1
    assert optimal.objective_ == 0.0


def test_a_variation_of_xor():
    X, y = table(FIGURE_4)
    assert gain(X[:, 0], y) == pytest.approx((0.08, 0.08), abs=0.01)
    greedy = GreedyTreeClassifier(max_depth=2).fit(X, y)
    assert greedy.tree_.nodes["feature"][0] == 0
    assert np.count_nonzero(greedy.predict(X) != y) > 0
    # Figure 5 (a): B and C, and A not at all.
    optimal = OptimalTreeClassifier(max_depth=2).fit(X, y)
    assert optimal.objective_ == 0.0
    assert set(optimal.tree_.features) == {1, 2}
