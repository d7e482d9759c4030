// Vector primitives, AVX2. Included inside a namespace compiled for that instruction set.

constexpr int LANES = 16;
constexpr int VECTOR_BYTES = 32;
constexpr int BLOCK_ROWS = 4;
constexpr int BLOCK_VECTORS = 2;
constexpr int STEPS_PER_FOLD = 31;  // a byte holds 31 * 8 counts
constexpr bool FOLDS = true;        // whether counts are bytes until folded

typedef std::int16_t Vector16 __attribute__((vector_size(VECTOR_BYTES)));

// Counts are bytes until folded: a table of the 16 nibbles, looked up by shuffle.
SKTREE_INLINE Vector16 add_popcount(Vector16 counts, Vector16 bits) {
    const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1,
                                           2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i low = _mm256_set1_epi8(15);
    const __m256i below = _mm256_and_si256((__m256i)bits, low);
    const __m256i above = _mm256_and_si256(_mm256_srli_epi16((__m256i)bits, 4), low);
    const __m256i sums = _mm256_add_epi8((__m256i)counts, _mm256_shuffle_epi8(table, below));
    return (Vector16)_mm256_add_epi8(sums, _mm256_shuffle_epi8(table, above));
}
SKTREE_INLINE Vector16 fold_counts(Vector16 counts) {
    const __m256i bytes = (__m256i)counts;
    return (Vector16)_mm256_add_epi16(_mm256_and_si256(bytes, _mm256_set1_epi16(255)),
                                      _mm256_srli_epi16(bytes, 8));
}

SKTREE_INLINE Vector16 broadcast16(const std::uint16_t* word) {
    return (Vector16)_mm256_set1_epi16(static_cast<short>(*word));
}

SKTREE_INLINE Vector16 add_where(Vector16 lanes, const std::uint8_t* bits, Vector16 one) {
    std::uint16_t mask;
    std::memcpy(&mask, bits, sizeof(mask));
    const __m256i selector = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048,
                                               4096, 8192, 16384, -32768);
    const __m256i spread = _mm256_set1_epi16(static_cast<short>(mask));
    const __m256i is_set = _mm256_cmpeq_epi16(_mm256_and_si256(spread, selector), selector);
    return lanes + ((Vector16)is_set & one);
}

SKTREE_INLINE std::uint32_t sign_bits(Vector16 lanes) {
    const __m256i wide = (__m256i)lanes;
    const __m128i bytes =
        _mm_packs_epi16(_mm256_castsi256_si128(wide), _mm256_extracti128_si256(wide, 1));
    return static_cast<std::uint32_t>(_mm_movemask_epi8(bytes));
}
