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
    #ifdef __SANITIZE_THREAD__
    #include <sanitizer/tsan_interface.h>
    #else
    #define __tsan_release(address)
    #define __tsan_acquire(address)
    #endif
    """
    bint HAS_OPENMP "SKTREE_HAS_OPENMP"
    # ThreadSanitizer does not see how OpenMP starts threads and waits for them.
    void hand_over "__tsan_release"(void* address) noexcept nogil
    void take_over "__tsan_acquire"(void* address) noexcept nogil


cdef void run_team(int n_threads, TeamWork work, void* context) noexcept nogil:
    """Call ``work(context, thread)`` once for each thread; returns when all calls have.

    Where there are fewer threads than asked for, some threads make several calls, one after
    the other: no call may wait for another one to begin.
    """
    cdef int thread
    hand_over(context)
    for thread in prange(n_threads, num_threads=n_threads, schedule="static", chunksize=1):
        take_over(context)
        work(context, thread)
        hand_over(context)
    take_over(context)


def has_openmp():
    """Whether the package was compiled with OpenMP."""
    return bool(HAS_OPENMP)
