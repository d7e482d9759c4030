// How a search keeps its limits: it looks at the clock, and books memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sktree_opt/utils/control.hpp"

namespace sktree_opt::thresholds {

// One for each thread. Reading the clock after every column would cost more than walking a small
// one.
class Watch {
public:
    explicit Watch(SearchControl* control) : control_(control) {}

    // After so many rows more; true: give up.
    bool walked(std::uint32_t n_rows) {
        walked_ += n_rows;
        if (walked_ < ROWS_TO_POLL) return control_->stopped();
        walked_ = 0;
        return control_->poll();
    }

    bool poll() { return control_->poll(); }
    bool stopped() const { return control_->stopped(); }
    SearchControl* control() const { return control_; }

private:
    static constexpr std::int64_t ROWS_TO_POLL = 20000;
    SearchControl* control_;
    std::int64_t walked_ = 0;
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
