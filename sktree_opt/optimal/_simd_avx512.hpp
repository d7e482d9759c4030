// Vector primitives, AVX-512 with BW, VL and BITALG (Intel since Ice Lake, AMD since Zen 4).
// Included inside a namespace compiled for that instruction set.

constexpr int LANES = 32;
constexpr int VECTOR_BYTES = 64;
constexpr int BLOCK_ROWS = 8;     // 16 of the 32 registers hold counts
constexpr int BLOCK_VECTORS = 2;  // one broadcast serves two vectors of columns
constexpr int STEPS_PER_FOLD = 2047;

typedef std::int16_t Vector16 __attribute__((vector_size(VECTOR_BYTES)));

// One popcount an instruction: counts are 16-bit lanes at once.
SKTREE_INLINE Vector16 add_popcount(Vector16 counts, Vector16 bits) {
    return counts + (Vector16)_mm512_popcnt_epi16((__m512i)bits);
}
SKTREE_INLINE Vector16 fold_counts(Vector16 counts) { return counts; }

SKTREE_INLINE Vector16 broadcast16(const std::uint16_t* word) {
    return (Vector16)_mm512_set1_epi16(static_cast<short>(*word));
}

// Each lane doubled, plus the lane's bit of `bits` (little-endian).
SKTREE_INLINE Vector16 shift_in(Vector16 lanes, const std::uint8_t* bits) {
    std::uint32_t mask;
    std::memcpy(&mask, bits, sizeof(mask));
    const __m512i doubled = _mm512_add_epi16((__m512i)lanes, (__m512i)lanes);
    return (Vector16)_mm512_mask_add_epi16(doubled, mask, doubled, _mm512_set1_epi16(1));
}

// The sign of each lane, one bit a lane.
SKTREE_INLINE std::uint32_t sign_bits(Vector16 lanes) {
    return _mm512_movepi16_mask((__m512i)lanes);
}
