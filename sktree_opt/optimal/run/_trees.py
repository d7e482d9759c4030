"""Trees as searches give them: which rows reach their nodes, what they cost, how to prune them.

A search gives a tree as an array of nodes: test or -1, child of the rows that pass it, child of
the others. Its cost is computed here once more, from the rows themselves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sktree_opt.optimal.bits._bit_engine import visit_nodes
from sktree_opt.tree import Tree
from sktree_opt.tree._node import LEAF, NODE_DTYPE, is_category
from sktree_opt.utils._equal_rows import group_equal_rows

# A tree without tests.
LEAF_ALONE = np.array([[-1, -1, -1]], dtype=np.int32)

# A weight that is smaller than the total by this factor may be lost to rounding.
MOST_UNEQUAL = 1e10


@dataclass(frozen=True)
class NodeRows:
    """The rows that reach the nodes of a tree.

    Attributes
    ----------
    nodes : ndarray of int32, shape (n_nodes, 3)
        Breadth first, siblings side by side.

    weights : ndarray of float64, shape (n_nodes, n_classes)
        By class; one column for a regression.

    n_rows : ndarray of int64, shape (n_nodes,)
        Number of rows.

    leaves : ndarray of int32, shape (n_rows,)
        Where each row ends.
    """

    nodes: np.ndarray
    weights: np.ndarray
    n_rows: np.ndarray
    leaves: np.ndarray


def rows_in(problem, tests, nodes):
    """The rows of a problem in the nodes of a tree."""
    data, n_nodes = problem.data, len(nodes)
    is_classifier = data.classes is not None
    reached = NodeRows(
        nodes=breadth_first(nodes)[0],
        weights=np.zeros((n_nodes, len(data.classes) if is_classifier else 1)),
        n_rows=np.zeros(n_nodes, dtype=np.int64),
        leaves=np.empty(len(data.y), dtype=np.int32),
    )
    visit_nodes(
        tests.bits,
        reached.nodes,
        data.y if is_classifier else np.zeros(len(data.y), dtype=np.int32),
        data.weights,
        reached.weights,
        reached.n_rows,
        reached.leaves,
    )
    return reached


def breadth_first(nodes):
    """Nodes level by level, siblings side by side.

    Returns
    -------
    ordered : ndarray of int32, shape (n_nodes, 3)

    order : list of int
        Index of each of them in `nodes`.
    """
    given = nodes.tolist()
    order, ordered = [0], []
    for index in order:
        test, with_test, without = given[index]
        if test < 0:
            ordered.append((-1, -1, -1))
        else:
            ordered.append((test, len(order), len(order) + 1))
            order += [with_test, without]
    return np.array(ordered, dtype=np.int32), order


def shape_of(nodes, at=0):
    """Levels and number of tests below a node."""
    test, first, second = nodes[at]
    if test < 0:
        return 0, 0
    (a, m), (b, n) = shape_of(nodes, first), shape_of(nodes, second)
    return 1 + max(a, b), 1 + m + n


def checked_nodes(nodes, n_tests):
    """The nodes of a tree out of a file; raises unless each has one parent, which comes first."""
    nodes = np.ascontiguousarray(nodes, dtype=np.int32)
    is_inner = nodes[:, 0] >= 0
    children = nodes[is_inner, 1:]
    parents = np.repeat(np.flatnonzero(is_inner), 2)
    is_tree = np.array_equal(np.sort(children.ravel()), np.arange(1, len(nodes)))
    if not is_tree or (children.ravel() <= parents).any() or (nodes[:, 0] >= n_tests).any():
        raise ValueError("nodes that are no tree")
    return nodes


def is_within(nodes, limits):
    """Whether a tree is within the limits on depth and size."""
    depth, n_splits = shape_of(nodes)
    return depth <= limits.max_depth and n_splits <= limits.max_splits


def tree_and_objective(problem, tests, nodes):
    """The immutable tree of a search, and its objective."""
    reached = rows_in(problem, tests, nodes)
    values, costs = problem.objective.node_values(reached)
    weights = reached.weights.sum(axis=1)
    shares = np.divide(costs, weights, out=np.zeros_like(costs), where=weights > 0.0)
    is_leaf = reached.nodes[:, 0] < 0
    n_splits = len(is_leaf) // 2
    data, given, limits = problem.data, problem.given, problem.limits
    objective = float(costs[is_leaf].sum()) + limits.split_cost * n_splits
    if given is not None:
        # The leaves answer other targets than those that the tree is fitted to.
        data, tests = given.problem.data, tests.of_rows(given.rows)
        reached = rows_in(given.problem, tests, nodes)
        values = given.problem.objective.node_values(reached)[0]
    tree = make_tree(data, tests, reached, values, shares)
    return tree, objective + (limits.depth_cost * tree.depth if limits.depth_cost else 0.0)


def make_tree(data, tests, reached, values, impurities):
    """The immutable tree of some nodes, with the values and the impurity of each of them."""
    is_inner = reached.nodes[:, 0] >= 0
    test = reached.nodes[is_inner, 0]
    records = np.zeros(len(reached.nodes), dtype=NODE_DTYPE)
    records["kind"] = LEAF
    records["missing_branch"] = records["feature"] = records["first_child"] = -1
    records["category_start"] = -1
    records["threshold"] = np.nan
    records["impurity"], records["weight"] = impurities, reached.weights.sum(axis=1)
    records["n_samples"] = reached.n_rows
    records["kind"][is_inner] = tests.kind[test]
    records["missing_branch"][is_inner] = tests.missing_branch[test]
    records["feature"][is_inner] = tests.feature[test]
    records["first_child"][is_inner] = reached.nodes[is_inner, 1]
    records["n_children"][is_inner] = 2
    records["threshold"][is_inner] = data.encoder.thresholds_between(
        tests.feature[test], tests.lower[test], tests.upper[test]
    )
    branches = []
    n_categories = data.encoder.n_categories_
    for at in np.flatnonzero(is_category(records["kind"])):
        branch = tests.category_branch(reached.nodes[at, 0], n_categories[records["feature"][at]])
        records["category_start"][at] = sum(map(len, branches))
        records["n_categories"][at] = len(branch)
        branches.append(branch)
    return Tree(
        records,
        values,
        np.concatenate(branches) if branches else (),
        n_features=len(n_categories),
        is_classifier=data.classes is not None,
        is_sound=True,
    )


def class_attributes(objective):
    """Attributes of a classifier beside its tree, by default."""
    return {
        "classes_": objective.classes,
        "_costs": objective.costs,
        "_class_factors": objective.class_factors,
        "_answers": None,
    }


def fitted_attributes(problem, tests, nodes, answers=None, tree=None):
    """Attributes for prediction: tree (None to make it), classes, and answers of leaves."""
    tree = tree_and_objective(problem, tests, nodes)[0] if tree is None else tree
    attributes = {"tree_": tree}
    if problem.data.classes is not None:
        attributes |= class_attributes(problem.objective)
    if answers is not None:
        # A leaf may answer the rarer of its classes, where a metric is better for it.
        answers = answers[breadth_first(nodes)[1]]
        most_frequent = attributes["tree_"].values.argmax(axis=1)
        attributes["_answers"] = np.where(answers < 0, most_frequent, answers)
    return attributes


def refuse_worse_tree(problem, tree, objective, cost):
    """Raise if a tree costs more than its search has said, except for rounding."""
    root, weights = tree.nodes[0], problem.weights
    largest = max(abs(objective), float(root["impurity"] * root["weight"]))
    total = float(root["weight"])
    # Sums with heavy rows know the light ones to fewer digits.
    least = total if weights is None else weights.min(where=weights > 0.0, initial=total)
    share = 1e-7 + 64.0 * np.finfo(float).eps * total / max(least, 1e-290)
    if objective > cost + share * largest + 1e-9 * total:
        if total / least > MOST_UNEQUAL:
            raise ValueError(
                f"The smallest weight is {least / total:.0e} of the sum of all: too little for "
                "sums in double precision. Leave out rows that weigh next to nothing."
            )
        raise RuntimeError(
            f"The search found an objective of {cost!r}, but its tree has {objective!r}: please "
            "report this with the data."
        )


def equal_rows_bound(problem, tests):
    """Cost that rows with the same outcome in all tests have in every tree: they share a leaf.

    A lower bound for objectives that cost no less when leaves are joined; 0 for others.
    """
    if not problem.form.loss_is_bounded:
        return 0.0
    bits, data = tests.bits, problem.data
    if bits.shape[1] == 0:
        group = np.zeros(len(bits), dtype=np.intp)
    else:
        group, _ = group_equal_rows(list(bits.T))
    n_groups = int(group.max()) + 1
    codes, n_classes = (0, 1) if data.classes is None else (data.y, len(data.classes))
    weights = np.bincount(
        group * n_classes + codes, weights=data.weights, minlength=n_groups * n_classes
    )
    reached = NodeRows(
        nodes=np.full((n_groups, 3), -1, dtype=np.int32),
        weights=weights.reshape(n_groups, n_classes),
        n_rows=np.bincount(group),
        leaves=group.astype(np.int32),
    )
    return float(problem.objective.node_values(reached)[1].sum())


class Prunings:
    """The cheapest prunings of a tree: some of its subtrees become leaves.

    A knapsack over subtrees: the best sizes of a node come from the best sizes of its children.

    Parameters
    ----------
    nodes : ndarray of int32, shape (n_nodes, 3)
        Breadth first, as ``NodeRows`` holds them.

    leaf_costs : ndarray of float64, shape (n_nodes,)
        Cost of each node as a leaf.

    max_depth : int
        Nodes of this depth become leaves.

    Attributes
    ----------
    costs : ndarray of float64
        Summed cost of the leaves at the least, with exactly 0, 1, ... splits.
    """

    def __init__(self, nodes, leaf_costs, max_depth):
        self.nodes = nodes.tolist()
        depths = depths_of(self.nodes)
        self._best = [None] * len(nodes)
        self._first = [None] * len(nodes)
        for at in range(len(nodes) - 1, -1, -1):
            test, with_test, without = self.nodes[at]
            self._best[at] = np.array([leaf_costs[at]])
            if test >= 0 and depths[at] < max_depth:
                sums, self._first[at] = least_sums(self._best[with_test], self._best[without])
                self._best[at] = np.append(self._best[at], sums)
        self.costs = self._best[0]

    @classmethod
    def of(cls, problem, tests, nodes):
        """Prunings of a tree within the depth of a problem."""
        reached = rows_in(problem, tests, nodes)
        costs = problem.objective.node_values(reached)[1]
        return cls(reached.nodes, costs, problem.limits.max_depth)

    def useful_sizes(self, split_cost=0.0):
        """Numbers of splits that cost less than all smaller ones, the costs of splits included."""
        totals = self.costs + split_cost * np.arange(len(self.costs))
        least_before = np.minimum.accumulate(np.append(np.inf, totals))[:-1]
        return np.flatnonzero(totals < least_before)

    def tree(self, n_splits):
        """The pruned tree.

        Returns
        -------
        nodes : ndarray of int32, shape (2 * n_splits + 1, 3)
            In preorder.

        origin : ndarray of intp
            Which node of the whole tree each of them is.
        """
        nodes, origin = [], []

        def build(at, size):
            index = len(nodes)
            nodes.append([-1, -1, -1])
            origin.append(at)
            if size > 0:
                test, with_test, without = self.nodes[at]
                first = int(self._first[at][size - 1])
                nodes[index] = [test, build(with_test, first), build(without, size - 1 - first)]
            return index

        build(0, int(n_splits))
        return np.array(nodes, dtype=np.int32), np.array(origin)


def depths_of(nodes):
    """Tests above each node of a breadth-first list."""
    depths = [0] * len(nodes)
    for at, (test, with_test, without) in enumerate(nodes):
        if test >= 0:
            depths[with_test] = depths[without] = depths[at] + 1
    return depths


def least_sums(first, second):
    """Least ``first[i] + second[j]`` for each ``i + j``, and its `i`."""
    sums = np.full(len(first) + len(second) - 1, np.inf)
    chosen = np.zeros(len(sums), dtype=np.intp)
    for i, cost in enumerate(first.tolist()):
        part = slice(i, i + len(second))
        better = cost + second < sums[part]
        sums[part][better] = (cost + second)[better]
        chosen[part][better] = i
    return sums, chosen
