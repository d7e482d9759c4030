"""Distinct trees and best subsets, one by one (``_dtdistinct.hpp``, ``_on_demand.hpp``)."""

import numpy as np

from libc.stdint cimport int32_t, int64_t
from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr
from libcpp.vector cimport vector

from sktree_opt.subset._problem cimport (
    CppLatticeStats,
    CppProblem,
    SubsetProblem,
    lattice_stats_dict,
)
from sktree_opt.utils._control cimport CppSearchControl, SearchControl


cdef extern from "sktree_opt/subset/_dtdistinct.hpp" namespace "sktree_opt::subset" nogil:
    cdef cppclass FoundTree:
        vector[int32_t] features
        int64_t cost
        int64_t n_leaves

    cdef cppclass BestRules:
        int lookahead
        cbool uses_class_bound
        cbool only_best
        int64_t slack
        int64_t penalty
        int64_t limit

    cdef enum class VisitOrder:
        FRONTIER
        FRONTIER_CASES
        REVERSE
        FIXED

    cdef cppclass DistinctStats:
        int64_t n_built
        int64_t n_distinct
        int64_t n_pruned
        int64_t max_alive

    cdef cppclass DistinctTrees:
        DistinctTrees(
            const CppProblem& problem,
            VisitOrder order,
            cbool accepts,
            const BestRules& rules,
            CppSearchControl& control,
            int64_t budget,
        ) except +
        cbool next(FoundTree& tree) except +
        cbool is_done()
        double progress()
        const DistinctStats& stats()
        const CppLatticeStats& lattice_stats()

    cdef cppclass DecisionStats:
        int64_t n_decisions
        int64_t n_trees
        int64_t n_pruned
        int64_t max_open

    cdef cppclass OnDemandSearch:
        OnDemandSearch(
            const CppProblem& problem,
            const BestRules& rules,
            CppSearchControl& control,
            int64_t budget,
        ) except +
        void start_from(const FoundTree& tree)
        cbool next(FoundTree& tree) except +
        cbool is_done()
        double progress()
        int64_t lower_bound()
        const DecisionStats& stats()
        const CppLatticeStats& lattice_stats()

ORDERS = {
    "frontier": <int> VisitOrder.FRONTIER,
    "frontier_cases": <int> VisitOrder.FRONTIER_CASES,
    "reverse": <int> VisitOrder.REVERSE,
    "fixed": <int> VisitOrder.FIXED,
}


cdef BestRules make_rules(lookahead, class_bound, only_best, slack, penalty, limit) except *:
    cdef BestRules rules
    rules.lookahead = lookahead
    rules.uses_class_bound = class_bound
    rules.only_best = only_best
    rules.slack = slack
    rules.penalty = penalty
    if limit is not None:
        rules.limit = limit
    return rules


cdef class DistinctStream:
    """Algorithms 2 and 3: iterate over (features, cost, number of leaves) of distinct trees.

    Parameters
    ----------
    problem : SubsetProblem

    control : SearchControl

    order : str
        A key of ``ORDERS``.

    accepts : bool
        Whether only trees better than all before are wanted (Algorithm 3).

    slack, penalty : int
        Costs that delta and a feature stand for.

    budget : int
        Bytes of the lattice that may be kept.
    """

    cdef unique_ptr[DistinctTrees] cpp
    cdef SubsetProblem problem
    cdef SearchControl control

    def __init__(
        self,
        SubsetProblem problem not None,
        SearchControl control not None,
        *,
        order="frontier",
        bint accepts=False,
        slack=0,
        penalty=0,
        int64_t budget=1 << 30,
    ):
        cdef VisitOrder chosen = <VisitOrder> <int> ORDERS[order]
        cdef BestRules rules = make_rules(0, False, False, slack, penalty, None)
        self.problem, self.control = problem, control
        with nogil:
            self.cpp.reset(
                new DistinctTrees(problem.cpp, chosen, accepts, rules, control.cpp, budget)
            )

    def __iter__(self):
        return self

    def __next__(self):
        cdef FoundTree tree
        cdef cbool found
        with nogil:
            found = self.cpp.get().next(tree)
        self.problem.raise_pending(self.control)
        if not found:
            raise StopIteration
        return np.array(tree.features, dtype=np.int64), tree.cost, tree.n_leaves

    @property
    def is_done(self):
        """Whether all trees have been seen."""
        return bool(self.cpp.get().is_done())

    @property
    def progress(self):
        """Estimated share of the search that is done."""
        return self.cpp.get().progress()

    @property
    def stats(self):
        """Counters."""
        cdef const DistinctStats* stats = &self.cpp.get().stats()
        return {
            "n_built": stats.n_built,
            "n_distinct": stats.n_distinct,
            "n_pruned": stats.n_pruned,
            "max_alive": stats.max_alive,
            **lattice_stats_dict(self.cpp.get().lattice_stats()),
        }


cdef class OnDemandStream:
    """Trees by deciding features on demand: all distinct ones, or ever better ones to the best.

    Parameters
    ----------
    problem : SubsetProblem

    control : SearchControl

    only_best : bool
        Whether each tree has to be better than the last one.

    lookahead : int
        Steps of bound (c); 0 switches it off.

    class_bound : bool
        Whether bound (b) is used.

    slack, penalty : int
        Costs that delta and a feature stand for.

    limit : int or None
        Without `only_best`: cost of the trees that are wanted.

    start : tuple or None
        (features, cost, number of leaves) of a tree that has to be beaten.

    budget : int
        Bytes of the lattice that may be kept.
    """

    cdef unique_ptr[OnDemandSearch] cpp
    cdef SubsetProblem problem
    cdef SearchControl control

    def __init__(
        self,
        SubsetProblem problem not None,
        SearchControl control not None,
        *,
        bint only_best=False,
        lookahead=1,
        class_bound=True,
        slack=0,
        penalty=0,
        limit=None,
        start=None,
        int64_t budget=1 << 30,
    ):
        cdef BestRules rules = make_rules(
            lookahead, class_bound, only_best, slack, penalty, limit
        )
        cdef FoundTree tree
        self.problem, self.control = problem, control
        with nogil:
            self.cpp.reset(new OnDemandSearch(problem.cpp, rules, control.cpp, budget))
        if start is not None:
            tree.features = list(start[0])
            tree.cost = start[1]
            tree.n_leaves = start[2]
            self.cpp.get().start_from(tree)

    def __iter__(self):
        return self

    def __next__(self):
        cdef FoundTree tree
        cdef cbool found
        with nogil:
            found = self.cpp.get().next(tree)
        self.problem.raise_pending(self.control)
        if not found:
            raise StopIteration
        return np.array(tree.features, dtype=np.int64), tree.cost, tree.n_leaves

    @property
    def is_done(self):
        """Whether the search has come to its end."""
        return bool(self.cpp.get().is_done())

    @property
    def progress(self):
        """Estimated share of the search that is done."""
        return self.cpp.get().progress()

    @property
    def lower_bound(self):
        """No tree, with its penalty, costs less."""
        return self.cpp.get().lower_bound()

    @property
    def stats(self):
        """Counters."""
        cdef const DecisionStats* stats = &self.cpp.get().stats()
        return {
            "n_decisions": stats.n_decisions,
            "n_trees": stats.n_trees,
            "n_pruned": stats.n_pruned,
            "max_open": stats.max_open,
            **lattice_stats_dict(self.cpp.get().lattice_stats()),
        }
