from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

from sktree_opt.greedy._grow cimport CppCaseSet, CppErrorBound, CppInduction
from sktree_opt.preprocessing._table cimport Table
from sktree_opt.utils._control cimport SearchControl


cdef extern from "sktree_opt/subset/lattice/subset_problem.hpp" \
        namespace "sktree_opt::subset" nogil:
    cdef cppclass CppPart "sktree_opt::subset::PartCases":
        CppCaseSet cases
        vector[uint32_t] search_rows
        vector[int64_t] costs
        vector[double] scales

    cdef enum class CppLoss "sktree_opt::subset::Loss"(uint8_t):
        SQUARED
        ABSOLUTE

    ctypedef int64_t (*TreeRating)(void*, const int32_t*, size_t)

    cdef cppclass OrderRules:
        size_t max_bytes
        uint32_t min_values
        uint32_t min_cases

    cdef cppclass MergeRules:
        double max_rare
        uint32_t min_cases

    cdef cppclass CppProblem "sktree_opt::subset::SearchProblem":
        CppInduction induction
        vector[CppPart] parts
        uint32_t n_rows
        CppLoss loss
        cbool is_pessimistic
        CppErrorBound error_bound
        double cost_unit
        TreeRating rating
        void* rating_context
        double largest_loss
        OrderRules order_rules
        cbool reads_cuts
        MergeRules merge_rules
        vector[int32_t] unit_of
        vector[vector[int32_t]] units
        vector[uint8_t] is_kept

    cdef vector[int32_t] cpp_features_of "sktree_opt::subset::features_of"(
        const CppProblem& problem,
        const vector[int32_t]& units,
    ) except +


cdef extern from "sktree_opt/subset/lattice/lattice.hpp" namespace "sktree_opt::subset" nogil:
    cdef cppclass CppLatticeStats "sktree_opt::subset::LatticeStats":
        int64_t n_case_sets
        int64_t n_found
        int64_t n_rankings
        int64_t n_clearings
        int64_t peak_bytes


cdef class SubsetProblem:
    cdef CppProblem cpp
    cdef readonly Table table
    cdef readonly object target
    cdef readonly double total_cost
    cdef readonly bint is_callable
    cdef dict recipe
    cdef object callback
    cdef object control
    cdef object callback_error

    cdef object features_of(self, const vector[int32_t]& units)
    cdef int raise_pending(self, SearchControl control) except -1


cdef dict lattice_stats_dict(const CppLatticeStats& stats)
