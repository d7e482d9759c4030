// What a matrix of numbers holds, in one pass over its memory: infinities, and the small whole
// numbers of the columns that are asked for.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "sktree_opt/preprocessing/small_numbers.hpp"

namespace sktree_opt {

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
        for (std::size_t i = 0; i < n; ++i)
            found |= std::fabs(cells[i]) > std::numeric_limits<Value>::max();
    } else {
        for (std::size_t i = 0; i < n; ++i)
            found |= std::fabs(cells[static_cast<std::ptrdiff_t>(i) * stride]) >
                     std::numeric_limits<Value>::max();
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
        for (std::size_t i = 0; i < survey.numbers.size(); ++i)
            survey.numbers[i].add_all(row + columns[i] * column_stride, n, row_stride);
        if (column_stride == 1) {
            for (std::size_t i = 0; i < n; ++i, row += row_stride)
                survey.has_infinity |= any_infinite(row, n_columns, 1);
        } else {
            for (std::size_t j = 0; j < n_columns; ++j, row += column_stride)
                survey.has_infinity |= any_infinite(row, n, row_stride);
        }
    }
}

}  // namespace sktree_opt
