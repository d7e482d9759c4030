"""Trade-offs between two sums over the leaves of a tree (see ``two_sums.hpp``)."""

import numpy as np

from libc.stdint cimport int64_t
from libcpp cimport bool as cpp_bool
from libcpp.memory cimport unique_ptr
from libcpp.vector cimport vector

from sktree_opt.optimal.bits._bit_engine import SCORES
from sktree_opt.optimal.tree_sets._bit_rows import ANY_LEAF

from sktree_opt.optimal.tree_sets._row_table cimport (
    LeafRules,
    PreorderTree,
    RowTable,
    SetSearch,
    TreePoint,
    counts_of,
    leaf_rules,
    row_table,
    set_minima,
    sums_and_splits,
)
from sktree_opt.utils._control cimport SearchControl


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


cdef class SumSet:
    """Points of two sums within some limits, in the order of the first.

    Attributes
    ----------
    sums : ndarray of int64, shape (n_points, 2)
        In units.

    n_splits : ndarray of int64, shape (n_points,)
        Number of tests of the tree of each point.
    """

    cdef SumSearch owner
    cdef vector[TreePoint] points
    cdef int depth
    cdef int64_t splits
    cdef readonly object sums, n_splits

    def tree(self, int64_t rank, SearchControl control):
        """Point `rank` as a tree in preorder (see ``_pareto.Front.tree``)."""
        cdef PreorderTree tree
        with nogil:
            self.owner.search.get().read_tree(
                self.points, rank, self.depth, self.splits, control.cpp, tree
            )
        control.raise_pending()
        return np.array(tree.column, dtype=np.int32), np.array(tree.label, dtype=np.int32)


cdef class SumSearch:
    """Points of two sums of one table under several limits, with one cache.

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

    cdef unique_ptr[SetSearch[TwoSums]] search, least_search
    cdef SearchControl control
    cdef object table  # what the kernel points into
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
        cdef SumSet found = SumSet()
        found.owner = self
        found.depth = depth
        found.splits = splits
        if self.use_bounds:
            self.least(depth, splits, bound)
        with nogil:
            found.points = self.search.get().solve_root(depth, splits, bound)
            # The cache may know more of them.
            while not found.points.empty() and found.points.back().first > bound:
                found.points.pop_back()
        self.control.raise_pending()
        found.sums, found.n_splits = sums_and_splits(found.points)
        return found

    def statistics(self):
        """Counters of the search."""
        return counts_of(self.search.get().counters)
