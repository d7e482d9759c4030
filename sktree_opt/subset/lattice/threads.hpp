// Independent tasks on several threads, with exceptions handed on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace sktree_opt::subset {

// Runs task(i, thread) for i < n; rethrows one of the exceptions that were thrown.
template <class Task>
void run_tasks(std::size_t n, int n_threads, Task&& task) {
    if (n_threads <= 1 || n <= 1) {
        for (std::size_t i = 0; i < n; ++i) task(i, 0);
        return;
    }
    std::exception_ptr error;
    const auto n_tasks = static_cast<std::int64_t>(n);
#pragma omp parallel for schedule(dynamic, 1) num_threads(n_threads)
    for (std::int64_t i = 0; i < n_tasks; ++i) {
        int thread = 0;
#ifdef _OPENMP
        thread = omp_get_thread_num();
#endif
        try {
            task(static_cast<std::size_t>(i), thread);
        } catch (...) {
#pragma omp critical(sktree_opt_subset_error)
            error = std::current_exception();
        }
    }
    if (error) std::rethrow_exception(error);
}

}  // namespace sktree_opt::subset
