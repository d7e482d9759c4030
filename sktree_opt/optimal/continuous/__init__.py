"""Optimal trees over all thresholds of numeric columns, with categories and missing values."""

from sktree_opt.optimal.continuous._solve import can_search, has_many_thresholds, search

__all__ = ["can_search", "has_many_thresholds", "search"]
