// Counting without BITALG (the first processors with AVX-512, still common in servers): counts are
// bytes until folded, looked up by shuffle.

#define SKTREE_COUNTS_BY_TABLE 1    // whether counts_by_table.hpp serves
constexpr int STEPS_PER_FOLD = 31;  // a byte holds 31 * 8 counts
constexpr bool FOLDS = true;        // whether counts are bytes until folded
constexpr bool BY_TABLE = true;     // whether counts_by_table.hpp serves

SKTREE_INLINE __m512i table512(const std::uint8_t* table) {
    return _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table)));
}

SKTREE_INLINE Vector16 add_popcount(Vector16 counts, Vector16 bits) {
    const __m512i table = table512(COMMON_BITS.of[255][0]), low = _mm512_set1_epi8(15);
    const __m512i below = _mm512_and_si512((__m512i)bits, low);
    const __m512i above = _mm512_and_si512(_mm512_srli_epi16((__m512i)bits, 4), low);
    const __m512i sums = _mm512_add_epi8((__m512i)counts, _mm512_shuffle_epi8(table, below));
    return (Vector16)_mm512_add_epi8(sums, _mm512_shuffle_epi8(table, above));
}
SKTREE_INLINE Vector16 fold_counts(Vector16 counts) {
    const __m512i bytes = (__m512i)counts;
    return (Vector16)_mm512_add_epi16(_mm512_and_si512(bytes, _mm512_set1_epi16(255)),
                                      _mm512_srli_epi16(bytes, 8));
}

SKTREE_INLINE void split_nibbles(Vector16 first, Vector16 second, Vector16 (&nibbles)[4]) {
    const __m512i a = (__m512i)first, b = (__m512i)second;
    const __m512i lower = _mm512_set1_epi16(255), low = _mm512_set1_epi8(15);
    // 0xCA: the second where the first is set, else the third.
    const __m512i low_bytes = _mm512_ternarylogic_epi32(lower, a, _mm512_slli_epi16(b, 8), 0xCA);
    const __m512i high_bytes = _mm512_ternarylogic_epi32(lower, _mm512_srli_epi16(a, 8), b, 0xCA);
    nibbles[0] = (Vector16)_mm512_and_si512(low_bytes, low);
    nibbles[1] = (Vector16)_mm512_and_si512(_mm512_srli_epi16(low_bytes, 4), low);
    nibbles[2] = (Vector16)_mm512_and_si512(high_bytes, low);
    nibbles[3] = (Vector16)_mm512_and_si512(_mm512_srli_epi16(high_bytes, 4), low);
}
SKTREE_INLINE Vector16 add_common(Vector16 counts, const Vector16 (&nibbles)[4],
                                  const std::uint16_t* word) {
    const std::uint8_t* bytes = reinterpret_cast<const std::uint8_t*>(word);
    __m512i sums = (__m512i)counts;
    SKTREE_UNROLL
    for (int k = 0; k < 4; ++k) {
        const __m512i table = table512(COMMON_BITS.of[bytes[k / 2]][k % 2]);
        sums = _mm512_add_epi8(sums, _mm512_shuffle_epi8(table, (__m512i)nibbles[k]));
    }
    return (Vector16)sums;
}
SKTREE_INLINE void fold_common(Vector16 counts, Vector16& first, Vector16& second) {
    const __m512i bytes = (__m512i)counts;
    first += (Vector16)_mm512_and_si512(bytes, _mm512_set1_epi16(255));
    second += (Vector16)_mm512_srli_epi16(bytes, 8);
}
