from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

from sktree_opt.preprocessing._table cimport ColumnView, Table
from sktree_opt.utils._control cimport CppSearchControl


cdef extern from "sktree_opt/greedy/grower.hpp" namespace "sktree_opt::greedy" nogil:
    cdef enum class CppMeasure "sktree_opt::greedy::Measure"(uint8_t):
        ENTROPY
        GINI
        GINI_COST
        ERROR
        SQUARED_ERROR

    cdef enum class CppNominalSplit "sktree_opt::greedy::NominalSplit"(uint8_t):
        MULTIWAY
        ONE_VS_REST
        SUBSET

    cdef enum class CppWeightKind "sktree_opt::greedy::WeightKind"(uint8_t):
        UNIT
        INTEGER
        FRACTIONAL

    cdef uint32_t CPP_MAX_SUBSET_CATEGORIES "sktree_opt::greedy::MAX_SUBSET_CATEGORIES"

    cdef cppclass CppNode "sktree_opt::Node":
        pass

    cdef cppclass CppColumn "sktree_opt::greedy::Column":
        CppColumn(const ColumnView& view, const double* values_of_ranks)

    cdef cppclass CppTarget "sktree_opt::greedy::Target":
        uint32_t n_classes
        const uint16_t* classes
        const double* values

    cdef cppclass CppCaseSet "sktree_opt::greedy::CaseSet":
        vector[uint32_t] rows
        vector[double] weights
        CppWeightKind kind

    cdef cppclass CppSplitRules "sktree_opt::greedy::SplitRules":
        cbool gain_ratio
        cbool numeric_gain_penalty
        CppNominalSplit nominal
        cbool above_average
        double min_leaf_weight
        cbool every_branch
        uint32_t min_leaf_rows
        double min_gain
        cbool allow_zero_gain
        cbool missing_to_heaviest

    cdef cppclass CppGrowthLimits "sktree_opt::greedy::GrowthLimits":
        double min_split_weight
        uint32_t min_split_rows
        double acceptable_error
        int32_t max_depth
        int32_t max_leaf_nodes
        uint32_t max_features
        uint64_t seed
        int n_threads
        uint32_t max_block_cases
        int64_t min_parallel_work

    cdef cppclass CppGrownTree "sktree_opt::greedy::GrownTree":
        vector[CppNode] nodes
        vector[double] values
        vector[int32_t] category_branch
        vector[uint32_t] codes
        uint32_t n_outputs
        int32_t size()

    cdef cppclass CppInduction "sktree_opt::greedy::Induction":
        vector[CppColumn] columns
        CppTarget target
        CppMeasure measure
        vector[double] costs
        CppSplitRules rules
        CppGrowthLimits limits
        void prepare(uint64_t total_weight) except +
        CppGrownTree grow(
            CppCaseSet cases, vector[int32_t] features, CppSearchControl& control
        ) except +


cdef extern from "sktree_opt/greedy/pruning.hpp" namespace "sktree_opt::greedy" nogil:
    cdef cppclass CppErrorBound "sktree_opt::greedy::ErrorBound":
        double confidence
        double z

    CppGrownTree prune_by_error_bound(
        const CppInduction& problem,
        CppGrownTree tree,
        CppCaseSet cases,
        const CppErrorBound& bound,
        CppSearchControl& control,
    ) except +
    CppGrownTree prune_reduced_error(
        const CppInduction& problem, CppGrownTree tree, CppCaseSet cases, CppSearchControl& control
    ) except +


cdef object set_learner(
    CppInduction* cpp, Table table, target, n_classes, costs, dict rules
)
cdef CppWeightKind kind_of_weights(weights, double* total) except *
