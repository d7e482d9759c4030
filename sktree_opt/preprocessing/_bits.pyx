"""Rows of bits, one for each binary test of a table."""

import numpy as np

from libc.stddef cimport ptrdiff_t, size_t
from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t

from sktree_opt.preprocessing._table cimport ColumnView, Table

ctypedef fused Value:
    float
    double
    uint8_t
    uint16_t
    uint32_t
    uint64_t


cdef extern from "sktree_opt/preprocessing/_bits.hpp" namespace "sktree_opt" nogil:
    cdef cppclass CodeRange:
        int32_t column
        uint32_t low, high
    bint pack_zeros[T](
        const T* values,
        ptrdiff_t row_step,
        ptrdiff_t column_step,
        size_t n_rows,
        size_t n_columns,
        uint8_t* bits,
        size_t row_bytes,
    )
    void pack_test(
        const ColumnView& column,
        CodeRange test,
        size_t n_rows,
        size_t index,
        uint8_t* bits,
        size_t row_bytes,
    )


# Rows are padded to whole words of this many columns.
COLUMN_PADDING = 32


def row_bytes_for(n_columns):
    """Bytes of a row of bits."""
    return (n_columns + COLUMN_PADDING - 1) // COLUMN_PADDING * (COLUMN_PADDING // 8)


def pack_binary_matrix(matrix):
    """Bits of the tests "value is 0", one for each column.

    Parameters
    ----------
    matrix : ndarray of shape (n_rows, n_columns)
        Booleans, integers or floats.

    Returns
    -------
    bits : ndarray of uint8, shape (n_rows, row_bytes), or None
        None if the matrix has other values than 0 and 1.
    """
    if matrix.dtype.kind in "bi":
        # 0 and 1 are the same bytes in all of them.
        matrix = matrix.view(f"u{matrix.dtype.itemsize}")
    return pack_numbers(matrix)


def pack_numbers(const Value[:, :] matrix):
    """The same of unsigned integers and floats."""
    cdef size_t n_rows = matrix.shape[0], n_columns = matrix.shape[1]
    cdef size_t row_bytes = row_bytes_for(matrix.shape[1])
    cdef uint8_t[:, ::1] bits = np.zeros((n_rows, row_bytes), dtype=np.uint8)
    cdef bint is_binary = True
    cdef ptrdiff_t row_step = matrix.strides[0] // <ptrdiff_t> sizeof(Value)
    cdef ptrdiff_t column_step = matrix.strides[1] // <ptrdiff_t> sizeof(Value)
    if n_rows and n_columns:
        with nogil:
            is_binary = pack_zeros(
                &matrix[0, 0], row_step, column_step, n_rows, n_columns, &bits[0, 0], row_bytes
            )
    return np.asarray(bits) if is_binary else None


def pack_code_tests(
    Table table,
    const int32_t[::1] columns,  # IN: of each test
    const uint32_t[::1] low,  # IN: a row passes from this code...
    const uint32_t[::1] high,  # IN: ...to this
):
    """Bits of tests on the codes of a table.

    Returns
    -------
    bits : ndarray of uint8, shape (n_rows, row_bytes)
    """
    cdef size_t n_tests = columns.shape[0], n_rows = table.n_rows, k
    cdef size_t row_bytes = row_bytes_for(columns.shape[0])
    cdef uint8_t[:, ::1] bits = np.zeros((n_rows, row_bytes), dtype=np.uint8)
    cdef CodeRange test
    if n_tests and n_rows:
        with nogil:
            for k in range(n_tests):
                test.column = columns[k]
                test.low = low[k]
                test.high = high[k]
                pack_test(table.views[test.column], test, n_rows, k, &bits[0, 0], row_bytes)
    return np.asarray(bits)
