"""Targets that a tree may be fitted to instead of the given ones: the answers of a random forest.

Each row is answered by those trees of the forest that have not seen it. These answers hold less
noise than labels or targets, and so does a tree that is fitted to them. It is the idea of
distillation (Hinton et al., 2015) and of born-again trees (Breiman and Shang, 1996).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

N_TREES = 100

# Rows that each tree of the forest is fitted to.
MOST_ROWS = 10_000

# Shares of classes are multiples of this: rows of few different weights are counted faster.
SHARE = 1.0 / 8.0


@dataclass(frozen=True)
class Given:
    """The rows with the targets that leaves answer.

    Attributes
    ----------
    problem : Problem
        Its limits are not used.

    rows : ndarray or slice
        For each of its rows, a row of the searched problem with the same cells.
    """

    problem: Any
    rows: Any


def forest_answers(data):
    """Answers of a forest for training rows, each by the trees that have not seen the row.

    Parameters
    ----------
    data : TrainingData

    Returns
    -------
    answers : ndarray of shape (n_rows, n_classes)
        Probabilities, or one column of numbers. A row that all trees have seen keeps its target.
    """
    # Only these targets need it.
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    matrix = data.matrix.toarray() if sparse.issparse(data.matrix) else np.asarray(data.matrix)
    # The forest reads single precision; ranks lose no digits.
    matrix = np.column_stack([ranks_of(column) for column in matrix.T])
    n_rows, weights = len(data.y), None if data.has_unit_weights else data.weights
    shared = {"max_samples": min(n_rows, MOST_ROWS), "random_state": 0}
    forest: Any
    if data.classes is None:
        forest = RandomForestRegressor(N_TREES, min_samples_leaf=3, max_features=0.5, **shared)
        own = data.y[:, np.newaxis]
    else:
        forest = RandomForestClassifier(N_TREES, min_samples_leaf=2, **shared)
        own = (data.y[:, np.newaxis] == np.arange(len(data.classes))).astype(np.float64)
    forest.fit(matrix, data.y, weights)
    sums, counts = np.zeros(own.shape), np.zeros((n_rows, 1))
    for tree, drawn in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        is_new = np.ones(n_rows, dtype=bool)
        is_new[drawn] = False
        if is_new.any():
            answer = tree.predict if data.classes is None else tree.predict_proba
            sums[is_new] += answer(matrix[is_new]).reshape(-1, own.shape[1])
            counts += is_new[:, np.newaxis]
    return np.where(counts > 0, sums / np.maximum(counts, 1), own)


def ranks_of(column):
    """Ranks of the values of a column; NaN stays."""
    ranks = np.unique(column, return_inverse=True)[1].astype(np.float32)
    ranks[column != column] = np.nan
    return ranks


def with_forest_targets(data):
    """Rows of a regression with the answers of a forest as targets."""
    return replace(data, y=forest_answers(data)[:, 0])


def with_forest_classes(data):
    """Rows of a classification, one for each class that a forest thinks possible.

    Returns
    -------
    data : TrainingData
        The weights of the copies of a row sum to its own.

    rows : ndarray
        The first copy of each row.
    """
    shares = np.rint(forest_answers(data) / SHARE) * SHARE
    likeliest = shares.argmax(axis=1)
    shares[np.arange(len(shares)), likeliest] += 1.0 - shares.sum(axis=1)
    rows, codes = np.nonzero(shares)
    copies = replace(
        data,
        matrix=data.matrix[rows],
        y=codes.astype(np.int32),
        weights=data.weights[rows] * shares[rows, codes],
        has_unit_weights=False,
    )
    return copies, np.searchsorted(rows, np.arange(len(shares)))
