"""What varies in a greedy tree: split qualities, splits of nominal columns, prunings.

Each entry of a registry is a class; its docstring is what the documentation says about it. A new
quality that is not a variant of an existing measure also needs the measure, in ``measures.hpp``.
"""

import numpy as np
from scipy.special import ndtri

from sktree_opt.greedy import _grow


class InformationGain:
    """Decrease of entropy, in bits (ID3, Quinlan 1986)."""

    measure = _grow.MEASURES["entropy"]
    gain_ratio = False
    needs_costs = False


class GainRatio(InformationGain):
    """Gain by the entropy of the split, where the gain is at least ``min_gain`` (C4.5)."""

    gain_ratio = True


class Gini(InformationGain):
    """Decrease of the Gini index (CART, Breiman et al. 1984)."""

    measure = _grow.MEASURES["gini"]


class GiniCost(Gini):
    """Decrease of the Gini index with pairs of classes weighted by ``cost_matrix``.

    With two classes it ranks splits as the Gini index does.
    """

    measure = _grow.MEASURES["gini_cost"]
    needs_costs = True


class Error(InformationGain):
    """Decrease of the share of misclassified cases; blind to splits that change no majority."""

    measure = _grow.MEASURES["error"]


class SquaredError:
    """Decrease of the mean squared error about the mean."""

    measure = _grow.MEASURES["squared_error"]
    gain_ratio = False
    needs_costs = False


CLASSIFICATION_QUALITIES = {
    "information_gain": InformationGain,
    "gain_ratio": GainRatio,
    "gini": Gini,
    "gini_cost": GiniCost,
    "error": Error,
}

REGRESSION_QUALITIES = {"squared_error": SquaredError}


class Multiway:
    """A branch for each category present at the node, and one for all others (C4.5)."""

    code = _grow.NOMINAL_SPLITS["multiway"]


class OneVsRest:
    """One category against all others."""

    code = _grow.NOMINAL_SPLITS["one_vs_rest"]


class Subset:
    """The best division of the categories into two sets."""

    code = _grow.NOMINAL_SPLITS["subset"]


NOMINAL_SPLITS = {"multiway": Multiway, "one_vs_rest": OneVsRest, "subset": Subset}


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
