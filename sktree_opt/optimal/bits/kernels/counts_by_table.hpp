// Pair counts without an instruction that counts bits, of a block of columns i against two vectors
// of columns j. Included once per instruction set that has a shuffle and no such instruction.
//
// A shuffle looks up 16 nibbles at once in a table of 16 numbers, in each quarter of a vector
// (half, with AVX2). The table belongs to a nibble of column i: it holds the number of bits that
// each nibble has in common with it. So no broadcast and no "and" is needed, and nibbles of columns
// j are prepared once for all rows of a block. Two vectors are mixed first, low bytes of both and
// high bytes of both. So a byte of a count is a column of the first vector or of the second.

constexpr int STEPS_BY_TABLE = 15;  // a byte holds 15 * 16 counts

// Adds the counts of pairs (i + a, 2 * LANES columns from j) over the words first..last.
template <int ROWS>
SKTREE_INLINE void count_words_by_table(const std::uint16_t* words, int stride, int first, int last,
                                        int i, int j, Vector16 (&counts)[ROWS][2]) {
    for (int start = first; start < last; start += STEPS_BY_TABLE) {
        const int end = last - start < STEPS_BY_TABLE ? last : start + STEPS_BY_TABLE;
        Vector16 partial[ROWS];
        for (int a = 0; a < ROWS; ++a) {
            partial[a] = Vector16{};
        }
        for (int w = start; w < end; ++w) {
            const std::uint16_t* row = words + static_cast<std::ptrdiff_t>(w) * stride;
            Vector16 nibbles[4];
            split_nibbles(load_native<std::int16_t, VECTOR_BYTES>(row + j),
                          load_native<std::int16_t, VECTOR_BYTES>(row + j + LANES), nibbles);
            SKTREE_UNROLL
            for (int a = 0; a < ROWS; ++a) {
                partial[a] = add_common(partial[a], nibbles, row + i + a);
            }
        }
        for (int a = 0; a < ROWS; ++a) fold_common(partial[a], counts[a][0], counts[a][1]);
    }
}
