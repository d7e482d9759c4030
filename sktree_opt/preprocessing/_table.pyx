"""Columns as narrow integer codes: the one form of a data table that all kernels read.

A numeric column becomes ranks among its sorted distinct values, a nominal one the codes of its
categories; a missing value is the code after the last. Every split of a tree is decided by ranks
and categories alone, so nothing is lost, and a scan reads 1 or 2 bytes a row instead of 8.
"""

import struct

import numpy as np
from scipy import sparse

from cython.parallel cimport prange, threadid
from cython.view cimport array as view_array
from libc.stddef cimport ptrdiff_t, size_t
from libc.stdint cimport int64_t, uint64_t, uint32_t
from libc.stdlib cimport free
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

from sktree_opt.utils._control cimport CppSearchControl, SearchControl

ctypedef fused Value:
    float
    double


cdef extern from "sktree_opt/preprocessing/ranked_column.hpp" namespace "sktree_opt" nogil:
    cdef cppclass EncodedColumn:
        int itemsize
        uint32_t n_values
        size_t n_missing
        uint64_t hash
        void* release_codes()
        double* release_distinct()

    cdef cppclass EncodingWorkspace:
        pass

    void encode_columns[T](
        const T* cells,
        ptrdiff_t row_stride,
        ptrdiff_t column_stride,
        size_t n,
        const int64_t* n_categories,
        size_t first,
        size_t stop,
        CppSearchControl& control,
        EncodingWorkspace& ws,
        EncodedColumn* out,
    ) except +
    bint same_codes(const ColumnView& a, const ColumnView& b, size_t n_rows)

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


# Columns are copied out of a matrix stored by rows as many at a time as share a line of memory.
cdef enum:
    LINE_BYTES = 64

# Rows of a survey are handed out in parts of this many cells, so that few wait for the last part.
cdef enum:
    CELLS_OF_PART = 1 << 17

CODE_FORMATS = {1: "B", 2: "H", 4: "I"}


cdef class Table:
    """An encoded table.

    Attributes
    ----------
    n_rows, n_columns : int
    codes : list of ndarray
        One unsigned integer array per column; ``len(values[j])`` means missing.
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
        control = SearchControl()
        is_sparse = sparse.issparse(matrix)
        # A sparse matrix is read a few columns at a time, so that its zeros never all exist.
        width = max(n_threads, min(8 * n_threads, 2**20 // max(n_rows, 1)))
        for start in range(0, n_columns, width if is_sparse else max(n_columns, 1)):
            block = matrix[:, start : start + width].toarray(order="F") if is_sparse else matrix
            if block.dtype != np.float32:
                block = np.asarray(block, dtype=np.float64)
            if not block.flags.aligned:
                block = block.copy()
            if block.dtype == np.float32:
                _encode_block[float](table, block, counts, hashes, start, n_threads, control)
            else:
                _encode_block[double](table, block, counts, hashes, start, n_threads, control)
        table._find_representatives(hashes)
        return table

    def with_missing_as_value(self):
        """The same table with a missing value as one more category, or as the number infinity.

        Only columns that miss values change: those with ``n_missing > 0``. The codes are shared.

        Returns
        -------
        table : Table
        """
        cdef Table table = Table.__new__(Table)
        cdef Py_ssize_t j
        table.n_rows, table.n_columns = self.n_rows, self.n_columns
        table.codes, table.values = list(self.codes), list(self.values)
        table.is_nominal = self.is_nominal
        table.n_missing = self.n_missing
        table.representative = self.representative
        table.views = self.views
        for j in range(self.n_columns):
            if not self.n_missing[j]:
                continue
            one_more = len(self.values[j]) if self.is_nominal[j] else np.inf
            table.values[j] = np.append(self.values[j], one_more)
            table.views[j].has_missing = False
            table.views[j].n_values += 1
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


cdef object _as_array(void* memory, Py_ssize_t n, str format):
    """An array of memory that it will free."""
    cdef view_array owner = view_array(
        shape=(max(n, 1),), itemsize=struct.calcsize(format), format=format, allocate_buffer=False
    )
    owner.data = <char*> memory
    owner.callback_free_data = free
    return np.asarray(owner)[:n]


cdef int _take(
    Table table, Py_ssize_t j, EncodedColumn& encoded, bint is_nominal
) except -1:
    """Make `encoded` column `j` of `table`."""
    cdef ColumnView* view = &table.views[j]
    view.codes = encoded.release_codes()
    table.codes[j] = _as_array(<void*> view.codes, table.n_rows, CODE_FORMATS[encoded.itemsize])
    if is_nominal:
        table.values[j] = np.arange(encoded.n_values, dtype=np.float64)
    else:
        table.values[j] = _as_array(encoded.release_distinct(), encoded.n_values, "d")
    table.n_missing[j] = encoded.n_missing
    view.itemsize = encoded.itemsize
    view.is_nominal = is_nominal
    view.has_missing = encoded.n_missing > 0
    view.n_values = encoded.n_values
    return 0


cdef int _encode_block(
    Table table,
    const Value[:, :] block,  # IN
    const int64_t[::1] counts,  # IN
    uint64_t[::1] hashes,  # OUT
    Py_ssize_t start,
    int n_threads,
    SearchControl control,
) except -1:
    """Encode the columns of `block`, the first of which is column `start` of `table`.

    All in one parallel region: a team waits for its last thread at the end of each.
    """
    cdef Py_ssize_t n = block.shape[0], n_columns = block.shape[1]
    # Small enough for threads to end at about the same time.
    cdef Py_ssize_t width = max(
        1, min(LINE_BYTES // <Py_ssize_t> sizeof(Value), n_columns // (4 * n_threads))
    )
    cdef Py_ssize_t n_groups = (n_columns + width - 1) // width, group, j
    cdef ptrdiff_t row_stride = block.strides[0] // <ptrdiff_t> sizeof(Value)
    cdef ptrdiff_t column_stride = block.strides[1] // <ptrdiff_t> sizeof(Value)
    cdef vector[EncodingWorkspace] workspaces = vector[EncodingWorkspace](n_threads)
    cdef vector[EncodedColumn] encoded = vector[EncodedColumn](n_columns)
    if n_columns == 0:
        return 0
    cdef const Value* cells = &block[0, 0] if n > 0 else NULL
    for group in prange(n_groups, nogil=True, num_threads=n_threads, schedule="dynamic"):
        encode_columns(
            cells,
            row_stride,
            column_stride,
            n,
            &counts[start],
            group * width,
            min(n_columns, (group + 1) * width),
            control.cpp[0],
            workspaces[threadid()],
            encoded.data(),
        )
    control.raise_pending()
    for j in range(n_columns):
        _take(table, start + j, encoded[j], counts[start + j] >= 0)
        hashes[start + j] = encoded[j].hash
    return 0


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
