// Outcomes of binary tests as rows of bits, least significant bit first.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sktree_opt {

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

// Ors into the bits of each row the outcomes of its code; `bits` begins at their first byte.
template <typename Code>
void or_outcomes(
    const Code* codes, std::size_t n_rows, const std::uint8_t* outcomes, std::size_t n_bytes,
    std::uint8_t* bits, std::size_t row_bytes) {
    for (std::size_t i = 0; i < n_rows; ++i) {
        const std::uint8_t* from = outcomes + static_cast<std::size_t>(codes[i]) * n_bytes;
        std::uint8_t* to = bits + i * row_bytes;
        for (std::size_t b = 0; b < n_bytes; ++b) to[b] |= from[b];
    }
}

}  // namespace sktree_opt
