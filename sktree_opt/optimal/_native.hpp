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
    for (int k = 0; k < N::SIZE; ++k)
        if (!(value.lane[k] >= minimum.lane[k])) a.lane[k] = b.lane[k];
    return a;
}
template <int BYTES>
SKTREE_INLINE Native<float, BYTES> to_float_native(Native<std::int32_t, BYTES> whole) {
    Native<float, BYTES> numbers;
    for (int k = 0; k < numbers.SIZE; ++k) numbers.lane[k] = static_cast<float>(whole.lane[k]);
    return numbers;
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
