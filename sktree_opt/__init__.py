"""Exact answers about decision trees, as scikit-learn estimators."""

from sktree_opt._version import __version__

__all__ = ["__version__"]
