// The machine's vector as a type: GCC's and Clang's built-in vectors, or a plain array elsewhere.
// Included once per instruction set, where VECTOR_BYTES is known.

#if defined(__GNUC__)

template <class T>
struct VectorOf {
    typedef T type __attribute__((vector_size(VECTOR_BYTES)));
};
template <class T>
using Vector = typename VectorOf<T>::type;

template <class T>
SKTREE_INLINE Vector<T> splat(T value) {
    return Vector<T>{} + value;
}
template <class V>
SKTREE_INLINE V smaller(V a, V b) {
    return a < b ? a : b;
}
template <class V>
SKTREE_INLINE V larger(V a, V b) {
    return a > b ? a : b;
}
// `a` where value >= minimum, else `b`.
template <class V>
SKTREE_INLINE V where_at_least(V value, V minimum, V a, V b) {
    return value >= minimum ? a : b;
}

#else

template <class T>
struct alignas(VECTOR_BYTES) Vector {
    static constexpr int SIZE = VECTOR_BYTES / sizeof(T);
    T lane[SIZE];
#define SKTREE_LANEWISE(op)                                                                \
    friend Vector operator op(Vector a, Vector b) {                                        \
        for (int k = 0; k < SIZE; ++k) a.lane[k] = static_cast<T>(a.lane[k] op b.lane[k]); \
        return a;                                                                          \
    }
    SKTREE_LANEWISE(+)
    SKTREE_LANEWISE(-)
    SKTREE_LANEWISE(*)
    SKTREE_LANEWISE(/)
#undef SKTREE_LANEWISE
};
template <class T>
SKTREE_INLINE Vector<T> splat(T value) {
    Vector<T> vector;
    for (T& lane : vector.lane) lane = value;
    return vector;
}
template <class V>
SKTREE_INLINE V smaller(V a, V b) {
    for (int k = 0; k < V::SIZE; ++k) a.lane[k] = b.lane[k] < a.lane[k] ? b.lane[k] : a.lane[k];
    return a;
}
template <class V>
SKTREE_INLINE V larger(V a, V b) {
    for (int k = 0; k < V::SIZE; ++k) a.lane[k] = b.lane[k] > a.lane[k] ? b.lane[k] : a.lane[k];
    return a;
}
template <class V>
SKTREE_INLINE V where_at_least(V value, V minimum, V a, V b) {
    for (int k = 0; k < V::SIZE; ++k)
        if (!(value.lane[k] >= minimum.lane[k])) a.lane[k] = b.lane[k];
    return a;
}

#endif

template <class T>
SKTREE_INLINE Vector<T> load(const T* from) {
    Vector<T> vector;
    std::memcpy(&vector, from, sizeof(vector));
    return vector;
}
template <class T>
SKTREE_INLINE void store(T* to, Vector<T> vector) {
    std::memcpy(to, &vector, sizeof(vector));
}
