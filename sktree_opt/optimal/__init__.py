"""Provably optimal decision trees.

Rooms, in reading order: ``estimators`` validates and keeps attributes, ``run`` decides which
engine answers and drives it, ``objectives`` says what a leaf costs. Three engines search, and none
imports another: ``bits`` (0/1 tests as bit columns), ``thresholds`` (every threshold of a numeric
column, by ranks) and ``tree_sets`` (several trees at each node). ``_verify_optimality.py`` proves
an answer again without them.
"""

from sktree_opt.optimal._verify_optimality import Verification, verify_optimality
from sktree_opt.optimal.estimators._classifier import OptimalTreeClassifier
from sktree_opt.optimal.estimators._cv_classifier import OptimalTreeClassifierCV
from sktree_opt.optimal.estimators._cv_regressor import OptimalTreeRegressorCV
from sktree_opt.optimal.estimators._optimal_path import optimal_path
from sktree_opt.optimal.estimators._regressor import OptimalTreeRegressor
from sktree_opt.optimal.estimators._tree_set_classifier import TreeSetClassifier
from sktree_opt.optimal.estimators._tree_set_regressor import TreeSetRegressor
from sktree_opt.optimal.estimators.queries._fair_tree import FairTreeClassifier
from sktree_opt.optimal.estimators.queries._rates import rate_difference
from sktree_opt.optimal.estimators.queries._smallest_tree import SmallestTreeClassifier
from sktree_opt.optimal.estimators.queries._smallest_tree_regressor import SmallestTreeRegressor

__all__ = [
    "FairTreeClassifier",
    "OptimalTreeClassifier",
    "OptimalTreeClassifierCV",
    "OptimalTreeRegressor",
    "OptimalTreeRegressorCV",
    "SmallestTreeClassifier",
    "SmallestTreeRegressor",
    "TreeSetClassifier",
    "TreeSetRegressor",
    "Verification",
    "optimal_path",
    "rate_difference",
    "verify_optimality",
]
