// Outcomes of binary tests as rows of bits, least significant bit first.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sktree_opt/preprocessing/_column.hpp"

namespace sktree_opt {

// One test: a row passes if its code is at least `low` and at most `high`.
struct CodeRange {
    std::int32_t column;
    std::uint32_t low;
    std::uint32_t high;
};

// Eight columns of values 0 and 1 a byte; bit: the value is 0. False if there is any other value.
template <typename Value>
bool pack_zeros(
    const Value* values, std::ptrdiff_t row_step, std::ptrdiff_t column_step, std::size_t n_rows,
    std::size_t n_columns, std::uint8_t* bits, std::size_t row_bytes) {
    bool is_binary = true;
    for (std::size_t i = 0; i < n_rows; ++i) {
        const Value* row = values + static_cast<std::ptrdiff_t>(i) * row_step;
        std::uint8_t* out = bits + i * row_bytes;
        for (std::size_t j = 0; j < n_columns; j += 8) {
            const std::size_t n = n_columns - j < 8 ? n_columns - j : 8;
            unsigned zeros = 0, others = 0;
            for (std::size_t k = 0; k < n; ++k) {
                const Value value = row[static_cast<std::ptrdiff_t>(j + k) * column_step];
                zeros |= static_cast<unsigned>(value == 0) << k;
                others |= static_cast<unsigned>(value != 0) & static_cast<unsigned>(value != 1);
            }
            out[j / 8] = static_cast<std::uint8_t>(zeros);
            is_binary = is_binary && others == 0;
        }
        if (!is_binary) return false;
    }
    return true;
}

template <typename Code>
void or_test(
    const Code* codes, CodeRange test, std::size_t n_rows, int shift, std::uint8_t* bits,
    std::size_t row_bytes) {
    for (std::size_t i = 0; i < n_rows; ++i) {
        const std::uint32_t code = codes[i];
        bits[i * row_bytes] |=
            static_cast<std::uint8_t>((code >= test.low && code <= test.high) << shift);
    }
}

// Sets bit `index` of every row that passes the test; bits are 0 before.
inline void pack_test(
    const ColumnView& column, CodeRange test, std::size_t n_rows, std::size_t index,
    std::uint8_t* bits, std::size_t row_bytes) {
    std::uint8_t* out = bits + index / 8;
    const int shift = static_cast<int>(index % 8);
    switch (column.itemsize) {
        case 1:
            or_test(static_cast<const std::uint8_t*>(column.codes), test, n_rows, shift, out,
                    row_bytes);
            break;
        case 2:
            or_test(static_cast<const std::uint16_t*>(column.codes), test, n_rows, shift, out,
                    row_bytes);
            break;
        default:
            or_test(static_cast<const std::uint32_t*>(column.codes), test, n_rows, shift, out,
                    row_bytes);
    }
}

}  // namespace sktree_opt
