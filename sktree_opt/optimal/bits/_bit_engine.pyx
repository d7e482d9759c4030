"""The search engine of optimal trees (see ``bit_engine.hpp``), seen from Python."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t
from libcpp cimport bool as cpp_bool
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string
from libcpp.vector cimport vector

from sktree_opt.optimal.objectives._leaf_objectives import SCORES

from sktree_opt.simd._dispatch cimport InstructionSet, instruction_set
from sktree_opt.utils._control cimport CppSearchControl, SearchControl


cdef extern from "sktree_opt/optimal/bits/bit_engine.hpp" namespace "sktree_opt" nogil:
    const int CPP_ANY_DEPTH "sktree_opt::ANY_DEPTH"

    enum class Score(int):
        pass

    cdef cppclass BitObjective:
        Score score
        int n_classes, n_channels
        vector[double] class_channels, class_mass
        cpp_bool is_diagonal
        double unit, base_factor, leaf_cost, loss_factor, z, cf
        double least_weight
        cpp_bool loss_is_bounded, cancels

    cdef cppclass BitConstraints:
        int max_depth
        int64_t min_samples_leaf
        double min_weight_leaf

    cdef cppclass BitSwitches:
        @staticmethod
        vector[string] names()
        void turn_off(const vector[string]& off) except +

    cdef cppclass InputRows:
        const uint8_t* bits
        int64_t n_rows
        int row_bytes, n_columns
        const int32_t* classes
        const double* targets
        const double* weights

    cdef cppclass TreeNode:
        int32_t column, with_ "with", without

    cdef cppclass Moment:
        double seconds, cost, bound

    cdef cppclass RootColumn:
        int32_t column, budget
        double with_ "with", without

    cdef cppclass BitStats:
        int64_t n_nodes, n_sweeps, n_small_hits, n_cache_hits, n_columns, n_pruned_columns

    cdef cppclass CppEngine "sktree_opt::BitEngineBase":
        void begin(int max_depth, int max_splits, double split_cost) except +
        void offer(const vector[TreeNode]& nodes, double cost) except +
        cpp_bool deepen(
            int depth,
            double upper,
            int n_threads,
            double seconds,
            double sweeps,
            const vector[RootColumn]& known,
        ) except +
        void open_part(int depth, const vector[int32_t]& columns) except +
        vector[int32_t] root_columns() except +
        vector[RootColumn] known_columns() except +
        void learn(const vector[RootColumn]& known) except +
        void search_discrepancies(int discrepancies) except +
        cpp_bool covers_any_depth()
        vector[TreeNode] known_tree() except +
        vector[TreeNode] tree(double share) except +
        cpp_bool costs_nothing()
        cpp_bool has_fewest_splits()
        void solve_root(int n_times) except +
        double cost()
        double lower_bound()
        double constant()
        double true_cost(double cost)
        int64_t cache_bytes()
        int64_t n_cache_entries()
        int n_columns()
        int n_slots()
        const char* lane_name()
        const vector[Moment]& moments()
        const BitStats& stats()

    CppEngine* make_engine(
        const InputRows& rows,
        const BitObjective& objective,
        const BitConstraints& constraints,
        const BitSwitches& switches,
        InstructionSet set,
        CppSearchControl& control,
        int64_t cache_bytes,
    ) except +


SWITCHES = tuple((<bytes> name).decode() for name in BitSwitches.names())
# The depth of a search for trees that only the cost of their tests limits.
ANY_DEPTH = CPP_ANY_DEPTH
# Columns are padded to this many, the widest vector's lanes of 16 bits.
COLUMN_PADDING = 32


def visit_nodes(
    const uint8_t[:, ::1] bits,  # IN: as the engine's
    const int32_t[:, ::1] nodes,  # IN: (test or -1, child with it, child without it), root first
    const int32_t[::1] codes,  # IN: class of each row, or 0
    const double[::1] weights,  # IN
    double[:, ::1] sums,  # IN and OUT: weight by node and class
    int64_t[::1] n_rows,  # IN and OUT: rows by node
    int32_t[::1] leaves,  # OUT: leaf of each row
):
    """Send all rows down a tree and add them up at every node they reach."""
    cdef Py_ssize_t i
    cdef int32_t at, test
    with nogil:
        for i in range(bits.shape[0]):
            at = 0
            while True:
                sums[at, codes[i]] += weights[i]
                n_rows[at] += 1
                test = nodes[at, 0]
                if test < 0:
                    break
                at = nodes[at, 1] if (bits[i, test >> 3] >> (test & 7)) & 1 else nodes[at, 2]
            leaves[i] = at


cdef BitObjective convert_objective(objective):
    cdef BitObjective converted
    converted.score = <Score> (<int> SCORES.index(objective.score))
    cdef const double[::1] channels = np.ravel(objective.class_channels)
    converted.n_classes = objective.class_channels.shape[0]
    converted.is_diagonal = objective.class_channels.ndim == 1
    converted.n_channels = objective.n_channels
    converted.class_channels.assign(&channels[0], &channels[0] + channels.shape[0])
    converted.class_mass = objective.class_mass.tolist()
    converted.unit = objective.unit
    converted.base_factor = objective.base_factor
    converted.leaf_cost = objective.leaf_cost
    converted.loss_factor = objective.loss_factor
    converted.loss_is_bounded = objective.loss_is_bounded
    converted.cancels = objective.cancels
    converted.z = objective.z
    converted.cf = objective.cf
    converted.least_weight = objective.least_weight
    return converted


cdef node_array(const vector[TreeNode]& nodes):
    cdef Py_ssize_t k
    array = np.empty((nodes.size(), 3), dtype=np.int32)
    cdef int32_t[:, ::1] view = array
    for k in range(view.shape[0]):
        view[k, 0], view[k, 1], view[k, 2] = nodes[k].column, nodes[k].with_, nodes[k].without
    return array


cdef vector[RootColumn] bounds_of_columns(given_places, given_bounds) except *:
    cdef const int32_t[:, ::1] places = given_places
    cdef const double[:, ::1] bounds = given_bounds
    cdef vector[RootColumn] columns
    cdef Py_ssize_t k
    if len(given_places) != len(given_bounds):
        raise ValueError("places and bounds must have the same length")
    columns.resize(places.shape[0])
    for k in range(places.shape[0]):
        columns[k].column, columns[k].budget = places[k, 0], places[k, 1]
        columns[k].with_, columns[k].without = bounds[k, 0], bounds[k, 1]
    return columns


cdef class BitEngine:
    """One search over trees of binary tests.

    Parameters
    ----------
    bits : ndarray of uint8, shape (n_rows, row_bytes)
        Outcomes of the tests by row, least significant bit first; `row_bytes` is `n_columns`
        padded to a multiple of ``COLUMN_PADDING`` bits, the padding 0.

    n_columns : int
        Number of tests.

    y : ndarray of int32 or float64, shape (n_rows,)
        Class codes, or the targets of the "squared" score.

    weights : ndarray of float64 or None
        Positive weights; None when all are 1.

    objective : LeafObjective
        See ``_leaf_objectives.py``.

    control : SearchControl
        What may end the search early.

    min_samples_leaf, min_weight_leaf : int, float
        Minimum number of rows and minimum weight of every leaf.

    cache_bytes : int
        Maximum size of the caches.

    off : tuple of str
        Techniques of ``SWITCHES`` to do without.
    """

    cdef unique_ptr[CppEngine] engine
    cdef readonly SearchControl control

    def __init__(
        self,
        const uint8_t[:, ::1] bits,
        int n_columns,
        y,
        weights,
        objective,
        SearchControl control,
        *,
        int64_t min_samples_leaf=1,
        double min_weight_leaf=0.0,
        int64_t cache_bytes=1 << 30,
        off=(),
    ):
        cdef InputRows rows
        cdef BitConstraints constraints
        cdef const int32_t[::1] classes
        cdef const double[::1] targets
        cdef const double[::1] weight_values
        cdef BitObjective converted = convert_objective(objective)
        cdef BitSwitches switches
        cdef InstructionSet instructions = instruction_set()
        switches.turn_off([name.encode() for name in off])
        rows.n_rows = bits.shape[0]
        rows.row_bytes = <int> bits.shape[1]
        rows.n_columns = n_columns
        if rows.row_bytes * 8 < n_columns or rows.row_bytes % (COLUMN_PADDING // 8):
            raise ValueError("bits must be padded to a multiple of COLUMN_PADDING columns")
        if rows.n_rows == 0 or rows.n_rows > 2**31 - 32:
            raise ValueError(f"between 1 and 2**31 - 32 rows are possible, not {rows.n_rows}")
        if len(y) != rows.n_rows or (weights is not None and len(weights) != rows.n_rows):
            raise ValueError("bits, y and weights must have the same number of rows")
        rows.bits = &bits[0, 0] if rows.row_bytes else NULL
        if objective.score == "squared":
            targets = np.ascontiguousarray(y, dtype=np.float64)
            rows.targets = &targets[0]
        else:
            classes = np.ascontiguousarray(y, dtype=np.int32)
            rows.classes = &classes[0]
        if weights is not None:
            weight_values = np.ascontiguousarray(weights, dtype=np.float64)
            rows.weights = &weight_values[0]
        constraints.min_samples_leaf = min_samples_leaf
        constraints.min_weight_leaf = min_weight_leaf
        self.control = control
        with nogil:
            self.engine.reset(
                make_engine(
                    rows,
                    converted,
                    constraints,
                    switches,
                    instructions,
                    control.cpp[0],
                    cache_bytes,
                )
            )

    def begin(self, int max_depth, int max_splits, double split_cost=0.0):
        """Start a search, and solve trees of at most two levels."""
        with nogil:
            self.engine.get().begin(max_depth, max_splits, split_cost)

    def offer(self, const int32_t[:, ::1] nodes, double cost):
        """Hand over a tree that was known before, in the form that ``tree`` returns."""
        cdef vector[TreeNode] offered
        cdef Py_ssize_t k
        offered.resize(nodes.shape[0])
        for k in range(nodes.shape[0]):
            offered[k].column, offered[k].with_ = nodes[k, 0], nodes[k, 1]
            offered[k].without = nodes[k, 2]
        with nogil:
            self.engine.get().offer(offered, cost - self.engine.get().constant())

    def deepen(
        self,
        int depth,
        double upper=float("inf"),
        int n_threads=1,
        double seconds=float("inf"),
        known=None,
        double sweeps=float("inf"),
    ):
        """Search to `depth`, one more than before, for trees that cost less than `upper`.

        False if it has to be called again, since `seconds` were over before the search was. The
        first call for a depth takes ``known_columns`` of another search to that depth.

        With ``ANY_DEPTH``, which ``covers_any_depth`` has to allow, trees of all depths are
        searched, and `sweeps` of rows may end the search, too.
        """
        cdef cpp_bool is_done
        cdef vector[RootColumn] columns
        if known is not None:
            columns = bounds_of_columns(known[0], known[1])
        with nogil:
            is_done = self.engine.get().deepen(
                depth, upper - self.engine.get().constant(), n_threads, seconds, sweeps, columns
            )
        return bool(is_done)

    def open_part(self, int depth, columns):
        """Begin a search to `depth` of trees with one of some ``root_columns`` at the root.

        Nothing else is searched by ``deepen``. The best tree and ``known_columns`` are its answer.
        """
        self.engine.get().open_part(depth, columns)

    @property
    def root_columns(self):
        """Columns of the root in the order in which a depth that has begun tries them."""
        return list(self.engine.get().root_columns())

    def learn(self, places, bounds):
        """Take ``known_columns`` of another search to the depth that has begun."""
        self.engine.get().learn(bounds_of_columns(places, bounds))

    @property
    def known_columns(self):
        """Lower bounds on both sides of the root's columns, in the depth that was searched last.

        Returns
        -------
        places : ndarray of int32, shape (n_bounds, 2)
            Column, and which of the numbers of splits that a side may have.

        bounds : ndarray of float64, shape (n_bounds, 2)
            On the side of the rows that have the column, and on the other one.
        """
        cdef vector[RootColumn] columns = self.engine.get().known_columns()
        places = np.empty((columns.size(), 2), dtype=np.int32)
        bounds = np.empty((columns.size(), 2), dtype=np.float64)
        cdef int32_t[:, ::1] place = places
        cdef double[:, ::1] bound = bounds
        cdef Py_ssize_t k
        for k in range(place.shape[0]):
            place[k, 0], place[k, 1] = columns[k].column, columns[k].budget
            bound[k, 0], bound[k, 1] = columns[k].with_, columns[k].without
        return places, bounds

    @property
    def covers_any_depth(self):
        """Whether trees of all depths can be searched at once.

        Each test has to have a cost. With a limit on depth, no deeper tree may cost less than the
        best one known.
        """
        return bool(self.engine.get().covers_any_depth())

    def search_discrepancies(self, int discrepancies):
        """Search for a better tree that differs from the greedy one in few places."""
        with nogil:
            self.engine.get().search_discrepancies(discrepancies)

    def known_tree(self):
        """The best tree known: nodes as rows (column or -1, child with it, child without it)."""
        cdef vector[TreeNode] nodes
        with nogil:
            nodes = self.engine.get().known_tree()
        return node_array(nodes)

    def tree(self, double share=float("inf")):
        """The same, or the tree that wins ties if the search has proved that it is optimal.

        If the best tree costs nothing, only the number of tests counts. Smaller trees are then
        searched for with at most `share` of the work so far, and the smallest one found is the
        answer.
        """
        cdef vector[TreeNode] nodes
        with nogil:
            nodes = self.engine.get().tree(share)
        return node_array(nodes)

    @property
    def costs_nothing(self):
        """Whether the best tree known has more than two levels and costs nothing."""
        return bool(self.engine.get().costs_nothing())

    @property
    def has_fewest_splits(self):
        """Whether ``tree`` has found that no tree as good has fewer tests."""
        return bool(self.engine.get().has_fewest_splits())

    def solve_root(self, int n_times):
        """Solve the root for two levels again and again, for benchmarks of the kernel."""
        with nogil:
            self.engine.get().solve_root(n_times)

    @property
    def cost(self):
        """Cost of the best tree known."""
        return self.engine.get().cost()

    @property
    def lower_bound(self):
        """No tree within the limits costs less."""
        return self.engine.get().lower_bound()

    @property
    def incumbents(self):
        """(seconds, cost, lower bound) each time that a better tree or bound was found."""
        cdef CppEngine* engine = self.engine.get()
        cdef vector[Moment] found = engine.moments()
        return [
            (
                one.seconds,
                engine.true_cost(one.cost) + engine.constant(),
                engine.true_cost(one.bound) + engine.constant(),
            )
            for one in found
        ]

    @property
    def stats(self):
        """Counters of the search."""
        cdef BitStats stats = self.engine.get().stats()
        return {
            "n_nodes": stats.n_nodes,
            "n_depth_two_counted": stats.n_sweeps,
            "n_depth_two_cached": stats.n_small_hits,
            "n_cache_hits": stats.n_cache_hits,
            "n_columns": stats.n_columns,
            "n_columns_pruned": stats.n_pruned_columns,
            "n_cache_entries": self.engine.get().n_cache_entries(),
            "cache_bytes": self.engine.get().cache_bytes(),
            "n_distinct_tests": self.engine.get().n_columns(),
            "n_row_slots": self.engine.get().n_slots(),
            "number_type": (<bytes> self.engine.get().lane_name()).decode(),
        }
