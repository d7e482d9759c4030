"""Greedy decision trees: each node takes the split that is best by itself.

Problem: from a table, a target and a set S of features, grow the tree DT(S) in the manner of C4.5
(Quinlan 1993), and prune it. The searches for feature subsets grow the same trees with the same
kernels, for many S at once.

Files in reading order
----------------------
``_classifier.py``, ``_regressor.py``
    The estimators: parameters and documentation.
``_base.py``
    The parameters and ``fit`` of both estimators.
``_learner.py``
    From checked data to a pruned tree: ``Learner`` grows DT(S) for any S.
``_registries.py``
    What users choose by name: criteria, splits of nominal columns, prunings.
``_prune.py``
    Pruning of trees that are fitted already, greedy or optimal.
``_rule_list.py``
    A tree as an ordered list of pruned rules.
``_grow.pyx``
    The learning problem as the kernels read it.
``cases.hpp``
    The cases at a node, and their order by one column.
``measures.hpp``
    Impurity of a set of cases, kept up to date while cases enter and leave.
``split.hpp``
    A split, the rules it has to meet, the tree that splits make, and the cases of each branch.
``evaluator.hpp``
    The best split of the cases on one column.
``grower.hpp``
    Algorithm DT(S): the best column of each node, node by node. Searches for subsets use it too.
``pruning.hpp``
    Error-based and reduced-error pruning.

Terms
-----
case
    A row of the table at a node, with a weight. The weight is the sample weight times the share of
    the row that reaches the node: a row with a missing value goes down every branch.
target, measure, criterion
    The classes or numbers to predict; their impurity at a node; what is made of the decrease of the
    impurity to compare splits.
quality
    The criterion's value for one split, rounded to a grid: equal qualities are equal numbers.
code, rank
    How the table stores a category, and a number.
block
    A set of fewer than 65536 cases with every column in order.
"""

from sktree_opt.greedy._classifier import GreedyTreeClassifier
from sktree_opt.greedy._prune import cost_complexity_path, prune
from sktree_opt.greedy._regressor import GreedyTreeRegressor
from sktree_opt.greedy._rule_list import RuleListClassifier

__all__ = [
    "GreedyTreeClassifier",
    "GreedyTreeRegressor",
    "RuleListClassifier",
    "cost_complexity_path",
    "prune",
]
