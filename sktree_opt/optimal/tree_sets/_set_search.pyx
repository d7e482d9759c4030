"""Points of two sums over the leaves of all trees: Pareto fronts of errors, and others."""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t
from libcpp cimport bool as cpp_bool
from libcpp.memory cimport unique_ptr
from libcpp.vector cimport vector

from sktree_opt.optimal.objectives._leaf_objectives import SCORES
from sktree_opt.optimal.tree_sets._bit_rows import ANY_LEAF

from sktree_opt.optimal.tree_sets._row_table cimport (
    LeafRules,
    RowTable,
    leaf_rules,
    row_table,
    set_minima,
)
from sktree_opt.utils._control cimport CppSearchControl, SearchControl, atomic_int64


cdef extern from "sktree_opt/optimal/tree_sets/set_search.hpp" namespace "sktree_opt" nogil:
    cdef cppclass TreePoint:
        int64_t first
        int64_t second
        int32_t n_splits

    cdef cppclass SetSearchCounters:
        atomic_int64 n_nodes
        atomic_int64 n_depth_two
        atomic_int64 n_cache_hits
        atomic_int64 n_skipped
        atomic_int64 n_cached
        atomic_int64 cache_bytes

    cdef cppclass PreorderTree:
        vector[int32_t] column
        vector[int32_t] label

    cdef cppclass CppPointSearch "sktree_opt::PointSearch":
        SetSearchCounters counters
        vector[TreePoint] solve_root(int depth, int64_t splits, double bound) except +
        void read_tree(
            const vector[TreePoint]&,
            int64_t rank,
            int depth,
            int64_t splits,
            CppSearchControl*,
            PreorderTree&,
        ) except +

    cdef cppclass SetSearch[Algebra](CppPointSearch):
        SetSearch(RowTable, Algebra, CppSearchControl*, int, cpp_bool) except +


cdef extern from "sktree_opt/optimal/tree_sets/pareto.hpp" namespace "sktree_opt" nogil:
    cdef cppclass FrontRules:
        int64_t min_rows
        double min_weight
        double unit[2]
        bint has_row_channel
        bint use_bounds


cdef extern from "sktree_opt/optimal/tree_sets/two_sums.hpp" namespace "sktree_opt" nogil:
    cdef cppclass LeafCosts:
        LeafCosts(const LeafRules&)

    cdef cppclass TwoSums:
        TwoSums()
        vector[LeafCosts] costs
        vector[double] first_of
        vector[double] second_of
        LeafRules minima
        int64_t split_cost
        cpp_bool is_signed
        cpp_bool is_least
        int64_t max_second


# Bounds in units; whole numbers of a float64.
MOST = 2**52
MOST_SECOND = 2**62


cdef class TreePoints:
    """Points of trees within some limits, in the order of the first sum.

    Attributes
    ----------
    sums : ndarray of int64, shape (n_points, 2)
        In units.

    n_splits : ndarray of int64, shape (n_points,)
        Number of tests of the tree of each point.
    """

    cdef PointSearch owner
    cdef vector[TreePoint] points
    cdef int depth
    cdef int64_t splits
    cdef readonly object sums, n_splits

    cdef void read(self):
        cdef size_t k
        self.sums = np.empty((self.points.size(), 2), dtype=np.int64)
        self.n_splits = np.empty(self.points.size(), dtype=np.int64)
        cdef int64_t[:, ::1] sums = self.sums
        cdef int64_t[::1] n_splits = self.n_splits
        for k in range(self.points.size()):
            sums[k, 0] = self.points[k].first
            sums[k, 1] = self.points[k].second
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


cdef class PointSearch:
    """Points of one table under several limits, with one cache."""

    cdef unique_ptr[CppPointSearch] search
    cdef SearchControl control
    cdef object table  # what the kernel points into

    cdef TreePoints points_within(self, int depth, int64_t splits, double bound):
        cdef TreePoints found = TreePoints()
        found.owner = self
        found.depth = depth
        found.splits = splits
        with nogil:
            found.points = self.search.get().solve_root(depth, splits, bound)
            # The cache may know more of them.
            while not found.points.empty() and found.points.back().first > bound:
                found.points.pop_back()
        self.control.raise_pending()
        found.read()
        return found

    def statistics(self):
        """Counters of the search."""
        cdef SetSearchCounters* counters = &self.search.get().counters
        return {
            "n_nodes": counters.n_nodes.load(),
            "n_depth_two": counters.n_depth_two.load(),
            "n_cache_hits": counters.n_cache_hits.load(),
            "n_skipped": counters.n_skipped.load(),
            "n_cached": counters.n_cached.load(),
            "cache_bytes": counters.cache_bytes.load(),
        }


cdef class ParetoSearch(PointSearch):
    """Fronts of the errors of two classes over all trees: false positives and false negatives.

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
        return self.points_within(depth, splits, INFINITY)


cdef class SumSearch(PointSearch):
    """Points of two sums over leaves, by objectives or by answers.

    Parameters
    ----------
    table : BitRows
        Of classes.

    control : SearchControl
        Deadline, memory, interrupts.

    costs : list of LeafObjective
        Two objectives, of which less is better; empty for `by_answer`.

    by_answer : list of ndarray of shape (2, n_classes)
        What a unit of each class adds to either sum if its leaf answers 0 or 1. The first is to be
        small, and all values of the second count. The sums of a leaf are rounded to whole numbers.

    minima : LeafMinima, default=ANY_LEAF
        What may be a leaf.

    split_cost : float, default=0.0
        What a test adds to the first sum.

    max_second : float, default=inf
        Larger second sums are left out.

    n_threads : int, default=1
        OpenMP threads.

    use_cache : bool, default=True
        Whether sets are kept for rows that come back.

    use_bounds : bool, default=True
        Whether the least sums of other parts bound a part.

    Attributes
    ----------
    unit : ndarray of shape (2,)
        What a unit of either sum is; 1 for `by_answer`.
    """

    cdef unique_ptr[CppPointSearch] least_search
    cdef bint use_bounds
    cdef readonly object unit

    def __init__(
        self,
        table,
        SearchControl control,
        *,
        costs=(),
        by_answer=(),
        minima=ANY_LEAF,
        double split_cost=0.0,
        double max_second=np.inf,
        int n_threads=1,
        bint use_cache=True,
        bint use_bounds=True,
    ):
        cdef RowTable view = row_table(table)
        cdef TwoSums algebra
        cdef LeafRules rules
        self.unit = np.ones(2)
        for k, objective in enumerate(costs):
            self.unit[k] = table.grid_of(objective)
            rules = leaf_rules(table, objective, self.unit[k], SCORES.index(objective.score))
            algebra.costs.push_back(LeafCosts(rules))
        if by_answer:
            algebra.first_of, algebra.second_of = [sums.ravel().tolist() for sums in by_answer]
            algebra.is_signed = True
        algebra.minima.n_sums = view.n_sums()
        algebra.minima.unit_weight = table.unit.tolist()
        algebra.minima.has_row_channel = view.counts_rows()
        set_minima(algebra.minima, minima)
        algebra.split_cost = min(round(split_cost / self.unit[0]), MOST)
        self.table = table
        self.control = control
        self.use_bounds = use_bounds
        algebra.is_least = True
        self.least_search.reset(
            new SetSearch[TwoSums](view, algebra, control.cpp, n_threads, use_cache)
        )
        algebra.is_least = False
        algebra.max_second = <int64_t> min(max_second / self.unit[1], MOST_SECOND)
        self.search.reset(
            new SetSearch[TwoSums](view, algebra, control.cpp, n_threads, use_cache)
        )

    def least(self, int depth, int64_t splits, double bound):
        """The least first sum within `depth` and `splits`; None if it is not up to `bound`."""
        cdef vector[TreePoint] points
        with nogil:
            points = self.least_search.get().solve_root(depth, splits, bound)
        self.control.raise_pending()
        return None if points.empty() or points[0].first > bound else points[0].first

    def up_to(self, int depth, int64_t splits, double bound):
        """All points within `depth` and `splits` whose first sum is up to `bound`.

        If stopped, those that were found so far.
        """
        if self.use_bounds:
            self.least(depth, splits, bound)
        return self.points_within(depth, splits, bound)
