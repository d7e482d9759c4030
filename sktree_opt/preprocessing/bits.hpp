// Outcomes of binary tests as rows of bits, least significant bit first.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sktree_opt {

// Bit k: the k-th of eight values is 0. `others` becomes nonzero if a value is neither 0 nor 1.
template <typename Value>
unsigned zeros_of_eight(const Value* from, std::ptrdiff_t step, unsigned& others) {
    unsigned zeros = 0;
    for (int k = 0; k < 8; ++k) {  // a fixed count, which compilers unroll
        const Value value = from[k * step];
        zeros |= static_cast<unsigned>(value == 0) << k;
        others |= static_cast<unsigned>(value != 0) & static_cast<unsigned>(value != 1);
    }
    return zeros;
}

// Bytes in a row, all eight in one register.
inline unsigned zeros_of_eight(const std::uint8_t* from, std::ptrdiff_t step, unsigned& others) {
    if (step != 1) return zeros_of_eight<std::uint8_t>(from, step, others);
    std::uint64_t bytes = 0;  // compilers make one load of it
    for (int k = 0; k < 8; ++k) bytes |= static_cast<std::uint64_t>(from[k]) << (8 * k);
    const std::uint64_t ones = 0x0101010101010101ull;
    others |= (bytes & ~ones) != 0;
    // The product moves bit 8k to bit 56 + k, without a carry.
    return static_cast<unsigned>((((bytes & ones) ^ ones) * 0x0102040810204080ull) >> 56);
}

// The same of the last, fewer than eight, values of a row.
template <typename Value>
unsigned zeros_of_rest(const Value* from, std::ptrdiff_t step, std::size_t n, unsigned& others) {
    Value padded[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    for (std::size_t k = 0; k < n; ++k) padded[k] = from[static_cast<std::ptrdiff_t>(k) * step];
    return zeros_of_eight(padded, 1, others);
}

// Eight columns of values 0 and 1 a byte; bit: the value is 0. False if there is any other value.
// Reads along whichever of rows and columns is near in memory.
template <typename Value>
bool pack_zeros(const Value* values, std::ptrdiff_t row_step, std::ptrdiff_t column_step,
                std::size_t n_rows, std::size_t n_columns, std::uint8_t* bits,
                std::size_t row_bytes) {
    const std::size_t n_full = n_columns / 8, n_rest = n_columns % 8;
    const auto pack = [=](std::size_t i, std::size_t block, unsigned& others) {
        const Value* from = values + static_cast<std::ptrdiff_t>(i) * row_step +
                            static_cast<std::ptrdiff_t>(8 * block) * column_step;
        const unsigned zeros = block < n_full ? zeros_of_eight(from, column_step, others)
                                              : zeros_of_rest(from, column_step, n_rest, others);
        bits[i * row_bytes + block] = static_cast<std::uint8_t>(zeros);
    };
    const std::size_t n_blocks = n_full + (n_rest != 0);
    const bool by_rows = row_step < 0 || column_step < 0 || column_step <= row_step;
    const std::size_t n_outer = by_rows ? n_rows : n_blocks, n_inner = by_rows ? n_blocks : n_rows;
    for (std::size_t outer = 0; outer < n_outer; ++outer) {
        unsigned others = 0;
        for (std::size_t inner = 0; inner < n_inner; ++inner) {
            pack(by_rows ? outer : inner, by_rows ? inner : outer, others);
        }
        if (others != 0) return false;
    }
    return true;
}

// Ors into the bits of each row the outcomes of its code; `bits` begins at their first byte.
template <typename Code>
void or_outcomes(const Code* codes, std::size_t n_rows, const std::uint8_t* outcomes,
                 std::size_t n_bytes, std::uint8_t* bits, std::size_t row_bytes) {
    for (std::size_t i = 0; i < n_rows; ++i) {
        const std::uint8_t* from = outcomes + static_cast<std::size_t>(codes[i]) * n_bytes;
        std::uint8_t* to = bits + i * row_bytes;
        for (std::size_t b = 0; b < n_bytes; ++b) to[b] |= from[b];
    }
}

}  // namespace sktree_opt
