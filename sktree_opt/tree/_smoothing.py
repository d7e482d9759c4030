"""Class probabilities of leaves that have few rows."""

import numpy as np


def smoothed_probabilities(
    tree, leaf_smoothing=None, hierarchical_shrinkage=0.0, class_factors=None
):
    """Class probabilities at each node: frequencies, moved towards those of more rows.

    Weights count as rows; if the mean weight of a row is below 1, it counts as one row.

    Parameters
    ----------
    tree : Tree
        Of a classifier.

    leaf_smoothing : "laplace", float or None
        "laplace" adds one row of each class to every node. A float m adds m rows with the class
        frequencies of the root (m-estimate, Cestnik 1990).

    hierarchical_shrinkage : float
        The change of the probabilities from a node with n rows to its child is divided by
        ``1 + hierarchical_shrinkage / n`` (Agarwal et al., ICML 2022).

    class_factors : ndarray of shape (n_classes,) or None
        Factors of the weights of each class; None for 1.

    Returns
    -------
    probabilities : ndarray of shape (n_nodes, n_classes)
    """
    is_laplace = isinstance(leaf_smoothing, str)
    if is_laplace and leaf_smoothing != "laplace":
        raise ValueError(f"leaf_smoothing must be 'laplace', a float or None: {leaf_smoothing!r}.")
    if not hierarchical_shrinkage >= 0.0 or not (is_laplace or (leaf_smoothing or 0.0) >= 0.0):
        raise ValueError("leaf_smoothing and hierarchical_shrinkage must not be negative.")
    frequencies, weights = tree.node_values(), tree.nodes["weight"]
    if class_factors is not None:
        values = tree.values * class_factors
        weights = values.sum(axis=1)
        frequencies = np.divide(
            values, weights[:, np.newaxis], out=frequencies.copy(), where=weights[:, np.newaxis] > 0
        )
    if leaf_smoothing is None and hierarchical_shrinkage == 0.0:
        return frequencies
    weight_of_row = min(1.0, weights[0] / max(1, tree.nodes["n_samples"][0]))
    n_rows = weights[:, np.newaxis] / weight_of_row
    probabilities = frequencies
    if leaf_smoothing is not None:
        n_classes = tree.values.shape[1]
        n_added = n_classes if is_laplace else leaf_smoothing
        prior = np.full(n_classes, 1.0 / n_classes) if is_laplace else frequencies[0]
        total = n_rows + n_added
        # A node without rows keeps the frequencies of its parent if nothing is added.
        smoothed = np.divide(
            n_rows * frequencies + n_added * prior, total, out=frequencies.copy(), where=total > 0.0
        )
        probabilities = smoothed
    if hierarchical_shrinkage == 0.0:
        return probabilities
    parents = tree.parents()[1:]
    steps = np.zeros_like(probabilities)
    # Multiplied with the rows, so that a node without rows has no division by zero.
    parent_rows = n_rows[parents]
    kept = parent_rows / np.maximum(parent_rows + hierarchical_shrinkage, 1e-300)
    steps[0] = probabilities[0]
    steps[1:] = (probabilities[1:] - probabilities[parents]) * kept
    for node, parent in enumerate(parents.tolist(), start=1):
        # Children come after their parent.
        steps[node] += steps[parent]
    return steps
