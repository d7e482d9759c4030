// Ends a search early, and tells every thread of it.
//
// One SearchControl belongs to one fit. Kernels call poll() every few thousand units of work from
// any thread. It reads the clock. The thread that started the fit also looks for a signal, at most
// every 20 ms, because Python runs signal handlers in the main thread only. The reason to end goes
// to `stop`, which every thread tests first. So a search always unwinds normally, and hands over
// the best it has. An exception raised by a signal handler (KeyboardInterrupt for Ctrl-C) is kept
// and raised again by raise_pending() once the kernel has returned.
//
// A search that books memory gives it back when it is destroyed, so it has to share the ownership
// of its control: it declares `held_ = control.hold()` before everything else that it owns.
#pragma once

#include <Python.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>

namespace sktree_opt {

enum StopReason : int {
    RUNNING = 0,
    TIME_LIMIT = 1,
    MEMORY_LIMIT = 2,
    STOPPED = 3,      // a callback asked for it
    INTERRUPTED = 4,  // a signal handler raised
};

// work(context, thread) is called once for each thread, on as many threads as there are.
using TeamWork = void (*)(void* context, int thread);
using TeamRunner = void (*)(int n_threads, TeamWork work, void* context);

class SearchControl : public std::enable_shared_from_this<SearchControl> {
public:
    SearchControl() : owner_(std::this_thread::get_id()), start_(Clock::now()) {}
    SearchControl(const SearchControl&) = delete;
    SearchControl& operator=(const SearchControl&) = delete;
    ~SearchControl() {
        Py_XDECREF(type_);
        Py_XDECREF(value_);
        Py_XDECREF(traceback_);
    }

    // A share in the ownership; a control lives in a std::shared_ptr.
    std::shared_ptr<SearchControl> hold() { return shared_from_this(); }

    std::atomic<int> stop{RUNNING};
    double time_limit = -1.0;        // seconds since construction; negative: none
    std::int64_t memory_limit = -1;  // bytes; negative: none
    std::atomic<std::int64_t> memory_used{0};
    TeamRunner run_team = nullptr;  // see team.hpp; set where the control is made

    // The calling thread begins another search with what the last one has left.
    void restart(double new_time_limit, std::int64_t new_memory_limit) {
        owner_ = std::this_thread::get_id();
        start_ = Clock::now();
        next_signal_check_ = 0.02;
        time_limit = new_time_limit;
        memory_limit = new_memory_limit;
        stop = RUNNING;
    }

    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

    bool stopped() const { return stop.load(std::memory_order_relaxed) != RUNNING; }

    // The first reason to stop stands.
    void request_stop(int reason) {
        int running = RUNNING;
        stop.compare_exchange_strong(running, reason);
    }

    // Must be called without the GIL. True when the search has to end.
    bool poll() {
        if (stopped()) return true;
        const double now = seconds();
        if (time_limit >= 0.0 && now >= time_limit) request_stop(TIME_LIMIT);
        if (now >= next_signal_check_ && std::this_thread::get_id() == owner_) {
            next_signal_check_ = now + 0.02;
            check_signals();
        }
        return stopped();
    }

    // Books `bytes` (negative to give back); false, and a stop, when the limit is passed.
    bool reserve(std::int64_t bytes) {
        const std::int64_t used = memory_used.fetch_add(bytes) + bytes;
        if (memory_limit >= 0 && bytes > 0 && used > memory_limit) {
            request_stop(MEMORY_LIMIT);
            return false;
        }
        return true;
    }

    // With the GIL: raises what a signal handler raised. -1 when there was something to raise.
    int raise_pending() {
        if (type_ == nullptr) return 0;
        PyErr_Restore(type_, value_, traceback_);
        type_ = value_ = traceback_ = nullptr;
        return -1;
    }

private:
    using Clock = std::chrono::steady_clock;

    void check_signals() {
        PyGILState_STATE state = PyGILState_Ensure();
        if (PyErr_CheckSignals() != 0) {
            PyErr_Fetch(&type_, &value_, &traceback_);
            request_stop(INTERRUPTED);
        }
        PyGILState_Release(state);
    }

    std::thread::id owner_;
    Clock::time_point start_;
    std::atomic<double> next_signal_check_{0.02};
    PyObject* type_ = nullptr;
    PyObject* value_ = nullptr;
    PyObject* traceback_ = nullptr;
};

}  // namespace sktree_opt
