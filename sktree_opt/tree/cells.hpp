// Whether cells can be read as they are: finite numbers, codes of known categories, missing ones.
//
// Why it is here: a table of numbers is checked block by block just before the block walks down the
// tree, so that memory is read once for both. For wide tables, reading it is most of a prediction.
// The loops have no jump and no conversion to integers, so that compilers make vectors of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace sktree_opt {

// The cells that a column may have: least <= x < bound, or NaN, and whole numbers if they are
// codes.
template <typename Value>
struct CellBounds {
    std::vector<Value> least, bound;
    std::vector<std::int32_t> is_code;

    // Number of codes of each column, -1 for one of numbers.
    CellBounds(const std::int64_t* n_codes, std::size_t n_columns)
        : least(n_columns, std::numeric_limits<Value>::lowest()),
          bound(n_columns, std::numeric_limits<Value>::infinity()),
          is_code(n_columns, 0) {
        for (std::size_t j = 0; j < n_columns; ++j) {
            if (n_codes[j] < 0) continue;
            least[j] = 0;
            bound[j] = static_cast<Value>(n_codes[j]);
            is_code[j] = 1;
        }
    }

    bool refuses(Value x, std::size_t j) const {
        // Adding and taking away a number that leaves no bits for fractions rounds to whole ones.
        constexpr Value no_fractions = 1 / std::numeric_limits<Value>::epsilon();
        const Value whole = (x + no_fractions) - no_fractions;
        return (x < least[j]) | (x >= bound[j]) | ((is_code[j] != 0) & (whole != x) & (x == x));
    }
};

template <typename Value>
bool cells_fit(const CellBounds<Value>& bounds, const Value* values, std::ptrdiff_t row_stride,
               std::ptrdiff_t column_stride, std::int64_t start, std::int64_t stop) {
    const std::size_t n_columns = bounds.least.size();
    std::int32_t refused = 0;
    if (column_stride == 1) {
        for (std::int64_t i = start; i < stop; ++i) {
            const Value* row = values + i * row_stride;
            for (std::size_t j = 0; j < n_columns; ++j) refused |= bounds.refuses(row[j], j);
        }
    } else {
        for (std::size_t j = 0; j < n_columns; ++j) {
            const Value* column = values + static_cast<std::ptrdiff_t>(j) * column_stride;
            for (std::int64_t i = start; i < stop; ++i) {
                refused |= bounds.refuses(column[i * row_stride], j);
            }
        }
    }
    return refused == 0;
}

}  // namespace sktree_opt
