"""The k best trees of one table (see ``k_best.hpp``)."""

import math

import numpy as np

from libc.stdint cimport int32_t, int64_t
from libc.math cimport INFINITY
from libcpp.memory cimport unique_ptr
from libcpp.vector cimport vector

from sktree_opt.optimal.bits._bit_engine import SCORES

from sktree_opt.optimal.tree_sets._set_search cimport PreorderTree, RowTable, SetSearch, row_table
from sktree_opt.utils._control cimport SearchControl


cdef extern from "sktree_opt/optimal/objectives/scores.hpp" namespace "sktree_opt" nogil:
    cdef enum class Score(int):
        TWO_CLASS


cdef extern from "sktree_opt/optimal/tree_sets/k_best.hpp" namespace "sktree_opt" nogil:
    cdef struct RankedTree:
        double cost
        int32_t n_splits

    cdef cppclass LeafCosts:
        Score score
        int n_sums
        int n_channels
        vector[double] class_channels
        vector[double] class_mass
        double unit
        double base_factor
        double z
        double cf
        double least_weight
        double grid

    cdef cppclass KBest:
        KBest()
        int64_t n_best
        double split_cost
        int64_t min_rows
        double min_weight
        vector[double] unit
        bint has_row_channel
        bint use_bounds
        LeafCosts leaves


ctypedef vector[RankedTree] Trees


def sums_of(table, objective):
    """What a unit of each sum adds to the channels of a leaf's score, to its mass and weight."""
    if table.values is None:
        channels = objective.channel_matrix() * table.unit[:, None]
        return channels, objective.class_mass * table.unit, table.unit
    weight, (target, square) = table.unit[0], table.value_unit
    channels = np.array([[weight, 0.0], [0.0, target], [0.0, 0.0]])
    return channels, np.array([0.0, 0.0, square]), np.array([weight, 0.0, 0.0])


cdef class Ranking:
    """The best trees within some limits, best first.

    Attributes
    ----------
    costs : ndarray of float64, shape (n_trees,)
        Costs, rising.

    n_splits : ndarray of int64, shape (n_trees,)
        Splits of each tree.
    """

    cdef KBestSearch owner
    cdef Trees trees
    cdef int depth
    cdef int64_t splits
    cdef readonly object costs, n_splits

    cdef fill(self):
        cdef size_t k
        self.costs = np.empty(self.trees.size())
        self.n_splits = np.empty(self.trees.size(), dtype=np.int64)
        cdef double[::1] costs = self.costs
        cdef int64_t[::1] n_splits = self.n_splits
        for k in range(self.trees.size()):
            costs[k] = self.trees[k].cost
            n_splits[k] = self.trees[k].n_splits

    def tree(self, int64_t rank, SearchControl control):
        """Columns of tree `rank` in preorder, the child with the column first; -1 for a leaf."""
        cdef PreorderTree tree
        with nogil:
            self.owner.search.get().read_tree(
                self.trees, rank, self.depth, self.splits, control.cpp, tree
            )
        control.raise_pending()
        return np.array(tree.column, dtype=np.int32)


cdef class KBestSearch:
    """Rankings of one table's trees under several limits, with one cache.

    Parameters
    ----------
    table : BitRows
        The rows.

    objective : LeafObjective
        What leaves cost (see ``objectives.py``).

    control : SearchControl
        Deadline, memory, interrupts.

    n_best : int
        Number of trees.

    split_cost : float
        Cost of each split.

    min_rows, min_weight : int, float
        Of a leaf.

    n_threads : int
        OpenMP threads.

    use_cache : bool
        Whether rankings are kept for row sets that come back.

    use_bounds : bool
        Whether subtrees that can be part of none of the best trees are dropped.
    """

    cdef unique_ptr[SetSearch[KBest, Trees]] search
    cdef SearchControl control
    cdef object table  # what the kernel points into

    def __init__(
        self,
        table,
        objective,
        SearchControl control,
        *,
        int64_t n_best=1,
        double split_cost=0.0,
        int64_t min_rows=1,
        double min_weight=0.0,
        int n_threads=1,
        bint use_cache=True,
        bint use_bounds=True,
    ):
        cdef RowTable view = row_table(table)
        cdef KBest algebra
        channels, masses, weights = sums_of(table, objective)
        # As coarse as sums of costs need to be exact, as fine as nobody sees.
        largest = max(float(masses @ table.totals_in_units()), 1e-290)
        grid = 2.0 ** (math.frexp(largest)[1] - 41)
        algebra.n_best = n_best
        algebra.split_cost = round(split_cost / grid) * grid
        algebra.min_rows = min_rows
        # Sums of rounded weights that should equal it may fall short.
        algebra.min_weight = min_weight * (1.0 - 1e-9)
        algebra.unit = weights.tolist()
        algebra.has_row_channel = view.counts_rows()
        algebra.use_bounds = use_bounds
        algebra.leaves.score = <Score> (<int> SCORES.index(objective.score))
        algebra.leaves.n_sums = view.n_sums()
        algebra.leaves.n_channels = channels.shape[1]
        algebra.leaves.class_channels = channels.ravel().tolist()
        algebra.leaves.class_mass = masses.tolist()
        algebra.leaves.unit = objective.unit
        algebra.leaves.base_factor = objective.base_factor
        algebra.leaves.z = objective.z
        algebra.leaves.cf = objective.cf
        algebra.leaves.least_weight = table.unit.min() / 2.0
        algebra.leaves.grid = grid
        self.table = table
        self.control = control
        self.search.reset(
            new SetSearch[KBest, Trees](view, algebra, control.cpp, n_threads, use_cache)
        )

    def rank(self, int depth, int64_t splits, double bound=INFINITY):
        """The best trees within `depth` and `splits` that cost up to `bound`.

        If stopped, what was found so far.
        """
        cdef Ranking ranking = Ranking()
        ranking.owner = self
        ranking.depth = depth
        ranking.splits = splits
        with nogil:
            ranking.trees = self.search.get().solve_root(depth, splits, bound)
        self.control.raise_pending()
        ranking.fill()
        return ranking

    def statistics(self):
        """Counters of the search."""
        counters = &self.search.get().counters
        return {
            "n_nodes": counters.n_nodes.load(),
            "n_depth_two": counters.n_depth_two.load(),
            "n_cache_hits": counters.n_cache_hits.load(),
            "n_skipped": counters.n_skipped.load(),
            "n_cached": counters.n_cached.load(),
            "cache_bytes": counters.cache_bytes.load(),
        }
