// Finds infinities and small whole numbers in a matrix, in one pass over its memory.
//
// Codes of categories, counts and ratings are small whole numbers. They are told apart by counting,
// without sorting.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace sktree_opt {

// The small whole numbers of a column, and whether it holds anything else.
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
        for (std::uint32_t number = 0; number < other.end_; ++number) {
            occurs_[number] |= other.occurs_[number];
        }
    }

    bool is_small() const { return is_small_; }
    std::size_t n_missing() const { return n_missing_; }
    std::uint32_t end() const { return end_; }  // all numbers are below it

    // visit(number), in their order.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (std::uint32_t number = 0; number < end_; ++number) {
            if (occurs_[number]) visit(number);
        }
    }

    std::vector<std::uint32_t> values() const {
        std::vector<std::uint32_t> values;
        for_each([&](std::uint32_t number) { values.push_back(number); });
        return values;
    }

private:
    // The marks grow with the largest number, because in most columns it is small.
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

struct Survey {
    std::vector<SmallNumbers> numbers;  // of each column that is asked for
    bool has_infinity = false;

    void merge(const Survey& other) {
        has_infinity = has_infinity || other.has_infinity;
        for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i].merge(other.numbers[i]);
    }
};

// Written for compilers to test several cells at once: no exit within the loop.
template <typename Value>
bool any_infinite(const Value* cells, std::size_t n, std::ptrdiff_t stride) {
    int found = 0;
    if (stride == 1) {
        for (std::size_t i = 0; i < n; ++i) {
            found |= std::fabs(cells[i]) > std::numeric_limits<Value>::max();
        }
    } else {
        for (std::size_t i = 0; i < n; ++i) {
            found |= std::fabs(cells[static_cast<std::ptrdiff_t>(i) * stride]) >
                     std::numeric_limits<Value>::max();
        }
    }
    return found != 0;
}

// Looks at rows first..stop-1 and adds what is there to `survey`.
//
// As many rows at a time as the first cache holds: each cell is fetched once, whether the matrix is
// stored by rows or by columns, though columns are read one by one.
template <typename Value>
void survey_rows(const Value* cells, std::size_t n_columns, std::ptrdiff_t row_stride,
                 std::ptrdiff_t column_stride, const std::int64_t* columns, std::size_t first,
                 std::size_t stop, Survey& survey) {
    constexpr std::size_t CACHED_CELLS = 4096;
    const std::size_t n_at_once = std::max<std::size_t>(16, CACHED_CELLS / n_columns);
    for (std::size_t start = first; start < stop; start += n_at_once) {
        const std::size_t n = std::min(n_at_once, stop - start);
        const Value* row = cells + static_cast<std::ptrdiff_t>(start) * row_stride;
        for (std::size_t i = 0; i < survey.numbers.size(); ++i) {
            survey.numbers[i].add_all(row + columns[i] * column_stride, n, row_stride);
        }
        if (column_stride == 1) {
            for (std::size_t i = 0; i < n; ++i, row += row_stride) {
                survey.has_infinity |= any_infinite(row, n_columns, 1);
            }
        } else {
            for (std::size_t j = 0; j < n_columns; ++j, row += column_stride) {
                survey.has_infinity |= any_infinite(row, n, row_stride);
            }
        }
    }
}

}  // namespace sktree_opt
