ctypedef void (*TeamWork)(void* context, int thread) noexcept nogil

cdef void run_team(int n_threads, TeamWork work, void* context) noexcept nogil
