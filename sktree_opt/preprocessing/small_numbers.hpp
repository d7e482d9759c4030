// Which small whole numbers a column holds, and whether it holds nothing else: codes of categories,
// counts and ratings are told apart by counting, without sorting.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sktree_opt {

class SmallNumbers {
public:
    static constexpr std::uint32_t LIMIT = 1 << 16;  // numbers below it are small

    void clear() {
        std::fill(occurs_.begin(), occurs_.begin() + end_, std::uint8_t{0});
        end_ = 0;
        n_missing_ = 0;
        is_small_ = true;
    }

    // `n` cells `stride` apart. False, and no more cells are read, once one of them is neither
    // missing nor a small whole number.
    template <typename Value>
    bool add_all(const Value* cells, std::size_t n, std::ptrdiff_t stride = 1) {
        if (!is_small_) return false;
        for (std::size_t i = 0; i < n; ++i, cells += stride) {
            const double value = static_cast<double>(*cells);
            if (!(value >= 0.0 && value < LIMIT)) {
                if (!std::isnan(value)) return is_small_ = false;
                ++n_missing_;
                continue;
            }
            const auto number = static_cast<std::uint32_t>(value);
            if (number != value) return is_small_ = false;
            reach(number + 1);
            occurs_[number] = 1;
        }
        return true;
    }

    // Adds what another one has seen.
    void merge(const SmallNumbers& other) {
        is_small_ = is_small_ && other.is_small_;
        n_missing_ += other.n_missing_;
        reach(other.end_);
        for (std::uint32_t number = 0; number < other.end_; ++number)
            occurs_[number] |= other.occurs_[number];
    }

    bool is_small() const { return is_small_; }
    std::size_t n_missing() const { return n_missing_; }
    std::uint32_t end() const { return end_; }  // all numbers are below it

    // visit(number), in their order.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (std::uint32_t number = 0; number < end_; ++number)
            if (occurs_[number]) visit(number);
    }

    std::vector<std::uint32_t> values() const {
        std::vector<std::uint32_t> values;
        for_each([&](std::uint32_t number) { values.push_back(number); });
        return values;
    }

private:
    // Most columns hold few numbers, and small ones: the marks grow with them.
    void reach(std::uint32_t end) {
        if (end <= end_) return;
        if (end > occurs_.size()) occurs_.resize(std::min(LIMIT, std::max(64u, 2 * end)));
        end_ = end;
    }

    std::vector<std::uint8_t> occurs_;
    std::uint32_t end_ = 0;
    std::size_t n_missing_ = 0;
    bool is_small_ = true;
};

}  // namespace sktree_opt
