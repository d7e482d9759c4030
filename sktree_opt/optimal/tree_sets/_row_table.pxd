from libc.stdint cimport int32_t, int64_t, uint64_t
from libcpp cimport bool as cpp_bool
from libcpp.vector cimport vector

from sktree_opt.simd._dispatch cimport InstructionSet, instruction_set


cdef extern from "sktree_opt/optimal/tree_sets/set_rows.hpp" namespace "sktree_opt" nogil:
    cdef cppclass RowTable:
        const uint64_t* rows
        int64_t n_rows
        int n_columns
        int row_words
        const int32_t* classes
        int n_classes
        const int64_t* units
        int n_planes
        const int64_t* values
        int n_values
        const uint64_t* keys
        InstructionSet instruction_set
        cpp_bool counts_rows()
        int n_sums()


cdef extern from "sktree_opt/optimal/objectives/scores.hpp" namespace "sktree_opt" nogil:
    cdef enum class Score(int):
        TWO_CLASS


cdef extern from "sktree_opt/optimal/tree_sets/leaf_costs.hpp" namespace "sktree_opt" nogil:
    cdef cppclass LeafRules:
        LeafRules()
        Score score
        int n_sums
        int n_channels
        vector[double] class_channels
        vector[double] class_mass
        double unit
        double base_factor
        double z
        double cf
        double least_weight
        double grid
        int64_t min_rows
        double min_weight
        vector[double] unit_weight
        bint has_row_channel
        vector[double] min_class_weight
        double min_purity


cdef inline RowTable row_table(table) except *:
    """The kernel's view of a ``BitRows``, which must outlive it."""
    cdef const uint64_t[:, ::1] rows = table.rows
    cdef const uint64_t[:, ::1] keys = table.keys
    cdef const int32_t[::1] classes = table.classes
    cdef const int64_t[::1] units = table.units
    cdef const int64_t[:, ::1] values = table.values
    cdef RowTable view
    view.rows = &rows[0, 0]
    view.n_rows = rows.shape[0]
    view.n_columns = table.n_columns
    view.row_words = <int> rows.shape[1]
    view.classes = &classes[0]
    view.n_classes = table.n_classes
    view.units = NULL
    if units is not None:
        view.units = &units[0]
    view.n_planes = table.n_planes
    view.values = NULL
    view.n_values = 0
    if values is not None:
        view.values = &values[0, 0]
        view.n_values = <int> values.shape[1]
    view.keys = &keys[0, 0]
    view.instruction_set = instruction_set()
    return view


cdef inline LeafRules leaf_rules(table, objective, double grid, int score) except *:
    """What leaves cost by an objective, without minima."""
    cdef RowTable view = row_table(table)
    cdef LeafRules rules
    channels, masses, weights = table.sums_of(objective)
    rules.score = <Score> score
    rules.n_sums = view.n_sums()
    rules.n_channels = channels.shape[1]
    rules.class_channels = channels.ravel().tolist()
    rules.class_mass = masses.tolist()
    rules.unit = objective.unit
    rules.base_factor = objective.base_factor
    rules.z = objective.z
    rules.cf = objective.cf
    rules.least_weight = table.unit.min() / 2.0
    rules.grid = grid
    rules.unit_weight = weights.tolist()
    rules.has_row_channel = view.counts_rows()
    return rules


cdef inline void set_minima(LeafRules& rules, minima) except *:
    """Take over what may be a leaf, from a ``LeafMinima``."""
    # Sums of rounded weights that should equal it may fall short.
    rules.min_rows = minima.rows
    rules.min_weight = minima.weight * (1.0 - 1e-9)
    rules.min_purity = minima.purity * (1.0 - 1e-9)
    if minima.class_weight is not None:
        rules.min_class_weight = [weight * (1.0 - 1e-9) for weight in minima.class_weight]
        # There may be a class more than rows have.
        rules.min_class_weight.resize(rules.n_sums, 0.0)
