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
template <class N>
SKTREE_INLINE N larger_native(N a, N b) {
    return a > b ? a : b;
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
template <class N>
SKTREE_INLINE N larger_native(N a, N b) {
    for (int k = 0; k < N::SIZE; ++k) a.lane[k] = a.lane[k] > b.lane[k] ? a.lane[k] : b.lane[k];
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

#endif
