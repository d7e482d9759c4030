"""Pareto fronts of the errors of two classes over all trees (see ``pareto.hpp``)."""

import numpy as np

from libc.stdint cimport int32_t, int64_t
from libcpp.memory cimport unique_ptr
from libcpp.vector cimport vector

from sktree_opt.optimal.tree_sets._row_table cimport RowTable, row_table
from sktree_opt.utils._control cimport CppSearchControl, SearchControl, atomic_int64


cdef extern from "sktree_opt/optimal/tree_sets/pareto.hpp" namespace "sktree_opt" nogil:
    cdef cppclass ParetoPoint:
        int64_t fp
        int64_t fn
        int32_t n_splits

    cdef cppclass FrontRules:
        int64_t min_rows
        double min_weight
        double unit[2]
        bint has_row_channel
        bint use_bounds

    cdef cppclass FrontCounters:
        atomic_int64 n_nodes
        atomic_int64 n_depth_two
        atomic_int64 n_cache_hits
        atomic_int64 n_cached
        atomic_int64 cache_bytes

    cdef cppclass PreorderTree:
        vector[int32_t] column
        vector[int32_t] label

    cdef cppclass CppParetoSearch "sktree_opt::ParetoSearch":
        CppParetoSearch(RowTable, FrontRules, CppSearchControl*, int, bint) except +
        FrontCounters counters
        vector[ParetoPoint] solve_root(int depth, int64_t splits) except +
        void read_tree(
            const vector[ParetoPoint]&,
            int64_t rank,
            int depth,
            int64_t splits,
            CppSearchControl*,
            PreorderTree&,
        ) except +


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
    cdef vector[ParetoPoint] points
    cdef int depth
    cdef int64_t splits
    cdef readonly object errors, n_splits

    cdef fill(self):
        cdef size_t k
        self.errors = np.empty((self.points.size(), 2), dtype=np.int64)
        self.n_splits = np.empty(self.points.size(), dtype=np.int64)
        cdef int64_t[:, ::1] errors = self.errors
        cdef int64_t[::1] n_splits = self.n_splits
        for k in range(self.points.size()):
            errors[k, 0] = self.points[k].fp
            errors[k, 1] = self.points[k].fn
            n_splits[k] = self.points[k].n_splits

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

    cdef unique_ptr[CppParetoSearch] search
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
        self.search.reset(new CppParetoSearch(view, rules, control.cpp, n_threads, use_cache))

    def front(self, int depth, int64_t splits):
        """Front of the trees within `depth` and `splits`; if stopped, what was found so far."""
        cdef Front front = Front()
        front.owner = self
        front.depth = depth
        front.splits = splits
        with nogil:
            front.points = self.search.get().solve_root(depth, splits)
        self.control.raise_pending()
        front.fill()
        return front

    def statistics(self):
        """Counters of the search."""
        counters = &self.search.get().counters
        return {
            "n_nodes": counters.n_nodes.load(),
            "n_depth_two": counters.n_depth_two.load(),
            "n_cache_hits": counters.n_cache_hits.load(),
            "n_cached": counters.n_cached.load(),
            "cache_bytes": counters.cache_bytes.load(),
        }
