// The best cut of an indexed column between two classes, read off the bits of its order.
//
// Problem: as greedy::search_threshold with the entropy of two classes, cases of weight 1, no missing
// value. Exact: the same scores, as whole numbers, hence the same cut.
// What takes time there is to write the cases in order and to read them again. Here each bit of the
// order (_order_index.hpp) is a case that moves to the left side; cases of the common value of a
// column (_equal_cases.hpp) move all at once.
//
//   n, ones       cases on a side, and those of the second class
//   score         x log2 x over the classes, less that over the side, for both sides
//
// Cost: one step for each case that has not the common value. Memory: a bit for each row.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "sktree_opt/greedy/evaluator.hpp"
#include "sktree_opt/subset/_order_index.hpp"

namespace sktree_opt::subset {

struct Cut {
    std::int64_t gain = 0;     // score of both sides, less that of all cases
    std::int64_t n_below = 0;  // cases left of the cut
    std::uint32_t low = 0, high = 0;  // codes next to it
    std::uint32_t n_tried = 0;
    bool is_constant = true;   // the column
};

// Cases that move to the left side in the order of a column, value by value.
class CutSearch {
public:
    CutSearch(const greedy::LogTable& logs, std::int64_t n, std::int64_t ones, double min_leaf,
              double tolerance)
        : logs_(logs.data()), ones_right_(logs_ + ones), zeros_right_(logs_ + (n - ones)),
          right_(logs_ + n), tolerance_(logs.from_real(tolerance)) {
        const auto least = std::max<std::int64_t>(1, std::llround(std::ceil(min_leaf)));
        least_ = least;
        // As unsigned numbers, what is below `least` is above any range.
        range_ = n >= 2 * least ? static_cast<std::uint64_t>(n - 2 * least) + 1 : 0;
        base_ = logs_[ones] + logs_[n - ones] - logs_[n];
    }

    void move(std::uint32_t code, std::int64_t zeros, std::int64_t ones) {
        if (code != code_) {
            const std::int64_t n = zeros_ + ones_;
            if (static_cast<std::uint64_t>(n - least_) < range_) {
                ++n_tried_;
                const std::int64_t score = (logs_[ones_] + logs_[zeros_] - logs_[n]) +
                                           (ones_right_[-ones_] + zeros_right_[-zeros_] - right_[-n]);
                if (score > to_beat_) {
                    to_beat_ = score + tolerance_;
                    cut_.low = code_;
                    cut_.high = code;
                    cut_.n_below = n;
                }
            }
            code_ = code;
            ++n_values_;
        }
        zeros_ += zeros;
        ones_ += ones;
    }

    // The best cut, if one has been tried.
    Cut finish() {
        cut_.n_tried = n_tried_;
        cut_.is_constant = n_values_ < 2;
        if (n_tried_ > 0) cut_.gain = to_beat_ - tolerance_ - base_;
        return cut_;
    }

private:
    const std::int64_t *logs_, *ones_right_, *zeros_right_, *right_;
    std::int64_t tolerance_, least_ = 1, base_ = 0;
    std::uint64_t range_ = 0;
    std::int64_t zeros_ = 0, ones_ = 0;
    std::int64_t to_beat_ = std::numeric_limits<std::int64_t>::lowest();
    std::uint32_t code_ = std::numeric_limits<std::uint32_t>::max();
    std::uint32_t n_tried_ = 0, n_values_ = 0;
    Cut cut_;
};

}  // namespace sktree_opt::subset
