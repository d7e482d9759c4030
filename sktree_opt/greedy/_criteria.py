"""What a user chooses by name when a greedy tree grows: criteria, and splits of nominal columns.

Each entry of a registry is a class whose docstring is shown in the user guide. A criterion names
the impurity measure that the kernels compute; a new measure is a class in ``measures.hpp``.
"""

from __future__ import annotations

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
