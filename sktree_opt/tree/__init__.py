"""The fitted tree, and what its estimators have in common."""

from sktree_opt.tree._mixin import TreeClassifierMixin, TreeRegressorMixin
from sktree_opt.tree._node import NODE_DTYPE
from sktree_opt.tree._tree import Tree

__all__ = ["NODE_DTYPE", "Tree", "TreeClassifierMixin", "TreeRegressorMixin"]
