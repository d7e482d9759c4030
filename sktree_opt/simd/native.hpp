// The machine's vector of `BYTES` bytes: GCC's and Clang's vector types, or a plain array.
// Included once per instruction set.

#if defined(__GNUC__)

template <class T, int BYTES>
struct NativeOf {
    typedef T type __attribute__((vector_size(BYTES)));
};
template <class T, int BYTES>
using Native = typename NativeOf<T, BYTES>::type;

template <class T, int BYTES>
SKTREE_INLINE Native<T, BYTES> fill_native(T value) {
    return Native<T, BYTES>{} + value;
}
// Through a type that may stand anywhere: a memcpy is split into narrower moves by some compilers,
// whose results a wide load then has to wait for.
template <class T, int BYTES>
struct AnywhereOf {
    typedef T type __attribute__((vector_size(BYTES), aligned(1), may_alias));
};
template <class T, int BYTES>
SKTREE_INLINE Native<T, BYTES> load_native(const void* from) {
    return *static_cast<const typename AnywhereOf<T, BYTES>::type*>(from);
}
template <class T, int BYTES>
SKTREE_INLINE void store_native(void* to, Native<T, BYTES> value) {
    *static_cast<typename AnywhereOf<T, BYTES>::type*>(to) = value;
}
template <class N>
SKTREE_INLINE N larger_native(N a, N b) {
    return a > b ? a : b;
}
template <class N>
SKTREE_INLINE N smaller_native(N a, N b) {
    return a < b ? a : b;
}
template <class N>
SKTREE_INLINE N magnitude_native(N a) {
    return a < 0 ? -a : a;
}
// `a` where value >= minimum, else `b`.
template <class N>
SKTREE_INLINE N where_at_least_native(N value, N minimum, N a, N b) {
    return value >= minimum ? a : b;
}
template <int BYTES>
SKTREE_INLINE Native<float, BYTES> to_float_native(Native<std::int32_t, BYTES> whole) {
    return __builtin_convertvector(whole, Native<float, BYTES>);
}

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define SKTREE_SHUFFLES 1
#endif
#endif
#if defined(SKTREE_SHUFFLES)
template <int BYTES, int UPPER, int... LANE>
SKTREE_INLINE Native<std::int32_t, BYTES> every_other_lane(Native<std::int32_t, BYTES> a,
                                                           Native<std::int32_t, BYTES> b,
                                                           std::integer_sequence<int, LANE...>) {
    return __builtin_shufflevector(a, b, (2 * LANE + UPPER)...);
}
template <int BYTES, int COUNT, int... LANE>
SKTREE_INLINE Native<std::uint64_t, BYTES> lanes_moved_up(Native<std::uint64_t, BYTES> a,
                                                          std::integer_sequence<int, LANE...>) {
    constexpr int WIDTH = BYTES / 8;
    return __builtin_shufflevector(Native<std::uint64_t, BYTES>{}, a,
                                   (LANE < COUNT ? LANE : WIDTH + LANE - COUNT)...);
}
#endif
// The halves of 64-bit numbers, the lower ones or the upper ones, of two vectors as one.
template <int BYTES, int UPPER>
SKTREE_INLINE Native<std::int32_t, BYTES> halves_native(Native<std::uint64_t, BYTES> a,
                                                        Native<std::uint64_t, BYTES> b) {
#if defined(SKTREE_SHUFFLES)
    return every_other_lane<BYTES, UPPER>(reinterpret_cast<Native<std::int32_t, BYTES>>(a),
                                          reinterpret_cast<Native<std::int32_t, BYTES>>(b),
                                          std::make_integer_sequence<int, BYTES / 4>());
#else
    Native<std::int32_t, BYTES> halves;
    for (int k = 0; k < BYTES / 8; ++k) {
        halves[k] = static_cast<std::int32_t>(a[k] >> 32 * UPPER);
        halves[k + BYTES / 8] = static_cast<std::int32_t>(b[k] >> 32 * UPPER);
    }
    return halves;
#endif
}
// Sums up to each lane.
template <int BYTES>
SKTREE_INLINE Native<std::uint64_t, BYTES> sums_native(Native<std::uint64_t, BYTES> a) {
#if defined(SKTREE_SHUFFLES)
    constexpr std::make_integer_sequence<int, BYTES / 8> lanes{};
    a = a + lanes_moved_up<BYTES, 1>(a, lanes);
    if constexpr (BYTES >= 32) a = a + lanes_moved_up<BYTES, 2>(a, lanes);
    if constexpr (BYTES >= 64) a = a + lanes_moved_up<BYTES, 4>(a, lanes);
#else
    for (int k = 1; k < BYTES / 8; ++k) a[k] += a[k - 1];
#endif
    return a;
}
template <int BYTES>
SKTREE_INLINE std::uint64_t last_lane_native(Native<std::uint64_t, BYTES> a) {
    return a[BYTES / 8 - 1];
}

#else

template <class T, int BYTES>
struct alignas(BYTES) Native {
    static constexpr int SIZE = BYTES / sizeof(T);
    T lane[SIZE];
#define SKTREE_LANEWISE(op)                                                                \
    friend Native operator op(Native a, Native b) {                                        \
        for (int k = 0; k < SIZE; ++k) a.lane[k] = static_cast<T>(a.lane[k] op b.lane[k]); \
        return a;                                                                          \
    }
    SKTREE_LANEWISE(+)
    SKTREE_LANEWISE(-)
    SKTREE_LANEWISE(*)
    SKTREE_LANEWISE(/)
#undef SKTREE_LANEWISE
    friend Native operator&(Native a, Native b) {
        for (int k = 0; k < SIZE; ++k) a.lane[k] = static_cast<T>(a.lane[k] & b.lane[k]);
        return a;
    }
    friend Native operator>>(Native a, int count) {
        for (int k = 0; k < SIZE; ++k) a.lane[k] = static_cast<T>(a.lane[k] >> count);
        return a;
    }
};

template <class T, int BYTES>
SKTREE_INLINE Native<T, BYTES> fill_native(T value) {
    Native<T, BYTES> filled;
    for (T& lane : filled.lane) lane = value;
    return filled;
}
template <class T, int BYTES>
SKTREE_INLINE Native<T, BYTES> load_native(const void* from) {
    Native<T, BYTES> value;
    std::memcpy(&value, from, BYTES);
    return value;
}
template <class T, int BYTES>
SKTREE_INLINE void store_native(void* to, Native<T, BYTES> value) {
    std::memcpy(to, &value, BYTES);
}
template <class N>
SKTREE_INLINE N larger_native(N a, N b) {
    for (int k = 0; k < N::SIZE; ++k) a.lane[k] = a.lane[k] > b.lane[k] ? a.lane[k] : b.lane[k];
    return a;
}
template <class N>
SKTREE_INLINE N smaller_native(N a, N b) {
    for (int k = 0; k < N::SIZE; ++k) a.lane[k] = a.lane[k] < b.lane[k] ? a.lane[k] : b.lane[k];
    return a;
}
template <class N>
SKTREE_INLINE N magnitude_native(N a) {
    for (int k = 0; k < N::SIZE; ++k) a.lane[k] = a.lane[k] < 0 ? -a.lane[k] : a.lane[k];
    return a;
}
template <class N>
SKTREE_INLINE N where_at_least_native(N value, N minimum, N a, N b) {
    for (int k = 0; k < N::SIZE; ++k) {
        if (!(value.lane[k] >= minimum.lane[k])) a.lane[k] = b.lane[k];
    }
    return a;
}
template <int BYTES>
SKTREE_INLINE Native<float, BYTES> to_float_native(Native<std::int32_t, BYTES> whole) {
    Native<float, BYTES> numbers;
    for (int k = 0; k < numbers.SIZE; ++k) numbers.lane[k] = static_cast<float>(whole.lane[k]);
    return numbers;
}
template <int BYTES, int UPPER>
SKTREE_INLINE Native<std::int32_t, BYTES> halves_native(Native<std::uint64_t, BYTES> a,
                                                        Native<std::uint64_t, BYTES> b) {
    Native<std::int32_t, BYTES> halves;
    for (int k = 0; k < a.SIZE; ++k) {
        halves.lane[k] = static_cast<std::int32_t>(a.lane[k] >> 32 * UPPER);
        halves.lane[k + a.SIZE] = static_cast<std::int32_t>(b.lane[k] >> 32 * UPPER);
    }
    return halves;
}
template <int BYTES>
SKTREE_INLINE Native<std::uint64_t, BYTES> sums_native(Native<std::uint64_t, BYTES> a) {
    for (int k = 1; k < a.SIZE; ++k) a.lane[k] += a.lane[k - 1];
    return a;
}
template <int BYTES>
SKTREE_INLINE std::uint64_t last_lane_native(Native<std::uint64_t, BYTES> a) {
    return a.lane[a.SIZE - 1];
}

#endif

SKTREE_INLINE int count_bits(unsigned bits) {
#if defined(__GNUC__)
    return __builtin_popcount(bits);
#else
    int count = 0;
    for (; bits != 0; bits &= bits - 1) ++count;
    return count;
#endif
}
SKTREE_INLINE int lowest_bit(unsigned bits) {
#if defined(__GNUC__)
    return __builtin_ctz(bits);
#else
    int at = 0;
    while (((bits >> at) & 1) == 0) ++at;
    return at;
#endif
}
