"""Columns as narrow integer codes: the one form of a data table that all kernels read.

A numeric column becomes ranks among its sorted distinct values, a nominal one the codes of its
categories; a missing value is the code after the last. Every split of a tree is decided by ranks
and categories alone, so nothing is lost, and a scan reads 1 or 2 bytes a row instead of 8.
"""

import numpy as np
from scipy import sparse

from cython.parallel cimport prange
from libc.stddef cimport ptrdiff_t, size_t
from libc.stdint cimport uint32_t, uint64_t, uintptr_t

ctypedef fused Value:
    float
    double


cdef extern from "sktree_opt/preprocessing/_column.hpp" namespace "sktree_opt" nogil:
    size_t rank_values[T](
        const T* values,
        ptrdiff_t stride,
        size_t n,
        vector[uint32_t]& ranks,
        vector[double]& distinct,
    ) except +
    size_t copy_codes[T](
        const T* values,
        ptrdiff_t stride,
        size_t n,
        uint32_t n_categories,
        vector[uint32_t]& ranks,
    ) except +
    uint64_t narrow_codes(const vector[uint32_t]& ranks, void* out, int itemsize)
    bint same_codes(const ColumnView& a, const ColumnView& b, size_t n_rows)


cdef int itemsize_for(uint32_t n_values) noexcept nogil:
    # n_values itself is a code too: the missing one.
    if n_values <= 0xFF:
        return 1
    if n_values <= 0xFFFF:
        return 2
    return 4


cdef class Table:
    """An encoded table.

    Attributes
    ----------
    n_rows, n_columns : int
    codes : list of ndarray
        One unsigned integer array per column; ``len(values[j])`` stands for missing.
    values : list of ndarray
        Sorted distinct values of a numeric column; ``arange`` of the categories of a nominal one.
    is_nominal : ndarray of bool
    n_missing : ndarray of int64
    representative : ndarray of int32
        Index of the first column with the same content.
    """

    @staticmethod
    def from_matrix(matrix, n_categories=None, int n_threads=1):
        """Rank the columns of a float matrix.

        Parameters
        ----------
        matrix : ndarray of shape (n_rows, n_columns) or CSC matrix
            float32 or float64; NaN is missing; nominal columns hold category codes.

        n_categories : array-like of shape (n_columns,) or None
            Number of categories of a nominal column, -1 for a numeric one; None if all are numeric.

        n_threads : int, default=1
            Threads, one column each.

        Returns
        -------
        table : Table
        """
        cdef Table table = Table.__new__(Table)
        n_rows, n_columns = matrix.shape
        if n_categories is None:
            n_categories = np.full(n_columns, -1)
        counts = np.ascontiguousarray(n_categories, dtype=np.int64)
        table.n_rows = n_rows
        table.n_columns = n_columns
        table.codes = [None] * n_columns
        table.values = [None] * n_columns
        table.is_nominal = counts >= 0
        table.n_missing = np.zeros(n_columns, dtype=np.int64)
        table.representative = np.arange(n_columns, dtype=np.int32)
        table.views.resize(n_columns)
        hashes = np.zeros(n_columns, dtype=np.uint64)
        # A few columns at a time, so that the wide ranks of all never exist at once, and that
        # Ctrl-C, which Python sees between blocks, never waits for more than a million cells.
        width = max(n_threads, min(4 * n_threads, 2**20 // max(n_rows, 1)))
        for start in range(0, n_columns, width):
            stop = min(start + width, n_columns)
            if sparse.issparse(matrix):
                block = matrix[:, start:stop].toarray(order="F")
            else:
                block = np.asfortranarray(matrix[:, start:stop])
            if block.dtype == np.float32:
                _rank_block[float](table, block, counts, hashes, start, n_threads)
            else:
                block = block.astype(np.float64, copy=False)
                _rank_block[double](table, block, counts, hashes, start, n_threads)
        table._find_representatives(hashes)
        return table

    def _find_representatives(self, hashes):
        """Point each column at the first one with the same codes."""
        cdef Py_ssize_t j, first
        first_with_hash = {}
        for j in range(self.n_columns):
            candidates = first_with_hash.setdefault(int(hashes[j]), [])
            for first in candidates:
                if same_codes(self.views[first], self.views[j], self.n_rows):
                    self.representative[j] = first
                    break
            else:
                candidates.append(j)
            self.views[j].representative = self.representative[j]


cdef int _rank_block(
    Table table,
    const Value[::1, :] block,  # IN
    const long long[::1] counts,  # IN
    unsigned long long[::1] hashes,  # OUT
    Py_ssize_t start,
    int n_threads,
) except -1:
    """Rank the columns of one block and write them into `table`."""
    cdef Py_ssize_t j, n = block.shape[0], width = block.shape[1]
    cdef vector[vector[uint32_t]] ranks = vector[vector[uint32_t]](width)
    cdef vector[vector[double]] distinct = vector[vector[double]](width)
    cdef vector[size_t] n_missing = vector[size_t](width)
    cdef vector[uintptr_t] targets = vector[uintptr_t](width)
    cdef const Value* cells = &block[0, 0] if n > 0 and width > 0 else NULL
    cdef ColumnView* view
    cdef double[::1] values_view

    for j in prange(width, nogil=True, num_threads=n_threads, schedule="dynamic"):
        if counts[start + j] >= 0:
            n_missing[j] = copy_codes(cells + j * n, 1, n, <uint32_t> counts[start + j], ranks[j])
        else:
            n_missing[j] = rank_values(cells + j * n, 1, n, ranks[j], distinct[j])

    for j in range(width):
        view = &table.views[start + j]
        view.is_nominal = counts[start + j] >= 0
        view.has_missing = n_missing[j] > 0
        if view.is_nominal:
            view.n_values = <uint32_t> counts[start + j]
            values = np.arange(view.n_values, dtype=np.float64)
        else:
            view.n_values = <uint32_t> distinct[j].size()
            values = np.empty(view.n_values, dtype=np.float64)
            values_view = values
            for k in range(<Py_ssize_t> distinct[j].size()):
                values_view[k] = distinct[j][k]
        view.itemsize = itemsize_for(view.n_values)
        codes = np.empty(n, dtype=f"u{view.itemsize}")
        targets[j] = <uintptr_t> codes.ctypes.data
        view.codes = <const void*> targets[j]
        table.codes[start + j] = codes
        table.values[start + j] = values
        table.n_missing[start + j] = n_missing[j]

    for j in prange(width, nogil=True, num_threads=n_threads, schedule="dynamic"):
        hashes[start + j] = narrow_codes(
            ranks[j], <void*> targets[j], table.views[start + j].itemsize
        )
    return 0
