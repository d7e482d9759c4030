"""The C++ search over all thresholds, called without the GIL (see ``subtree_solver.hpp``)."""

import numpy as np

from cython.operator cimport dereference as deref
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t
from libcpp cimport bool as cpp_bool
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string
from libcpp.vector cimport vector

from sktree_opt.preprocessing._table cimport ColumnView, Table
from sktree_opt.simd._dispatch cimport InstructionSet, instruction_set
from sktree_opt.utils._control cimport CppSearchControl, SearchControl


cdef extern from "sktree_opt/optimal/thresholds/root_search.hpp" \
        namespace "sktree_opt::thresholds" nogil:
    cdef cppclass ThresholdSwitches:
        @staticmethod
        vector[string] names()
        void turn_off(const vector[string]& off) except +

    cdef cppclass ThresholdProblem:
        uint32_t n_rows
        const ColumnView* columns
        int n_columns
        int n_classes
        const uint16_t* label
        const double* target
        cpp_bool is_absolute
        const double* weight
        cpp_bool is_plain
        cpp_bool is_error
        vector[double] gain
        vector[double] worst
        double lower
        double known_cost
        double split_cost
        double tolerance
        double no_loss
        double min_rows
        double min_weight
        int n_threads
        InstructionSet instruction_set
        ThresholdSwitches use

    cdef enum TestKind "sktree_opt::thresholds::TestKind":
        pass

    cdef cppclass ThresholdTest:
        int32_t column
        TestKind kind
        uint8_t missing_branch
        uint32_t code
        uint32_t next_code

    cdef cppclass PlanNode:
        ThresholdTest test
        int32_t right

    cdef cppclass ThresholdStats:
        int64_t n_nodes
        int64_t n_depth_two
        int64_t n_passes
        int64_t n_evaluated
        int64_t n_lanes
        int64_t n_swept

    cdef cppclass ThresholdIncumbent:
        double seconds
        double cost
        double lower

    cdef cppclass SearchOutcome:
        vector[PlanNode] plan
        double cost
        double lower
        cpp_bool gave_up
        cpp_bool is_known
        ThresholdStats stats
        vector[ThresholdIncumbent] incumbents

    cdef cppclass Interval:
        int u, v, lo, hi
        double left_u, right_u, left_v, right_v

    cdef cppclass OpenInterval:
        double bound
        int allotment, tests
        Interval interval

    cdef cppclass RootState:
        int level
        cpp_bool is_open
        double lower
        vector[OpenInterval] intervals

    cdef cppclass RootSearch:
        RootSearch(
            const ThresholdProblem& problem, CppSearchControl* control, int depth, int n_splits
        ) except +
        void begin() except +
        cpp_bool can_sweep()
        void sweep_level() except +
        cpp_bool explore_level(double seconds) except +
        RootState state() except +
        cpp_bool resume(const RootState& state, const SearchOutcome& found) except +
        const SearchOutcome& outcome()
        int level()


SWITCHES = tuple((<bytes> name).decode() for name in ThresholdSwitches.names())


cdef class ThresholdSearch:
    """One search, whose outcome may be read between steps of the work.

    Parameters
    ----------
    table : Table
    label : ndarray of uint16, shape (n_rows,)
    weight : ndarray of float64, shape (n_rows,)
    savings : ndarray of shape (n_classes, n_classes) or None
        What each answer (column) saves over the worst one, by class (row); None counts errors.
    target : ndarray of float64, shape (n_rows,), or None
        None for classes; else errors are squared, and labels are 0.
    control : SearchControl
    max_depth, max_splits, n_classes : int
    split_cost : float
        Cost of each test, in units of weight.
    tolerance : float
        Costs that differ by no more count as equal; 0 for classes.
    no_loss : float
        A tree that costs less than this loses nothing: a search for fewer tests may be given up.
    min_rows, min_weight : float
        Of each leaf.
    n_threads : int
    lower_bound : float
        A lower bound on the cost of all trees that is known before.
    known_cost : float
        Cost of a tree that is known before: others are searched for only if they cost no more.
    is_absolute : bool
        Errors of targets are not squared.
    off : tuple of str
        Techniques of ``SWITCHES`` to do without.
    """

    cdef ThresholdProblem problem
    cdef unique_ptr[RootSearch] root
    cdef readonly int max_depth
    cdef SearchControl control
    cdef object held

    def __init__(
        self,
        Table table,
        const uint16_t[::1] label,
        const double[::1] weight,
        savings,
        const double[::1] target,
        SearchControl control,
        *,
        int max_depth,
        int max_splits,
        int n_classes,
        double split_cost,
        double tolerance,
        double no_loss,
        double min_rows,
        double min_weight,
        int n_threads,
        double lower_bound=0.0,
        double known_cost=float("inf"),
        bint is_absolute=False,
        off=(),
    ):
        self.max_depth = max_depth
        # What the search points at.
        self.held = table, label, weight, target
        self.control = control
        self.problem.n_rows = <uint32_t> table.n_rows
        self.problem.columns = table.views.data()
        self.problem.n_columns = <int> table.n_columns
        self.problem.n_classes = n_classes
        self.problem.label = &label[0]
        self.problem.weight = &weight[0]
        self.problem.is_error = savings is None
        self.problem.is_plain = (
            savings is None and target is None and bool(np.all(np.equal(weight, 1.0)))
        )
        if savings is None:
            self.problem.worst = [1.0] * n_classes
        else:
            self.problem.worst = savings.max(axis=1).tolist()
            self.problem.gain = savings.ravel().tolist()
        if target is not None:
            self.problem.target = &target[0]
        self.problem.is_absolute = is_absolute
        self.problem.lower = lower_bound
        self.problem.known_cost = known_cost
        self.problem.split_cost = split_cost
        self.problem.tolerance = tolerance
        self.problem.no_loss = no_loss
        self.problem.min_rows = min_rows
        self.problem.min_weight = min_weight
        self.problem.n_threads = n_threads
        self.problem.instruction_set = instruction_set()
        self.problem.use.turn_off([name.encode() for name in off])
        self.root.reset(new RootSearch(self.problem, control.cpp, max_depth, max_splits))

    def begin(self):
        """Find the best tree of two levels."""
        with nogil:
            deref(self.root).begin()
        self.control.raise_pending()

    def deepen(self, double seconds):
        """Search the current level for `seconds`; True when it is over, or the search is."""
        cdef bint is_over = True
        with nogil:
            if deref(self.root).can_sweep():
                deref(self.root).sweep_level()
            else:
                is_over = deref(self.root).explore_level(seconds)
        self.control.raise_pending()
        return is_over

    @property
    def state(self):
        """Where the search is, as a dict of numbers and arrays."""
        cdef RootState state = deref(self.root).state()
        cdef SearchOutcome outcome = deref(self.root).outcome()
        cdef Py_ssize_t k, n = state.intervals.size()
        places = np.empty((n, 6), dtype=np.int32)
        bounds = np.empty((n, 5), dtype=np.float64)
        cdef int32_t[:, ::1] place = places
        cdef double[:, ::1] bound = bounds
        cdef const Interval* one
        for k in range(n):
            one = &state.intervals[k].interval
            place[k, 0], place[k, 1] = state.intervals[k].allotment, state.intervals[k].tests
            place[k, 2], place[k, 3], place[k, 4], place[k, 5] = one.u, one.v, one.lo, one.hi
            bound[k, 0] = state.intervals[k].bound
            bound[k, 1], bound[k, 2] = one.left_u, one.right_u
            bound[k, 3], bound[k, 4] = one.left_v, one.right_v
        return {
            "level": state.level,
            "is_open": bool(state.is_open),
            "lower": state.lower,
            "intervals": places,
            "bounds": bounds,
            "plan": np.array(self.plan(), dtype=np.int64),
            "cost": outcome.cost,
            "lower_bound": outcome.lower,
            "is_known": bool(outcome.is_known),
        }

    def resume(self, given):
        """Go on where another search was, given its ``state``, after ``begin``.

        False if the search has to end before that.
        """
        cdef cpp_bool goes_on
        cdef RootState state
        cdef SearchOutcome found
        cdef OpenInterval each
        cdef PlanNode node
        cdef Interval* one = &each.interval
        state.level, state.is_open = given["level"], given["is_open"]
        state.lower = given["lower"]
        for place, bound in zip(given["intervals"].tolist(), given["bounds"].tolist()):
            each.allotment, each.tests, one.u, one.v, one.lo, one.hi = place
            each.bound, one.left_u, one.right_u, one.left_v, one.right_v = bound
            state.intervals.push_back(each)
        found.plan.clear()
        for column, kind, missing_branch, code, next_code, right in given["plan"].tolist():
            node.test.column, node.test.kind = column, <TestKind> (<int> kind)
            node.test.missing_branch, node.right = missing_branch, right
            node.test.code, node.test.next_code = code, next_code
            found.plan.push_back(node)
        found.cost, found.lower = given["cost"], given["lower_bound"]
        found.is_known = given["is_known"]
        with nogil:
            goes_on = deref(self.root).resume(state, found)
        return bool(goes_on)

    @property
    def level(self):
        """Depth of the trees that are looked for; beyond `max_depth` at the end."""
        return deref(self.root).level()

    def plan(self):
        """The best tree that is known, in preorder.

        Returns
        -------
        plan : list of tuple
            Column or -1, kind of test, branch of missing values, code, next code of the node's
            rows, and where branch 1 begins.
        """
        cdef SearchOutcome outcome = deref(self.root).outcome()
        cdef PlanNode node
        plan = []
        for node in outcome.plan:
            plan.append(
                (
                    node.test.column,
                    <int> node.test.kind,
                    node.test.missing_branch,
                    node.test.code,
                    node.test.next_code,
                    node.right,
                )
            )
        return plan

    def outcome(self):
        """Cost, lower bound, incumbents and counters, as a dict."""
        cdef SearchOutcome outcome = deref(self.root).outcome()
        return {
            "cost": outcome.cost,
            "lower_bound": outcome.lower,
            "gave_up": outcome.gave_up,
            "is_known": outcome.is_known,
            "incumbents": [(each.seconds, each.cost, each.lower) for each in outcome.incumbents],
            "stats": {
                "n_nodes": outcome.stats.n_nodes,
                "n_depth_two_calls": outcome.stats.n_depth_two,
                "n_passes": outcome.stats.n_passes,
                "n_lanes": outcome.stats.n_lanes,
                "n_root_tests_solved": outcome.stats.n_evaluated,
                "n_swept": outcome.stats.n_swept,
            },
        }
