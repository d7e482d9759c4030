"""The best tree of a set under conditions of DL8 and MurTree, against the list of all trees."""

import numpy as np
import pytest

from sktree_opt import TreeSetClassifier
from tests.reference.brute_force_tree import estimated_errors


def leaf_lists(X, rows, depth):
    """The leaves of every tree, as lists of rows."""
    yield [rows]
    if depth == 0:
        return
    for column in range(X.shape[1]):
        sides = [[i for i in rows if X[i, column] == value] for value in (1, 0)]
        if all(sides):
            for first in leaf_lists(X, sides[0], depth - 1):
                for second in leaf_lists(X, sides[1], depth - 1):
                    yield first + second


def answer(y, leaf):
    """The most frequent class, the first of equal ones."""
    return int(2 * sum(y[i] for i in leaf) > len(leaf))


def errors(y, leaves):
    return sum(int(y[i] != answer(y, leaf)) for leaf in leaves for i in leaf)


def feared(y, leaves):
    """C4.5's estimate of the errors on new rows."""
    return sum(
        estimated_errors(len(leaf), sum(int(y[i] != answer(y, leaf)) for i in leaf))
        for leaf in leaves
    )


def rate_difference(answers, groups, among=slice(None)):
    """How much more often one group is answered 1 than the other, of some rows."""
    answers, groups = np.asarray(answers)[among], groups[among]
    return abs(answers[groups == 1].mean() - answers[groups == 0].mean())


def answers_of(y, leaves):
    answers = np.zeros(len(y), dtype=int)
    for leaf in leaves:
        answers[leaf] = answer(y, leaf)
    return answers


def all_of(X, y, **parameters):
    """All trees of depth two, those with tests that gain nothing too."""
    model = TreeSetClassifier(
        max_depth=2, epsilon=1e9, epsilon_kind="absolute", distinct_by="tests", **parameters
    )
    return model.fit(X, y)


@pytest.fixture(params=range(6))
def table(request):
    rng = np.random.default_rng(request.param)
    X = rng.integers(0, 2, (14, 3))
    y = rng.integers(0, 2, 14) | (X[:, 0] & X[:, 1])
    y[:2], groups = [0, 1], rng.permutation(14) % 2
    y[:4] = [0, 1, 0, 1]
    groups[:4] = [0, 0, 1, 1]
    return X, y, groups


@pytest.mark.parametrize("is_of_true", [False, True])
def test_group_fairness(table, is_of_true):
    """MurTree names it: a limit on the difference of positive, or true-positive, rates."""
    X, y, groups = table
    among = y == 1 if is_of_true else slice(None)
    found = [
        (errors(y, leaves), rate_difference(answers_of(y, leaves), groups, among))
        for leaves in leaf_lists(X, list(range(len(y))), 2)
    ]
    model = all_of(X, y)
    for limit in sorted({round(difference, 9) for _, difference in found}):
        least = min(error for error, difference in found if difference <= limit + 1e-9)
        fair = model.having(
            lambda tree, limit=limit: (
                rate_difference(tree.predict(X), groups, among) <= limit + 1e-9
            )
        )
        assert fair.objective_ == fair.lower_bound_ == least
    # The front of error against difference, from the trees in order.
    front = []
    for tree in model.trees():
        difference = rate_difference(tree.predict(X), groups, among)
        if front and front[-1][0] == tree.objective_ and difference < front[-1][1]:
            front.pop()
        if not front or difference < front[-1][1] - 1e-9:
            front.append((tree.objective_, difference))
    least = {error: min(d for e, d in found if e == error) for error, _ in found}
    expected = [
        (error, d)
        for error, d in sorted(least.items())
        if all(d < other - 1e-9 for e, other in least.items() if e < error)
    ]
    assert front == [(error, pytest.approx(d)) for error, d in expected]


def test_one_error_is_limited_and_the_other_ranked(table):
    """DL8: the least C4.5 estimate of the trees with at most so many errors, and the reverse."""
    X, y, _ = table
    found = [
        (errors(y, leaves), feared(y, leaves)) for leaves in leaf_lists(X, list(range(len(y))), 2)
    ]
    by_estimate, by_error = all_of(X, y, objective="pessimistic_error"), all_of(X, y)
    for limit in sorted({error for error, _ in found}):
        tree = by_estimate.having(
            lambda tree, limit=limit: np.count_nonzero(tree.predict(X) != y) <= limit
        )
        assert tree.objective_ == pytest.approx(min(f for e, f in found if e <= limit))
    for limit in sorted({round(estimate, 9) for _, estimate in found}):
        tree = by_error.having(
            lambda tree, limit=limit: (
                feared(y, [np.flatnonzero(tree.apply(X) == i) for i in set(tree.apply(X))])
                <= limit + 1e-8
            )
        )
        assert tree.objective_ == min(e for e, f in found if f <= limit + 1e-8)


def test_predicates_on_leaves(table):
    """DL8's p2: purity, and a minimum of each class."""
    X, y, _ = table

    def is_pure(counts):
        return max(counts) >= 0.6 * sum(counts)

    def has_both(counts):
        return min(counts) >= 1

    model = all_of(X, y)
    for predicate in (is_pure, has_both):
        allowed = [
            errors(y, leaves)
            for leaves in leaf_lists(X, list(range(len(y))), 2)
            if all(predicate(np.bincount(y[leaf], minlength=2)) for leaf in leaves)
        ]

        def fulfils(tree, predicate=predicate):
            is_leaf = tree.tree_.nodes["n_children"] == 0
            return all(predicate(counts) for counts in tree.tree_.values[is_leaf])

        if allowed:
            assert model.having(fulfils).objective_ == min(allowed)
        else:
            with pytest.raises(LookupError, match="fulfils the conditions"):
                model.having(fulfils)
