"""Rows of a float matrix down a tree (``predict.hpp``); importances (``importances.hpp``)."""

import numpy as np

from cython.parallel cimport prange
from libc.stddef cimport ptrdiff_t, size_t
from libc.stdint cimport int32_t, int64_t, uint8_t
from libcpp.vector cimport vector

ctypedef fused Value:
    float
    double

# Cells a thread takes at a time: long enough to hide the hand-out, and short enough that rows which
# were checked are still in a cache when they walk.
cdef enum:
    CELLS_AT_A_TIME = 1 << 16


cdef extern from "sktree_opt/tree/cells.hpp" namespace "sktree_opt" nogil:
    cdef cppclass CellBounds[T]:
        CellBounds(const int64_t* n_codes, size_t n_columns) except +

    bint cells_fit[T](
        const CellBounds[T]& bounds,
        const T* values,
        ptrdiff_t row_stride,
        ptrdiff_t column_stride,
        int64_t start,
        int64_t stop,
    )


cdef extern from "sktree_opt/tree/predict.hpp" namespace "sktree_opt" nogil:
    cdef cppclass Node:
        pass

    cdef cppclass TreeView:
        TreeView(const Node* nodes, size_t n_nodes, const int32_t* category_branch) except +

    int64_t apply_rows[T](
        const TreeView& tree,
        const T* values,
        ptrdiff_t row_stride,
        ptrdiff_t column_stride,
        int64_t start,
        int64_t stop,
        int32_t* leaves,
    )
    cdef cppclass Distribution:
        Distribution(
            const TreeView& tree, size_t n_nodes, const double* leaf_values, int32_t n_outputs
        ) except +

    int32_t distribute_row[T](
        const Distribution& distribution,
        const T* row,
        const T* next_row,
        ptrdiff_t column_stride,
        double* out,
    )
    void path_of_row[T](
        const TreeView& tree,
        const T* row,
        ptrdiff_t column_stride,
        vector[int32_t]& path,
    )


cdef extern from "sktree_opt/tree/importances.hpp" namespace "sktree_opt" nogil:
    cdef cppclass ImportanceSums:
        ImportanceSums(
            const Node* nodes,
            size_t n_nodes,
            const int32_t* category_branch,
            const double* leaf_answers,
            int32_t n_outputs,
            size_t n_features,
            double least_share,
        ) except +
        void run(double* out) except +


cdef class TreeWalker:
    """A tree's arrays as the C++ walk reads them; holds them alive."""

    cdef TreeView* view
    cdef const uint8_t[::1] nodes
    cdef const int32_t[::1] category_branch

    def __cinit__(self, nodes, category_branch):
        self.nodes = nodes.view(np.uint8).reshape(-1)
        # One unused element, so that a tree without categories has an address too.
        self.category_branch = np.append(category_branch, np.int32(0))
        self.view = new TreeView(
            <const Node*> &self.nodes[0], len(nodes), &self.category_branch[0]
        )

    def __dealloc__(self):
        del self.view


def apply(
    nodes,
    category_branch,
    const Value[:, :] X,  # IN
    const int64_t[::1] n_codes,  # IN, or None: X has been checked
    int32_t[::1] leaves,  # OUT
    int n_threads,
):
    """Write the leaf of each row; -1 for a row that is distributed over several.

    With `n_codes` (number of codes of each column, -1 for one of numbers) each cell has to be
    finite, missing, or a code below that number. Returns the number of rows that are distributed;
    -1 if not all cells are as they have to be: then not all leaves are written.
    """
    cdef TreeWalker walker = TreeWalker(nodes, category_branch)
    cdef int64_t n_rows = X.shape[0], n_blocks, block, i, rows_at_a_time, start, stop
    cdef ptrdiff_t row_stride, column_stride
    cdef int64_t n_distributed = 0
    cdef int refused = 0
    cdef CellBounds[Value]* bounds = NULL
    if n_rows == 0:
        return 0
    if X.shape[1] == 0:
        # No column, no test: the root is the only leaf.
        for i in range(n_rows):
            leaves[i] = 0
        return 0
    row_stride = X.strides[0] // <ptrdiff_t> sizeof(Value)
    column_stride = X.strides[1] // <ptrdiff_t> sizeof(Value)
    rows_at_a_time = max(64, min(4096, CELLS_AT_A_TIME // X.shape[1]))
    n_blocks = (n_rows + rows_at_a_time - 1) // rows_at_a_time
    if n_codes is not None:
        bounds = new CellBounds[Value](&n_codes[0], n_codes.shape[0])
    for block in prange(n_blocks, nogil=True, num_threads=n_threads, schedule="dynamic"):
        start = block * rows_at_a_time
        stop = min(n_rows, start + rows_at_a_time)
        if bounds != NULL and not cells_fit(
            bounds[0], &X[0, 0], row_stride, column_stride, start, stop
        ):
            refused += 1
            continue
        n_distributed += apply_rows(
            walker.view[0], &X[0, 0], row_stride, column_stride, start, stop, &leaves[0]
        )
    del bounds
    return -1 if refused else n_distributed


def distribute(
    nodes,
    category_branch,
    const Value[:, :] X,  # IN
    const int64_t[::1] rows,  # IN
    const double[:, ::1] leaf_values,  # IN
    double[:, ::1] out,  # OUT
    int32_t[::1] heaviest,  # OUT
    int n_threads,
):
    """Mean of the leaf values weighted by share, and the leaf with the largest share, of `rows`."""
    cdef TreeWalker walker = TreeWalker(nodes, category_branch)
    cdef ptrdiff_t column_stride = X.strides[1] // <ptrdiff_t> sizeof(Value)
    cdef Distribution* distribution
    cdef int64_t i
    if rows.shape[0] == 0:
        return
    distribution = new Distribution(
        walker.view[0], len(nodes), &leaf_values[0, 0], leaf_values.shape[1]
    )
    for i in prange(rows.shape[0], nogil=True, num_threads=n_threads, schedule="static"):
        heaviest[i] = distribute_row(
            distribution[0],
            &X[rows[i], 0],
            &X[rows[min(i + 1, rows.shape[0] - 1)], 0],
            column_stride,
            &out[i, 0],
        )
    del distribution


def decision_path(
    nodes,
    category_branch,
    const Value[:, :] X,  # IN
    int64_t[::1] indptr,  # OUT
):
    """Node indices that each row reaches, in CSR form; `indptr` has one element more than rows."""
    cdef TreeWalker walker = TreeWalker(nodes, category_branch)
    cdef ptrdiff_t column_stride = X.strides[1] // <ptrdiff_t> sizeof(Value)
    cdef ptrdiff_t row_stride = X.strides[0] // <ptrdiff_t> sizeof(Value)
    # A table without columns has no tests, so no cell is read.
    cdef const Value* cells = &X[0, 0] if X.shape[0] > 0 and X.shape[1] > 0 else NULL
    cdef vector[int32_t] path
    cdef int64_t i
    cdef int32_t[::1] indices
    with nogil:
        indptr[0] = 0
        for i in range(X.shape[0]):
            path_of_row(walker.view[0], cells + i * row_stride, column_stride, path)
            indptr[i + 1] = path.size()
    indices = found = np.empty(path.size(), dtype=np.int32)
    for i in range(<int64_t> path.size()):
        indices[i] = path[i]
    return found


def add_importances(
    nodes,
    category_branch,
    const double[:, ::1] leaf_answers,  # IN
    double least_share,
    double[::1] out,  # IN / OUT
):
    """Add the importance of each feature to `out`; `leaf_answers` has a row for each node."""
    cdef const uint8_t[::1] node_bytes = nodes.view(np.uint8).reshape(-1)
    # One unused element, so that a tree without categories has an address too.
    cdef const int32_t[::1] branches = np.append(category_branch, np.int32(0))
    cdef ImportanceSums* sums
    if out.shape[0] == 0:
        return
    sums = new ImportanceSums(
        <const Node*> &node_bytes[0],
        len(nodes),
        &branches[0],
        &leaf_answers[0, 0],
        leaf_answers.shape[1],
        out.shape[0],
        least_share,
    )
    try:
        with nogil:
            sums.run(&out[0])
    finally:
        del sums
