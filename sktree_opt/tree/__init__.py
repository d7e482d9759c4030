"""The fitted tree, and what its estimators have in common.

Problem: keep the result of any search as one immutable array of nodes, and answer from it for new
rows, by the same rules for every estimator. Files in reading order:

- ``_node.py``, ``node_record.hpp``: the record of a node, for numpy and for the kernels.
- ``_tree.py``: ``Tree``, the nodes with their values, checked once.
- ``_predict.pyx``, ``predict.hpp``: rows down a tree; ``cells.hpp``: which tables they can read
  without encoding; ``importances.hpp``: what a tree loses without a feature.
- ``_smoothing.py``: class probabilities of leaves with few rows.
- ``_mixin.py``: the methods of fitted estimators.
- ``_sklearn_arrays.py``: the arrays by which tools read scikit-learn's ``tree_``.
"""

from sktree_opt.tree._tree import Tree

__all__ = ["Tree"]
