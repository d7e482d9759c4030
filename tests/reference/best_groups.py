"""The least squared error of numbers cut into groups, by trying all ways (1-D k-means)."""

from itertools import product

import numpy as np


def best_groups(targets, weights, n_groups):
    """Cost of the best assignment of `targets` to at most `n_groups` groups."""
    return min(
        sum(
            squared_error(targets[np.equal(assigned, group)], weights[np.equal(assigned, group)])
            for group in set(assigned)
        )
        for assigned in assignments(len(targets), n_groups)
    )


def assignments(n_targets, n_groups):
    """All ways to give each target a group; the first target has group 0."""
    return ((0, *rest) for rest in product(range(n_groups), repeat=n_targets - 1))


def squared_error(targets, weights):
    """Of one group, from its mean."""
    return float(np.sum(weights * (targets - np.average(targets, weights=weights)) ** 2))
