from libc.stdint cimport int64_t
from libcpp.memory cimport shared_ptr

from sktree_opt.utils._team cimport TeamWork


cdef extern from "<atomic>" namespace "std" nogil:
    cdef cppclass atomic_int "std::atomic<int>":
        int load()
    cdef cppclass atomic_int64 "std::atomic<std::int64_t>":
        int64_t load()


cdef extern from "sktree_opt/utils/control.hpp" namespace "sktree_opt" nogil:
    enum StopReason:
        RUNNING
        TIME_LIMIT
        MEMORY_LIMIT
        STOPPED
        INTERRUPTED

    cdef cppclass CppSearchControl "sktree_opt::SearchControl":
        CppSearchControl() except +
        atomic_int stop
        double time_limit
        int64_t memory_limit
        atomic_int64 memory_used
        void (*run_team)(int n_threads, TeamWork work, void* context) noexcept nogil
        void restart(double time_limit, int64_t memory_limit)
        double seconds()
        bint stopped()
        void request_stop(int reason)
        bint poll()
        bint reserve(int64_t bytes)
        int raise_pending() except -1


cdef class SearchControl:
    # Searches share the ownership, so that they may outlive this object.
    cdef shared_ptr[CppSearchControl] owner
    cdef CppSearchControl* cpp
