"""The two tables of DL8's section 4, on which proportions fool a greedy tree."""

from math import log2

import numpy as np
import pytest

from sktree_opt import GreedyTreeClassifier, OptimalTreeClassifier

# A, B, C, class, number of rows: tables with the gains that Nijssen and Fromont (KDD 2007) give for
# their Figures 3 and 4, and the leaves of their Figure 1. The cells of theirs are not in the text.
FIGURE_3 = [[1, 1, 0, 1, 40], [1, 1, 1, 1, 40], [1, 0, 1, 1, 5], [0, 0, 1, 1, 5], [0, 0, 0, 0, 10]]
FIGURE_4 = [
    [0, 0, 0, 0, 1],
    [0, 0, 1, 1, 3],
    [0, 1, 0, 1, 5],
    [0, 1, 1, 0, 2],
    [1, 0, 0, 0, 2],
    [1, 0, 1, 1, 3],
    [1, 1, 0, 1, 1],
    [1, 1, 1, 0, 5],
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
    # The paper cuts its numbers off after two digits.
    assert [int(100 * x) for x in gain(X[:, 0], y)] == [33, 54]
    assert [int(100 * x) for x in gain(X[:, 1], y)] == [26, 37]
    for criterion in ("information_gain", "gain_ratio"):
        greedy = GreedyTreeClassifier(criterion=criterion, min_samples_leaf=10).fit(X, y)
        assert greedy.tree_.nodes["feature"][0] == 0
        assert np.count_nonzero(greedy.predict(X) != y) == 5
    optimal = OptimalTreeClassifier(max_depth=2, min_samples_leaf=10).fit(X, y)
    assert optimal.objective_ == 0.0
    # Figure 1: B, then C. Figure 2: a path is an itemset, here with the rows of each.
    assert optimal.tree_.nodes["feature"].tolist()[:2] == [1, 2]
    leaves = [
        (X[rows, 1].min(), X[rows, 1].max(), set(X[rows, 2]), np.count_nonzero(rows))
        for rows in (optimal.apply(X) == leaf for leaf in np.unique(optimal.apply(X)))
    ]
    assert sorted(leaves, key=str) == [(0, 0, {0}, 10), (0, 0, {1}, 10), (1, 1, {0, 1}, 80)]


def test_a_variation_of_xor():
    X, y = table(FIGURE_4)
    assert (y == X[:, 1] ^ X[:, 2]).all()
    assert gain(X[:, 0], y) == pytest.approx((0.098, 0.098), abs=0.001)
    assert gain(X[:, 2], y) == pytest.approx((0.029, 0.030), abs=0.001)
    # Figure 5 (b): A first. Within two levels the tree then errs, and without a limit it is larger.
    short = GreedyTreeClassifier(max_depth=2).fit(X, y)
    greedy = GreedyTreeClassifier().fit(X, y)
    assert short.tree_.nodes["feature"][0] == greedy.tree_.nodes["feature"][0] == 0
    assert np.count_nonzero(short.predict(X) != y) > 0
    # Figure 5 (a): B and C, and A not at all.
    optimal = OptimalTreeClassifier(max_depth=3, min_samples_leaf=1).fit(X, y)
    assert optimal.objective_ == 0.0
    assert set(optimal.tree_.features) == {1, 2}
    assert greedy.get_n_leaves() > optimal.get_n_leaves() == 4
