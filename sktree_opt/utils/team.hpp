// Tasks that do not depend on each other, on several threads (see _team.pyx).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <type_traits>

#include "sktree_opt/utils/control.hpp"

namespace sktree_opt {

// Makes a number that threads share the smaller one.
inline void lower_to(std::atomic<double>& least, double value) {
    double known = least.load(std::memory_order_relaxed);
    while (value < known && !least.compare_exchange_weak(known, value)) {
    }
}

// Hands out tasks to the threads of a team, in order.
template <class Task>
class TeamTasks {
public:
    TeamTasks(SearchControl& control, std::int64_t n_tasks, Task& task)
        : control_(control), n_tasks_(n_tasks), task_(task) {}

    // The work of each thread: a TeamWork of a TeamTasks.
    static void work(void* tasks, int thread) noexcept {
        static_cast<TeamTasks*>(tasks)->work_on(thread);
    }

    void rethrow() {
        if (error_) std::rethrow_exception(error_);
    }

private:
    using Clock = std::chrono::steady_clock;

    void work_on(int thread) noexcept {
        for (std::int64_t i = next_++; i < n_tasks_; i = next_++) {
            // After an exception the rest is not begun.
            if (!has_failed_.load(std::memory_order_relaxed)) run_one(i, thread);
            ++n_done_;
        }
        if (thread == 0) watch_others();
    }

    void run_one(std::int64_t i, int thread) noexcept {
        try {
            task_(i, thread);
        } catch (...) {
            const std::lock_guard<std::mutex> guard(mutex_);
            has_failed_ = true;
            if (i < first_failed_) {
                first_failed_ = i;
                error_ = std::current_exception();
            }
        }
    }

    // Python runs signal handlers in the thread that began the search, so it must not sleep long.
    void watch_others() noexcept {
        const Clock::time_point start = Clock::now();
        while (n_done_.load() < n_tasks_) {
            control_.poll();
            if (Clock::now() - start < std::chrono::milliseconds(2)) {
                std::this_thread::yield();
            } else {
                std::this_thread::sleep_for(std::chrono::microseconds(200));
            }
        }
    }

    SearchControl& control_;
    const std::int64_t n_tasks_;
    Task& task_;
    std::atomic<std::int64_t> next_{0}, n_done_{0};
    std::atomic<bool> has_failed_{false};
    std::mutex mutex_;
    std::int64_t first_failed_ = std::numeric_limits<std::int64_t>::max();
    std::exception_ptr error_;
};

// Calls task(i, thread) for every i < n_tasks, each once; `thread` is below `n_threads`. Throws
// what a task has thrown: of several, that of the lowest i. Must be called without the GIL. Tasks
// look at `control` themselves; while the calling thread waits for others it looks for signals.
template <class Task>
void run_tasks(SearchControl& control, int n_threads, std::int64_t n_tasks, Task&& task) {
    if (n_tasks < n_threads) n_threads = static_cast<int>(n_tasks);
    if (n_threads <= 1) {
        for (std::int64_t i = 0; i < n_tasks; ++i) task(i, 0);
        return;
    }
    TeamTasks<std::remove_reference_t<Task>> tasks(control, n_tasks, task);
    control.run_team(n_threads, &tasks.work, &tasks);
    tasks.rethrow();
}

}  // namespace sktree_opt
