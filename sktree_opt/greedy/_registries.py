"""What users choose by name: criteria, splits of nominal columns, and prunings.

Each entry of a registry is a class whose docstring is shown in the user guide. A criterion names
the impurity measure that the kernels compute; a new measure is a class in ``measures.hpp``.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

import sktree_opt.greedy._grow as _grow


class InformationGainCriterion:
    """Decrease of entropy, in bits (ID3, Quinlan 1986)."""

    measure = _grow.MEASURES["entropy"]
    gain_ratio = False
    # Whether only columns of at least the average gain compete.
    above_average = False
    needs_costs = False


class EntropyCriterion(InformationGainCriterion):
    """The same as "information_gain", under a name of scikit-learn."""


class LogLossCriterion(InformationGainCriterion):
    """The same as "information_gain", under a name of scikit-learn."""


class GainRatioCriterion(InformationGainCriterion):
    """Gain divided by the entropy of the split; the gain has to be at least ``min_gain`` (C4.5)."""

    gain_ratio = True


class AboveAverageGainRatioCriterion(GainRatioCriterion):
    """Gain ratio among the columns whose gain is at least the average (Quinlan's rule in C4.5).

    The choice then depends on columns that are not chosen: the searches over feature subsets do
    not take this criterion.
    """

    above_average = True


class GiniCriterion(InformationGainCriterion):
    """Decrease of the Gini index (CART, Breiman et al. 1984)."""

    measure = _grow.MEASURES["gini"]


class GiniCostCriterion(GiniCriterion):
    """Decrease of the Gini index with pairs of classes weighted by ``cost_matrix``.

    With two classes it ranks splits as the Gini index does.
    """

    measure = _grow.MEASURES["gini_cost"]
    needs_costs = True


class ErrorCriterion(InformationGainCriterion):
    """Decrease of the share of misclassified cases; blind to splits that change no majority."""

    measure = _grow.MEASURES["error"]


class SquaredErrorCriterion(InformationGainCriterion):
    """Decrease of the mean squared error about the mean."""

    measure = _grow.MEASURES["squared_error"]


CLASSIFICATION_CRITERIA = {
    "information_gain": InformationGainCriterion,
    "entropy": EntropyCriterion,
    "log_loss": LogLossCriterion,
    "gain_ratio": GainRatioCriterion,
    "above_average_gain_ratio": AboveAverageGainRatioCriterion,
    "gini": GiniCriterion,
    "gini_cost": GiniCostCriterion,
    "error": ErrorCriterion,
}

REGRESSION_CRITERIA = {"squared_error": SquaredErrorCriterion}


class MultiwaySplit:
    """A branch for each category present at the node, and one for all others (C4.5)."""

    code = _grow.NOMINAL_SPLITS["multiway"]


class OneVsRestSplit:
    """One category against all others."""

    code = _grow.NOMINAL_SPLITS["one_vs_rest"]


class SubsetSplit:
    """The best division of the categories into two sets."""

    code = _grow.NOMINAL_SPLITS["subset"]


NOMINAL_SPLITS = {"multiway": MultiwaySplit, "one_vs_rest": OneVsRestSplit, "subset": SubsetSplit}


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
