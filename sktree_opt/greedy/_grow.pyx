"""Growing and pruning of greedy trees on an encoded table (see ``grower.hpp``, ``pruning.hpp``)."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy
from libcpp cimport bool as cbool
from libcpp.utility cimport move
from libcpp.vector cimport vector

from sktree_opt.preprocessing._table cimport ColumnView, Table
from sktree_opt.utils._control cimport CppSearchControl, SearchControl

from sktree_opt.tree._node import NODE_DTYPE

# Above this total the table of logarithms would outgrow the data: entropy is summed in float64.
cdef enum:
    MAX_WHOLE_WEIGHT = 1 << 22


cdef extern from "sktree_opt/greedy/induction.hpp" namespace "sktree_opt::greedy" nogil:
    cdef enum class CppMeasure "sktree_opt::greedy::Measure"(uint8_t):
        ENTROPY
        GINI
        GINI_COST
        ERROR
        SQUARED_ERROR

    cdef enum class NominalSplit(uint8_t):
        MULTIWAY
        ONE_VS_REST
        SUBSET

    cdef enum class WeightKind(uint8_t):
        UNIT
        INTEGER
        FRACTIONAL

    cdef uint32_t CPP_MAX_SUBSET_CATEGORIES "sktree_opt::greedy::MAX_SUBSET_CATEGORIES"

    cdef cppclass Node "sktree_opt::Node":
        pass

    cdef cppclass Column:
        Column(const ColumnView& view, const double* values_of_ranks)

    cdef cppclass Target:
        uint32_t n_classes
        const uint16_t* classes
        const double* values

    cdef cppclass CaseSet:
        vector[uint32_t] rows
        vector[double] weights
        WeightKind kind

    cdef cppclass SplitRules:
        cbool gain_ratio
        cbool numeric_gain_penalty
        NominalSplit nominal
        cbool above_average
        double min_leaf_weight
        cbool every_branch
        uint32_t min_leaf_rows
        double min_gain
        cbool allow_zero_gain
        cbool missing_to_heaviest

    cdef cppclass GrowthLimits:
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
        vector[Node] nodes
        vector[double] values
        vector[int32_t] category_branch
        vector[uint32_t] codes
        uint32_t n_outputs
        int32_t size()

    cdef cppclass ErrorBound:
        double confidence
        double z

    cdef cppclass CppInduction "sktree_opt::greedy::Induction":
        vector[Column] columns
        Target target
        CppMeasure measure
        vector[double] costs
        SplitRules rules
        GrowthLimits limits
        void prepare(uint64_t total_weight) except +
        CppGrownTree grow(
            CaseSet cases, vector[int32_t] features, CppSearchControl& control
        ) except +
        CppGrownTree prune_by_error_bound(
            CppGrownTree tree, CaseSet cases, const ErrorBound& bound, CppSearchControl& control
        ) except +
        CppGrownTree prune_by_validation(
            CppGrownTree tree, CaseSet validation, CppSearchControl& control
        ) except +

# A weight that should equal a limit may fall short of it by what summing fractions loses.
ROUNDING = 1.0 - 1e-9

# Names of the measures, as _registries.py refers to them.
MEASURES = {
    "entropy": <int> CppMeasure.ENTROPY,
    "gini": <int> CppMeasure.GINI,
    "gini_cost": <int> CppMeasure.GINI_COST,
    "error": <int> CppMeasure.ERROR,
    "squared_error": <int> CppMeasure.SQUARED_ERROR,
}

NOMINAL_SPLITS = {
    "multiway": <int> NominalSplit.MULTIWAY,
    "one_vs_rest": <int> NominalSplit.ONE_VS_REST,
    "subset": <int> NominalSplit.SUBSET,
}

# With three or more classes, "subset" tries all partitions of columns of at most so many
# categories.
MAX_SUBSET_CATEGORIES = CPP_MAX_SUBSET_CATEGORIES


cdef class GrownTree:
    """A grown tree in the memory of the kernels."""

    cdef CppGrownTree cpp

    @staticmethod
    def from_arrays(nodes, values, category_branch, codes):
        """A tree from the arrays of a ``Tree``, to be pruned.

        Parameters
        ----------
        nodes : ndarray of NODE_DTYPE
        values : ndarray of shape (n_nodes, n_outputs)
        category_branch : ndarray of int32

        codes : ndarray of uint32
            Of each numeric test, the last code of branch 0.

        Returns
        -------
        tree : GrownTree
        """
        cdef GrownTree tree = GrownTree.__new__(GrownTree)
        cdef const uint8_t[::1] nodes_view = np.ascontiguousarray(nodes).view(np.uint8).reshape(-1)
        cdef const double[:, ::1] values_view = np.ascontiguousarray(values, dtype=np.float64)
        cdef const int32_t[::1] branches_view = np.ascontiguousarray(
            category_branch, dtype=np.int32
        )
        cdef Py_ssize_t i
        tree.cpp.n_outputs = values_view.shape[1]
        tree.cpp.nodes.resize(values_view.shape[0])
        memcpy(tree.cpp.nodes.data(), &nodes_view[0], nodes_view.shape[0])
        tree.cpp.values.assign(
            &values_view[0, 0], &values_view[0, 0] + values_view.shape[0] * values_view.shape[1]
        )
        for i in range(branches_view.shape[0]):
            tree.cpp.category_branch.push_back(branches_view[i])
        for code in codes:
            tree.cpp.codes.push_back(code)
        return tree

    def to_arrays(self):
        """Return ``nodes``, ``values`` and ``category_branch`` as ``Tree`` takes them.

        Returns
        -------
        nodes : ndarray of NODE_DTYPE
        values : ndarray of shape (n_nodes, n_outputs)
        category_branch : ndarray of int32
        """
        cdef Py_ssize_t n_nodes = self.cpp.size()
        nodes = np.zeros(n_nodes, dtype=NODE_DTYPE)
        values = np.empty((n_nodes, self.cpp.n_outputs))
        branches = np.empty(self.cpp.category_branch.size(), dtype=np.int32)
        cdef uint8_t[::1] nodes_view = nodes.view(np.uint8)
        cdef double[:, ::1] values_view = values
        cdef int32_t[::1] branches_view = branches
        memcpy(&nodes_view[0], self.cpp.nodes.data(), nodes.nbytes)
        memcpy(&values_view[0, 0], self.cpp.values.data(), values.nbytes)
        if branches.size:
            memcpy(&branches_view[0], self.cpp.category_branch.data(), branches.nbytes)
        return nodes, values, branches


cdef class Induction:
    """One learning problem, on whose rows and features trees can be grown and pruned.

    Parameters
    ----------
    table : Table
        All rows that any tree or pruning may use.

    target : ndarray of shape (n_rows,)
        Class codes (uint16), or float64 numbers.

    n_classes : int
        0 for numbers.

    weights : ndarray of shape (n_rows,) or None
        Positive; None if all are 1.

    costs : ndarray of shape (n_classes, n_classes) or None
        Cost of each predicted class (columns) for each actual class (rows).

    measure : int
        One of ``MEASURES``.

    nominal_split : int
        One of ``NOMINAL_SPLITS``.

    gain_ratio, above_average, numeric_gain_penalty : bool
    min_split_weight, min_leaf_weight, min_gain, acceptable_error : float
    min_split_rows, min_leaf_rows : int
    every_branch, allow_zero_gain, missing_to_heaviest : bool
    max_depth, max_leaf_nodes : int or None

    n_threads : int, default=1

    max_block_cases : int or None
        Nodes up to this size are grown in presorted blocks; None for the largest that fits. For
        tests: the tree does not depend on it.
    """

    cdef CppInduction cpp
    cdef WeightKind kind
    cdef readonly Table table
    cdef const uint16_t[::1] classes
    cdef const double[::1] numbers
    cdef const double[::1] weights

    def __init__(
        self,
        Table table,
        target,
        n_classes,
        weights=None,
        costs=None,
        *,
        measure,
        nominal_split,
        gain_ratio=False,
        above_average=False,
        numeric_gain_penalty=False,
        min_split_weight=2.0,
        min_leaf_weight=1.0,
        every_branch=False,
        min_split_rows=2,
        min_leaf_rows=1,
        min_gain=0.0,
        allow_zero_gain=False,
        missing_to_heaviest=False,
        acceptable_error=0.0,
        max_depth=None,
        max_leaf_nodes=None,
        max_features=0,
        seed=0,
        n_threads=1,
        max_block_cases=None,
    ):
        self.table = table
        self._set_columns()
        self.cpp.target.n_classes = n_classes
        if n_classes > 0:
            self.classes = np.ascontiguousarray(target, dtype=np.uint16)
            self.cpp.target.classes = &self.classes[0]
        else:
            self.numbers = np.ascontiguousarray(target, dtype=np.float64)
            self.cpp.target.values = &self.numbers[0]
        self.cpp.measure = <CppMeasure> <int> measure
        if costs is not None:
            self.cpp.costs = np.ascontiguousarray(costs, dtype=np.float64).ravel()
        self.cpp.rules.gain_ratio = gain_ratio
        self.cpp.rules.numeric_gain_penalty = numeric_gain_penalty
        self.cpp.rules.nominal = <NominalSplit> <int> nominal_split
        self.cpp.rules.min_leaf_weight = min_leaf_weight * ROUNDING
        self.cpp.rules.above_average = above_average
        self.cpp.rules.every_branch = every_branch
        self.cpp.rules.min_leaf_rows = min(min_leaf_rows, 2**31 - 1)
        self.cpp.rules.min_gain = min_gain
        self.cpp.rules.allow_zero_gain = allow_zero_gain
        self.cpp.rules.missing_to_heaviest = missing_to_heaviest
        self.cpp.limits.min_split_rows = min(min_split_rows, 2**31 - 1)
        self.cpp.limits.acceptable_error = acceptable_error
        self.cpp.limits.min_split_weight = min_split_weight * ROUNDING
        if max_depth is not None:
            self.cpp.limits.max_depth = min(max_depth, 2**31 - 1)
        if max_leaf_nodes is not None:
            self.cpp.limits.max_leaf_nodes = min(max_leaf_nodes, 2**31 - 1)
        self.cpp.limits.max_features = max_features
        self.cpp.limits.seed = seed
        self.cpp.limits.n_threads = n_threads
        if max_block_cases is not None:
            self.cpp.limits.max_block_cases = max_block_cases
            self.cpp.limits.min_parallel_work = 0
        self._set_weights(weights)

    def _set_columns(self):
        cdef const double[::1] values
        cdef Py_ssize_t j
        for j in range(self.table.n_columns):
            values = self.table.values[j]
            self.cpp.columns.push_back(
                Column(self.table.views[j], &values[0] if values.shape[0] else NULL)
            )

    def _set_weights(self, weights):
        total = self.table.n_rows
        self.kind = WeightKind.UNIT
        if weights is not None:
            self.weights = np.ascontiguousarray(weights, dtype=np.float64)
            total = float(np.sum(weights))
            whole = bool(np.all(np.floor(weights) == weights)) and total <= MAX_WHOLE_WEIGHT
            self.kind = WeightKind.INTEGER if whole else WeightKind.FRACTIONAL
            if not whole:
                total = 1
        self.cpp.prepare(<uint64_t> total)

    cdef CaseSet _cases(self, rows):
        cdef CaseSet cases
        cdef Py_ssize_t i
        cdef const int64_t[::1] picked
        cases.kind = self.kind
        if rows is None:
            rows = np.arange(self.table.n_rows)
        picked = np.ascontiguousarray(rows, dtype=np.int64)
        cases.rows.resize(picked.shape[0])
        for i in range(picked.shape[0]):
            cases.rows[i] = <uint32_t> picked[i]
        if self.kind != WeightKind.UNIT:
            cases.weights.resize(picked.shape[0])
            for i in range(picked.shape[0]):
                cases.weights[i] = self.weights[picked[i]]
        return cases

    def grow(self, SearchControl control, rows=None, features=None):
        """Grow DT(S).

        Parameters
        ----------
        control : SearchControl
            When it stops, the tree is what there is so far.

        rows : ndarray of int or None
            The training cases, increasing; None for all rows.

        features : ndarray of int or None
            The set S; None for all columns. If columns have the same content, only the first is
            used: it wins every tie.

        Returns
        -------
        tree : GrownTree
        """
        cdef GrownTree tree = GrownTree.__new__(GrownTree)
        cdef CaseSet cases = self._cases(rows)
        cdef vector[int32_t] tested
        if features is None:
            features = np.arange(self.table.n_columns)
        features = np.unique(np.asarray(features, dtype=np.int64))
        _, first = np.unique(self.table.representative[features], return_index=True)
        for feature in features[np.sort(first)]:
            tested.push_back(feature)
        with nogil:
            tree.cpp = self.cpp.grow(move(cases), tested, control.cpp[0])
        return tree

    def prune_error_based(
        self, GrownTree tree, SearchControl control, confidence, normal_quantile, rows=None
    ):
        """Return `tree` after C4.5's error-based pruning under its training cases.

        Parameters
        ----------
        tree : GrownTree
        control : SearchControl
        confidence : float
        normal_quantile : float
            Of ``1 - confidence``.

        rows : ndarray of int or None
            The cases `tree` was grown from.

        Returns
        -------
        tree : GrownTree
        """
        cdef GrownTree pruned = GrownTree.__new__(GrownTree)
        cdef CaseSet cases = self._cases(rows)
        cdef ErrorBound bound
        bound.confidence = confidence
        bound.z = normal_quantile
        with nogil:
            pruned.cpp = self.cpp.prune_by_error_bound(tree.cpp, move(cases), bound, control.cpp[0])
        return pruned

    def prune_reduced_error(self, GrownTree tree, SearchControl control, rows):
        """Return `tree` after reduced-error pruning.

        Parameters
        ----------
        tree : GrownTree
        control : SearchControl
        rows : ndarray of int
            The validation cases.

        Returns
        -------
        tree : GrownTree
        """
        cdef GrownTree pruned = GrownTree.__new__(GrownTree)
        cdef CaseSet cases = self._cases(rows)
        with nogil:
            pruned.cpp = self.cpp.prune_by_validation(tree.cpp, move(cases), control.cpp[0])
        return pruned
