"""The best ones of a stream of trees, in bounded memory."""

import heapq

import numpy as np


class BestTrees:
    """Trees of least cost, then of fewest features, fewest leaves, and lowest indices.

    Parameters
    ----------
    n_kept : int
        How many.
    """

    def __init__(self, n_kept):
        self.n_kept = n_kept
        self._heap = []

    def add(self, features, cost, n_leaves):
        """Keep a tree if it is one of the best so far."""
        if self.n_kept == 0:
            return
        # The worst on top.
        entry = (-cost, -len(features), -n_leaves, tuple((-features).tolist()))
        push = heapq.heappush if len(self._heap) < self.n_kept else heapq.heappushpop
        push(self._heap, entry)

    def in_order(self):
        """(features, cost, number of leaves) of those kept, best first."""
        return [
            (-np.array(features, dtype=np.int64), -cost, -n_leaves)
            for cost, _, n_leaves, features in sorted(self._heap, reverse=True)
        ]
