"""Finds infinities and small whole numbers in a matrix (``survey.hpp``)."""

import numpy as np

from cython.parallel cimport prange, threadid
from libc.stddef cimport ptrdiff_t, size_t
from libc.stdint cimport int64_t, uint32_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

ctypedef fused Value:
    float
    double


cdef extern from "sktree_opt/preprocessing/survey.hpp" namespace "sktree_opt" nogil:
    cdef cppclass SmallNumbers:
        cbool is_small()
        vector[uint32_t] values()

    cdef cppclass Survey:
        vector[SmallNumbers] numbers
        cbool has_infinity
        void merge(const Survey& other) except +

    void survey_rows[T](
        const T* cells,
        size_t n_columns,
        ptrdiff_t row_stride,
        ptrdiff_t column_stride,
        const int64_t* columns,
        size_t first,
        size_t stop,
        Survey& survey,
    ) except +


# Rows are handed out in parts of this many cells, so that few wait for the last part.
cdef enum:
    CELLS_OF_PART = 1 << 17


def survey(const Value[:, :] matrix, columns, int n_threads=1):
    """Look at every cell once.

    Parameters
    ----------
    matrix : ndarray of shape (n_rows, n_columns)
        float32 or float64.

    columns : sequence of int
        Columns whose values are asked for.

    n_threads : int, default=1

    Returns
    -------
    has_infinity : bool

    numbers : list of ndarray or None
        For each of `columns`, its sorted distinct values if they are whole numbers from 0 to 65535,
        missing ones left out; None for other columns.
    """
    cdef Py_ssize_t n_rows = matrix.shape[0], n_columns = matrix.shape[1], part, i
    cdef const int64_t[::1] asked = np.array(columns, dtype=np.int64)
    cdef vector[Survey] found = vector[Survey](n_threads)
    if n_rows == 0 or n_columns == 0:
        return False, [np.empty(0) for _ in columns]
    cdef Py_ssize_t n_of_part = max(16, CELLS_OF_PART // n_columns)
    cdef Py_ssize_t n_parts = (n_rows + n_of_part - 1) // n_of_part
    cdef ptrdiff_t row_stride = matrix.strides[0] // <ptrdiff_t> sizeof(Value)
    cdef ptrdiff_t column_stride = matrix.strides[1] // <ptrdiff_t> sizeof(Value)
    cdef const Value* cells = &matrix[0, 0]
    cdef const int64_t* first_asked = &asked[0] if asked.shape[0] > 0 else NULL
    for i in range(n_threads):
        found[i].numbers.resize(asked.shape[0])
    for part in prange(
        n_parts, nogil=True, num_threads=min(n_threads, n_parts), schedule="dynamic"
    ):
        survey_rows(
            cells,
            n_columns,
            row_stride,
            column_stride,
            first_asked,
            part * n_of_part,
            min(n_rows, (part + 1) * n_of_part),
            found[threadid()],
        )
    for i in range(1, n_threads):
        found[0].merge(found[i])
    return found[0].has_infinity, [
        np.array(found[0].numbers[i].values(), dtype=np.float64)
        if found[0].numbers[i].is_small()
        else None
        for i in range(asked.shape[0])
    ]
