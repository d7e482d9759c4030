from libc.stdint cimport int32_t, uint8_t, uint32_t
from libcpp.vector cimport vector


cdef extern from "sktree_opt/preprocessing/ranked_column.hpp" namespace "sktree_opt" nogil:
    cdef cppclass ColumnView:
        const void* codes
        uint8_t itemsize
        uint8_t is_nominal
        uint8_t has_missing
        uint32_t n_values
        int32_t representative


cdef class Table:
    # What kernels read. The views point into the arrays of `codes`, which this object keeps alive.
    cdef vector[ColumnView] views
    cdef readonly Py_ssize_t n_rows
    cdef readonly Py_ssize_t n_columns
    cdef readonly list codes
    cdef readonly list values
    cdef readonly object is_nominal
    cdef readonly object n_missing
    cdef readonly object representative
