"""Tools for developers of estimators and of tests."""

from sktree_opt.utils._discovery import all_estimators

__all__ = ["all_estimators"]
