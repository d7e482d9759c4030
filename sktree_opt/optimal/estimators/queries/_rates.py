"""Rates of positive answers by group."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

from sktree_opt.utils._typing import Label

# Whether a rate is a share of a group's rows of the positive class; else of all its rows.
RATES = {"positive": False, "true_positive": True}


def group_codes(sensitive_features, n_rows):
    """The groups, and the code of each row's group."""
    values = check_array(
        sensitive_features,
        ensure_2d=False,
        dtype=None,
        ensure_all_finite=False,
        input_name="sensitive_features",
    )
    if values.ndim == 2 and values.shape[1] != 1:
        raise ValueError(
            f"sensitive_features must be one column, got shape {values.shape}: combine columns "
            "into groups."
        )
    values = column_or_1d(values)
    if len(values) != n_rows:
        raise ValueError(f"sensitive_features has {len(values)} rows, and y has {n_rows}.")
    if any(value is None or value != value for value in values.tolist()):
        raise ValueError("sensitive_features must not have missing values.")
    groups, codes = np.unique(values, return_inverse=True)
    if len(groups) < 2:
        raise ValueError(
            f"sensitive_features must have at least two groups, got {groups.tolist()}."
        )
    return groups, codes


def rate_difference(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    sensitive_features: ArrayLike,
    *,
    rate: Literal["positive", "true_positive"] = "positive",
    pos_label: Label = 1,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return by how much the rates of positive answers differ between groups.

    With more than two groups it is the largest difference of two of them.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels.

    y_pred : array-like of shape (n_samples,)
        Answers.

    sensitive_features : array-like of shape (n_samples,)
        The group of each row.

    rate : {"positive", "true_positive"}, default="positive"
        Share of the positive answers among all rows of a group (demographic parity asks for equal
        ones), or among its rows of the positive class (equal opportunity).

    pos_label : label, default=1
        The positive class.

    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights; None for equal ones.

    Returns
    -------
    difference : float
        Between 0 and 1.

    See Also
    --------
    FairTreeClassifier : The best tree with a limit on this difference.

    Examples
    --------
    >>> from sktree_opt import rate_difference
    >>> rate_difference([0, 1, 0, 1], [1, 1, 0, 1], ["a", "a", "b", "b"])
    0.5
    """
    if rate not in RATES:
        raise ValueError(f"rate must be one of {sorted(RATES)}, got {rate!r}.")
    labels, answers = column_or_1d(y_true), column_or_1d(y_pred)
    _, codes = group_codes(sensitive_features, len(labels))
    weights = np.ones(len(labels)) if sample_weight is None else column_or_1d(sample_weight)
    check_consistent_length(labels, answers, weights)
    counted = weights * (labels == pos_label) if RATES[rate] else weights
    totals = np.bincount(codes, weights=counted)
    if (totals <= 0.0).any():
        raise ValueError("sensitive_features: one of the groups has no rows to count.")
    positive = np.bincount(codes, weights=counted * (answers == pos_label))
    return float(np.ptp(positive / totals))
