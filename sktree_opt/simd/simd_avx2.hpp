// Vector primitives, AVX2. Included inside a namespace compiled for that instruction set.

#define SKTREE_COUNTS_BY_TABLE 1  // whether counts_by_table.hpp serves
constexpr int LANES = 16;
constexpr int VECTOR_BYTES = 32;
constexpr int BLOCK_ROWS = 4;
constexpr int BLOCK_VECTORS = 2;
constexpr int STEPS_PER_FOLD = 31;  // a byte holds 31 * 8 counts
constexpr bool FOLDS = true;        // whether counts are bytes until folded
constexpr bool BY_TABLE = true;     // whether counts_by_table.hpp serves

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

SKTREE_INLINE void split_nibbles(Vector16 first, Vector16 second, Vector16 (&nibbles)[4]) {
    const __m256i a = (__m256i)first, b = (__m256i)second;
    const __m256i lower = _mm256_set1_epi16(255), low = _mm256_set1_epi8(15);
    const __m256i low_bytes = _mm256_or_si256(_mm256_and_si256(a, lower), _mm256_slli_epi16(b, 8));
    const __m256i high_bytes =
        _mm256_or_si256(_mm256_srli_epi16(a, 8), _mm256_andnot_si256(lower, b));
    nibbles[0] = (Vector16)_mm256_and_si256(low_bytes, low);
    nibbles[1] = (Vector16)_mm256_and_si256(_mm256_srli_epi16(low_bytes, 4), low);
    nibbles[2] = (Vector16)_mm256_and_si256(high_bytes, low);
    nibbles[3] = (Vector16)_mm256_and_si256(_mm256_srli_epi16(high_bytes, 4), low);
}
SKTREE_INLINE Vector16 add_common(Vector16 counts, const Vector16 (&nibbles)[4],
                                  const std::uint16_t* word) {
    const std::uint8_t* bytes = reinterpret_cast<const std::uint8_t*>(word);
    __m256i sums = (__m256i)counts;
    SKTREE_UNROLL
    for (int k = 0; k < 4; ++k) {
        const std::uint8_t* table = COMMON_BITS.of[bytes[k / 2]][k % 2];
        const __m256i spread =
            _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table)));
        sums = _mm256_add_epi8(sums, _mm256_shuffle_epi8(spread, (__m256i)nibbles[k]));
    }
    return (Vector16)sums;
}
SKTREE_INLINE void fold_common(Vector16 counts, Vector16& first, Vector16& second) {
    const __m256i bytes = (__m256i)counts;
    first += (Vector16)_mm256_and_si256(bytes, _mm256_set1_epi16(255));
    second += (Vector16)_mm256_srli_epi16(bytes, 8);
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

constexpr bool REDUCES = true;  // whether there is largest_of_rows

// The largest of each of LANES rows of LANES numbers; see simd_avx512.hpp.
SKTREE_INLINE __m256i largest_by_128(const std::int16_t* rows) {
    const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(rows));
    const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(rows + 8 * LANES));
    return _mm256_max_epi16(_mm256_permute2x128_si256(a, b, 0x20),
                            _mm256_permute2x128_si256(a, b, 0x31));
}
SKTREE_INLINE __m256i largest_by_64(const std::int16_t* rows) {
    const __m256i a = largest_by_128(rows), b = largest_by_128(rows + 2 * LANES);
    return _mm256_max_epi16(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
}
SKTREE_INLINE __m256i largest_by_32(const std::int16_t* rows) {
    const __m256 a = _mm256_castsi256_ps(largest_by_64(rows));
    const __m256 b = _mm256_castsi256_ps(largest_by_64(rows + 4 * LANES));
    return _mm256_max_epi16(_mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88)),
                            _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0xDD)));
}
SKTREE_INLINE Vector16 largest_of_rows(const std::int16_t* rows) {
    const __m256i a = largest_by_32(rows), b = largest_by_32(rows + LANES);
    return (Vector16)_mm256_blend_epi16(_mm256_max_epi16(a, _mm256_srli_epi32(a, 16)),
                                        _mm256_max_epi16(b, _mm256_slli_epi32(b, 16)), 0xAA);
}
