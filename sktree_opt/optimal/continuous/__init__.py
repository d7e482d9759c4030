"""Optimal trees over all thresholds of numeric columns, with categories and missing values."""

from sktree_opt.optimal.continuous._solve import (
    can_search,
    coarse_table,
    has_many_thresholds,
    has_too_many_tests,
    search,
)
from sktree_opt.optimal.continuous._solver import ThresholdSolver

__all__ = [
    "ThresholdSolver",
    "can_search",
    "coarse_table",
    "has_many_thresholds",
    "has_too_many_tests",
    "search",
]
