from libc.stdint cimport int32_t, int64_t, uint8_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

from sktree_opt.subset.lattice._subset_problem cimport CppLatticeStats, CppProblem
from sktree_opt.utils._control cimport CppSearchControl


cdef extern from "sktree_opt/subset/complete/complete.hpp" namespace "sktree_opt::subset" nogil:
    cdef cppclass FoundTree:
        vector[int32_t] features
        int64_t cost
        int64_t n_leaves

    cdef cppclass BestRules:
        cbool looks_ahead
        cbool cuts_short
        cbool leaves_out
        cbool only_best
        int64_t slack
        vector[int64_t] prices
        int64_t limit
        int64_t cost_limit
        int64_t min_size
        int64_t max_size
        cbool by_size

    cdef cppclass SubSearch:
        vector[uint8_t] decisions
        int64_t bound
        int64_t size
        double share

    cdef cppclass SliceResult:
        vector[FoundTree] trees
        vector[SubSearch] remaining
        double progress
        int64_t n_decisions

    cdef cppclass Round:
        vector[SubSearch] searches
        int64_t n_decisions

    cdef cppclass DecisionStats:
        int64_t n_decisions
        int64_t n_trees
        int64_t n_pruned
        int64_t max_open
        void add(const DecisionStats& other)

    cdef cppclass OnDemandSearch:
        OnDemandSearch(
            const CppProblem& problem,
            const BestRules& rules,
            CppSearchControl& control,
            int64_t budget,
        ) except +
        DecisionStats& stats()
        const CppLatticeStats& lattice_stats()

    cdef void run_slice(
        OnDemandSearch& search,
        const SubSearch& start,
        int64_t n_decisions,
        const FoundTree* best,
        SliceResult& result,
    ) except +

    cdef cppclass CompleteSearch:
        CompleteSearch(
            const CppProblem& problem,
            const BestRules& rules,
            CppSearchControl& control,
            int64_t budget,
            int n_threads,
        ) except +
        void add(const SubSearch& search) except +
        void begin() except +
        void start_from(const FoundTree& tree) except +
        void set_round(int64_t round, int64_t n_decisions)
        cbool next(FoundTree& tree) except +
        cbool run_round() except +
        cbool take(FoundTree& tree) except +
        Round plan() except +
        void merge(const vector[SliceResult]& results) except +
        cbool is_done()
        double progress()
        const vector[SubSearch]& pool()
        int64_t round()
        int64_t n_decisions()
        const FoundTree* best()
        int64_t lower_bound()
        DecisionStats stats()
        CppLatticeStats lattice_stats()

cdef extern from "sktree_opt/subset/complete/dtdistinct.hpp" namespace "sktree_opt::subset" nogil:
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
            int n_threads,
        ) except +
        cbool next(FoundTree& tree) except +
        cbool is_done()
        double progress()
        const DistinctStats& stats()
        const CppLatticeStats& lattice_stats()
