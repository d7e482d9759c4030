// Between the two forms of a node's bits: a row of bits per table row, from which a child takes the
// rows it needs, and the words of 16 rows by column that counting reads. Included once per
// instruction set.

// Rows `slots` (`row_bytes` apart in `rows`) become words of 16, the last one padded with zeros.
inline void rows_to_words(
    const std::uint8_t* rows,
    int row_bytes,
    const std::int32_t* slots,
    int n_rows,
    std::uint16_t* words,
    int stride) {
    for (int start = 0; start < n_rows; start += 16, words += stride) {
        const int count = n_rows - start < 16 ? n_rows - start : 16;
        for (int j = 0; j < stride; j += LANES) {
            Vector16 lanes = Vector16{};
            for (int k = 0; k < count; ++k)
                lanes = shift_in(
                    lanes,
                    rows + static_cast<std::ptrdiff_t>(slots[start + k]) * row_bytes + j / 8);
            std::memcpy(words + j, &lanes, sizeof(lanes));
        }
    }
}

// The inverse: row 16 w + b has, for each column, bit b of word w.
inline void words_to_rows(
    const std::uint16_t* words, int n_words, int stride, std::uint8_t* rows, int row_bytes) {
    for (int w = 0; w < n_words; ++w) {
        for (int j = 0; j < stride; j += LANES) {
            Vector16 lanes;
            std::memcpy(&lanes, words + static_cast<std::ptrdiff_t>(w) * stride + j, sizeof(lanes));
            std::uint8_t* row = rows + (static_cast<std::ptrdiff_t>(w) * 16 + 15) * row_bytes + j / 8;
            for (int b = 15; b >= 0; --b, row -= row_bytes) {
                const std::uint32_t bits = sign_bits(lanes);
                std::memcpy(row, &bits, LANES / 8);
                lanes = lanes + lanes;
            }
        }
    }
}

// Two polynomial hashes of each column; that of a complement follows by subtraction.
inline void hash_columns(
    const std::uint16_t* words, int n_words, int stride, int n_columns, std::uint32_t* hashes) {
    for (int j = 0; j < n_columns; j += LANES) {
        std::uint32_t first[LANES] = {}, second[LANES] = {};
        for (int w = 0; w < n_words; ++w) {
            const std::uint16_t* row = words + static_cast<std::ptrdiff_t>(w) * stride + j;
            for (int lane = 0; lane < LANES; ++lane) {
                first[lane] = first[lane] * 0x9E3779B1u + row[lane];
                second[lane] = second[lane] * 0x85EBCA6Bu + row[lane];
            }
        }
        std::memcpy(hashes + j, first, sizeof(first));
        std::memcpy(hashes + stride + j, second, sizeof(second));
    }
}
