"""Pareto fronts of the errors of two classes over all trees (see ``pareto.hpp``)."""

import numpy as np

from libc.stdint cimport int64_t
from libcpp.memory cimport unique_ptr
from libcpp.vector cimport vector

from sktree_opt.optimal.tree_sets._row_table cimport (
    PreorderTree,
    RowTable,
    SetSearch,
    TreePoint,
    counts_of,
    row_table,
    sums_and_splits,
)
from sktree_opt.utils._control cimport SearchControl


cdef extern from "sktree_opt/optimal/tree_sets/pareto.hpp" namespace "sktree_opt" nogil:
    cdef cppclass FrontRules:
        int64_t min_rows
        double min_weight
        double unit[2]
        bint has_row_channel
        bint use_bounds


cdef class Front:
    """Trade-offs between the two errors within some limits.

    Attributes
    ----------
    errors : ndarray of int64, shape (n_points, 2)
        False positives, rising, and false negatives, falling, in units.

    n_splits : ndarray of int64, shape (n_points,)
        Fewest splits of a tree with these errors.
    """

    cdef ParetoSearch owner
    cdef vector[TreePoint] points
    cdef int depth
    cdef int64_t splits
    cdef readonly object errors, n_splits

    def tree(self, int64_t rank, SearchControl control):
        """Point `rank` as a tree in preorder.

        Returns
        -------
        columns : ndarray of int32
            Column of each split, whose child with it comes first; -1 for a leaf.

        answers : ndarray of int32
            Class that a leaf answers; -1 for a split.
        """
        cdef PreorderTree tree
        with nogil:
            self.owner.search.get().read_tree(
                self.points, rank, self.depth, self.splits, control.cpp, tree
            )
        control.raise_pending()
        return np.array(tree.column, dtype=np.int32), np.array(tree.label, dtype=np.int32)


cdef class ParetoSearch:
    """Fronts of one table under several limits, with one cache.

    Parameters
    ----------
    table : BitRows
        Two classes; class 1 is the positive one.

    control : SearchControl
        Deadline, memory, interrupts.

    min_rows, min_weight : int, float
        Of a leaf.

    n_threads : int
        OpenMP threads.

    use_cache : bool
        Whether fronts are kept for row sets that come back.

    use_bounds : bool
        Whether points that others better are dropped at once.
    """

    cdef unique_ptr[SetSearch[FrontRules]] search
    cdef SearchControl control
    cdef object table  # what the kernel points into

    def __init__(
        self,
        table,
        SearchControl control,
        *,
        int64_t min_rows=1,
        double min_weight=0.0,
        int n_threads=1,
        bint use_cache=True,
        bint use_bounds=True,
    ):
        cdef RowTable view = row_table(table)
        cdef FrontRules rules
        rules.min_rows = min_rows
        # Sums of rounded weights that should equal it may fall short.
        rules.min_weight = min_weight * (1.0 - 1e-9)
        rules.unit[0] = table.unit[0]
        rules.unit[1] = table.unit[1]
        rules.has_row_channel = table.units is not None
        rules.use_bounds = use_bounds
        self.table = table
        self.control = control
        self.search.reset(
            new SetSearch[FrontRules](view, rules, control.cpp, n_threads, use_cache)
        )

    def front(self, int depth, int64_t splits):
        """Front of the trees within `depth` and `splits`; if stopped, what was found so far."""
        cdef Front front = Front()
        front.owner = self
        front.depth = depth
        front.splits = splits
        with nogil:
            front.points = self.search.get().solve_root(depth, splits, 0.0)
        self.control.raise_pending()
        front.errors, front.n_splits = sums_and_splits(front.points)
        return front

    def statistics(self):
        """Counters of the search."""
        return counts_of(self.search.get().counters)
