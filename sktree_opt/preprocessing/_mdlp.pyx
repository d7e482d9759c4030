"""Cut points of numeric columns by the MDL principle (see ``mdlp.hpp``)."""

import numpy as np

from libc.stdint cimport int32_t, uint32_t
from libcpp.vector cimport vector

from sktree_opt.preprocessing._table cimport ColumnView, Table
from sktree_opt.utils._control cimport CppSearchControl, SearchControl


cdef extern from "sktree_opt/preprocessing/mdlp.hpp" namespace "sktree_opt" nogil:
    vector[uint32_t] find_cuts "sktree_opt::mdlp_cuts"(
        const ColumnView& column,
        const int32_t* labels,
        const double* weights,
        size_t n_rows,
        int n_classes,
        CppSearchControl& control,
    ) except +


def mdlp_cuts(
    Table table,
    Py_ssize_t column,
    const int32_t[::1] labels,  # IN: class codes
    const double[::1] weights,  # IN: positive
    int n_classes,
    SearchControl control,
):
    """Cuts of a numeric column.

    Returns
    -------
    codes : ndarray of int64
        The last code below each cut, ascending.
    """
    cdef vector[uint32_t] cuts
    if table.n_rows > 0:
        with nogil:
            cuts = find_cuts(
                table.views[column],
                &labels[0],
                &weights[0],
                table.n_rows,
                n_classes,
                control.cpp[0],
            )
    control.raise_pending()
    return np.array(cuts, dtype=np.int64)
