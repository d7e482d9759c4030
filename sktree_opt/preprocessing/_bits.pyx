"""Rows of bits, one for each binary test of a table."""

import numpy as np

from libc.stddef cimport ptrdiff_t, size_t
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

ctypedef fused Value:
    float
    double
    uint8_t
    uint16_t
    uint32_t
    uint64_t

ctypedef fused Code:
    uint8_t
    uint16_t
    uint32_t


cdef extern from "sktree_opt/preprocessing/bits.hpp" namespace "sktree_opt" nogil:
    bint pack_zeros[T](
        const T* values,
        ptrdiff_t row_step,
        ptrdiff_t column_step,
        size_t n_rows,
        size_t n_columns,
        uint8_t* bits,
        size_t row_bytes,
    )
    void or_outcomes[T](
        const T* codes,
        size_t n_rows,
        const uint8_t* outcomes,
        size_t n_bytes,
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


def or_column_outcomes(
    const Code[::1] codes,  # IN
    const uint8_t[:, ::1] outcomes,  # IN: bits by code, preceded by the bits of the first byte
    Py_ssize_t first_byte,
    uint8_t[:, ::1] bits,  # IN and OUT
):
    """Set the bits of the tests that each row passes, given the outcomes for its code."""
    cdef size_t n_rows = codes.shape[0], n_bytes = outcomes.shape[1], row_bytes = bits.shape[1]
    if n_rows and n_bytes:
        with nogil:
            or_outcomes(
                &codes[0], n_rows, &outcomes[0, 0], n_bytes, &bits[0, first_byte], row_bytes
            )
