// All kernels of the thresholds engine. Included once per instruction set, inside its namespace and
// after its primitives. For this reason these headers include nothing themselves.

// These kernels count no bits, so they gain nothing from BITALG.
#if !defined(SKTREE_ONLY_16_BITS)

using namespace sktree_opt::thresholds;

// Vectors as wide as the instruction set that is compiled.

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

#include "sktree_opt/optimal/thresholds/kernels/traverse_columns.hpp"
#include "sktree_opt/optimal/thresholds/kernels/two_class_pass.hpp"
#include "sktree_opt/optimal/thresholds/kernels/squares_pass.hpp"
#include "sktree_opt/optimal/thresholds/kernels/multi_class_pass.hpp"
#include "sktree_opt/optimal/thresholds/kernels/rough_pair_scores.hpp"

template <class Lane>
PassKernels<Lane> pass_kernels() {
    PassKernels<Lane> kernels;
    kernels.two_class[0] = &two_class_pass<Lane, false>;
    kernels.two_class[1] = &two_class_pass<Lane, true>;
    kernels.multi_class[0] = &multi_class_pass<Lane, false>;
    kernels.multi_class[1] = &multi_class_pass<Lane, true>;
    if constexpr (std::is_floating_point_v<Lane>) {
        kernels.squares[0] = &squares_pass<Lane, false>;
        kernels.squares[1] = &squares_pass<Lane, true>;
    }
    return kernels;
}

ThresholdKernels threshold_kernels() {
    ThresholdKernels kernels;
    kernels.narrow = pass_kernels<std::int16_t>();
    kernels.wide = pass_kernels<std::int32_t>();
    kernels.real = pass_kernels<double>();
    kernels.rough_pairs.squares[0] = &rough_pair_scores<false, false>;
    kernels.rough_pairs.squares[1] = &rough_pair_scores<false, true>;
    kernels.rough_pairs.errors[0] = &rough_pair_scores<true, false>;
    kernels.rough_pairs.errors[1] = &rough_pair_scores<true, true>;
    kernels.rough_pairs.largest_of_rows = &largest_of_rows;
    return kernels;
}

#endif
