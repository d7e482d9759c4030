// A number for each of LANES columns, in as many native vectors as its type needs. Included once
// per instruction set.

template <class T>
struct Pack {
    using N = Native<T, VECTOR_BYTES>;
    static constexpr int PARTS = LANES * sizeof(T) / VECTOR_BYTES;
    N part[PARTS];
};

template <class T>
SKTREE_INLINE Pack<T> load_pack(const T* from) {
    Pack<T> pack;
    for (int k = 0; k < Pack<T>::PARTS; ++k) {
        pack.part[k] = load_native<T, VECTOR_BYTES>(from + k * (VECTOR_BYTES / sizeof(T)));
    }
    return pack;
}
template <class T>
SKTREE_INLINE void store_pack(T* to, Pack<T> pack) {
    for (int k = 0; k < Pack<T>::PARTS; ++k) {
        store_native<T, VECTOR_BYTES>(to + k * (VECTOR_BYTES / sizeof(T)), pack.part[k]);
    }
}
template <class T>
SKTREE_INLINE Pack<T> fill_pack(T value) {
    Pack<T> pack;
    for (int k = 0; k < Pack<T>::PARTS; ++k) pack.part[k] = fill_native<T, VECTOR_BYTES>(value);
    return pack;
}

#define SKTREE_LANEWISE(op)                                                          \
    template <class T>                                                               \
    SKTREE_INLINE Pack<T> operator op(Pack<T> a, Pack<T> b) {                        \
        for (int k = 0; k < Pack<T>::PARTS; ++k) a.part[k] = a.part[k] op b.part[k]; \
        return a;                                                                    \
    }
SKTREE_LANEWISE(+)
SKTREE_LANEWISE(-)
SKTREE_LANEWISE(*)
SKTREE_LANEWISE(/)
#undef SKTREE_LANEWISE

template <class T>
SKTREE_INLINE Pack<T> larger(Pack<T> a, Pack<T> b) {
    for (int k = 0; k < Pack<T>::PARTS; ++k) a.part[k] = larger_native(a.part[k], b.part[k]);
    return a;
}
template <class T>
SKTREE_INLINE Pack<T> smaller(Pack<T> a, Pack<T> b) {
    for (int k = 0; k < Pack<T>::PARTS; ++k) a.part[k] = smaller_native(a.part[k], b.part[k]);
    return a;
}
template <class T>
SKTREE_INLINE Pack<T> magnitude(Pack<T> a) {
    for (int k = 0; k < Pack<T>::PARTS; ++k) a.part[k] = magnitude_native(a.part[k]);
    return a;
}
template <class T>
SKTREE_INLINE Pack<T> where_at_least(Pack<T> value, Pack<T> minimum, Pack<T> a, Pack<T> b) {
    for (int k = 0; k < Pack<T>::PARTS; ++k) {
        a.part[k] = where_at_least_native(value.part[k], minimum.part[k], a.part[k], b.part[k]);
    }
    return a;
}

// 16-bit counts in the lanes' own type.
template <class T>
SKTREE_INLINE Pack<T> widen(Vector16 counts) {
    std::int16_t narrow[LANES];
    T wide[LANES];
    store_native<std::int16_t, VECTOR_BYTES>(narrow, counts);
    for (int lane = 0; lane < LANES; ++lane) wide[lane] = static_cast<T>(narrow[lane]);
    return load_pack(wide);
}
template <>
SKTREE_INLINE Pack<std::int16_t> widen<std::int16_t>(Vector16 counts) {
    Pack<std::int16_t> pack;
    pack.part[0] = counts;
    return pack;
}

template <class T>
SKTREE_INLINE T largest_lane(Pack<T> pack) {
    T lanes[LANES];
    store_pack(lanes, pack);
    T best = lanes[0];
    for (int lane = 1; lane < LANES; ++lane) best = lanes[lane] > best ? lanes[lane] : best;
    return best;
}

// Instruction sets without masks; simd_avx512.hpp has the same functions with masks.
#if !defined(SKTREE_MASKS)

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
SKTREE_INLINE Native<std::int32_t, VECTOR_BYTES> add_value(Native<std::int32_t, VECTOR_BYTES> sums,
                                                           const std::uint8_t* bits, int part,
                                                           std::int32_t value) {
    const int lane = part * (VECTOR_BYTES / 4);
    const std::int32_t* const mask = WORD_MASKS.of[bits[lane / 8]] + lane % 8;
    return sums + (fill_native<std::int32_t, VECTOR_BYTES>(value) &
                   load_native<std::int32_t, VECTOR_BYTES>(mask));
}

#endif
