// Converts between the two forms of a node's bits: rows of bits, from which a child takes its own,
// and words of 16 rows by column, which counting reads. Included once per instruction set.

// A word of sixteen rows or, at the end, fewer: row k is bit k. Rows depend on each other only
// through the sums, so each takes one instruction.
SKTREE_INLINE Vector16 word_of_rows(const std::uint8_t* rows, int row_bytes,
                                    const std::int32_t* slots, int count) {
    Vector16 lanes = Vector16{}, one = fill_native<std::int16_t, VECTOR_BYTES>(1);
    SKTREE_UNROLL
    for (int k = 0; k < count; ++k) {
        lanes = add_where(lanes, rows + static_cast<std::ptrdiff_t>(slots[k]) * row_bytes, one);
        one = one + one;
    }
    return lanes;
}

// Rows `slots` (`row_bytes` apart in `rows`) become words of 16, the last one padded with zeros.
inline void rows_to_words(const std::uint8_t* rows, int row_bytes, const std::int32_t* slots,
                          int n_rows, std::uint16_t* words, int stride) {
    for (int start = 0; start < n_rows; start += 16, words += stride) {
        const int count = n_rows - start < 16 ? n_rows - start : 16;
        for (int j = 0; j < stride; j += LANES) {
            const std::uint8_t* from = rows + j / 8;
            // The usual count is a constant, so that the loop is unrolled.
            const Vector16 lanes = count == 16
                                       ? word_of_rows(from, row_bytes, slots + start, 16)
                                       : word_of_rows(from, row_bytes, slots + start, count);
            store_native<std::int16_t, VECTOR_BYTES>(words + j, lanes);
        }
    }
}

// The inverse: row 16 w + b has, for each column, bit b of word w.
inline void words_to_rows(const std::uint16_t* words, int n_words, int stride, std::uint8_t* rows,
                          int row_bytes) {
    for (int w = 0; w < n_words; ++w) {
        for (int j = 0; j < stride; j += LANES) {
            Vector16 lanes = load_native<std::int16_t, VECTOR_BYTES>(
                words + static_cast<std::ptrdiff_t>(w) * stride + j);
            std::uint8_t* row =
                rows + (static_cast<std::ptrdiff_t>(w) * 16 + 15) * row_bytes + j / 8;
            for (int b = 15; b >= 0; --b, row -= row_bytes) {
                const std::uint32_t bits = sign_bits(lanes);
                std::memcpy(row, &bits, LANES / 8);
                lanes = lanes + lanes;
            }
        }
    }
}

// Slots of the rows on one side of a test, words first..last; `slots` has room for 15 more.
inline int list_side(const std::uint16_t* words, const std::uint16_t* present, int stride,
                     int column, bool side, int first, int last, std::int32_t* slots) {
    std::int32_t* out = slots;
    const unsigned flip = side ? 0u : 0xFFFFu;
    for (int w = first; w < last; ++w) {
        const unsigned bits = words[static_cast<std::ptrdiff_t>(w) * stride + column];
        out = append_bits((bits ^ flip) & present[w], 16 * w, out);
    }
    return static_cast<int>(out - slots);
}

// Number of set bits of every `stride`-th word.
inline int count_column(const std::uint16_t* words, int stride, int n_words) {
    int count = 0;
    for (int w = 0; w < n_words; ++w) {
        count += count_bits(words[static_cast<std::ptrdiff_t>(w) * stride]);
    }
    return count;
}
