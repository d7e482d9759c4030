// Vectors of VECTOR_BYTES, as wide as the instruction set that is compiled.
// Included once per instruction set.

template <class T>
using Vector = Native<T, VECTOR_BYTES>;

template <class T>
SKTREE_INLINE Vector<T> splat(T value) {
    return fill_native<T, VECTOR_BYTES>(value);
}
template <class T>
SKTREE_INLINE Vector<T> load(const T* from) {
    return load_native<T, VECTOR_BYTES>(from);
}
template <class T>
SKTREE_INLINE void store(T* to, Vector<T> vector) {
    store_native<T, VECTOR_BYTES>(to, vector);
}
// `a` where value >= minimum, else `b`.
template <class V>
SKTREE_INLINE V where_at_least(V value, V minimum, V a, V b) {
    return where_at_least_native(value, minimum, a, b);
}
template <class V>
SKTREE_INLINE V larger(V a, V b) {
    return larger_native(a, b);
}
template <class V>
SKTREE_INLINE V smaller(V a, V b) {
    return where_at_least_native(a, b, b, a);
}
