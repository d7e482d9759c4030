"""The least cost of a tree on 0/1 columns, from sums over pairs of columns: larger tables than
``brute_force_tree``.

A tree of depth two is known by what its leaves sum up, and those sums follow from the sums over the
rows that have a one in both of two columns. All trees of depth two are rated at once; above them
every column is tried at every node. No bound, no memory.
"""

import numpy as np


def best_cost(X, channels, leaf_cost, depth, split_cost=0.0):
    """Least cost of a tree of at most this depth.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
        Zeros and ones.

    channels : array of shape (n_rows, n_channels)
        What leaves sum up over their rows; the first is 1 for each row.

    leaf_cost : callable
        Costs of leaves from their sums; the last axis is that of the channels.

    depth : int
        Maximum number of tests on a path.

    split_cost : float
        Cost of each test.
    """
    if depth <= 2:
        return best_shallow(X, channels, leaf_cost, depth, split_cost)
    best = leaf_cost(channels.sum(axis=0))
    for column in range(X.shape[1]):
        has_one = X[:, column] == 1
        if has_one.all() or not has_one.any():
            continue
        sides = (
            best_cost(X[side], channels[side], leaf_cost, depth - 1, split_cost)
            for side in (has_one, ~has_one)
        )
        best = min(best, sum(sides) + split_cost)
    return best


def best_shallow(X, channels, leaf_cost, depth, split_cost):
    total = channels.sum(axis=0)
    best = leaf_cost(total)
    if depth == 0:
        return best
    ones = X.T @ channels
    with np.errstate(invalid="ignore", divide="ignore"):
        single = cost_of_two(ones, total - ones, leaf_cost) + split_cost
        best = min(best, single.min())
        if depth == 1:
            return best
        # both[i, j]: sums over the rows with ones in columns i and j.
        both = np.stack([X.T @ (channel[:, None] * X) for channel in channels.T], axis=-1)
        with_one = cost_of_two(both, ones[:, None] - both, leaf_cost).min(axis=1) + split_cost
        of_zeros = ones[None, :] - both
        zeros = total - ones
        without = cost_of_two(of_zeros, zeros[:, None] - of_zeros, leaf_cost).min(axis=1)
        leaf_with, leaf_without = leaf_cost(ones), leaf_cost(zeros)
    sides = np.minimum(with_one, leaf_with) + np.minimum(without + split_cost, leaf_without)
    is_split = (ones[:, 0] > 0) & (zeros[:, 0] > 0)
    return min(best, np.where(is_split, sides + split_cost, np.inf).min())


def cost_of_two(first, second, leaf_cost):
    """Cost of two leaves; infinite where one of them has no row."""
    costs = leaf_cost(first) + leaf_cost(second)
    return np.where((first[..., 0] > 0.5) & (second[..., 0] > 0.5), costs, np.inf)


def class_channels(y, weights, n_classes):
    """Channels of a classification problem: rows, then the weight of each class."""
    by_class = np.zeros((len(y), n_classes))
    by_class[np.arange(len(y)), y] = weights
    return np.column_stack([np.ones(len(y)), by_class])


def error(sums):
    return sums[..., 1:].sum(axis=-1) - sums[..., 1:].max(axis=-1)


def gini(sums):
    weight = sums[..., 1:].sum(axis=-1)
    return weight - (sums[..., 1:] ** 2).sum(axis=-1) / weight


def entropy(sums):
    weight = sums[..., 1:].sum(axis=-1, keepdims=True)
    share = np.clip(sums[..., 1:] / weight, 1e-300, None)
    return -(sums[..., 1:] * np.log2(share)).sum(axis=-1)


def cost_with(cost_matrix):
    return lambda sums: (sums[..., 1:] @ cost_matrix).min(axis=-1)


def balanced_error_of(y, weights, n_classes):
    """Errors, each divided by the weight of its class; times total weight over classes."""
    by_class = np.bincount(y, weights, minlength=n_classes)

    def cost(sums):
        rates = sums[..., 1:] / by_class
        return (rates.sum(axis=-1) - rates.max(axis=-1)) * by_class.sum() / n_classes

    return cost


def target_channels(y, weights):
    """Channels of a regression problem: rows, weight, and the sums of targets and their squares."""
    return np.column_stack([np.ones(len(y)), weights, weights * y, weights * y * y])


def squared_error(sums):
    return np.maximum(sums[..., 3] - sums[..., 2] ** 2 / sums[..., 1], 0.0)


def tests_of(X):
    """0/1 columns: every ``x <= v`` of numeric columns, with missing values on either side."""
    columns = []
    for x in X.T:
        is_missing = np.isnan(x)
        for value in np.unique(x[~is_missing]):
            columns += [x <= value, (x <= value) | is_missing]
        columns.append(is_missing)
    found = np.unique(np.array(columns), axis=0)
    return found[(found.any(axis=1)) & ~found.all(axis=1)].T.astype(float)
