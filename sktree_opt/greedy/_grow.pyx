"""Growing and pruning of greedy trees on an encoded table (see ``grower.hpp``, ``pruning.hpp``)."""

import numpy as np

from libc.string cimport memcpy
from libcpp.utility cimport move

from sktree_opt.utils._control cimport SearchControl

from sktree_opt.tree._node import NODE_DTYPE

# Above this total the table of logarithms would outgrow the data: entropy is summed in float64.
cdef enum:
    MAX_WHOLE_WEIGHT = 1 << 22

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
    "multiway": <int> CppNominalSplit.MULTIWAY,
    "one_vs_rest": <int> CppNominalSplit.ONE_VS_REST,
    "subset": <int> CppNominalSplit.SUBSET,
}

# How trees are grown, unless told otherwise; `measure` and `nominal_split` have to be given.
RULES = {
    "gain_ratio": False,
    "numeric_gain_penalty": False,
    "min_split_weight": 2.0,
    "min_leaf_weight": 1.0,
    "every_branch": False,
    "min_split_rows": 2,
    "min_leaf_rows": 1,
    "min_gain": 0.0,
    "allow_zero_gain": False,
    "missing_to_heaviest": False,
    "acceptable_error": 0.0,
    "max_depth": None,
}

# With three or more classes, "subset" tries all partitions of columns of at most so many
# categories.
MAX_SUBSET_CATEGORIES = CPP_MAX_SUBSET_CATEGORIES


cdef object set_learner(
    CppInduction* cpp, Table table, target, n_classes, costs, dict rules
):
    """Tell the kernels what trees are grown from, and by which rules.

    Returns the target, which they point at, as at the table: both have to live as long.
    """
    cdef const uint16_t[::1] classes
    cdef const double[::1] numbers
    cdef const double[::1] values
    cdef Py_ssize_t j
    if unknown := rules.keys() - RULES.keys() - {"measure", "nominal_split"}:
        raise TypeError(f"Unknown rules: {sorted(unknown)}.")
    rules = RULES | rules
    for j in range(table.n_columns):
        values = table.values[j]
        cpp.columns.push_back(CppColumn(table.views[j], &values[0] if values.shape[0] else NULL))
    cpp.target.n_classes = n_classes
    target = np.ascontiguousarray(target, dtype=np.uint16 if n_classes else np.float64)
    if n_classes:
        classes = target
        cpp.target.classes = &classes[0]
    else:
        numbers = target
        cpp.target.values = &numbers[0]
    if costs is not None:
        cpp.costs = np.ravel(costs).tolist()
    cpp.measure = <CppMeasure> <int> rules["measure"]
    cpp.rules.gain_ratio = rules["gain_ratio"]
    cpp.rules.numeric_gain_penalty = rules["numeric_gain_penalty"]
    cpp.rules.nominal = <CppNominalSplit> <int> rules["nominal_split"]
    cpp.rules.min_leaf_weight = rules["min_leaf_weight"] * ROUNDING
    cpp.rules.every_branch = rules["every_branch"]
    cpp.rules.min_leaf_rows = min(rules["min_leaf_rows"], 2**31 - 1)
    cpp.rules.min_gain = rules["min_gain"]
    cpp.rules.allow_zero_gain = rules["allow_zero_gain"]
    cpp.rules.missing_to_heaviest = rules["missing_to_heaviest"]
    cpp.limits.min_split_rows = min(rules["min_split_rows"], 2**31 - 1)
    cpp.limits.min_split_weight = rules["min_split_weight"] * ROUNDING
    cpp.limits.acceptable_error = rules["acceptable_error"]
    if rules["max_depth"] is not None:
        cpp.limits.max_depth = min(rules["max_depth"], 2**31 - 1)
    return target


cdef CppWeightKind kind_of_weights(weights, double* total) except *:
    """How weights are summed; `total` becomes their sum, or 1 where logarithms have no table."""
    total[0] = np.sum(weights)
    if np.all(np.equal(weights, 1.0)):
        return CppWeightKind.UNIT
    if total[0] <= MAX_WHOLE_WEIGHT and np.all(np.floor(weights) == weights):
        return CppWeightKind.INTEGER
    total[0] = 1.0
    return CppWeightKind.FRACTIONAL


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

    above_average : bool
    max_leaf_nodes : int or None

    n_threads : int, default=1

    max_block_cases : int or None
        Nodes up to this size are grown in presorted blocks; None for the largest that fits. For
        tests: the tree does not depend on it.

    **rules
        ``RULES`` that are not the default.
    """

    cdef CppInduction cpp
    cdef CppWeightKind kind
    cdef readonly Table table
    cdef object target
    cdef const double[::1] weights

    def __init__(
        self,
        Table table,
        target,
        n_classes,
        weights=None,
        costs=None,
        *,
        above_average=False,
        max_leaf_nodes=None,
        max_features=0,
        seed=0,
        n_threads=1,
        max_block_cases=None,
        **rules,
    ):
        cdef double total = table.n_rows
        self.table = table
        self.target = set_learner(&self.cpp, table, target, n_classes, costs, rules)
        self.cpp.rules.above_average = above_average
        if max_leaf_nodes is not None:
            self.cpp.limits.max_leaf_nodes = min(max_leaf_nodes, 2**31 - 1)
        self.cpp.limits.max_features = max_features
        self.cpp.limits.seed = seed
        self.cpp.limits.n_threads = n_threads
        if max_block_cases is not None:
            self.cpp.limits.max_block_cases = max_block_cases
            self.cpp.limits.min_parallel_work = 0
        self.kind = CppWeightKind.UNIT
        if weights is not None:
            self.weights = np.ascontiguousarray(weights, dtype=np.float64)
            self.kind = kind_of_weights(weights, &total)
        self.cpp.prepare(<uint64_t> total)

    cdef CppCaseSet _cases(self, rows):
        cdef CppCaseSet cases
        cdef Py_ssize_t i
        cdef const int64_t[::1] picked
        cases.kind = self.kind
        if rows is None:
            rows = np.arange(self.table.n_rows)
        picked = np.ascontiguousarray(rows, dtype=np.int64)
        cases.rows.resize(picked.shape[0])
        for i in range(picked.shape[0]):
            cases.rows[i] = <uint32_t> picked[i]
        if self.kind != CppWeightKind.UNIT:
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
        cdef CppCaseSet cases = self._cases(rows)
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
        cdef CppCaseSet cases = self._cases(rows)
        cdef CppErrorBound bound
        bound.confidence = confidence
        bound.z = normal_quantile
        with nogil:
            pruned.cpp = prune_by_error_bound(
                self.cpp, tree.cpp, move(cases), bound, control.cpp[0]
            )
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
        cdef CppCaseSet cases = self._cases(rows)
        with nogil:
            pruned.cpp = prune_reduced_error(self.cpp, tree.cpp, move(cases), control.cpp[0])
        return pruned
