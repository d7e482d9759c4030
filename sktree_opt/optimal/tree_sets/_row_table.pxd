from libc.stdint cimport int32_t, int64_t, uint64_t
from libcpp cimport bool as cpp_bool

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
