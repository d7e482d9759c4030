"""Pruning of trees that are fitted already, greedy or optimal."""

from __future__ import annotations

from typing import Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.special import ndtri
from sklearn.base import clone
from sklearn.utils import Bunch, check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted

from sktree_opt.greedy import _grow
from sktree_opt.greedy._learner import count_weights
from sktree_opt.preprocessing._table import Table
from sktree_opt.tree import Tree
from sktree_opt.tree._mixin import TreeMixin
from sktree_opt.tree._node import LEAF, NUMERIC
from sktree_opt.utils._compat import check_sample_weight
from sktree_opt.utils._control import SearchControl
from sktree_opt.utils._typing import TableLike
from sktree_opt.utils._validation import check_columns, encode_rows

TreeEstimator = TypeVar("TreeEstimator", bound=TreeMixin)

METHODS = ("reduced_error", "error_based", "cost_complexity")


def prune(
    estimator: TreeEstimator,
    X: TableLike | None = None,
    y: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    method: Literal["reduced_error", "error_based", "cost_complexity"] = "reduced_error",
    confidence: float = 0.25,
    ccp_alpha: float = 0.0,
) -> TreeEstimator:
    """Prune the tree of a fitted estimator.

    Parameters
    ----------
    estimator : fitted tree estimator
        Any classifier or regressor of this package with one tree, greedy or optimal. It is not
        changed.

    X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features) or None
        Rows that the tree was not grown from, for "reduced_error"; the rows that it was grown from,
        for "error_based". Not used by "cost_complexity".

    y : array-like of shape (n_samples,) or None
        The targets of `X`.

    sample_weight : array-like of shape (n_samples,) or None, default=None
        The weights of `X`.

    method : {"reduced_error", "error_based", "cost_complexity"}, default="reduced_error"
        "reduced_error": from the bottom up, a subtree becomes a leaf if that makes no more errors
        (costs, squared errors) on `X`. "error_based": C4.5's pruning by a pessimistic estimate, for
        classifiers. "cost_complexity": the smallest of the subtrees of least impurity plus
        `ccp_alpha` times leaves (Breiman et al. 1984).

    confidence : float, default=0.25
        Of "error_based" pruning. A smaller value prunes more.

    ccp_alpha : float, default=0.0
        Of "cost_complexity" pruning; see :func:`cost_complexity_path`.

    Returns
    -------
    pruned : estimator
        A copy with the pruned tree. Attributes that describe a search, such as ``objective_``, are
        left out.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from sktree_opt import GreedyTreeClassifier, prune
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, X_val, y, y_val = train_test_split(X, y, random_state=0)
    >>> tree = GreedyTreeClassifier().fit(X, y)
    >>> prune(tree, X_val, y_val).get_n_leaves() < tree.get_n_leaves()
    True
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {sorted(METHODS)}, got {method!r}.")
    check_is_fitted(estimator, "tree_")
    tree = estimator.tree_
    if getattr(estimator, "_answers", None) is not None:
        raise ValueError("A tree whose answers were chosen for a metric cannot be pruned.")
    if method == "cost_complexity":
        if not ccp_alpha >= 0.0:
            raise ValueError(f"ccp_alpha must not be negative, got {ccp_alpha!r}.")
        steps = [step for step in weakest_links(tree) if step[0] <= ccp_alpha]
        return with_tree(estimator, cut(tree, steps[-1][1]))
    if X is None or y is None:
        raise ValueError(f"method={method!r} needs rows: X and y.")
    if method == "error_based":
        if not tree.is_classifier:
            raise ValueError("method='error_based' is for classifiers; use 'reduced_error'.")
        if not 0.0 < confidence <= 0.5:
            raise ValueError(f"confidence must be above 0 and at most 0.5, got {confidence!r}.")
    induction, grown, rows, unit = learning_problem(estimator, X, y, sample_weight)
    control = SearchControl()
    if method == "error_based":
        quantile = float(ndtri(1.0 - confidence))
        pruned = induction.prune_error_based(grown, control, confidence, quantile, rows)
    else:
        pruned = induction.prune_reduced_error(grown, control, rows)
    control.raise_pending()
    nodes, values, category_branch = pruned.to_arrays()
    if method == "error_based" and unit != 1.0:
        nodes["weight"] *= unit
        values *= unit
    return with_tree(
        estimator,
        Tree(
            nodes,
            values,
            category_branch,
            n_features=tree.n_features,
            is_classifier=tree.is_classifier,
        ),
    )


def cost_complexity_path(estimator: TreeMixin) -> Bunch:
    """Find the subtrees of a fitted tree that cost-complexity pruning can leave.

    The impurity of a tree is the mean impurity of its leaves, weighted by their training weight.
    The path starts with the whole tree; each next tree replaces the subtree whose removal raises
    the impurity least for each leaf that it saves (Breiman et al. 1984).

    Parameters
    ----------
    estimator : fitted tree estimator
        Any estimator of this package with one tree.

    Returns
    -------
    path : Bunch
        With arrays of equal length: ``ccp_alphas``, increasing, the smallest values that leave the
        trees; ``impurities`` of the trees; ``n_leaves``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sktree_opt import GreedyTreeClassifier, cost_complexity_path, prune
    >>> tree = GreedyTreeClassifier(criterion="gini").fit(*load_iris(return_X_y=True))
    >>> path = cost_complexity_path(tree)
    >>> path.n_leaves.tolist()
    [9, 7, 5, 4, 3, 2, 1]
    >>> prune(tree, method="cost_complexity", ccp_alpha=path.ccp_alphas[3]).get_n_leaves()
    4
    """
    check_is_fitted(estimator, "tree_")
    steps = weakest_links(estimator.tree_)
    return Bunch(
        ccp_alphas=np.array([alpha for alpha, _, _, _ in steps]),
        impurities=np.array([impurity for _, _, impurity, _ in steps]),
        n_leaves=np.array([n_leaves for _, _, _, n_leaves in steps]),
    )


def weakest_links(tree):
    """(alpha, nodes that become leaves, impurity, number of leaves) of each tree of the path."""
    nodes, parents = tree.nodes, tree.parents()
    own = nodes["weight"] * nodes["impurity"] / nodes["weight"][0]
    is_leaf = nodes["kind"] == LEAF
    below, leaves = np.where(is_leaf, own, 0.0), is_leaf.astype(float)
    for node in range(tree.n_nodes - 1, 0, -1):
        below[parents[node]] += below[node]
        leaves[parents[node]] += leaves[node]
    is_open = ~is_leaf
    steps = [(0.0, is_leaf.copy(), float(below[0]), int(leaves[0]))]
    cut_nodes, alpha = is_leaf.copy(), 0.0
    while is_open[0]:
        links = np.full(tree.n_nodes, np.inf)
        links[is_open] = (own - below)[is_open] / (leaves[is_open] - 1.0)
        weakest = float(links.min())
        alpha = max(alpha, weakest)
        # All of equal strength go at once.
        for node in np.flatnonzero(is_open & (links <= weakest + 1e-12 * own[0])):
            if not is_open[node]:
                continue
            cut_nodes[node] = True
            close_below(tree, node, is_open)
            gained, saved = own[node] - below[node], leaves[node] - 1.0
            while node >= 0:
                below[node] += gained
                leaves[node] -= saved
                node = parents[node]
        step = (alpha, cut_nodes.copy(), float(below[0]), int(leaves[0]))
        if alpha <= steps[-1][0]:
            steps[-1] = step
        else:
            steps.append(step)
    return steps


def close_below(tree, node, is_open):
    """Mark a node and all nodes below it."""
    stack = [node]
    while stack:
        index = stack.pop()
        is_open[index] = False
        children = tree.children(index)
        stack.extend(range(children.start, children.stop))


def cut(tree, becomes_leaf):
    """The tree where some nodes are leaves."""
    kept, new_index = [0], {0: 0}
    nodes = []
    for index in kept:
        record = tree.nodes[index].copy()
        if becomes_leaf[index]:
            record["kind"], record["n_children"], record["n_categories"] = LEAF, 0, 0
            for name in ("feature", "first_child", "category_start", "missing_branch"):
                record[name] = -1
            record["threshold"] = np.nan
        else:
            children = tree.children(index)
            record["first_child"] = len(kept)
            for child in range(children.start, children.stop):
                new_index[child] = len(kept)
                kept.append(child)
        nodes.append(record)
    return Tree(
        np.array(nodes, dtype=tree.nodes.dtype),
        tree.values[kept],
        tree.category_branch,
        n_features=tree.n_features,
        is_classifier=tree.is_classifier,
    )


def with_tree(estimator, tree):
    """A copy of a fitted estimator with another tree."""
    pruned = clone(estimator)
    names = ("classes_", "n_features_in_", "feature_names_in_", "_encoder", "_costs")
    for name in (*names, "_class_factors"):
        if hasattr(estimator, name):
            setattr(pruned, name, getattr(estimator, name))
    pruned.tree_ = tree
    return pruned


def learning_problem(estimator, X, y, sample_weight):
    """The rows and the fitted tree as the kernels read them, the rows' numbers, and their unit."""
    tree = estimator.tree_
    check_columns(estimator, X)
    matrix = encode_rows(estimator, X)
    matrix = matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix, dtype=np.float64)
    y = column_or_1d(y, warn=True)
    check_consistent_length(matrix, y)
    n_classes = 0
    if tree.is_classifier:
        n_classes = len(estimator.classes_)
        unknown = sorted(set(y.tolist()) - set(estimator.classes_.tolist()), key=str)
        if unknown:
            raise ValueError(f"y has labels that the tree does not know: {unknown}.")
        y = np.searchsorted(estimator.classes_, y)
    weights, unit = None, 1.0
    rows = np.arange(len(y))
    if sample_weight is not None:
        weights = check_sample_weight(
            sample_weight, matrix, dtype=np.float64, ensure_non_negative=True
        )
        rows = np.flatnonzero(weights)
        # Rows of weight 0 are in no case set; the kernels want positive weights all the same.
        positive, unit = count_weights(weights[rows])
        weights = np.append(np.where(weights > 0.0, weights / unit, 1.0), 1.0)
        weights = None if positive is None else weights
    # One more row, which is in no case set: every threshold then has a number at or below it.
    counts = estimator._encoder.n_categories_
    lowest = np.where(counts < 0, np.finfo(np.float64).min, np.nan)
    table = Table.from_matrix(np.vstack([matrix, lowest]), counts)
    induction = _grow.Induction(
        table,
        np.append(y, y[:1]),
        n_classes,
        weights,
        getattr(estimator, "_costs", None),
        measure=_grow.MEASURES["entropy" if n_classes else "squared_error"],
        nominal_split=_grow.NOMINAL_SPLITS["multiway"],
    )
    codes = np.zeros(tree.n_nodes, dtype=np.uint32)
    for index in np.flatnonzero(tree.nodes["kind"] == NUMERIC):
        values = table.values[tree.nodes["feature"][index]]
        codes[index] = np.searchsorted(values, tree.nodes["threshold"][index], side="right") - 1
    grown = _grow.GrownTree.from_arrays(tree.nodes, tree.values, tree.category_branch, codes)
    return induction, grown, rows, unit
