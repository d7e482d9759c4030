"""Optimal trees over all thresholds of numeric columns, with categories and missing values."""

from sktree_opt.optimal.continuous._solve import SearchResult, has_many_thresholds, solve_table

__all__ = ["SearchResult", "has_many_thresholds", "solve_table"]
