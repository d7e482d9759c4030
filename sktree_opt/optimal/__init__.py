"""Provably optimal decision trees."""

from sktree_opt.optimal._classifier import OptimalTreeClassifier
from sktree_opt.optimal._regressor import OptimalTreeRegressor

__all__ = ["OptimalTreeClassifier", "OptimalTreeRegressor"]
