"""Rows of a float matrix down a tree (see ``_predict.hpp``)."""

import numpy as np

from cython.parallel cimport prange
from libc.stddef cimport ptrdiff_t, size_t
from libc.stdint cimport int32_t, int64_t, uint8_t
from libcpp.vector cimport vector

ctypedef fused Value:
    float
    double

# Rows a thread takes at a time: long enough to hide the hand-out, short enough to balance.
cdef enum:
    ROWS_AT_A_TIME = 4096


cdef extern from "sktree_opt/tree/_predict.hpp" namespace "sktree_opt" nogil:
    cdef cppclass Node:
        pass

    cdef cppclass TreeView:
        TreeView(const Node* nodes, size_t n_nodes, const int32_t* category_branch) except +

    void apply_rows[T](
        const TreeView& tree,
        const T* values,
        ptrdiff_t row_stride,
        ptrdiff_t column_stride,
        int64_t start,
        int64_t stop,
        int32_t* leaves,
    )
    int32_t distribute_row[T](
        const TreeView& tree,
        const T* row,
        ptrdiff_t column_stride,
        const double* leaf_values,
        int32_t n_outputs,
        double* out,
    )
    void path_of_row[T](
        const TreeView& tree,
        const T* row,
        ptrdiff_t column_stride,
        vector[int32_t]& path,
    )


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
    int32_t[::1] leaves,  # OUT
    int n_threads,
):
    """Write the leaf of each row; -1 for a row that is distributed over several."""
    cdef TreeWalker walker = TreeWalker(nodes, category_branch)
    cdef int64_t n_rows = X.shape[0], n_blocks, block, i
    cdef ptrdiff_t row_stride, column_stride
    if n_rows == 0:
        return
    if X.shape[1] == 0:
        # No column, no test: the root is the only leaf.
        for i in range(n_rows):
            leaves[i] = 0
        return
    row_stride = X.strides[0] // <ptrdiff_t> sizeof(Value)
    column_stride = X.strides[1] // <ptrdiff_t> sizeof(Value)
    n_blocks = (n_rows + ROWS_AT_A_TIME - 1) // ROWS_AT_A_TIME
    for block in prange(n_blocks, nogil=True, num_threads=n_threads, schedule="static"):
        apply_rows(
            walker.view[0],
            &X[0, 0],
            row_stride,
            column_stride,
            block * ROWS_AT_A_TIME,
            min(n_rows, (block + 1) * ROWS_AT_A_TIME),
            &leaves[0],
        )


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
    cdef int32_t n_outputs = leaf_values.shape[1]
    cdef int64_t i
    for i in prange(rows.shape[0], nogil=True, num_threads=n_threads, schedule="static"):
        heaviest[i] = distribute_row(
            walker.view[0],
            &X[rows[i], 0],
            column_stride,
            &leaf_values[0, 0],
            n_outputs,
            &out[i, 0],
        )


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
    # Without columns there is no test, and no cell is read.
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
