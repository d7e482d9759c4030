"""How a grown tree is made smaller."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri


class ErrorBasedPruning:
    """C4.5's: subtrees give way to a leaf, or to a branch, of no more estimated errors.

    The estimate is an upper limit for the number of errors, by ``confidence``.
    """

    needs_validation = False

    @staticmethod
    def prune(estimator, induction, tree, control, rows, validation_rows):
        """Prune `tree` under its training `rows`."""
        quantile = float(ndtri(1.0 - estimator.confidence))
        return induction.prune_error_based(tree, control, estimator.confidence, quantile, rows)


class ReducedErrorPruning:
    """Subtrees give way to a leaf of no more errors on rows kept back.

    Those are ``validation_fraction`` of the rows; the tree is not grown from them.
    """

    needs_validation = True

    @staticmethod
    def prune(estimator, induction, tree, control, rows, validation_rows):
        """Prune `tree` by its errors on `validation_rows`."""
        return induction.prune_reduced_error(tree, control, validation_rows)


CLASSIFICATION_PRUNINGS = {
    "error_based": ErrorBasedPruning,
    "reduced_error": ReducedErrorPruning,
}
REGRESSION_PRUNINGS = {"reduced_error": ReducedErrorPruning}


def split_for_validation(y, fraction, rng, is_classifier):
    """Rows to grow from and rows to validate on, both increasing; by class where there are any.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
    fraction : float
    rng : RandomState
    is_classifier : bool

    Returns
    -------
    growing, validation : ndarray of int
    """
    groups = (
        [np.flatnonzero(y == c) for c in np.unique(y)] if is_classifier else [np.arange(len(y))]
    )
    is_validation = np.zeros(len(y), dtype=bool)
    for group in groups:
        picked = rng.permutation(group)[: round(fraction * len(group))]
        is_validation[picked] = True
    if is_validation.all():
        is_validation[:] = False
    return np.flatnonzero(~is_validation), np.flatnonzero(is_validation)
