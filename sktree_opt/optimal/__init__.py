"""Provably optimal decision trees."""

from sktree_opt.optimal._classifier import OptimalTreeClassifier
from sktree_opt.optimal._cv import OptimalTreeClassifierCV
from sktree_opt.optimal._path import optimal_path
from sktree_opt.optimal._regressor import OptimalTreeRegressor

__all__ = [
    "OptimalTreeClassifier",
    "OptimalTreeClassifierCV",
    "OptimalTreeRegressor",
    "optimal_path",
]
