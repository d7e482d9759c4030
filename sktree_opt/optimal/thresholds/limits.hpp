// How a search keeps its limits: it reads the clock, and books memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sktree_opt/utils/control.hpp"

namespace sktree_opt::thresholds {

// One for each thread. Reading the clock after every column would take longer than traversing a
// small one.
class Watch {
public:
    explicit Watch(SearchControl* control) : control_(control) {}

    // To be called after `n_rows` more rows. Returns true if the search must end.
    bool after_rows(std::uint32_t n_rows) {
        n_rows_ += n_rows;
        if (n_rows_ < ROWS_TO_POLL) return control_->stopped();
        n_rows_ = 0;
        return control_->poll();
    }

    bool poll() { return control_->poll(); }
    bool stopped() const { return control_->stopped(); }
    SearchControl* control() const { return control_; }

private:
    static constexpr std::int64_t ROWS_TO_POLL = 20000;
    SearchControl* control_;
    std::int64_t n_rows_ = 0;
};

// The bytes that one object holds, booked until its end.
class Booking {
public:
    Booking() = default;
    Booking(const Booking&) = delete;
    Booking& operator=(const Booking&) = delete;
    ~Booking() { set(control_, 0); }

    // False, and the search ends, when the limit is passed.
    bool set(SearchControl* control, std::int64_t bytes) {
        const std::int64_t more = bytes - booked_;
        if (control == nullptr || more == 0) return true;
        control_ = control;
        booked_ = bytes;
        return control->reserve(more);
    }

private:
    SearchControl* control_ = nullptr;
    std::int64_t booked_ = 0;
};

template <class T>
std::int64_t bytes_of(const std::vector<T>& values) {
    return static_cast<std::int64_t>(values.capacity() * sizeof(T));
}

}  // namespace sktree_opt::thresholds
