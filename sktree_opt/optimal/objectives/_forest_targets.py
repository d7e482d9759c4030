"""Targets that a tree may be fitted to instead of the given ones: the answers of a forest.

The rows are divided into folds, and those of each are answered by a forest of the others. These
answers hold less noise than labels or targets, and so does a tree that is fitted to them. It is the
idea of distillation (Hinton et al., 2015) and of born-again trees (Breiman and Shang, 1996).

Nothing depends on the order of rows, and a row of weight k is the same as k equal rows: folds are
chosen by the cells of a row, and trees are grown without drawing rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from sktree_opt.utils._equal_rows import hash_rows

N_FOLDS, N_TREES = 5, 40

# Weight of a leaf at least, as a share of all, and share of the columns that each split looks at.
LEAF_SHARE, COLUMN_SHARE = 0.01, 0.5

# Rows that a forest is fitted to, about.
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
    """Answers of a forest for training rows, each by a forest that has not seen the row.

    Parameters
    ----------
    data : TrainingData

    Returns
    -------
    answers : ndarray of shape (n_rows, n_classes)
        Probabilities, or one column of numbers.
    """
    # Only these targets need it.
    from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

    matrix = data.matrix.toarray() if sparse.issparse(data.matrix) else np.asarray(data.matrix)
    # The forest reads single precision; ranks lose no digits.
    ranks = np.column_stack([np.unique(column, return_inverse=True)[1] for column in matrix.T])
    hashes = hash_rows([*ranks.T, np.unique(data.y, return_inverse=True)[1]])
    # Equal rows are one, and all are sorted, so that sums are rounded alike whatever the order.
    hashes, first, group = np.unique(hashes, return_index=True, return_inverse=True)
    matrix = np.where(matrix != matrix, np.nan, ranks).astype(np.float32)[first]
    y, weights = data.y[first], np.bincount(group, data.weights)
    fold = hashes % np.uint64(N_FOLDS)
    is_drawn = (hashes >> np.uint64(32)) % np.uint64(len(matrix)) < MOST_ROWS
    is_numeric = data.classes is None
    kind = ExtraTreesRegressor if is_numeric else ExtraTreesClassifier
    forest = kind(
        N_TREES,
        min_weight_fraction_leaf=LEAF_SHARE,
        max_features=COLUMN_SHARE,
        random_state=0,
    )
    # Rows without others to learn from keep their own target.
    codes = np.arange(1 if is_numeric else len(data.classes))
    answers = (y[:, np.newaxis] if is_numeric else y[:, np.newaxis] == codes) * 1.0
    for k in range(N_FOLDS):
        asked = fold == k
        others = ~asked & is_drawn
        if asked.any() and others.any():
            forest.fit(matrix[others], y[others], weights[others])
            if is_numeric:
                answers[asked, 0] = forest.predict(matrix[asked])
            else:
                answers[asked] = 0.0
                found = forest.predict_proba(matrix[asked])
                answers[np.ix_(asked, forest.classes_)] = found
    return answers[group]


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
