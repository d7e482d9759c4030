"""The trees of a set: a graph and what is needed to make a tree of it when one is asked for."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from itertools import accumulate

import numpy as np

from sktree_opt.optimal.run._trees import rows_in, tree_and_objective
from sktree_opt.optimal.tree_sets._tree_graph import graph_of, units_of_split
from sktree_opt.tree._mixin import TIE_TOLERANCE
from sktree_opt.utils._control import SearchControl

# Digits of an objective, as large as that of a single leaf.
DIGITS = 11


class FoundTrees:
    """The first trees of a graph, in order of their objective and then of their size.

    Trees of one objective and size are a *kind*. Trees are made when they are asked for.

    Parameters
    ----------
    problem : Problem
        Whose rows trees are made with; the table itself is not kept.

    tests : BinaryTests
        What the graph refers to.

    graph : TreeGraph

    counted : CountedTrees
        The trees of the graph.

    number : int or infinity
        Maximum number of trees of the set.

    unit, offset : float
        An objective is a cost of the graph times `unit`, plus `offset`.

    Attributes
    ----------
    n_trees : int
        Number of trees.
    """

    def __init__(self, problem, tests, graph, counted, number, unit, offset):
        self.problem = replace(problem, data=replace(problem.data, matrix=None))
        self.tests, self.graph, self.number = tests, graph, number
        self.unit, self.offset = unit, offset
        self._count(counted)

    def _count(self, counted):
        self._counted = counted
        # Ranks at which kinds end.
        self._ends = list(accumulate(counted.counts))
        self.n_trees = int(min(self._ends[-1], self.number))

    def __getstate__(self):
        return {k: v for k, v in vars(self).items() if k not in ("_counted", "_ends", "n_trees")}

    def __setstate__(self, state):
        vars(self).update(state)
        self._count(self.graph.count(SearchControl()))

    @property
    def n_kinds(self):
        """Number of kinds of which the set has trees."""
        return bisect_right(self._ends, self.n_trees - 1) + 1

    def kinds(self):
        """Objective, number of splits and number of trees of each kind.

        Returns
        -------
        objectives : ndarray of float64, shape (n_kinds,)

        n_splits : ndarray of int64, shape (n_kinds,)

        counts : list of int
        """
        n = self.n_kinds
        counts = self._counted.counts[:n]
        counts[-1] -= self._ends[n - 1] - self.n_trees
        n_splits = self._counted.n_splits[:n]
        # The cost of a split has been rounded, that of leaves often not.
        leaf_costs = self._counted.costs[:n] - n_splits * self.graph.split_cost
        objectives = self.offset + self.unit * leaf_costs
        objectives += self.problem.limits.split_cost * n_splits
        # The grid is finer than these digits, and its rounding is not to be seen.
        largest = 2.0**40 * self.unit + abs(self.offset)
        objectives = np.round(objectives, DIGITS - int(np.ceil(np.log10(largest))))
        return objectives, n_splits, counts

    def objectives(self, n_trees):
        """Objectives of the first trees."""
        objectives, _, counts = self.kinds()
        ends = np.array([min(end, n_trees) for end in accumulate(counts)], dtype=np.int64)
        return np.repeat(objectives, np.diff(ends, prepend=0))

    def nodes(self, rank):
        """Nodes of the tree of a rank, and their places in the graph."""
        kind = bisect_right(self._ends, rank)
        return self._counted.find(kind, rank - (self._ends[kind - 1] if kind else 0))

    def tree(self, rank):
        """The tree of a rank, and its objective."""
        return tree_and_objective(self.problem, self.tests, self.nodes(rank)[0])


def worth_of_answers(problem):
    """What each answer is worth for a row of each class, and what is no difference."""
    costs = problem.objective.costs
    if costs is None:
        return np.eye(len(problem.data.classes)), TIE_TOLERANCE
    return -costs, TIE_TOLERANCE * float(np.abs(costs).max())


def shape_of_rows(problem, tests, nodes):
    """The row sets of a tree's nodes; equal for trees that are not different."""
    reached = rows_in(problem, tests, nodes)
    keys = np.random.default_rng(0).integers(0, 2**63, len(reached.leaves), dtype=np.uint64)
    sums = np.zeros(len(reached.nodes), dtype=np.uint64)
    np.bitwise_xor.at(sums, reached.leaves, keys)
    for at in np.flatnonzero(reached.nodes[:, 0] >= 0)[::-1]:
        sums[at] = sums[reached.nodes[at, 1]] ^ sums[reached.nodes[at, 2]]
    return frozenset(sums.tolist())


def graph_of_trees(problem, tests, trees, unit):
    """A graph of some trees that are different: they share the root alone.

    Parameters
    ----------
    problem : Problem
    tests : BinaryTests
    trees : list of ndarray of int32, shape (n_nodes, 3)
    unit : float
        Of the costs of the graph.
    """
    split_cost = units_of_split(problem.limits.split_cost, unit)
    names = ("leaf_cost", "leaf_answer", "may_be_leaf", "bound", "level")
    rows, options = [], []

    def add_node(cost, answer, is_leaf, level):
        rows.append([cost, answer, is_leaf, cost, level])
        options.append([])
        return len(rows) - 1

    def add_subtree(tree, at, level, place):
        """Add what is below a node of a tree, which is at a place of the graph; its cost."""
        nodes, costs, answers = tree
        test, *children = nodes[at]
        if test < 0:
            return costs[at]
        below = [
            add_node(costs[child], answers[child], nodes[child][0] < 0, level + 1)
            for child in children
        ]
        options[place].append((test, *below))
        total = split_cost
        for child, new in zip(children, below, strict=True):
            rows[new][3] = add_subtree(tree, child, level + 1, new)
            total += rows[new][3]
        return total

    for tree in (tree_in_units(problem, tests, nodes, unit) for nodes in trees):
        nodes, costs, answers = tree
        if not rows:
            add_node(costs[0], answers[0], False, 0)
        rows[0][2] |= nodes[0][0] < 0
        rows[0][3] = max(rows[0][3], add_subtree(tree, 0, 0, 0))
    arrays = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    flat = [option for mine in options for option in mine]
    arrays |= {
        "option_begin": list(accumulate(map(len, options), initial=0)),
        "child": [child for _, *children in flat for child in children],
        "cost": [0] * len(flat),
        "answer": [0.0] * (2 * len(flat)),
        "test_begin": list(range(len(flat) + 1)),
        "tests": [test for test, _, _ in flat],
    }
    # Trees are different as they are: idle tests are tests.
    return graph_of(arrays, (split_cost, 2**31 - 1, True, unit))


def tree_in_units(problem, tests, nodes, unit):
    """Nodes of a tree, what each costs as a leaf, and what it answers, as a graph holds them."""
    reached = rows_in(problem, tests, nodes)
    values, costs = problem.objective.node_values(reached)
    if problem.data.classes is None:
        answers = values[:, 0]
    else:
        worth, tolerance = worth_of_answers(problem)
        of_answers = values / np.maximum(values.sum(axis=1, keepdims=True), 1e-290) @ worth
        least = of_answers.max(axis=1, keepdims=True) - tolerance
        answers = np.argmax(of_answers >= least, axis=1).astype(float)
    units = np.rint(costs / unit).astype(np.int64)
    return reached.nodes.tolist(), units.tolist(), answers.tolist()
