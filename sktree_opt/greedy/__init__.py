"""Greedy decision trees in the manner of C4.5."""

from sktree_opt.greedy._classifier import GreedyTreeClassifier
from sktree_opt.greedy._regressor import GreedyTreeRegressor

__all__ = ["GreedyTreeClassifier", "GreedyTreeRegressor"]
