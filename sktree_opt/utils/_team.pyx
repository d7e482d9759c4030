"""The threads of the package: the only parallel region that its C++ code has.

C++ code reaches ``run_team`` through the function pointer that every ``SearchControl`` carries. It
calls ``run_tasks`` (see ``team.hpp``), which hands out tasks, carries exceptions and lets the first
thread look for Ctrl-C. The loops over cells and rows in ``tree`` and ``preprocessing`` are
``prange`` loops of their own. ``_compat.n_threads_for`` decides the number of threads of a fit.
"""

from cython.parallel cimport prange


cdef extern from *:
    """
    #ifdef _OPENMP
    #define SKTREE_HAS_OPENMP 1
    #else
    #define SKTREE_HAS_OPENMP 0
    #endif
    """
    bint HAS_OPENMP "SKTREE_HAS_OPENMP"


cdef void run_team(int n_threads, TeamWork work, void* context) noexcept nogil:
    """Call ``work(context, thread)`` once for each thread; returns when all calls have.

    Where there are fewer threads than asked for, some threads make several calls, one after
    the other: no call may wait for another one to begin.
    """
    cdef int thread
    for thread in prange(n_threads, num_threads=n_threads, schedule="static", chunksize=1):
        work(context, thread)


def has_openmp():
    """Whether the package was compiled with OpenMP."""
    return bool(HAS_OPENMP)
