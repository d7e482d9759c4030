"""A tree as indented text, after the printout of C4.5: a line per branch, leaves on the line."""

from __future__ import annotations

from numpy.typing import ArrayLike

from sktree_opt.export._description import DEPTH_CONSTRAINTS, ModelOrRules, describe
from sktree_opt.export._rules import text_of_rule_list
from sktree_opt.tree._node import LEAF
from sktree_opt.utils._compat import validate_params


@validate_params(DEPTH_CONSTRAINTS, prefer_skip_nested_validation=True)
def export_text(
    model: ModelOrRules,
    *,
    feature_names: ArrayLike | None = None,
    class_names: ArrayLike | None = None,
    max_depth: int | None = None,
    precision: int | None = 4,
) -> str:
    """Write a tree as text.

    One line for each branch. A leaf stands on the line of its branch: the class it answers and, in
    brackets, the weight of its rows, by class where there is more than one; for regression, the
    mean and the weight.

    Parameters
    ----------
    model : fitted tree estimator, Tree or fitted RuleListClassifier
        What to write. For a fitted pipeline or search, the tree or list at its end. A rule list has
        one line for each rule, with the number of training rows that meet it first.

    feature_names : array-like of str, default=None
        Names of the features; None for those seen in fit.

    class_names : array-like of str, default=None
        Names of the classes, in the order of ``classes_``; None for the labels.

    max_depth : int, default=None
        Depth below which only the number of leaves is told; None for no limit.

    precision : int, default=4
        Significant digits of weights and means; None for all digits. Thresholds always have all
        their digits: a rounded one could send a row elsewhere.

    Returns
    -------
    text : str
        The tree. The last line, where it is needed, tells where missing values go.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sktree_opt.greedy import GreedyTreeClassifier
    >>> from sktree_opt.export import export_text
    >>> iris = load_iris(as_frame=True)
    >>> tree = GreedyTreeClassifier(max_depth=2).fit(iris.data, iris.target_names[iris.target])
    >>> print(export_text(tree))
    petal length (cm) <= 2: setosa (50)
    petal length (cm) > 2
    |   petal width (cm) <= 1.75: versicolor (versicolor 49, virginica 5)
    |   petal width (cm) > 1.75: virginica (virginica 45, versicolor 1)
    A missing value goes down every branch, in proportion to the weights.
    """
    words = describe(model, feature_names, class_names, precision, takes_rules=True)
    if words.rules is not None:
        if max_depth is not None:
            raise ValueError("max_depth is not supported for a rule list, which has no depth.")
        return text_of_rule_list(words)
    nodes = words.tree.nodes
    if nodes["kind"][0] == LEAF:
        return f"{words.answer(0)} ({words.content(0)})\n"
    if max_depth == 0:
        return f"... ({words.tree.n_leaves} leaves)\n"
    lines = []
    # Depth first; the last branch is pushed first.
    stack = [(0, branch) for branch in reversed(words.branches(0))]
    parents = words.tree.parents()
    while stack:
        depth, branch = stack.pop()
        feature = nodes["feature"][parents[branch.child]]
        line = "|   " * depth + f"{words.subject(feature)} {branch.full_text}"
        if nodes["kind"][branch.child] == LEAF:
            line += f": {words.answer(branch.child)} ({words.content(branch.child)})"
        elif max_depth is not None and depth + 1 >= max_depth:
            line += f": ... ({count_leaves(words.tree, branch.child)} leaves)"
        else:
            below = words.branches(branch.child)
            stack += [(depth + 1, child) for child in reversed(below)]
        lines.append(line)
    note = words.missing_note()
    return "\n".join([*lines, note] if note else lines) + "\n"


def count_leaves(tree, index):
    """Number of leaves at and below node `index`."""
    count, stack = 0, [index]
    while stack:
        node = stack.pop()
        below = tree.children(node)
        count += below.stop == below.start
        stack += range(below.start, below.stop)
    return count
