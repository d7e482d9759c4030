// Vector primitives, NEON of 64-bit ARM. Included inside a namespace of its own.

constexpr int LANES = 8;
constexpr int VECTOR_BYTES = 16;
constexpr int BLOCK_ROWS = 8;
constexpr int BLOCK_VECTORS = 1;
constexpr int STEPS_PER_FOLD = 2047;
constexpr bool FOLDS = false;  // whether counts are bytes until folded

typedef std::int16_t Vector16 __attribute__((vector_size(VECTOR_BYTES)));

// Counts of bytes, added pairwise into the 16-bit lanes.
SKTREE_INLINE Vector16 add_popcount(Vector16 counts, Vector16 bits) {
    return (Vector16)vpadalq_u8((uint16x8_t)counts, vcntq_u8((uint8x16_t)bits));
}
SKTREE_INLINE Vector16 fold_counts(Vector16 counts) { return counts; }

SKTREE_INLINE Vector16 broadcast16(const std::uint16_t* word) {
    return (Vector16)vdupq_n_u16(*word);
}

SKTREE_INLINE Vector16 add_where(Vector16 lanes, const std::uint8_t* bits, Vector16 one) {
    const uint16x8_t selector = {1, 2, 4, 8, 16, 32, 64, 128};
    return lanes + ((Vector16)vtstq_u16(vdupq_n_u16(*bits), selector) & one);
}

SKTREE_INLINE std::uint32_t sign_bits(Vector16 lanes) {
    const uint16x8_t selector = {1, 2, 4, 8, 16, 32, 64, 128};
    const uint16x8_t negative = vcltzq_s16((int16x8_t)lanes);
    return vaddvq_u16(vandq_u16(negative, selector));
}
