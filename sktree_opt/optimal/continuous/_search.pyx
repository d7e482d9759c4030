"""The C++ search over all thresholds, called without the GIL (see ``_search.hpp``)."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t
from libcpp cimport bool as cpp_bool
from libcpp.vector cimport vector

from sktree_opt.preprocessing._table cimport ColumnView, Table
from sktree_opt.utils._control cimport CppSearchControl, SearchControl


cdef extern from "sktree_opt/optimal/continuous/_root_search.hpp" \
        namespace "sktree_opt::continuous" nogil:
    cdef cppclass Switches:
        cpp_bool intervals, floors, caps, best_first, pure_runs, look_ahead

    cdef cppclass Problem:
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
        double split_cost
        double tolerance
        double min_rows
        double min_weight
        int n_threads
        Switches use

    cdef enum TestKind "sktree_opt::continuous::TestKind":
        pass

    cdef cppclass Test:
        int32_t column
        TestKind kind
        uint8_t missing_branch
        uint32_t code
        uint32_t next_code

    cdef cppclass PlanNode:
        Test test
        int32_t right

    cdef cppclass SearchStats:
        int64_t n_nodes
        int64_t n_depth_two
        int64_t n_passes
        int64_t n_evaluated
        int64_t n_lanes

    cdef cppclass Incumbent:
        double seconds
        double cost
        double lower

    cdef cppclass SearchOutcome:
        vector[PlanNode] plan
        double cost
        double lower
        SearchStats stats
        vector[Incumbent] incumbents

    SearchOutcome search_all_thresholds(
        const Problem& problem, CppSearchControl* control, int depth, int n_splits
    ) except +


SWITCHES = ("intervals", "floors", "caps", "best_first", "pure_runs", "look_ahead")


cdef Switches convert_switches(off) except *:
    cdef Switches use
    unknown = set(off) - set(SWITCHES)
    if unknown:
        raise ValueError(f"unknown switches: {sorted(unknown)}")
    use.intervals = "intervals" not in off
    use.floors = "floors" not in off
    use.caps = "caps" not in off
    use.best_first = "best_first" not in off
    use.pure_runs = "pure_runs" not in off
    use.look_ahead = "look_ahead" not in off
    return use


def search(
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
    double min_rows,
    double min_weight,
    int n_threads,
    bint is_absolute=False,
    off=(),
):
    """Run the search.

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
        Costs as far apart count as equal; 0 for classes.
    min_rows, min_weight : float
        Of each leaf.
    n_threads : int
    is_absolute : bool
        Errors of targets are not squared.
    off : tuple of str
        Techniques of ``SWITCHES`` to do without.

    Returns
    -------
    outcome : dict
    """
    cdef Problem problem
    cdef SearchOutcome outcome
    cdef PlanNode node
    problem.n_rows = <uint32_t> table.n_rows
    problem.columns = table.views.data()
    problem.n_columns = <int> table.n_columns
    problem.n_classes = n_classes
    problem.label = &label[0]
    problem.weight = &weight[0]
    problem.is_error = savings is None
    problem.is_plain = savings is None and target is None and bool(np.all(np.equal(weight, 1.0)))
    if savings is None:
        problem.worst = [1.0] * n_classes
    else:
        problem.worst = savings.max(axis=1).tolist()
        problem.gain = savings.ravel().tolist()
    if target is not None:
        problem.target = &target[0]
    problem.is_absolute = is_absolute
    problem.split_cost = split_cost
    problem.tolerance = tolerance
    problem.min_rows = min_rows
    problem.min_weight = min_weight
    problem.n_threads = n_threads
    problem.use = convert_switches(off)
    with nogil:
        outcome = search_all_thresholds(problem, &control.cpp, max_depth, max_splits)
    control.raise_pending()
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
    return {
        "plan": plan,
        "cost": outcome.cost,
        "lower_bound": outcome.lower,
        "incumbents": [(each.seconds, each.cost, each.lower) for each in outcome.incumbents],
        "stats": {
            "n_nodes": outcome.stats.n_nodes,
            "n_depth_two_calls": outcome.stats.n_depth_two,
            "n_passes": outcome.stats.n_passes,
            "n_lanes": outcome.stats.n_lanes,
            "n_root_tests_solved": outcome.stats.n_evaluated,
        },
    }
