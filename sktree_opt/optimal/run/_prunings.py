"""The best way to make a known tree smaller, for every number of splits."""

import numpy as np


class Prunings:
    """What is left of a tree when some of its subtrees become leaves, at the least cost.

    A knapsack over subtrees: the best sizes of a node come from the best sizes of its children.

    Parameters
    ----------
    nodes : ndarray of int32, shape (n_nodes, 3)
        Breadth first, as ``NodeRows`` holds them.

    leaf_costs : ndarray of float64, shape (n_nodes,)
        What each node costs as a leaf.

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
            In preorder, as ``Engine.tree`` gives them.

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
