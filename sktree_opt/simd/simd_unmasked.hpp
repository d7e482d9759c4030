// Vector primitives of instruction sets without masks. Included after those of the set, in its
// namespace.

// Writes `base` + k for each set bit k; returns past the last one.
SKTREE_INLINE std::int32_t* append_bits(unsigned bits, std::int32_t base, std::int32_t* out) {
    for (; bits != 0; bits &= bits - 1) *out++ = base + lowest_bit(bits);
    return out;
}

// Sums of real values, part `part` of a pack, plus `value` where the bit is set.
SKTREE_INLINE Native<double, VECTOR_BYTES> add_value(Native<double, VECTOR_BYTES> sums,
                                                     const std::uint8_t* bits, int part,
                                                     double value) {
    const int lane = part * (VECTOR_BYTES / 8);
    const double* const is_set = SPREAD_BYTE.of[bits[lane / 8]] + lane % 8;
    return sums +
           fill_native<double, VECTOR_BYTES>(value) * load_native<double, VECTOR_BYTES>(is_set);
}

// The same of whole values.
SKTREE_INLINE Native<std::int32_t, VECTOR_BYTES> add_whole(Native<std::int32_t, VECTOR_BYTES> sums,
                                                           const std::uint8_t* bits, int part,
                                                           std::int32_t value) {
    const int lane = part * (VECTOR_BYTES / 4);
    const std::int32_t* const mask = WORD_MASKS.of[bits[lane / 8]] + lane % 8;
    return sums + (fill_native<std::int32_t, VECTOR_BYTES>(value) &
                   load_native<std::int32_t, VECTOR_BYTES>(mask));
}
