// Vector primitives of AVX-512 (F, BW, VL and DQ) and, where SKTREE_BITALG is defined, of BITALG.
// Included inside a namespace compiled for that instruction set.

#define SKTREE_MASKS 1  // whether instructions take masks

constexpr int LANES = 32;
constexpr int VECTOR_BYTES = 64;
constexpr int BLOCK_ROWS = 8;
constexpr int BLOCK_VECTORS = 2;  // one broadcast serves two vectors of columns

typedef std::int16_t Vector16 __attribute__((vector_size(VECTOR_BYTES)));

SKTREE_INLINE Vector16 broadcast16(const std::uint16_t* word) {
    return (Vector16)_mm512_set1_epi16(static_cast<short>(*word));
}

// Plus `one` in each lane whose bit of `bits` (little-endian) is set.
SKTREE_INLINE Vector16 add_where(Vector16 lanes, const std::uint8_t* bits, Vector16 one) {
    std::uint32_t mask;
    std::memcpy(&mask, bits, sizeof(mask));
    return (Vector16)_mm512_mask_add_epi16((__m512i)lanes, mask, (__m512i)lanes, (__m512i)one);
}

// The sign of each lane, one bit a lane.
SKTREE_INLINE std::uint32_t sign_bits(Vector16 lanes) {
    return _mm512_movepi16_mask((__m512i)lanes);
}

// Writes `base` + k for each set bit k, and up to 15 numbers more; returns past the last valid one.
SKTREE_INLINE std::int32_t* append_bits(unsigned bits, std::int32_t base, std::int32_t* out) {
    const __m512i counting =
        _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i numbers = _mm512_add_epi32(counting, _mm512_set1_epi32(base));
    // Compressed in a register: compressing into memory is slow on some processors.
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi32(static_cast<__mmask16>(bits), numbers));
    return out + __builtin_popcount(bits);
}

// Eight sums of real values, plus `value` where the bit is set: with masks, one instruction.
SKTREE_INLINE Native<double, 64> add_value(Native<double, 64> sums, const std::uint8_t* bits,
                                           int part, double value) {
    return (Native<double, 64>)_mm512_mask_add_pd((__m512d)sums, bits[part], (__m512d)sums,
                                                  _mm512_set1_pd(value));
}

// Sixteen sums of whole values in the same way.
SKTREE_INLINE Native<std::int32_t, 64> add_value(Native<std::int32_t, 64> sums,
                                                 const std::uint8_t* bits, int part,
                                                 std::int32_t value) {
    std::uint16_t mask;
    std::memcpy(&mask, bits + 2 * part, sizeof(mask));
    return (Native<std::int32_t, 64>)_mm512_mask_add_epi32((__m512i)sums, mask, (__m512i)sums,
                                                           _mm512_set1_epi32(value));
}

#if defined(SKTREE_BITALG)
// BITALG (Intel since Ice Lake, AMD since Zen 4) counts with one popcount an instruction, in lanes
// of 16 bits. The counts of a block take 16 of the 32 registers.

#define SKTREE_ONLY_16_BITS 1  // other kernels gain nothing from BITALG
constexpr int STEPS_PER_FOLD = 2047;
constexpr bool FOLDS = false;  // whether counts are bytes until folded

SKTREE_INLINE Vector16 add_popcount(Vector16 counts, Vector16 bits) {
    return counts + (Vector16)_mm512_popcnt_epi16((__m512i)bits);
}
SKTREE_INLINE Vector16 fold_counts(Vector16 counts) { return counts; }

#else
// Processors without BITALG are still common in servers. Counts are bytes until they are folded,
// and a shuffle looks them up.

constexpr int STEPS_PER_FOLD = 31;  // a byte holds 31 * 8 counts
constexpr bool FOLDS = true;        // whether counts are bytes until folded

SKTREE_INLINE Vector16 add_popcount(Vector16 counts, Vector16 bits) {
    const __m512i table =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    const __m512i low = _mm512_set1_epi8(15);
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

#endif
