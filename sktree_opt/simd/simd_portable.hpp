// Vector primitives in plain C++, for any processor. On GCC and Clang a vector is a built-in type
// of 16 bytes, which every 64-bit target has registers for; elsewhere it is an array.

constexpr int LANES = 8;
constexpr int VECTOR_BYTES = 16;
constexpr int BLOCK_ROWS = 2;
constexpr int BLOCK_VECTORS = 2;
constexpr int STEPS_PER_FOLD = 31;
constexpr bool FOLDS = true;  // whether counts are bytes until folded

using Vector16 = Native<std::int16_t, VECTOR_BYTES>;

SKTREE_INLINE Vector16 constant16(std::uint16_t value) {
    return fill_native<std::int16_t, VECTOR_BYTES>(static_cast<std::int16_t>(value));
}

// Bits summed in pairs, nibbles and bytes; counts stay bytes until folded.
SKTREE_INLINE Vector16 add_popcount(Vector16 counts, Vector16 bits) {
    const Vector16 odd = constant16(0x5555), pairs = constant16(0x3333), low = constant16(0x0F0F);
    // The sign of a lane is shifted down too, and masked away.
    const Vector16 twos = bits - ((bits >> 1) & odd);
    const Vector16 fours = (twos & pairs) + ((twos >> 2) & pairs);
    return counts + ((fours + (fours >> 4)) & low);
}
SKTREE_INLINE Vector16 fold_counts(Vector16 counts) {
    const Vector16 bytes = constant16(255);
    return (counts & bytes) + ((counts >> 8) & bytes);
}

SKTREE_INLINE Vector16 broadcast16(const std::uint16_t* word) { return constant16(*word); }

SKTREE_INLINE Vector16 add_where(Vector16 lanes, const std::uint8_t* bits, Vector16 one) {
    return lanes + (load_native<std::int16_t, VECTOR_BYTES>(BYTE_MASKS.of[*bits]) & one);
}

SKTREE_INLINE std::uint32_t sign_bits(Vector16 lanes) {
    std::uint16_t spread[LANES];
    std::memcpy(spread, &lanes, sizeof(lanes));
    std::uint32_t bits = 0;
    for (int lane = 0; lane < LANES; ++lane) bits |= (spread[lane] >> 15) << lane;
    return bits;
}
