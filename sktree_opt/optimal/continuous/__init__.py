"""Optimal trees over all thresholds of numeric columns, with categories and missing values."""

from sktree_opt.optimal.continuous._solve import SearchResult, solve_table

__all__ = ["SearchResult", "solve_table"]
